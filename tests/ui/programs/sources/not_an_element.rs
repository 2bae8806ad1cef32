// Data is of a type that is no element.
use gather_core::{Error, Gather, View};

fn main() -> Result<(), Error> {
    let words = ["a".to_string(), "b".to_string()];
    Gather::new(0).run(&View::new(&words, &[2])?, &[1u32, 0])?;
    Ok(())
}

// A closure stands where a map is wanted, and captures.
use gather_core::{Error, Gather, View};

fn main() -> Result<(), Error> {
    let (table, by) = (View::new(&[1.0f32, 2.0], &[2])?, 2.0);
    Gather::new(0).run(&table.map(&|value: f32| value * by, ()), &[1u32, 0])?;
    Ok(())
}

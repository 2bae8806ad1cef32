// Ids are floats.
use gather_core::{Error, Gather, View};

fn main() -> Result<(), Error> {
    let (table, ids) = (View::new(&[1.0f32, 2.0], &[2])?, View::new(&[1.0f32, 0.0], &[2])?);
    Gather::new(0).run(&table, &ids)?;
    Ok(())
}

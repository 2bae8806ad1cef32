// A bare slice stands where it says for which rows it is given.
use gather_core::{Error, Gather, View, rows};

fn main() -> Result<(), Error> {
    let (table, query) = (View::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?, [1.0f32, 2.0]);
    Gather::new(0).run(&table.rows(&rows::dot(), (&query[..],)), &[1u32, 0])?;
    Ok(())
}

// An operator that names elements is to compute rows.
use gather_core::{Error, GatherElements, Given, View, rows};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    GatherElements::new(0).run(&table.rows(&rows::dot(), (Given::All(&[1.0]),)), &[1u32, 0])?;
    Ok(())
}

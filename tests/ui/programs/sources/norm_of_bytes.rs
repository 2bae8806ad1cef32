// A norm of rows of bytes.
use gather_core::{Error, Gather, Given, View, rows};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u8, 2, 3, 4], &[2, 2])?;
    let none = Given::All(&[][..]);
    Gather::new(0).run(&table.rows(&rows::rms_norm(), (none, none, Given::All(0.0))), &[1u32, 0])?;
    Ok(())
}

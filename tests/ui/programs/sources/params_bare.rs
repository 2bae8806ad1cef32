// Parameters of a map are values, and not `Given`.
use gather_core::{Error, Gather, View, maps};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u8, 2], &[2])?;
    Gather::new(0).run(&table.map(&maps::dequantize(), (0.5, 128)), &[1u32, 0])?;
    Ok(())
}

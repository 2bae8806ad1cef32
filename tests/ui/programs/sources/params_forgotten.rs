// A map has parameters, and none are given.
use gather_core::{Error, Gather, View, maps};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u8, 2], &[2])?;
    Gather::new(0).run(&table.map(&maps::dequantize()), &[1u32, 0])?;
    Ok(())
}

// A map reads another type than that of the view.
use gather_core::{Error, Gather, Given, View, maps};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u16, 2], &[2])?;
    let params = (Given::All(0.5), Given::All(128));
    Gather::new(0).run(&table.map(&maps::dequantize(), params), &[1u32, 0])?;
    Ok(())
}

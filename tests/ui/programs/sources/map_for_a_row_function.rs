// A map stands where a row function is wanted.
use gather_core::{Error, Gather, View, maps};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2, 1])?;
    Gather::new(0).run(&table.rows(&maps::scaled::<f32, f32>(), ()), &[1u32, 0])?;
    Ok(())
}

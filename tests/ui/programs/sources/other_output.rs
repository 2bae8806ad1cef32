// The output is of another type than data.
use gather_core::{Error, Gather, View, ViewMut};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    let mut out = [0.0f64; 2];
    Gather::new(0).run_into(&table, &[1u32, 0], &mut ViewMut::new(&mut out, &[2])?)?;
    Ok(())
}

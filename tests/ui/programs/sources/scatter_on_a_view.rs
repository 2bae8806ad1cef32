// What is read is not changed.
use gather_core::{Error, ScatterElements, View};

fn main() -> Result<(), Error> {
    let mut data = View::new(&[1.0f32, 2.0], &[2])?;
    ScatterElements::new(0).run_on(&mut data, &[1u32], &[3.0f32])?;
    Ok(())
}

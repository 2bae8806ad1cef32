// A scatter moves updates as they are.
use gather_core::{Error, ScatterElements, View, map_kernels};

map_kernels! {
    static HALF = |value: f32| -> f32 { value / 2.0 };
}

fn main() -> Result<(), Error> {
    let updates = View::new(&[3.0f32], &[1])?;
    ScatterElements::new(0).run(&[1.0f32, 2.0], &[1u32], &updates.map(&HALF, ()))?;
    Ok(())
}

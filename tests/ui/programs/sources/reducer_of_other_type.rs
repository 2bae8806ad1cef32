// A reduction of one's own takes elements of another type.
use gather_core::{Error, ScatterElements, reduce_kernels};

reduce_kernels! {
    static UNION = |kept: u32, new: u32| -> u32 { kept | new };
}

fn main() -> Result<(), Error> {
    ScatterElements::new(0).reduce_by(&UNION).run(&[1.0f32, 2.0], &[1u32], &[3.0f32])?;
    Ok(())
}

// Updates are of another type than data.
use gather_core::{Error, ScatterElements};

fn main() -> Result<(), Error> {
    ScatterElements::new(0).run(&[1.0f32, 2.0], &[1u32], &[3u8])?;
    Ok(())
}

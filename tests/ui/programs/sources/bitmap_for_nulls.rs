// One bitmap stands where it says whose nulls it has.
use gather_core::{Bitmap, Error, Gather};

fn main() -> Result<(), Error> {
    Gather::new(0).nullable().run(&[1.0f32, 2.0], &[1u32, 0], Bitmap::new(&[1], 0, 2)?)?;
    Ok(())
}

// A mask stands where ids are wanted.
use gather_core::{Error, Gather};

fn main() -> Result<(), Error> {
    Gather::new(0).run(&[1.0f32, 2.0], &[true, false])?;
    Ok(())
}

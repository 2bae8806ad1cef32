// Tensors are given by value.
use gather_core::{Error, Gather, View};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    Gather::new(0).run(table, &[1u32, 0])?;
    Ok(())
}

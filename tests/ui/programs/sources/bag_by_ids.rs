// Bags are given as bare ids.
use gather_core::{EmbeddingBag, Error, Reduction, View};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    EmbeddingBag::new(Reduction::Add).run(&table, &[1u32, 0])?;
    Ok(())
}

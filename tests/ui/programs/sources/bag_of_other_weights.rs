// Weights are of another type than the numbers that are added.
use gather_core::{Bags, EmbeddingBag, Error, Reduction, View};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    let bags = Bags::new(&[1u32, 0], &[0u32]).weights(&[1.0f64, 2.0]);
    EmbeddingBag::new(Reduction::Add).run(&table, &bags)?;
    Ok(())
}

// Bags that were planned run without a plan.
use gather_core::{Bags, EmbeddingBag, Error, Reduction};

fn main() -> Result<(), Error> {
    EmbeddingBag::new(Reduction::Add).run(&[1.0f32, 2.0], &Bags::planned(&[1u32, 0]))?;
    Ok(())
}

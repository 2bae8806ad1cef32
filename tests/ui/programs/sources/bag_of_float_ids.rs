// Bags are made of floats.
use gather_core::{Bags, EmbeddingBag, Error, Reduction, View};

fn main() -> Result<(), Error> {
    let ids = View::new(&[1.0f32, 0.0], &[1, 2])?;
    EmbeddingBag::new(Reduction::Add).run(&[1.0f32, 2.0], &Bags::packed(&ids))?;
    Ok(())
}

// Bags reduce rows that a row function makes.
use gather_core::{Bags, EmbeddingBag, Error, Given, Reduction, View, rows};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2, 1])?;
    let dots = table.rows(&rows::dot(), (Given::All(&[1.0]),));
    EmbeddingBag::new(Reduction::Add).run(&dots, &Bags::new(&[1u32, 0], &[0u32]))?;
    Ok(())
}

// Bags reduce what a row function makes of decoded rows.
use gather_core::{Bags, EmbeddingBag, Error, Given, Reduction, View, maps, rows};

fn main() -> Result<(), Error> {
    let table = View::new(&[1u8, 2], &[2, 1])?;
    let numbers = table.map(&maps::dequantize(), (Given::All(0.5), Given::All(0)));
    let dots = numbers.rows(&rows::dot(), (Given::All(&[1.0]),));
    EmbeddingBag::new(Reduction::Add).run(&dots, &Bags::new(&[1u32, 0], &[0u32]))?;
    Ok(())
}

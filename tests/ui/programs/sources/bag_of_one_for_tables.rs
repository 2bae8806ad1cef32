// Several tables are given one `Bags`, and not a list.
use gather_core::{Bags, EmbeddingBag, Error, FusedRows, Reduction, View, tables};

fn main() -> Result<(), Error> {
    let table = FusedRows::plain(View::new(&[1.0f32, 2.0], &[2, 1])?)?;
    EmbeddingBag::new(Reduction::Add).run(&tables::<f32>([&table, &table])?, &Bags::new(&[1u32], &[0u32]))?;
    Ok(())
}

// A reduction of one's own takes another type than that of the table.
use gather_core::{Bags, EmbeddingBag, Error, Reduction, View};

gather_core::reduce_kernels! {
    static UNION = |kept: u8, new: u8| -> u8 { kept | new };
}

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    EmbeddingBag::new(Reduction::Add).reduce_by(&UNION).run(&table, &Bags::new(&[1u32, 0], &[0u32]))?;
    Ok(())
}

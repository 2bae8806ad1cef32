// A map whose output is no number and no array of numbers converts rows for gathers, but none for bags.
use gather_core::{Bags, Element, EmbeddingBag, Error, Reduction, View};

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

gather_core::map_kernels! {
    static ON_AXIS = |x: f32| -> Point { Point { x, y: 0.0 } };
}

fn main() -> Result<(), Error> {
    let (table, ids) = ([1.0f32, 2.0], [0u8, 1]);
    let (table, ids) = (View::new(&table, &[2])?, View::new(&ids, &[1, 2])?);
    EmbeddingBag::new(Reduction::Add).run(&table.map(&ON_AXIS, ()), &Bags::packed(&ids))?;
    Ok(())
}

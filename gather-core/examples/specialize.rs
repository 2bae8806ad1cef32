//! Shapes known at compile time: tokens of a text, the neighbours of cells, and an image of interleaved sub-images.
//! Everything printed is asserted.
//!
//! `cargo run --release -p gather-core --example specialize`

#![forbid(unsafe_code)]

#[macro_use]
#[path = "common/print.rs"]
mod print;

use gather_core::{Element, Error, Gather, Layout, Registry, Spec};
use half::f16;

/// The width of an embedding.
const DIM: usize = 64;
/// Cells of a ring.
const CELLS: usize = 12;

gather_core::specialize! {
    /// The kernels of this program, for its registry.
    static KERNELS;
    /// Token embeddings: any number of ids, any number of rows.
    fn embed = gather(axis = 0) (f16[_, DIM], u32[_]);
    /// The same, as `f32`.
    fn embed_wide = gather(axis = 0, map = gather_core::maps::convert) (f16[_, DIM], u32[_]) -> f32;
    /// The left and the right neighbour of each cell, around a ring.
    fn neighbours = gather(axis = 0, out_of_bounds = wrap) (u8[CELLS], i8[CELLS, 2]);
    /// An image of 4 x 4 pixels that interleaves four images of 2 x 2.
    fn image = batch_to_space(block = [1, 2, 2, 1]) (u8[4, 2, 2, 3]);
}

fn main() -> Result<(), Error> {
    let table: Vec<f16> = (0..1000 * DIM).map(|at| f16::from_f32((at / DIM) as f32)).collect();
    let mut rows = vec![f16::ZERO; 3 * DIM];
    embed(&table, &[7, 999, 0], &mut rows)?;
    let firsts: Vec<f32> = rows.chunks(DIM).map(|row| row[0].to_f32()).collect();
    say!("tokens 7, 999 and 0 begin with {firsts:?}");
    assert_eq!(firsts, [7.0, 999.0, 0.0]);
    let refused = embed(&table, &[7, 1000, 0], &mut rows).expect_err("there are 1000 rows");
    say!("tokens 7, 1000 and 0: {refused}");
    assert!(matches!(refused, Error::IndexOutOfRange { index: 1000, .. }));
    let mut wide = vec![0.0_f32; DIM];
    embed_wide(&table, &[42], &mut wide)?;
    say!("token 42 begins with {:?}", &wide[..3]);
    assert_eq!(wide, [42.0; DIM]);

    let cells: [u8; CELLS] = *b"abcdefghijkl";
    let around: [[i8; 2]; CELLS] = std::array::from_fn(|at| [at as i8 - 1, at as i8 + 1]);
    let found = neighbours_array(&cells, &around);
    let trios = cells.iter().zip(found).map(|(&cell, [left, right])| [left, cell, right].map(char::from));
    let trios: Vec<String> = trios.map(String::from_iter).collect();
    say!("cells between their neighbours: {}", trios.join(" "));
    assert_eq!(trios.join(" "), "lab abc bcd cde def efg fgh ghi hij ijk jkl kla");

    let images = [[[[1; 3]; 2]; 2], [[[2; 3]; 2]; 2], [[[3; 3]; 2]; 2], [[[4; 3]; 2]; 2]];
    let [image] = image_array(&images);
    let image = image.map(|line| line.map(|pixel| pixel[0]));
    say!("pixels of images 1 to 4, interleaved:");
    image.iter().for_each(|line| say!("{line:?}"));
    assert_eq!(image, [[1, 2, 1, 2], [3, 4, 3, 4], [1, 2, 1, 2], [3, 4, 3, 4]]);

    // With the registry, a plan made at run time runs the declared kernel.
    static REGISTRY: Registry = Registry::builtin().with(&KERNELS);
    let (table, ids) = (Layout::contiguous(&[1000, DIM])?, Layout::contiguous(&[3])?);
    let plan = Gather::new(0)
        .registry(&REGISTRY)
        .plan(&Spec::from_dtype(f16::DTYPE, &table), &Spec::<u32>::from_layout(&ids))?;
    say!("{}", plan.explain());
    assert!(plan.explain().kernel().starts_with("embed "));
    Ok(())
}

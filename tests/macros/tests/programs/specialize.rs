// Declarations of every kind, in a crate without unsafe code and without the prelude's names in the way.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
//! A crate.

use gather_core::maps::{convert, dequantize};
use gather_core::{Element, Error, Given, Index, NegativeIndex, Op, Registry};
use half::bf16;

/// A width.
pub const DIM: usize = 3;

/// A type of the program's own.
#[derive(Clone, Copy, Debug, Element, PartialEq)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

gather_core::specialize! {
    /// The kernels.
    pub static SET = [any::<f32, i64>, any::<[u8; 2], u8>, with_where::<Point>];
    /// Rows of a constant width.
    pub fn rows = gather(axis = 0) (f32[_, DIM], u32[_]);
    /// Points by tuples.
    pub fn points = gather_nd() (Point[2, 2], i8[_, 2]);
    /// Any elements and any indices.
    pub fn any<T: Element, I: Index> = gather(axis = 0, out_of_bounds = clamp) (T[_, 2], I[_]);
    /// With a bound that stands behind.
    pub fn with_where<T> where T: Element = gather(axis = 1) (T[_, _, 2], u8[2]);
    #[cfg_attr(all(), doc = "For what is not there.", cfg(any()))]
    pub fn not_there = gather(axis = 0) (NotThere[4, 2], u32[4]);
    fn pick = gather::openvino8(axis = 0) ([u8; 2][4], i64[3]);
    pub(crate) fn neighbours = gather_elements::torch(axis = -1) (u8[2, 2], u8[2, 1]);
    fn from_end = gather_elements::openvino6(axis = 0) (u8[3], i8[2]);
    fn one = gather::tensorflow(axis = 0) (u16[4], i32[]);
    fn widen = gather(axis = 0, map = convert) (bf16[_, 2], u32[_]) -> f32;
    fn scaled = gather(axis = 0, map = dequantize(scale: f32, zero_point: u8)) (u8[3, 2], u32[2]) -> f32;
    fn tiles = batch_to_space::openvino2(block = [1, 2, 2], crops_end = [0, 1, 0]) (u8[4, 1, 1]);
    fn constants = batch_to_space(block = [1, DIM], crops_begin = [0, DIM - 2]) (u8[DIM, DIM]);
    #[cfg(any())]
    fn none = gather(axis = 0) (Missing[4], u8[2]);
    fn batches = gather_nd::openvino5(batch_dims = 2) (u8[2, 2, 3], u8[2, 2, 1]);
}

#[test]
fn builds_and_runs() -> Result<(), Error> {
    let mut out = [0.0; 6];
    rows(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[1, 0], &mut out)?;
    assert_eq!(out, [3.0, 4.0, 5.0, 0.0, 1.0, 2.0]);
    let refused = rows(&[0.0; 6], &[1, 2], &mut out);
    let negative = NegativeIndex::FromEnd;
    let expected = Error::IndexOutOfRange { op: Op::Gather, position: 1, index: 2, axis: 0, dim: 2, negative };
    assert_eq!(refused, Err(expected));
    assert_eq!(
        rows(&[0.0; 7], &[1], &mut out[..3]),
        Err(Error::LengthMismatch { len: 7, expected: 6, shape: [2, 3].into() })
    );

    let grid = [0.0, 1.0, 2.0, 3.0].map(|x| Point { x, y: -x });
    let mut found = [Point::ZERO; 2];
    points(&grid, &[1, 0, -1, -1], &mut found)?;
    assert_eq!(found, [grid[2], grid[3]]);

    let mut pairs = [0u8; 4];
    any(&[1, 2, 3, 4], &[5u64, 0], &mut pairs)?;
    assert_eq!(pairs, [3, 4, 1, 2]);
    let mut swapped = [0u16; 8];
    with_where(&[1, 2, 3, 4, 5, 6, 7, 8], &[1, 0], 2, &mut swapped)?;
    assert_eq!(swapped, [3, 4, 1, 2, 7, 8, 5, 6]);

    assert_eq!(pick_array(&[[1, 1], [2, 2], [3, 3], [4, 4]], &[-1, 4, 0]), [[4, 4], [0, 0], [1, 1]]);
    assert_eq!(neighbours_array(&[[1, 2], [3, 4]], &[[1], [0]])?, [[2], [3]]);
    assert_eq!(from_end_array(&[1, 2, 3], &[-1, -3])?, [3, 1]);
    assert!(from_end_array(&[1, 2, 3], &[0, -4]).is_err());
    assert_eq!(one_array(&[5, 6, 7, 8], &2)?, 7);
    assert!(one_array(&[5, 6, 7, 8], &-1).is_err());
    assert_eq!(constants_array(&[[1, 4, 7], [2, 5, 8], [3, 6, 9]]), [[2, 3, 4, 5, 6, 7, 8, 9]]);
    let mut wide = [0.0; 2];
    widen(&[bf16::ONE, bf16::ZERO], &[0], &mut wide)?;
    assert_eq!(wide, [1.0, 0.0]);
    let table = [128u8, 130, 126, 255, 0, 128];
    let scales = [0.5f32, 0.25, 2.0];
    let mut numbers = [0.0; 4];
    scaled(&table, &[2, 0], Given::PerRow(&scales), Given::All(128), &mut numbers)?;
    assert_eq!(numbers, [-256.0, 0.0, 0.0, 1.0]);
    let lines = [[128, 130], [126, 255], [0, 128]];
    assert_eq!(scaled_array(&lines, &[2, 0], Given::All(1.0), Given::All(128))?, [[-128.0, 0.0], [0.0, 2.0]]);
    let refused = scaled_array(&lines, &[2, 0], Given::PerRow(&scales[1..]), Given::All(128));
    assert!(matches!(refused, Err(Error::MapParameterLengthMismatch { parameter: "scale", len: 2, dim: 3, .. })));
    assert_eq!(tiles_array(&[[[1]], [[2]], [[3]], [[4]]]), [[[1, 2]]]);
    let cells = [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]];
    assert_eq!(batches_array(&cells, &[[[0], [1]], [[2], [0]]])?, [1, 5, 9, 10]);

    let registry = Registry::builtin().with(&SET);
    let names = [
        "rows f32[_, DIM] u32[_]",
        "any f32[_, 2] i64[_]",
        "any [u8; 2][_, 2] u8[_]",
        "with_where Point[_, _, 2] u8[2]",
        "tiles u8[4, 1, 1]",
    ];
    for name in names {
        assert!(registry.kernels().any(|kernel| kernel.name == name), "{name}");
    }
    assert!(registry.kernels().all(|kernel| !kernel.name.starts_with("widen ") && !kernel.name.starts_with("scaled ")));
    Ok(())
}

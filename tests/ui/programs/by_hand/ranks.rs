// Kernels of a rank that is not unrolled, and a place for them in a set.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{
    ElementRow, Fixed, IndexRest, IndexRow, IndexType, Kernel, KernelSet, Level, LevelTable, Lists, Op, Rests, Scalar,
    WidthRow, with_width,
};
use gather_core::Element;

pub static SET: KernelSet = KernelSet::new(Lists {
    name: "MINE",
    elements: &[ElementRow { dtype: f32::DTYPE, width: 0 }],
    indices: &[IndexRow { index: IndexType::I32, repr: 0 }],
    ranks: &[9],
    ops: &[Op::Gather],
    widths: &[WidthRow { name: "x32", bytes: Some(4) }],
    reprs: &[IndexType::I32],
    levels: &[LevelTable {
        level: Level::Scalar,
        index: &[Kernel::gather::<Fixed<4>, i32, Scalar, 9>("gather")],
        scatter: &[],
        space: &[],
    }],
    rests: Rests::of::<()>(&[IndexRest::of::<i32>(&[4], [true, false])], &[4], false),
});

pub static WIDTH: gather_core::DType = with_width(f32::DTYPE, "f32", 8);

fn main() {}

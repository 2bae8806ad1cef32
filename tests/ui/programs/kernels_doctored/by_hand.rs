// Lists that safe code writes down by hand: kernels of another rank, an element of another width, too few kernels, and
// rows that would be run by what is made for others.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{
    ElementRow, Fixed, IndexRest, IndexRow, IndexType, Kernel, KernelSet, Level, LevelTable, Lists, Op, Rests, Scalar,
    WidthRow,
};
use gather_core::Element;

const TABLES: Lists = Lists {
    name: "MINE",
    elements: &[ElementRow { dtype: f32::DTYPE, width: 0 }],
    indices: &[IndexRow { index: IndexType::I32, repr: 0 }],
    ranks: &[2],
    ops: &[Op::Gather],
    widths: &[WidthRow { name: "x32", bytes: Some(4) }],
    reprs: &[IndexType::I32],
    levels: &[LevelTable {
        level: Level::Scalar,
        index: &[Kernel::gather::<Fixed<4>, i32, Scalar, 2>("gather")],
        scatter: &[],
        space: &[],
    }],
    rests: Rests::of::<()>(&[IndexRest::of::<i32>(&[4], [true, false])], &[4], false),
};

pub static GOOD: KernelSet = KernelSet::new(TABLES);

pub static RANK: KernelSet = KernelSet::new(Lists { ranks: &[1], ..TABLES });

pub static WIDTH: KernelSet =
    KernelSet::new(Lists { elements: &[ElementRow { dtype: f64::DTYPE, width: 0 }], ..TABLES });

pub static SIGN: KernelSet =
    KernelSet::new(Lists { indices: &[IndexRow { index: IndexType::U32, repr: 0 }], ..TABLES });

pub static FEW: KernelSet = KernelSet::new(Lists { ranks: &[2, 2], ..TABLES });

pub static MANY: KernelSet = KernelSet::new(Lists { ranks: &[], ..TABLES });

pub static OTHER: KernelSet = KernelSet::new(Lists { ops: &[Op::ScatterNd], ..TABLES });

pub static NARROW: KernelSet =
    KernelSet::new(Lists { widths: &[WidthRow { name: "x32", bytes: Some(4) }; 70_000], ..TABLES });

pub static REST: KernelSet = KernelSet::new(Lists { rests: Rests::NONE, ..TABLES });

pub static REST_BY_OTHER_INDICES: KernelSet = KernelSet::new(Lists {
    rests: Rests::of::<()>(&[IndexRest::of::<u32>(&[4], [true, false])], &[4], false),
    ..TABLES
});

fn main() {}

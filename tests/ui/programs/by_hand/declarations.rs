// Declarations that safe code writes down by hand: constants that no tensor fits, and rows of another operator or with
// too few arguments.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{ANY, Declaration, Declared, ShapedRow, size};

pub struct Rows;

impl Declaration for Rows {
    const DECLARED: Declared = Declared::gather(&[ANY, ANY, 8], &[ANY], 0, 0);
}

pub struct Tiles;

impl Declaration for Tiles {
    const DECLARED: Declared = Declared::batch_to_space(&[8, 8], &[1, 2], &[0, 0], &[0, 0]);
}

pub static FEW_ARGUMENTS: ShapedRow = ShapedRow::gather::<Rows, f32, i32, 0>("rows");
pub static MANY_ARGUMENTS: ShapedRow = ShapedRow::gather::<Rows, f32, i32, 2>("rows");
pub static OTHER_OPERATOR: ShapedRow = ShapedRow::gather::<Tiles, f32, i32, 0>("tiles");
pub static NO_BLOCKS: ShapedRow = ShapedRow::batch_to_space::<Rows, f32, 1>("rows");

pub const AXIS: Declared = Declared::gather(&[8, 8], &[2], 2, 0);
pub const BATCH: Declared = Declared::gather(&[8, 8], &[7, 2], 1, 1);
pub const RANKS: Declared = Declared::gather_elements(&[8, 8], &[8], 0);
pub const SIZES: Declared = Declared::gather_elements(&[8, 8], &[8, 9], 0);
pub const EQUAL: Declared = Declared::gather_elements(&[8, 8], &[8, 7], 0).equal();
pub const COMPONENTS: Declared = Declared::gather_nd(&[8, 8], &[5, 3], 0);
pub const CROPS: Declared = Declared::batch_to_space(&[8, 8], &[1, 2], &[0, 9], &[0, 7]);
pub const BLOCKS: Declared = Declared::batch_to_space(&[8, 8], &[1, 3], &[0, 0], &[0, 0]);
pub const DIMENSIONS: Declared = Declared::gather(&[1; 9], &[2], 0, 0);
pub const NOTHING: usize = size(0);

fn main() {}

// Values of a level's token, and of types that have none.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{Avx2, Fixed, Rows};

pub const LEVEL: Avx2 = Avx2(());
pub const WIDTH: Fixed<4> = Fixed {};
pub const ROWS: Rows = Rows {};

fn main() {}

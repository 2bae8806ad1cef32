// Types in places that hidden functions have for others.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{
    Combine, Convert, Declaration, Declared, Fixed, Kernel, Rows, Rowwise, Scalar, ShapedRow, gather,
};
use gather_core::{Map, Params};

pub struct Mine;

impl Declaration for Mine {
    const DECLARED: Declared = Declared::gather(&[8], &[2], 0, 0);
}

impl Convert for Mine {
    type In = Mine;
    type Out = &'static str;
    type Params = Vec<f32>;
    const NAME: &'static str = "mine";
    const PARAMS: &'static [&'static str] = &[];
    fn convert(_: Mine, _: Vec<f32>) -> &'static str {
        ""
    }
}

impl Rowwise for Mine {
    type In = char;
    type Out = Mine;
    type Params = Vec<f32>;
    const NAME: &'static str = "mine";
    const PARAMS: &'static [&'static str] = &[];
    const ONE: bool = true;
}

impl Combine for Mine {
    type Item = Mine;
    fn combine(_: Mine, new: Mine) -> Mine {
        new
    }
}

pub fn kernels() {
    let _ = Kernel::gather::<Mine, i32, Scalar, 2>("width");
    let _ = Kernel::gather::<Fixed<4>, f32, Scalar, 2>("index");
    let _ = Kernel::gather::<Fixed<4>, i32, Rows, 2>("level");
    let _ = ShapedRow::gather::<Mine, char, i32, 0>("element");
    let _ = ShapedRow::gather::<Mine, f32, bool, 0>("index");
}

pub fn calls(data: &[char], out: &mut [char]) {
    let _ = gather::<Mine, char, i32, 0>(data, &[0, 1], [], out);
}

pub fn of_other_types<P: Params>() -> Map<u32, f32, P> {
    Map::<u32, f32, P>::new::<Mine>()
}

fn main() {}

// Names of the standard library and of gather-core that mean something else where the macros are called.
#![allow(dead_code, non_camel_case_types, unused_macros)]

mod core {}
mod std {}
mod gather_core {}
struct Option;
struct Element;
struct DType;
struct KernelSet;
struct u32;
struct usize;
trait Copy {}
trait Send {}
macro_rules! assert {
    ($($tokens:tt)*) => {
        compile_error!("not this one");
    };
}
macro_rules! panic {
    ($($tokens:tt)*) => {
        compile_error!("nor this one");
    };
}

#[derive(::std::clone::Clone, ::std::marker::Copy, ::gather_core::Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: [f32; 2],
}

mod __private_0_1_0 {
    pub type Element = [f32; 5];
}

mod __g {
    pub type Fixed = [f32; 7];
}

const __ELEMENT0: ::core::primitive::usize = 9;

::gather_core::kernels! {
    static MY;
    elements: [Point, f64, [u8; 3], __private_0_1_0::Element, __g::Fixed, [u8; __ELEMENT0]];
    indices: [u32, isize, i64];
    ranks: 1..=3, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

#[test]
fn builds_and_runs() {
    let _ = (MY.name(), Point { x: 0.0, y: [0.0; 2] });
}

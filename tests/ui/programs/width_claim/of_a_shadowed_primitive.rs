// A type of one's own goes under the name of a primitive type.
#![allow(non_camel_case_types)]

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
struct f64([u8; 3]);

gather_core::kernels! {
    pub static MY;
    elements: [f64];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

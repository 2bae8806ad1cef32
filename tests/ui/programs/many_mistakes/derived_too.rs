// A derive and a set that uses the type both fail: the set does not report the type again.
#[derive(Clone, Copy, gather_core::Element)]
pub struct Colour {
    rgba: [u8; 4],
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
pub enum Shade {
    Light(u8),
    Dark,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Pair<T> {
    first: T,
    second: T,
}

gather_core::kernels! {
    pub static MY;
    elements: [Colour, Shade, Pair<u8>];
    indices: [i32];
    ranks: 0;
    ops: [gather];
}

fn main() {
    let _ = gather_core::Registry::builtin().with(&MY);
}

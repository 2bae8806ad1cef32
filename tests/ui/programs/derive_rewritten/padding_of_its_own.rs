// An attribute below the derive adds alignment, and with it bytes behind the fields.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C, align(16))] pub struct Pair { first: u32, second: u32 })]
#[repr(C)]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}

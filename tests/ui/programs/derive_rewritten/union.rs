// An attribute below the derive makes a struct a union of one field, whose bytes need not be initialised.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub union Word { value: u32 })]
#[repr(C)]
pub struct Word {
    value: u32,
}

fn main() {}

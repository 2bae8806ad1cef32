// An attribute below the derive makes a struct an enum that has the same field in one of its variants.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub enum Word { Some { value: u32 }, None })]
#[repr(C)]
#[element(zero = Word::None)]
pub struct Word {
    value: u32,
}

fn main() {}

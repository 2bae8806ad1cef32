// An attribute below the derive adds a field that the derive does not see.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub struct Pair { first: u32, second: u32, letter: char })]
#[repr(C)]
#[element(zero = Pair { first: 0, second: 0, letter: 'a' })]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}

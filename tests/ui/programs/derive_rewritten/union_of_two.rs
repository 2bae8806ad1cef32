// An attribute below the derive makes a struct a union, whose smaller field leaves bytes uninitialised.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub union Pair { first: u8, second: u16 })]
#[repr(C)]
#[element(zero = Pair { first: 0 })]
pub struct Pair {
    first: u8,
    second: u16,
}

fn main() {}

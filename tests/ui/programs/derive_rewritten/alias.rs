// An attribute below the derive makes the name an alias of another type, which is not plain.
#[derive(Clone, Copy)]
pub struct Other {
    first: u8,
    second: u32,
}

#[derive(gather_core::Element)]
#[gather_tests_rewrite::becomes(pub type Pair = Other;)]
#[repr(C)]
#[element(zero = Other { first: 0, second: 0 })]
pub struct Pair {
    first: u8,
    second: [u8; 3],
}

fn main() {}

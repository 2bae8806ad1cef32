// An attribute below the derive gives a field another type, which leaves padding behind the field before it.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(C)] pub struct Pair { first: u32, second: u64 })]
#[repr(C)]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}

// `Clone` and `Copy` are not derived.
#[derive(gather_core::Element)]
#[repr(C)]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}

// Without `#[repr]` the layout is the compiler's to choose.
#[derive(Clone, Copy, gather_core::Element)]
pub struct Pair {
    first: u32,
    second: u32,
}

fn main() {}

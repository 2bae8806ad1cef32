// The padding would depend on the parameters.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Pair<A, B> {
    first: A,
    second: B,
}

fn main() {}

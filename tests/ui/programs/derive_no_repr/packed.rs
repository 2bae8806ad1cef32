// Packing alone does not fix the order of the fields.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(packed)]
pub struct Pair {
    tag: u8,
    value: u32,
}

fn main() {}

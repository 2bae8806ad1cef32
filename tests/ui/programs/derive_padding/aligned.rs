// The alignment adds bytes behind the only field, more than are counted.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C, align(32))]
pub struct Padded {
    value: u32,
}

fn main() {}

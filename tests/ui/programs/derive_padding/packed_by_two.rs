// Packing by 2 leaves a byte before the wider field.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C, packed(2))]
pub struct Padded {
    tag: u8,
    value: u32,
}

fn main() {}

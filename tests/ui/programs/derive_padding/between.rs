// Three bytes lie between the fields.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Padded {
    tag: u8,
    value: u32,
}

fn main() {}

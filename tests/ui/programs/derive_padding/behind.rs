// One byte lies behind the last field.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Padded {
    value: u16,
    tag: u8,
}

fn main() {}

// Both fields of the tuple are followed by padding.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Padded(u8, u64, u16);

fn main() {}

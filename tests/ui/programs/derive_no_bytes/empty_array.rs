// The only field has no bytes.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Nothing([u8; 0]);

fn main() {}

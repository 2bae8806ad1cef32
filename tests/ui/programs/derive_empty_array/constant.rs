// The only field has no bytes, by a constant.
const NONE: usize = 0;

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Nothing([u8; NONE]);

fn main() {}

// The path leads to a module, not to the type itself.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(crate = Self)]
pub struct Word(u32);

fn main() {}

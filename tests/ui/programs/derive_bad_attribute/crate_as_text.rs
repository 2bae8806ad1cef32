// The crate is a path, not a string.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(crate = "gather_core")]
pub struct Word(u32);

fn main() {}

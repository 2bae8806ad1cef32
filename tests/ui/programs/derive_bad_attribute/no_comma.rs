// No comma stands between two keys.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(zero = Word(0) crate = ::gather_core)]
pub struct Word(u32);

fn main() {}

// The crate goes under another name, `gather_core` leads elsewhere, and the derive is not told.
extern crate core as gather_core;
extern crate gather_core as other;

#[derive(Clone, Copy, other::Element)]
#[repr(transparent)]
pub struct Word(u32);

fn main() {}

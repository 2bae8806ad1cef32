// The zero is a number, not a value of the struct.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(zero = 0)]
pub struct Word(u32);

fn main() {}

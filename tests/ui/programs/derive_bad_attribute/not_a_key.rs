// A string stands where a key is expected.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element("zero")]
pub struct Word(u32);

fn main() {}

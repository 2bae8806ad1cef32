// The attribute says nothing, or says it without parentheses.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element]
pub struct Bare(u32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element = "zero"]
pub struct Equal(u32);

fn main() {}

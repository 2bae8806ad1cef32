// An alignment alone does not fix the layout.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(align(8))]
pub struct Pair(u32, u32);

fn main() {}

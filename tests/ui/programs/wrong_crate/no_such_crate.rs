// The path leads nowhere.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(crate = ::gather)]
pub struct Pair(u32, u32);

fn main() {}

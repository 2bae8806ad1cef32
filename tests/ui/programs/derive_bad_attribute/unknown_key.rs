// There are no such keys.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(zeor = Pair(0, 0), krate = ::gather_core, dtype = "pair")]
pub struct Pair(u32, u32);

fn main() {}

// The attribute stands on a field and on a variant.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Pair {
    #[element(zero = 1)]
    first: u32,
    second: u32,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
pub enum Switch {
    #[element(zero)]
    Off,
    On,
}

fn main() {}

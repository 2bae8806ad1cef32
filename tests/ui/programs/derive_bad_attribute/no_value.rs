// The keys have no values.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero, crate)]
pub enum Switch {
    Off,
    On,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(zero =, crate =)]
pub struct Word(u32);

fn main() {}

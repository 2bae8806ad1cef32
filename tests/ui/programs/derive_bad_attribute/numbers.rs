// The key has no value, is given twice, with a zero, and for an enum.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(numbers)]
pub struct Bare(u32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(numbers = u32, numbers = u32)]
pub struct Twice(u32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(numbers = u32, zero = Zeroed(1))]
pub struct Zeroed(u32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = Off, numbers = u8)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

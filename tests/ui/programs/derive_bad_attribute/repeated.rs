// `zero` is given twice, in one attribute and in two.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = Off, zero = On)]
pub enum Switch {
    Off,
    On,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(crate = ::gather_core)]
#[element(crate = gather_core)]
pub struct Word(u32);

fn main() {}

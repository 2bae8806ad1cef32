// The zero is none of the variants.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = Ofd)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

// The zero is a number, not a value of the enum.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = 0)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

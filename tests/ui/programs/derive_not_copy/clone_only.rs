// `Copy` is not derived.
#[derive(Clone, gather_core::Element)]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

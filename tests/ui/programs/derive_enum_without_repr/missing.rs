// The size of the enum is the compiler's to choose.
#[derive(Clone, Copy, gather_core::Element)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

// The alignment adds bytes behind the number of an enum.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8, align(4))]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

// An enum is its number. What its parameters say, no value shows.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch<const N: usize, const ON: bool> {
    Off,
    On,
}

fn main() {}

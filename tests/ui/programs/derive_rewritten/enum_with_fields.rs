// An attribute below the derive gives a variant a field.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(u8)] pub enum Switch { Off, On(u8) })]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

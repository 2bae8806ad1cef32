// An attribute below the derive gives an enum alignment, and with it bytes behind its number.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(u8, align(4))] pub enum Switch { Off, On })]
#[repr(u8)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

// An attribute below the derive makes the number of an enum narrower, and an alignment keeps its size.
#![forbid(unsafe_code)]

#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(u8, align(4))] pub enum Switch { Off, On })]
#[repr(u32)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

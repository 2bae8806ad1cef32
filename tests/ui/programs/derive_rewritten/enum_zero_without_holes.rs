// As in `enum_narrower`, with a zero whose padding is initialised, such as other crates make of bytes: another value shows the hole.
const ZERO: Switch = unsafe { std::mem::transmute([0u8; 4]) };

#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(u8, align(4))] pub enum Switch { Off, On })]
#[repr(u32)]
#[element(zero = ZERO)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

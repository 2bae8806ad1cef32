// An attribute below the derive makes an enum a struct of the same size.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(transparent)] pub struct Switch(bool);)]
#[repr(u8)]
#[element(zero = Switch(false))]
pub enum Switch {
    Off,
    On,
}

fn main() {}

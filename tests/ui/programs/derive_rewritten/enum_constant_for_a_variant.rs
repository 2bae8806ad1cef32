// An attribute below the derive takes a variant away. A constant has its name, and no hole that shows.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(u8, align(4))] pub enum Switch { Unlit, Lit })]
#[repr(u32)]
#[element(zero = Switch::Unlit)]
pub enum Switch {
    Off,
    On,
}

impl Switch {
    #[allow(non_upper_case_globals)]
    pub const Off: Self = unsafe { std::mem::transmute([0u8; 4]) };
}

fn main() {}

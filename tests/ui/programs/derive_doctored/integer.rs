// `crate` leads to a module in which `u8` is another integer, as wide as an enum with padding.
#![forbid(unsafe_code)]

mod fake {
    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        #[allow(non_camel_case_types)]
        pub type u8 = ::core::primitive::u32;
    }
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8, align(4))]
#[element(crate = fake, zero = Off)]
pub enum Switch {
    Off,
    On,
}

fn main() {}

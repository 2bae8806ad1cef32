// `crate` leads to a module in which `u8` is wider, as wide as an enum with padding.
mod fake {
    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        #[allow(non_camel_case_types)]
        pub type u8 = [::core::primitive::u8; 4];
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

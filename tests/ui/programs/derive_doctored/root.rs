// The program itself goes under the name of gather-core, and what it says of sizes and places is wrong.
extern crate gather_core as real;
extern crate self as gather_core;

#[allow(non_snake_case)]
pub mod __private_0_1_0 {
    pub use real::__private_0_1_0::*;

    #[macro_export]
    macro_rules! nowhere {
        ($($tokens:tt)*) => {
            0
        };
    }
    pub use nowhere as offset_of;
}

#[derive(Clone, Copy, real::Element)]
#[repr(C)]
pub struct Padded {
    tag: u8,
    value: u32,
}

fn main() {}

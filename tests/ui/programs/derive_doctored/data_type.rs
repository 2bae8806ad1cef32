// `crate` leads to a module whose data types are made for other types.
mod fake {
    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        pub struct DType;
    }
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(crate = fake)]
pub struct Word(u32);

fn main() {}

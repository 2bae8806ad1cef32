// `crate` leads to a module that has assertions of its own.
mod fake {
    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        pub const fn size_of<T>() -> usize {
            8
        }

        #[macro_export]
        macro_rules! nowhere {
            ($($tokens:tt)*) => {
                0
            };
        }
        pub use nowhere as offset_of;
    }
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(crate = fake)]
pub struct Padded {
    tag: u8,
    value: u32,
}

fn main() {}

// `crate` leads to a module that has a trait of its own. It is implemented, and the true one is not.
mod fake {
    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        pub unsafe trait Element: Copy {
            const DTYPE: DType;
            const ZERO: Self;
            const __PROOF: Proof = Proof;
        }

        unsafe impl Element for ::core::primitive::char {
            const DTYPE: DType = <::core::primitive::u32 as gather_core::Element>::DTYPE;
            const ZERO: Self = 'a';
        }

        pub struct Proof;

        impl Proof {
            pub const fn field<T, F>(self, _: fn(T) -> F, _: &str, _: usize) -> Self {
                self
            }

            pub const fn dtype(self, _: &str) -> DType {
                <::core::primitive::u32 as gather_core::Element>::DTYPE
            }
        }
    }
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(crate = fake)]
pub struct Letter(char);

fn needs_an_element<T: gather_core::Element>() {}

fn main() {
    needs_an_element::<Letter>();
}

// What `kernels!` forwards to is told a module in which an index type is wider than it says.
#![forbid(unsafe_code)]

mod fake {
    pub use gather_core::KernelSet;

    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        #[allow(non_camel_case_types)]
        pub type i32 = ::core::primitive::i64;
    }
}

gather_core::__private_0_1_0::kernels_impl! {
    crate = fake;
    static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [scatter_nd];
}

fn main() {
    let _ = MY.name();
}

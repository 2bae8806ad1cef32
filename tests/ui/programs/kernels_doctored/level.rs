// What `kernels!` forwards to is told a module in which levels go under the names of others.
#![forbid(unsafe_code)]

mod fake {
    pub use gather_core::KernelSet;

    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        pub struct Level;

        #[allow(non_upper_case_globals)]
        impl Level {
            pub const Scalar: gather_core::Level = gather_core::Level::Avx512;
            pub const Avx2: gather_core::Level = gather_core::Level::Scalar;
            pub const Avx512: gather_core::Level = gather_core::Level::Avx2;
            pub const Neon: gather_core::Level = gather_core::Level::Scalar;
        }
    }
}

gather_core::__private_0_1_0::kernels_impl! {
    crate = fake;
    static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [batch_to_space];
}

fn main() {
    let _ = MY.name();
}

// What `kernels!` forwards to is told a module whose widths are wider than they say.
#![forbid(unsafe_code)]

mod fake {
    pub use gather_core::KernelSet;

    #[allow(non_snake_case)]
    pub mod __private_0_1_0 {
        pub use gather_core::__private_0_1_0::*;

        pub type Fixed<const BYTES: usize> = gather_core::__private_0_1_0::Fixed<4096>;
    }
}

gather_core::__private_0_1_0::kernels_impl! {
    crate = fake;
    static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

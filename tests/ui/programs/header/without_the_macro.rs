// What `kernels!` forwards to vouches for the kernels of any crate that it is told, so that it is told by `unsafe` alone.
gather_core::__private_0_1_0::kernels_impl! {
    crate = ::gather_core;
    static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {}

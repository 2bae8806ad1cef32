// What `kernels!` forwards to, called as it once was, when `unsafe` vouched for the path.
gather_core::__private_0_1_0::kernels_impl! {
    unsafe crate = ::gather_core;
    static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {}

// A set of kernels cannot be changed.
gather_core::kernels! {
    pub static mut MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {}

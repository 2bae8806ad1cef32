// The set has no name.
gather_core::kernels! {
    pub static;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {}

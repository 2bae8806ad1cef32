// The set has no `static` before its name.
gather_core::kernels! {
    pub MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {}

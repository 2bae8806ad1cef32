// The name of the set is not ended.
gather_core::kernels! {
    pub static MY
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

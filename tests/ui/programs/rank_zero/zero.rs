// Rank 0 has no loops.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 0..=4;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

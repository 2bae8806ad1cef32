// The misspelt key stands beside the key that it resembles.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    rank: 2;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

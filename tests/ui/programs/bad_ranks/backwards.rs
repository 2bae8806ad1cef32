// The first rank of the range exceeds its last.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 4..=1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// Fields end with a semicolon, not with a comma.
gather_core::kernels! {
    pub static MY;
    elements: [f32],
    indices: [i32],
    ranks: 1..=4,
    ops: [gather],
}

fn main() {
    let _ = MY.name();
}

// The last rank of a range is included.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1..5, 7..;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

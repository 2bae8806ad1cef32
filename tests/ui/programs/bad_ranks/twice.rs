// Rank 3 and `any` are listed twice, and a range overlaps another.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1..=5, any, 3, 4..=8, any;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

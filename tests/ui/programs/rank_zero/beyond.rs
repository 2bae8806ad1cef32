// Ranks above 8 are not unrolled.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1..=9, 12, 300;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

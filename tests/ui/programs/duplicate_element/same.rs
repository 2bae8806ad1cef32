// `f32` is listed twice.
gather_core::kernels! {
    pub static MY;
    elements: [f32, u8, f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

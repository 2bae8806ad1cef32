// `f32` has 4 bytes.
gather_core::kernels! {
    pub static MY;
    elements: [f32 as x64, u8 as x8, f64 as x16];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// Literals and an empty entry stand among the types; the good entries between them are not reported.
gather_core::kernels! {
    pub static MY;
    elements: [f32, 5, f64, "text", num_complex::Complex<f32> as x64, , u8];
    indices: [i32, 1.5, i64, +];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

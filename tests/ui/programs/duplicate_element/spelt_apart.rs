// Types are the same however their tokens are spaced.
gather_core::kernels! {
    pub static MY;
    elements: [num_complex::Complex<f32> as x64, num_complex :: Complex < f32 > as x64, [u8; 3], [u8;3]];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

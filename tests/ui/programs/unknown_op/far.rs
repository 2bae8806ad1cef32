// There is no such operator.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather, transpose];
}

fn main() {
    let _ = MY.name();
}

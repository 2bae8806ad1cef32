// `elements` and `ops` are given twice.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
    elements: [f64];
    ops: [gather_nd];
}

fn main() {
    let _ = MY.name();
}

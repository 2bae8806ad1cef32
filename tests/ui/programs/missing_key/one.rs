// `ranks` is missing.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

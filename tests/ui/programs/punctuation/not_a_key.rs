// A string, a list and a type stand where keys are expected.
gather_core::kernels! {
    pub static MY;
    "elements": [f32];
    [f32, f64];
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

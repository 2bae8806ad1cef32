// A width is misspelt, another is a type.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
    widths: [x46, row, f32];
}

fn main() {
    let _ = MY.name();
}

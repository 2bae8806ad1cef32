// Not one of these can index: too wide, misspelt, by a path, a reference, not an integer.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i128, i23, core::primitive::i32, &i32, bool, i64];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// `elements` is misspelt.
gather_core::kernels! {
    pub static MY;
    elemnts: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// `all` is no rank, and `any` is misspelt; both are reported, and the rank that follows.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: all, ayn, 11;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

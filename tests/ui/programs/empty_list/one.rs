// No index type is listed.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

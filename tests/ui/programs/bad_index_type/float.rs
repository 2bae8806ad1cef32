// A float cannot index.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [f32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

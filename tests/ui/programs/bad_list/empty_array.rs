// An array of no elements has no bytes to move.
gather_core::kernels! {
    pub static MY;
    elements: [[f32; 0]];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

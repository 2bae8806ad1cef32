// Ranks are whole numbers.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: -1, 2.5, "3", 4;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

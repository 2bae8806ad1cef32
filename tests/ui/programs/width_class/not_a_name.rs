// What follows `as` is no name, or is not there.
gather_core::kernels! {
    pub static MY;
    elements: [f32 as 4, f64 as];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

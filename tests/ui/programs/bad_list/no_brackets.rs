// Lists stand in square brackets; ranks do not.
gather_core::kernels! {
    pub static MY;
    elements: f32, f64;
    indices: (i32, i64);
    ranks: [1, 2];
    ops: { gather };
}

fn main() {
    let _ = MY.name();
}

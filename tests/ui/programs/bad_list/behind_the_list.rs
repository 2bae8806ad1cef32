// More stands behind the lists.
gather_core::kernels! {
    pub static MY;
    elements: [f32] [f64];
    indices: [i32, i64] as x64;
    ranks: 1;
    ops: [gather], gather_nd;
}

fn main() {
    let _ = MY.name();
}

// No comma stands between two entries.
gather_core::kernels! {
    pub static MY;
    elements: [f32 f64, u8];
    indices: [i32 i64];
    ranks: 1 2;
    ops: [gather gather_nd];
}

fn main() {
    let _ = MY.name();
}

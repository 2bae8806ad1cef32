// Index types, operators and units are listed twice.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32, u8, i32];
    ranks: 1;
    ops: [gather, gather];
    units: [rows, x64, rows];
}

fn main() {
    let _ = MY.name();
}

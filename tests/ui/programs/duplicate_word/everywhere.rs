// Index types, operators and widths are listed twice.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32, u8, i32];
    ranks: 1;
    ops: [gather, gather];
    widths: [rows, x64, rows];
}

fn main() {
    let _ = MY.name();
}

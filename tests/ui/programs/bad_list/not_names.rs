// Strings, literals and paths stand where operators and widths are named.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: ["gather", gather_nd, 1, gather_core::gather];
    widths: [8, rows, u8];
}

fn main() {
    let _ = MY.name();
}

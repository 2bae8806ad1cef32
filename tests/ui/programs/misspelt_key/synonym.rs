// `widths` and `ops` go by other names.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    operators: [gather];
    units: [x64, x46];
}

fn main() {
    let _ = MY.name();
}

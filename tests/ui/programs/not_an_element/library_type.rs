// Types of the standard library that are not plain data.
gather_core::kernels! {
    pub static MY;
    elements: [String, char];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

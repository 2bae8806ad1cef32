// There is no such key, nor one like it.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
    threads: 4;
}

fn main() {
    let _ = MY.name();
}

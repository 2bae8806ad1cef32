// The call ends behind a key.
gather_core::kernels! {
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops
}

fn main() {
    let _ = MY.name();
}

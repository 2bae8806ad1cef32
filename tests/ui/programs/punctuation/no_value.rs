// A key has no value.
gather_core::kernels! {
    pub static MY;
    elements: ;
    indices;
    ranks: ;
    ops:
}

fn main() {
    let _ = MY.name();
}

// Every list is empty.
gather_core::kernels! {
    pub static MY;
    elements: [];
    indices: [];
    ranks: ;
    ops: [];
    units: [];
}

fn main() {
    let _ = MY.name();
}

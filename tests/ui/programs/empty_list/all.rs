// Every list is empty.
gather_core::kernels! {
    pub static MY;
    elements: [];
    indices: [];
    ranks: ;
    ops: [];
    widths: [];
}

fn main() {
    let _ = MY.name();
}

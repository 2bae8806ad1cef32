// Nothing follows the name.
gather_core::kernels! {
    pub static MY;
}

fn main() {
    let _ = MY.name();
}

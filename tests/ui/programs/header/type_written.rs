// The type of the static is written; the macro writes it.
gather_core::kernels! {
    pub static MY: gather_core::KernelSet;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

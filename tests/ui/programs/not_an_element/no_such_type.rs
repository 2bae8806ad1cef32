// The type is not in scope.
gather_core::kernels! {
    pub static MY;
    elements: [Colour, Point as x32];
    indices: [i32];
    ranks: 1..=2;
    ops: [gather, batch_to_space];
}

fn main() {
    let _ = MY.name();
}

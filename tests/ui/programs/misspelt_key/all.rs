// Every key is misspelt, and the value of one is wrong too.
gather_core::kernels! {
    pub static MY;
    element: [f32];
    indexes: [f64];
    rank: 1..=4;
    operators: [gather];
}

fn main() {
    let _ = MY.name();
}

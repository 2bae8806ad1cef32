// A type of one's own that does not derive `Element`.
#[derive(Clone, Copy)]
pub struct Colour(pub u32);

gather_core::kernels! {
    pub static MY;
    elements: [Colour];
    indices: [i32];
    ranks: 1..=2;
    ops: [gather, batch_to_space];
}

fn main() {
    let _ = MY.name();
}

// The same with a width class.
#[derive(Clone, Copy)]
pub struct Colour(pub u32);

gather_core::kernels! {
    pub static MY;
    elements: [Colour as x32];
    indices: [i32];
    ranks: 1..=2;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// There are no such width classes: `x23` is near one, `wide` and `rows` are not.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
struct Colour(u32);

gather_core::kernels! {
    pub static MY;
    elements: [Colour as x23, f32 as wide, f64 as rows];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

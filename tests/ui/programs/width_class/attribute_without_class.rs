// Where the type may not be there, its width must be said.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
struct Colour(u32);

gather_core::kernels! {
    pub static MY;
    elements: [#[cfg(all())] Colour, f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

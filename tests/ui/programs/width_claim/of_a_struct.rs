// The structs have not the bytes that are claimed for them.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
struct Colour {
    rgba: [u8; 4],
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
struct Point {
    xyz: [f32; 3],
}

gather_core::kernels! {
    pub static MY;
    elements: [Colour as x64, Point as x128];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

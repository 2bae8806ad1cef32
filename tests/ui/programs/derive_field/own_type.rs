// The type of the field is a struct that does not derive `Element`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Segment {
    from: Point,
    to: [Point; 2],
}

fn main() {}

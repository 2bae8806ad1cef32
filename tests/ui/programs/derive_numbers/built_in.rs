// What the key names is no built-in type, and a packed type is less aligned than its numbers.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Silent(f32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(numbers = Silent)]
pub struct Outer(Silent);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C, packed)]
#[element(numbers = f32)]
pub struct Packed {
    x: f32,
    y: f32,
}

fn main() {}

// A field, and one of a derived type, is not made of the numbers that the type is said to be made of.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Silent(f32);

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(numbers = f32)]
pub struct Tagged {
    values: [f32; 3],
    tag: u32,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(numbers = f32)]
pub struct Nested {
    value: f32,
    silent: [Silent; 2],
}

fn main() {}

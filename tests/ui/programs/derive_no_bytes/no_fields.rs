// There is nothing to move.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Nothing;

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Empty {}

fn main() {}

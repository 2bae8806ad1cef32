// An attribute below the derive gives a field a borrow, and the zero does not mind.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(transparent)] pub struct Name(&'static u8);)]
#[repr(transparent)]
#[element(zero = Name(&0))]
pub struct Name(usize);

fn main() {}

// An attribute below the derive gives a field a type that is no element, and the zero does not mind.
#[derive(Clone, Copy, gather_core::Element)]
#[gather_tests_rewrite::becomes(#[repr(transparent)] pub struct Letter(char);)]
#[repr(transparent)]
#[element(zero = Letter('a'))]
pub struct Letter(u32);

fn main() {}

// The padding is in the generic type of a field, which an attribute has rewritten.
use gather_core::Element;

#[derive(Clone, Copy, Element)]
#[gather_tests_rewrite::becomes(#[repr(C, align(16))] pub struct Wrap<T>(T);)]
#[repr(transparent)]
pub struct Wrap<T>(T);

#[derive(Clone, Copy, Element)]
#[repr(C)]
pub struct Pair(Wrap<u32>, Wrap<u32>);

fn main() {}

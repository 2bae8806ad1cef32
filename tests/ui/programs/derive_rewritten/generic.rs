// An attribute below the derive gives a generic type alignment. The proof is led for each type that it is used with.
use gather_core::Element;

#[derive(Clone, Copy, Element)]
#[gather_tests_rewrite::becomes(#[repr(C, align(16))] pub struct Wrap<T>(T);)]
#[repr(transparent)]
pub struct Wrap<T>(T);

const SIZE: usize = Wrap::<u32>::DTYPE.size();

fn main() {}

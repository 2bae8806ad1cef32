// A `PhantomData` alone has no bytes.

use std::marker::PhantomData;

use gather_core::Element;

#[derive(Clone, Copy, Element)]
#[repr(transparent)]
struct Nothing(PhantomData<u8>);

fn main() {}

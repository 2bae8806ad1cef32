// A type that is only called `PhantomData` is not taken for the one of `core`.

use gather_core::Element;

#[derive(Clone, Copy)]
struct PhantomData;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Tagged {
    value: u32,
    marker: PhantomData,
}

fn main() {}

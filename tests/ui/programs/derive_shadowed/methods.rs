// A trait of the program gives every type methods by the names of the proof's.
pub trait Steps: Sized {
    fn field<G>(self, _: G, _: &'static str, _: usize) -> Self {
        self
    }

    fn dtype(self, _: &'static str) -> gather_core::DType {
        <u32 as gather_core::Element>::DTYPE
    }
}

impl<T> Steps for T {}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Padded {
    tag: u8,
    value: u32,
}

fn main() {}

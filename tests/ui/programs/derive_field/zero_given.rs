// A zero of one's own does not make a field an element.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(zero = Record { letter: 'a', id: 0 })]
pub struct Record {
    letter: char,
    id: u32,
}

fn main() {}

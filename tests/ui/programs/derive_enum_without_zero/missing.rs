// Which variant stands for zero is not said.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(u8)]
pub enum Base {
    Adenine,
    Cytosine,
    Guanine,
    Thymine,
}

fn main() {}

// The type has associated items by the names of the trait's.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Padded {
    tag: u8,
    value: u32,
}

impl Padded {
    pub const ZERO: u8 = 0;
    pub const DTYPE: gather_core::DType = <u64 as gather_core::Element>::DTYPE;
    pub const __PROOF: Proof = Proof;
}

pub struct Proof;

fn main() {}

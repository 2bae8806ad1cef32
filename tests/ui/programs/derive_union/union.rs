// The bytes of a union may be uninitialised.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub union Either {
    small: u8,
    large: u64,
}

fn main() {}

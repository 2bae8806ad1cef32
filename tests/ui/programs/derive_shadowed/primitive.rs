// The name of a number is that of a wider one, so that there is padding where none is to be seen.
#[allow(non_camel_case_types)]
type u16 = ::core::primitive::u32;

#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Parts {
    first: u8,
    second: u8,
    third: u16,
}

fn main() {}

// Two fields are not plain data.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Record {
    letter: char,
    next: Option<u32>,
    id: u64,
}

fn main() {}

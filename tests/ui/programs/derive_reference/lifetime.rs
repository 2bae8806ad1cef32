// An element cannot borrow.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Borrowing<'a> {
    value: &'a u64,
}

fn main() {}

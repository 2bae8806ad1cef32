// References and pointers are not plain data.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Borrowing {
    name: &'static str,
    next: *const u8,
    id: u64,
}

fn main() {}

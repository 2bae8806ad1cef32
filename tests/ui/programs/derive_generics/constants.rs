// The padding would depend on the constant.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
pub struct Tagged<const N: usize> {
    tag: u8,
    rest: [u8; N],
}

fn main() {}

// The size of a C enum and of a pointer-sized one depends on the machine.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(C)]
#[element(zero = Off)]
pub enum Switch {
    Off,
    On,
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(usize)]
#[element(zero = Off)]
pub enum Lever {
    Off,
    On,
}

fn main() {}

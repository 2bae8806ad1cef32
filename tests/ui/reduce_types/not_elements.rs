// What is reduced is no element, or the body gives another type.
gather_core::reduce_kernels! {
    static LAST = |kept: char, new: char| -> char { if new > kept { new } else { kept } };
    static MISMATCH = |kept: u8, new: u8| -> u8 { u16::from(kept) + u16::from(new) };
}

fn main() {}

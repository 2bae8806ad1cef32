// What is read or written is no element, and a parameter cannot be shared between threads.
gather_core::map_kernels! {
    static FROM_CHAR = |value: char| -> u32 { value as u32 };
    static TO_TEXT = |value: u8| -> &'static str { if value == 0 { "no" } else { "yes" } };
    static SHARED = |value: u8, with: *const u8| -> u8 { value + u8::from(with.is_null()) };
    static MISMATCH = |value: u8| -> f32 { value };
}

fn main() {}

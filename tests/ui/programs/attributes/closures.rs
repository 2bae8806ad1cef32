// Attributes on maps and on reductions.
#![forbid(unsafe_code)]

gather_core::map_kernels! {
    /// Wider.
    #[gather_tests_rewrite::exchanges(1, 2)]
    pub static WIDER = |value: u8| -> u32 { u32::from(value) };
    #[cfg_attr(all(), used)]
    static TWICE = |value: u8| -> u8 { value.wrapping_mul(2) };
}

gather_core::reduce_kernels! {
    #[gather_tests_rewrite::becomes()]
    pub static UNION = |kept: u64, new: u64| -> u64 { kept | new };
}

fn main() {
    let _ = (WIDER.name(), TWICE.name(), UNION.name());
}

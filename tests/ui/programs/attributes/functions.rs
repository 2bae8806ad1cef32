// Attributes on functions for declared shapes, and on their set.
#![forbid(unsafe_code)]

gather_core::specialize! {
    #[target_feature(enable = "avx2")]
    pub fn rows = gather(axis = 0) (f32[_, 16], u32[_]);
    #[cfg_attr(all(), gather_tests_rewrite::exchanges(16, 4096))]
    pub fn near = gather_elements(axis = 1) (f32[8, 16], u32[8, 4]);
    #[gather_tests_rewrite::becomes()]
    pub static SET;
}

fn main() {
    let _ = (rows, near, near_array, SET.name());
}

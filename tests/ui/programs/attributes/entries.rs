// Attributes on the entries of a list.
#![forbid(unsafe_code)]

gather_core::kernels! {
    pub static MY;
    elements: [
        #[gather_tests_rewrite::becomes(const __ELEMENT0: usize = 0;)]
        f32,
        #[cfg(all())]
        #[cfg_attr(all(), gather_tests_rewrite::becomes())]
        u64,
        #[inline]
        bool,
    ];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

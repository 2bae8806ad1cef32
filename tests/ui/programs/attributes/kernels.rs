// Attributes on a set that could be handed what `kernels!` emits, and exchange two literals in it.
#![forbid(unsafe_code)]

gather_core::kernels! {
    /// Kernels.
    #[gather_tests_rewrite::exchanges(4, 4096)]
    #[unsafe(no_mangle)]
    #[cfg_attr(all(), doc = "Of numbers.", gather_tests_rewrite::becomes())]
    #[cfg_attr(all(), cfg_attr(true, allow(unused), derive(Debug)))]
    #[cfg_attr(all(), 3)]
    #[cfg_attr]
    pub static MY;
    elements: [f32];
    indices: [i32];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let _ = MY.name();
}

// An attribute macro goes under the name of an attribute that may stand.
#![forbid(unsafe_code)]

mod first {
    use gather_tests_rewrite::becomes as deprecated;

    gather_core::kernels! {
        #[deprecated]
        pub static MY;
        elements: [f32];
        indices: [i32];
        ranks: 1;
        ops: [gather];
    }
}

mod second {
    use gather_tests_rewrite::becomes as allow;

    gather_core::kernels! {
        pub static MY;
        elements: [#[allow(unused)] f32 as x32];
        indices: [i32];
        ranks: 1;
        ops: [gather];
    }
}

fn main() {}

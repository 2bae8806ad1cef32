// Sets of every visibility, in modules, in a function and in a block; two of one name in two modules.
mod outer {
    pub mod inner {
        gather_core::kernels! {
            pub(super) static FOR_OUTER;
            elements: [u8];
            indices: [i32];
            ranks: 1;
            ops: [gather];
        }
        gather_core::kernels! {
            pub(in crate::kernels_visibility::outer) static FOR_OUTER_TOO;
            elements: [u8];
            indices: [i32];
            ranks: 1;
            ops: [gather];
        }
        gather_core::kernels! {
            pub(crate) static SAME;
            elements: [u8];
            indices: [i32];
            ranks: 1;
            ops: [gather];
        }
    }

    gather_core::kernels! {
        pub static SAME;
        elements: [u16];
        indices: [i32];
        ranks: 1;
        ops: [gather];
    }

    pub fn names() -> [&'static str; 2] {
        [inner::FOR_OUTER.name(), inner::FOR_OUTER_TOO.name()]
    }
}

#[test]
fn builds_and_runs() {
    gather_core::kernels! {
        static LOCAL;
        elements: [u16];
        indices: [i32];
        ranks: 1;
        ops: [gather];
    }
    let block = {
        gather_core::kernels!(
            static LOCAL;
            elements: [u32];
            indices: [i32];
            ranks: any;
            ops: [batch_to_space];
        );
        &LOCAL
    };
    assert_eq!(outer::names(), ["FOR_OUTER", "FOR_OUTER_TOO"]);
    assert_eq!([outer::SAME.name(), outer::inner::SAME.name()], ["SAME", "SAME"]);
    assert!(!std::ptr::eq(block, &LOCAL));
}

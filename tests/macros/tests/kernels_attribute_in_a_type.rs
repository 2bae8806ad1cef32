//! The length of a listed type has an attribute macro, and another one a macro. Each is called once.
#![forbid(unsafe_code)]

use gather_core::{DynView, Gather, Registry, View};
use gather_tests_rewrite::{in_turn, once};

gather_core::kernels! {
    static MY;
    elements: [
        [u8; {
            #[once]
            const N: usize = 3;
            N
        }],
        [u16; in_turn!(5, 48)],
        in_turn!([u32; 48], [u32; 7]),
        [u8; { const N: usize = 9; if N != 3 { N } else { 48 } }],
    ];
    indices: [i32];
    ranks: 1;
    ops: [gather, scatter_nd, batch_to_space];
}

#[test]
fn builds_and_runs() {
    let registry = const { &Registry::builtin().with(&MY) };
    let pixels = [[1u8, 2, 3], [4, 5, 6]];
    let (data, indices) = (View::new(&pixels, &[2]).unwrap(), View::new(&[1i32], &[1]).unwrap());
    let found = Gather::new(0).registry(registry).run(&DynView::from(&data), &DynView::from(&indices)).unwrap();
    assert_eq!(found.downcast::<[u8; 3]>().unwrap().as_slice(), [[4, 5, 6]]);
    for size in [3, 10, 28, 9] {
        assert!(registry.kernels().any(|row| row.dtype.size() == size), "no kernels for {size} bytes");
    }
}

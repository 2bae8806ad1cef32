//! Sizes that are other numbers each time that they are asked for: of each declaration there is one constant.
#![forbid(unsafe_code)]
#![allow(unused_braces)]

use gather_tests_rewrite::in_turn;

gather_core::specialize! {
    static SET;
    pub fn rows = gather(axis = 0) (u8[_, { in_turn!(3, 48, 7, 5) }], u32[{ in_turn!(1, 4, 2) }]);
    pub fn near = gather_elements(axis = 1) (u8[_, { in_turn!(3, 48, 7, 5) }], u8[_, { in_turn!(1, 4, 2) }]);
    pub fn tiles = batch_to_space(block = [1, { in_turn!(1, 2, 4) }]) (u8[8, _]);
}

#[test]
fn builds_and_runs() {
    let data = [7; 400];
    let mut taken = 0;
    for width in [3, 48, 7, 5] {
        for count in [1, 4, 2] {
            let mut out = vec![0; count * width];
            if rows(&data[..2 * width], &vec![1; count], &mut out).is_ok() {
                assert!(out.iter().all(|&value| value == 7));
                taken += 1;
            }
            let mut out = vec![0; 2 * count];
            if near(&data[..2 * width], &vec![0; 2 * count], &mut out).is_ok() {
                assert!(out.iter().all(|&value| value == 7));
                taken += 1;
            }
            let mut out = vec![0; 8 * width];
            if tiles(&data[..8 * width], &mut out).is_ok() {
                assert!(out.iter().all(|&value| value == 7));
                taken += 1;
            }
        }
    }
    assert!(taken > 2);
    assert!(gather_core::Registry::builtin().with(&SET).kernels().count() > 0);
}

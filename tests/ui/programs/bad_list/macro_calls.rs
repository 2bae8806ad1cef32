// A macro gives another type, or another length, to each place that asks, and these places must agree.
use gather_tests_rewrite::in_turn;

gather_core::kernels! {
    static MY;
    elements: [in_turn!(u8, [u8; 48]), [u8; in_turn!(3, 48)], [u8; { in_turn!(3, 48) }] as x8];
    indices: [i64];
    ranks: 1;
    ops: [gather];
}

fn main() {}

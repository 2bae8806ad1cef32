// A macro's type is listed by a name of its own, which it is asked for once.
use gather_core::Element;
use gather_tests_rewrite::in_turn;

type Turn = in_turn!([u8; 3], [u8; 48]);

gather_core::kernels! {
    static MY;
    elements: [Turn];
    indices: [i64];
    ranks: 1;
    ops: [gather];
}

fn main() {
    let registry = gather_core::Registry::builtin().with(&MY);
    let sizes: Vec<usize> = registry.kernels().filter(|row| row.dtype == Turn::DTYPE).map(|row| row.dtype.size()).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|&size| size == size_of::<Turn>()));
}

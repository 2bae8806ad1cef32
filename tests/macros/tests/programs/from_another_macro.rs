// Both macros within macros of one's own: fragments arrive in invisible groups.
macro_rules! set {
    ($(#[$attr:meta])* $vis:vis $name:ident, $last:literal, $op:ident, [$($ty:ty),*], [$($index:ty),*], $($list:tt)*) => {
        gather_core::kernels! {
            $(#[$attr])*
            $vis static $name;
            elements: [$($ty),*];
            indices: [$($index),*];
            ranks: 1..=$last, any;
            ops: [gather, $op];
            $($list)*
        }
    };
}

macro_rules! pair {
    ($name:ident, $ty:ty, $zero:expr, $krate:path) => {
        #[derive(Clone, Copy, gather_core::Element)]
        #[repr(C)]
        #[element(zero = $zero, crate = $krate)]
        pub struct $name {
            first: $ty,
            second: $ty,
        }
    };
}

pair!(Pair, [u8; 3], Pair { first: [1; 3], second: [2; 3] }, ::gather_core);

set!(
    /// A set.
    pub(crate) MY, 3, gather_nd, [Pair, f32, [u16; 5]], [i32, usize], widths: [rows];
);

#[test]
fn builds_and_runs() {
    // The names tell that `f32` was known: it is moved by its width.
    let registry = gather_core::Registry::builtin().with(&MY);
    let names: Vec<_> = registry.kernels().map(|row| row.name).collect();
    assert!(names.contains(&"gather_pair_i32_r3__scalar") && names.contains(&"gather_x32_usize_rn__scalar"));
    assert_eq!(<Pair as gather_core::Element>::ZERO.second, [2; 3]);
    assert_eq!(<Pair as gather_core::Element>::ZERO.first, [1; 3]);
}

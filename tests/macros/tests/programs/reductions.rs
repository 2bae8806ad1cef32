// Reductions under many lints, from another macro, in a module, used from outside.
#![deny(warnings, missing_docs, unsafe_code, unused, unused_qualifications, single_use_lifetimes, unused_lifetimes)]
#![forbid(unsafe_op_in_unsafe_fn)]

//! A strict crate.

use gather_core::{Reducer, ScatterElements, View, ViewMut};

/// Its reductions.
pub mod reductions {
    fn combine(kept: u8, new: u8) -> u8 {
        kept.max(new)
    }

    gather_core::reduce_kernels! {
        /// Calls a function whose name the expansion uses too.
        pub static MOST = |kept: u8, new: u8| -> u8 { combine(kept, new) };

        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        pub(crate) static early = |mut kept: u8, new: u8,| -> u8 {
            if new == 0 {
                return kept;
            }
            kept = kept.wrapping_mul(10).wrapping_add(new);
            kept
        };

        /// Not there.
        #[cfg(any())]
        pub static ABSENT = |kept: NotThere, new: NotThere| -> NotThere { new };
    }
}

macro_rules! unions {
    ($($name:ident: $ty:ty),*) => {
        gather_core::reduce_kernels! {$(
            /// Bits that either has.
            pub static $name = |kept: $ty, new: $ty| -> $ty { kept | new };
        )*}
    };
}

unions!(UNION_U8: u8, UNION_I64: i64);

fn reduced<T: gather_core::Element>(by: &Reducer<T>, data: [T; 2], new: [T; 3]) -> [T; 2] {
    let mut out = data;
    let op = ScatterElements::new(0);
    let (ids, new) = (View::new(&[1u8, 0, 1], &[3]).unwrap(), View::new(&new, &[3]).unwrap());
    op.reduce_by(by).run_on(&mut ViewMut::new(&mut out, &[2]).unwrap(), &ids, &new).unwrap();
    out
}

#[test]
fn builds_and_runs() {
    assert_eq!(reduced(&reductions::MOST, [5, 1], [7, 2, 3]), [5, 7]);
    // In their order.
    assert_eq!(reduced(&reductions::early, [0, 0], [7, 0, 3]), [0, 73]);
    assert_eq!(reduced(&UNION_U8, [1, 0], [2, 2, 4]), [3, 6]);
    assert_eq!(reduced(&UNION_I64, [1, 0], [2, 2, 4]), [3, 6]);
    assert_eq!((reductions::MOST.name(), UNION_I64.name()), ("MOST", "UNION_I64"));
}

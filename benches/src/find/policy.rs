//! Indices of several types, and the meaning of one that is negative or out of range, as plain loops resolve it.

use bytemuck::Pod;
use gather_core::{Index, NegativeIndex, OutOfBounds, ScatterOutOfBounds};

use crate::naive::from_end;

/// An index.
pub(super) trait Id: Index + Pod {
    /// The nearest index of the type.
    fn of(index: i64) -> Self;
    fn long(self) -> i64;
}

macro_rules! ids {
    ($($ty:ty)*) => {$(
        impl Id for $ty {
            fn of(index: i64) -> Self {
                index.clamp(<$ty>::MIN as i64, <$ty>::MAX as i64) as $ty
            }

            #[inline(always)]
            fn long(self) -> i64 {
                self as i64
            }
        }
    )*};
}
ids!(u8 i32 u32 i64);

/// The settings of a policy for negative indices and those out of range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) negative: NegativeIndex,
    pub(super) out_of_bounds: OutOfBounds,
    /// The same of scatters.
    pub(super) drops: ScatterOutOfBounds,
}

/// A policy.
pub(super) trait Policy: 'static {
    const RULES: Rules;

    /// The position of an index: `None` for an error, `Some(None)` for none.
    fn resolve<I: Id>(index: I, size: usize) -> Option<Option<usize>>;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $name:ident: $negative:ident, $out_of_bounds:ident, $drops:ident,
        |$index:ident, $size:ident| $resolve:expr;)*) => {$(
        $(#[$doc])*
        pub(super) enum $name {}

        impl Policy for $name {
            const RULES: Rules = Rules {
                negative: NegativeIndex::$negative,
                out_of_bounds: OutOfBounds::$out_of_bounds,
                drops: ScatterOutOfBounds::$drops,
            };

            #[inline(always)]
            fn resolve<I: Id>(index: I, $size: usize) -> Option<Option<usize>> {
                let $index = index.long();
                $resolve
            }
        }
    )*};
}
policies! {
    /// Negative indices count from the end; one out of range is an error.
    Fails: FromEnd, Error, Error, |index, size| from_end(index, size).map(Some);
    /// A negative index is an error too.
    Rejects: Reject, Error, Error, |index, size| ((index as u64) < size as u64).then_some(Some(index as usize));
    /// Negative indices count from the end; one out of range gives zeros, or is dropped.
    Fills: FromEnd, Zero, Drop, |index, size| Some(from_end(index, size));
    /// Negative indices count from the end; one out of range names the nearest row.
    Clamps: FromEnd, Clamp, Clamp, |index, size| {
        let index = if index < 0 { index + size as i64 } else { index };
        Some(Some(index.clamp(0, size as i64 - 1) as usize))
    };
    /// Indices are taken modulo the size.
    Wraps: FromEnd, Wrap, Wrap, |index, size| Some(Some(index.rem_euclid(size as i64) as usize));
}

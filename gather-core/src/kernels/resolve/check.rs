//! Checking indices without resolving them: whether none is negative or out of range.
//!
//! A scatter checks its indices before its first write. Most indices are valid, so the check stores nothing and takes
//! two operations per index.

use core::marker::PhantomData;
use core::ops::BitOr;

use num_traits::WrappingSub;

use crate::kernels::by_level::level_pointers;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::nest::plane::Indices;
use crate::types::index::Index;

/// Returns whether all indices are valid along an axis of a size. It may return `false` for valid indices.
pub(crate) type CheckFn = for<'a> fn((&'a Indices, i32)) -> bool;

/// [`CheckFn`], compiled for a level.
pub(crate) type CompiledCheckFn = for<'a> unsafe fn((&'a Indices, i32)) -> bool;

level_pointers! { for<'a> fn((&'a Indices, i32)) -> bool; }

/// The [`CheckFn`] for an index type, at a level.
#[inline(always)]
pub(crate) fn of<I: Index>(level: impl Token) -> CheckFn {
    match size_of::<I>() {
        4 => level.entry::<ArePositions<i32>>(),
        8 => level.entry::<ArePositions<i64>>(),
        // Indices of fewer bytes are not checked.
        _ => |_| false,
    }
}

/// Returns whether all indices, read as the signed type `I`, are valid: neither `x` nor `dim - 1 - x` is negative. An
/// unsigned index too large for `I` is negative.
pub(crate) struct ArePositions<I>(PhantomData<I>);

impl<I> LevelFn for ArePositions<I>
where
    I: Index + From<i32> + PartialOrd + BitOr<Output = I> + WrappingSub,
{
    type Args<'a> = (&'a Indices, i32);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (indices, dim): (&Indices, i32)) -> bool {
        let last = I::from(dim - 1);
        let signs = |indices: Indices| {
            (0..indices.n()).fold(I::ZERO, |signs, at| {
                let x = indices.read::<I>(at);
                signs | x | last.wrapping_sub(&x)
            })
        };
        // Contiguous indices are loaded by vectors.
        let signs = match indices.contiguous(size_of::<I>()) {
            Some(indices) => signs(indices),
            None => signs(*indices),
        };
        signs >= I::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::level_fn::Scalar;

    fn indices_of<I: Index>(values: &[I]) -> Indices {
        // SAFETY: the slice holds the values, and callers drop the result before the slice.
        unsafe { Indices::new(values.as_ptr().cast(), size_of::<I>() as isize, values.len()) }
    }

    fn is_taken<I: Index>(values: &[I], dim: i32) -> bool {
        of::<I>(Scalar)((&indices_of(values), dim))
    }

    #[test]
    fn positions_are_told_from_what_must_be_resolved() {
        for dim in [1, 7, i32::MAX] {
            let last = dim - 1;
            assert!(is_taken(&[0i64, last.into(), 0], dim) && is_taken(&[0u32, last as u32], dim));
            assert!(is_taken::<i32>(&[], dim));
            for bad in [-1, i64::from(dim), i64::MIN, i64::MAX, 1 << 32, i64::from(dim) - (1 << 32)] {
                assert!(!is_taken(&[0, bad, 0], dim), "{bad} of {dim}");
                assert!(!is_taken(&[0, bad as u64], dim), "{} of {dim}", bad as u64);
            }
            for bad in [-1, i32::MIN] {
                assert!(!is_taken(&[bad, 0], dim) && !is_taken(&[0, bad as u32], dim), "{bad} of {dim}");
            }
        }
        assert!(!is_taken(&[7i32], 7) && !is_taken(&[7u32], 7));
        assert!(!is_taken(&[0u16], 7) && !is_taken(&[0i8], 7));
        // Indices two apart.
        let apart = [0i32, 9, 0, 9, 0];
        for (first, valid) in [(0, true), (1, false)] {
            // SAFETY: every second of five values, from the first or the second on.
            let indices = unsafe { Indices::new(apart[first..].as_ptr().cast(), 8, 2) };
            assert_eq!(of::<i32>(Scalar)((&indices, 7)), valid);
        }
    }
}

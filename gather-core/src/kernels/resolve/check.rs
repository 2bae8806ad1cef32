//! Checking indices without resolving them: whether they are valid indices, none negative, none out of range.
//!
//! Most indices are. So the check ahead of the first write of a scatter writes nothing down, and takes two operations
//! an index.

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::resolve::ResolveJob;
use crate::types::index::Index;

/// Says whether all indices of a job are valid indices. It may say no where all are.
///
/// # Safety
/// K3 and K7 for the job.
pub(crate) type CheckFn = fn(&ResolveJob) -> bool;

/// The [`CheckFn`] for an index type, at a level.
#[inline(always)]
pub(crate) fn of<I: Index>(level: impl Token) -> CheckFn {
    match size_of::<I>() {
        4 => level.entry::<ArePositions<4>>(),
        8 => level.entry::<ArePositions<8>>(),
        _ => never,
    }
}

/// For indices of fewer bytes, which are not looked at.
fn never(_: &ResolveJob) -> bool {
    false
}

/// Says whether `n` indices of `BYTES` bytes, 4 or 8, are positions: whether `x` and `dim - 1 - x` have no sign. An
/// unsigned index too large for a signed one has one.
enum ArePositions<const BYTES: usize> {}

impl<const BYTES: usize> LevelFn for ArePositions<BYTES> {
    type Args<'a> = &'a ResolveJob;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, job: &ResolveJob) -> bool {
        // Contiguous ones are loaded by vectors.
        match job.stride == BYTES as isize {
            // SAFETY: the caller's promise.
            true => unsafe { are_positions::<BYTES>(job, BYTES as isize) },
            // SAFETY: as above.
            false => unsafe { are_positions::<BYTES>(job, job.stride) },
        }
    }
}

/// As [`ArePositions`], for indices that are `stride` bytes apart.
///
/// # Safety
/// As for [`ArePositions`]; the stride is the job's.
#[inline(always)]
unsafe fn are_positions<const BYTES: usize>(job: &ResolveJob, stride: isize) -> bool {
    debug_assert_eq!(stride, job.stride);
    let place = |at: usize| job.index.wrapping_offset(stride.wrapping_mul(at as isize));
    let last = job.dim - 1;
    if const { BYTES == 4 } {
        let mut signs = 0i32;
        for at in 0..job.n {
            // SAFETY: K3: one of the `n` indices.
            let x = unsafe { place(at).cast::<i32>().read_unaligned() };
            signs |= x | last.wrapping_sub(x);
        }
        signs >= 0
    } else {
        let (last, mut signs) = (i64::from(last), 0i64);
        for at in 0..job.n {
            // SAFETY: K3: one of the `n` indices.
            let x = unsafe { place(at).cast::<i64>().read_unaligned() };
            signs |= x | last.wrapping_sub(x);
        }
        signs >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::policy::IndexPolicy;

    fn job_of<I: Index>(values: &[I], dim: i32) -> ResolveJob {
        let (index, stride) = (values.as_ptr().cast(), size_of::<I>() as isize);
        ResolveJob { index, stride, n: values.len(), dim, policy: IndexPolicy::default(), out: core::ptr::null_mut() }
    }

    fn is_taken<I: Index>(values: &[I], dim: i32) -> bool {
        // SAFETY: the job is that of the values; the scalar level is everywhere.
        of::<I>(crate::kernels::level_fn::Scalar)(&job_of(values, dim))
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
        // Two apart.
        let apart = [0i32, 9, 0, 9, 0];
        for (first, valid) in [(0, true), (1, false)] {
            let job = ResolveJob { index: apart[first..].as_ptr().cast(), stride: 8, ..job_of(&apart[..2], 7) };
            // SAFETY: every second of five, from the first or the second on.
            assert_eq!(ArePositions::<4>::call(crate::kernels::level_fn::Scalar, &job), valid);
        }
    }
}

//! Indices that are positions as they stand: none is negative, and none out of range.
//!
//! Scatters take them from where they lie, where each is used once and they lie side by side. So no position is written
//! to be read again, and a check ahead of the first write takes as long as memory does.

use crate::kernels::isa::Isa;
use crate::kernels::resolve::ResolveJob;
use crate::types::index::Index;

/// Whether indices of a type can be read as positions of 32 bits, by their first bytes.
pub(crate) const fn is_wide_enough(bytes: usize) -> bool {
    cfg!(target_endian = "little") && matches!(bytes, 4 | 8)
}

/// Says whether all indices of a job, which lie side by side, are positions.
///
/// # Safety
/// K3 and K7 for the job.
pub(crate) type VerbatimFn = unsafe fn(&ResolveJob) -> bool;

/// What says it for an index type, at a level.
#[inline(always)]
pub(crate) fn of<I: Index, L: Isa>() -> VerbatimFn {
    match size_of::<I>() {
        4 => L::are_positions::<4>,
        8 => L::are_positions::<8>,
        _ => never,
    }
}

/// For indices that are narrower than positions.
unsafe fn never(_: &ResolveJob) -> bool {
    false
}

/// Says whether `n` indices of `BYTES` bytes, side by side, are positions: whether `x` and `dim - 1 - x` have no sign.
/// An unsigned index too large for a signed one has one.
///
/// # Safety
/// K3 for the job.
#[inline(always)]
pub(crate) unsafe fn are_positions<const BYTES: usize>(job: &ResolveJob) -> bool {
    debug_assert_eq!(job.stride, BYTES as isize, "indices side by side");
    let last = job.dim - 1;
    if const { BYTES == 4 } {
        let signs = (0..job.n).fold(0i32, |signs, at| {
            // SAFETY: K3: one of the `n` indices.
            let x = unsafe { job.index.cast::<i32>().wrapping_add(at).read_unaligned() };
            signs | x | last.wrapping_sub(x)
        });
        signs >= 0
    } else {
        let last = i64::from(last);
        let signs = (0..job.n).fold(0i64, |signs, at| {
            // SAFETY: K3: one of the `n` indices.
            let x = unsafe { job.index.cast::<i64>().wrapping_add(at).read_unaligned() };
            signs | x | last.wrapping_sub(x)
        });
        signs >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::policy::IndexPolicy;

    fn is_taken<I: Index>(values: &[I], dim: i32) -> bool {
        let index = values.as_ptr().cast();
        let (stride, policy, out) = (size_of::<I>() as isize, IndexPolicy::default(), core::ptr::null_mut());
        let job = ResolveJob { index, stride, n: values.len(), dim, policy, out };
        // SAFETY: the job is that of the values; the scalar level is everywhere.
        unsafe { of::<I, crate::kernels::isa::Scalar>()(&job) }
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
    }
}

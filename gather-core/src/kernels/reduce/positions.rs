//! From the indices of bags to positions, in 64 bits.

use crate::kernels::reduce::bag::{LEFT_OUT, ZEROS};
use crate::types::index::{Index, IndexType};
use crate::types::policy::{IndexPolicy, OutOfBounds};

/// The indices of all bags, one bag after the other: runs of them, an even step apart.
#[derive(Clone, Copy)]
pub(crate) struct BagIndices {
    pub(crate) index: *const u8,
    /// Indices of a run, at least 1 where there are any.
    pub(crate) run: usize,
    /// Bytes from an index to the next of its run, and from a run to the next.
    pub(crate) step: isize,
    pub(crate) outer: isize,
    /// The size of the axis.
    pub(crate) dim: i64,
    pub(crate) policy: IndexPolicy,
    /// The position whose rows are left out.
    pub(crate) padding: Option<i64>,
}

/// Resolves indices of bags from the `first` on, as many as there is room for; returns whether one was out of range where
/// that is an error.
///
/// # Safety
/// There are as many indices, each of which may be read as a value of the index type, at any alignment (K3).
pub(crate) type PositionsFn = unsafe fn(&BagIndices, first: usize, out: &mut [core::mem::MaybeUninit<i64>]) -> bool;

/// What resolves indices of a type that is known at run time.
pub(crate) fn positions_of(index: IndexType) -> PositionsFn {
    match index.fixed_width() {
        IndexType::I8 => positions::<i8>,
        IndexType::I16 => positions::<i16>,
        IndexType::I32 => positions::<i32>,
        IndexType::I64 | IndexType::Isize => positions::<i64>,
        IndexType::U8 => positions::<u8>,
        IndexType::U16 => positions::<u16>,
        IndexType::U32 => positions::<u32>,
        IndexType::U64 | IndexType::Usize => positions::<u64>,
    }
}

/// Resolves indices of type `I`.
///
/// # Safety
/// As for [`PositionsFn`].
pub(crate) unsafe fn positions<I: Index>(
    indices: &BagIndices,
    first: usize,
    out: &mut [core::mem::MaybeUninit<i64>],
) -> bool {
    let (mut bad, mut first, mut left) = (false, first, out);
    while !left.is_empty() {
        let (run, at) = (first / indices.run, first % indices.run);
        let (now, rest) = left.split_at_mut((indices.run - at).min(left.len()));
        let from = indices.index.wrapping_offset(indices.outer.wrapping_mul(run as isize));
        let from = from.wrapping_offset(indices.step.wrapping_mul(at as isize));
        first += now.len();
        // SAFETY: the caller's promise, for indices of one run.
        bad |= unsafe { resolve_run::<I>(indices, from, now) };
        left = rest;
    }
    bad
}

/// Resolves indices of one run.
///
/// # Safety
/// As for [`PositionsFn`], for the indices from `from` on.
unsafe fn resolve_run<I: Index>(
    indices: &BagIndices,
    from: *const u8,
    out: &mut [core::mem::MaybeUninit<i64>],
) -> bool {
    let BagIndices { dim, policy, step, padding, .. } = *indices;
    let (otherwise, is_bad) = match policy.out_of_bounds {
        OutOfBounds::Zero => (ZEROS, false),
        // Position 0, which every axis has that has any.
        OutOfBounds::Error | OutOfBounds::Clamp | OutOfBounds::Wrap => (if dim == 0 { LEFT_OUT } else { 0 }, true),
    };
    // No position is negative.
    let padding = padding.unwrap_or(LEFT_OUT);
    let mut missed = false;
    for (i, out) in out.iter_mut().enumerate() {
        let at = from.wrapping_offset(step.wrapping_mul(i as isize));
        // SAFETY: K3: an index of the run.
        let value = unsafe { at.cast::<I>().read_unaligned() };
        let position = if dim == 0 { None } else { policy.resolve(value, dim) };
        missed |= position.is_none();
        let position = position.unwrap_or(otherwise);
        out.write(if position == padding { LEFT_OUT } else { position });
    }
    missed && is_bad
}

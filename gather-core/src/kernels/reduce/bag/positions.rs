//! From the indices of bags to positions, in 64 bits.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::reduce::bag::{LEFT_OUT, ZEROS};
use crate::types::index::{Index, IndexType, by_index};
use crate::types::policy::{IndexPolicy, OutOfBounds};

/// The indices of all bags, one bag after the other: runs of them, an even step apart.
#[derive(Clone, Copy)]
pub struct BagIndices {
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
    /// Whether negative indices are left out too.
    pub(crate) skips_negative: bool,
}

/// Resolves indices of bags from the `first` on, as many as there is room for; returns whether one was out of range
/// where that is an error.
///
/// # Safety
/// There are as many indices, each of which may be read as a value of the index type, at any alignment (K3). K7.
pub(crate) type PositionsFn = for<'a> fn(PositionsArgs<'a>) -> bool;

/// [`PositionsFn`], compiled for a level.
pub(crate) type CompiledPositionsFn = for<'a> unsafe fn(PositionsArgs<'a>) -> bool;

level_pointers! { PositionsFn, CompiledPositionsFn; }

/// The indices, the first one, and where their positions go.
pub(crate) type PositionsArgs<'a> = (&'a BagIndices, usize, &'a mut [MaybeUninit<i64>]);

/// The functions that resolve indices of type `I`, by level.
pub(crate) const fn positions<I: Index>() -> ByLevel<CompiledPositionsFn> {
    by_level!(fn ResolveRuns<I>)
}

/// The function that resolves indices of a type that is known at run time.
pub(crate) fn positions_of(index: IndexType) -> ByLevel<CompiledPositionsFn> {
    by_index!(index, I => positions::<I>())
}

/// Resolves indices run by run.
struct ResolveRuns<I>(PhantomData<I>);

impl<I: Index> LevelFn for ResolveRuns<I> {
    type Args<'a> = PositionsArgs<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (indices, mut first, mut left): Self::Args<'_>) -> bool {
        let mut bad = false;
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
}

/// Resolves indices of one run.
///
/// # Safety
/// As for [`PositionsFn`], for the indices from `from` on.
#[inline(always)]
unsafe fn resolve_run<I: Index>(indices: &BagIndices, from: *const u8, out: &mut [MaybeUninit<i64>]) -> bool {
    let BagIndices { dim, policy, padding, .. } = *indices;
    let rule = IndexRule::new(policy.negative, dim);
    // Of an axis without positions, any index is out of range.
    let (otherwise, is_bad) = match policy.out_of_bounds {
        OutOfBounds::Zero => (ZEROS, false),
        // Position 0, which every axis has that has any.
        OutOfBounds::Error | OutOfBounds::Clamp | OutOfBounds::Wrap => (if dim == 0 { LEFT_OUT } else { 0 }, true),
    };
    let in_range = move |value: I| {
        let (x, inside) = rule.check(value);
        if inside { (x, false) } else { (otherwise, true) }
    };
    let is_position = move |value: I| match (dim > 0).then(|| policy.check(value, dim)) {
        Some((x, true)) => (x, false),
        _ => (otherwise, true),
    };
    let skip_negative = move |value: I| {
        if I::TYPE.is_signed() && value.widen() < 0 { (LEFT_OUT, false) } else { is_position(value) }
    };
    let missed = match policy.out_of_bounds {
        // SAFETY: the caller's promise.
        _ if indices.skips_negative => unsafe { each(indices, from, out, skip_negative) },
        // SAFETY: the caller's promise.
        OutOfBounds::Clamp | OutOfBounds::Wrap if dim > 0 => unsafe {
            each(indices, from, out, |value: I| (policy.check(value, dim).0, false))
        },
        // SAFETY: the caller's promise.
        _ => unsafe { each(indices, from, out, in_range) },
    };
    if let Some(padding) = padding {
        for position in out.iter_mut() {
            // SAFETY: written above.
            let found = unsafe { position.assume_init() };
            position.write(if found == padding { LEFT_OUT } else { found });
        }
    }
    missed && is_bad
}

/// Makes a position of each index; returns whether one was out of range.
///
/// # Safety
/// As for [`PositionsFn`], for the indices from `from` on.
#[inline(always)]
unsafe fn each<I: Index>(
    indices: &BagIndices,
    from: *const u8,
    out: &mut [MaybeUninit<i64>],
    position: impl Fn(I) -> (i64, bool),
) -> bool {
    // As wide as positions, so that vectors of both have as many elements.
    let mut missed = 0;
    let mut all = |step: isize| {
        for (i, out) in out.iter_mut().enumerate() {
            let at = from.wrapping_offset(step.wrapping_mul(i as isize));
            // SAFETY: K3: an index of the run.
            let (position, is_missed) = position(unsafe { at.cast::<I>().read_unaligned() });
            missed |= i64::from(is_missed);
            out.write(position);
        }
    };
    // A step that is a constant leaves a loop that compilers vectorise.
    if indices.step == size_of::<I>() as isize {
        all(size_of::<I>() as isize)
    } else {
        all(indices.step)
    }
    missed != 0
}

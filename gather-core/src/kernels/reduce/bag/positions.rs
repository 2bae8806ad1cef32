//! From the indices of bags to positions, in 64 bits.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::reduce::bag::{LEFT_OUT, ZEROS};
use crate::types::index::{Index, IndexType, by_compiled_index};
use crate::types::policy::{KernelPolicy, Missing};

/// The indices of all bags, one bag after the other, and the rule that makes positions of them.
#[derive(Clone, Copy)]
pub struct BagIndices {
    /// K3: `n` indices may be read along these.
    runs: IndexRuns,
    n: usize,
    rule: BagRule,
}

/// Where indices are: runs of them, an even step apart.
#[derive(Clone, Copy)]
pub(crate) struct IndexRuns {
    pub(crate) index: *const u8,
    /// Indices of a run, at least 1 where there are any.
    pub(crate) run: usize,
    /// Bytes from an index to the next of its run, and from a run to the next.
    pub(crate) step: isize,
    pub(crate) outer: isize,
}

/// The rule of a call of bags.
#[derive(Clone, Copy)]
pub(crate) struct BagRule {
    /// The size of the axis.
    pub(crate) dim: i64,
    pub(crate) policy: KernelPolicy,
    /// The position whose rows are left out.
    pub(crate) padding: Option<i64>,
    /// Whether negative indices are left out too.
    pub(crate) skips_negative: bool,
}

impl BagIndices {
    /// `n` indices.
    ///
    /// # Safety
    /// K3: as long as there is the value, each of the first `n` indices of the runs may be read, at any alignment, as a
    /// value of the index type whose functions are given them.
    pub(crate) unsafe fn new(runs: IndexRuns, n: usize, rule: BagRule) -> Self {
        debug_assert!(n == 0 || runs.run > 0, "a run without indices");
        BagIndices { runs, n, rule }
    }

    /// The number of indices.
    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }
}

/// Resolves indices of bags from the `first` on, as many as there is room for; returns whether one was out of range
/// where that is an error.
pub(crate) type PositionsFn = for<'a> fn(PositionsArgs<'a>) -> bool;

/// [`PositionsFn`], compiled for a level.
pub(crate) type CompiledPositionsFn = for<'a> unsafe fn(PositionsArgs<'a>) -> bool;

level_pointers! { for<'a> fn(PositionsArgs<'a>) -> bool; }

/// The indices, the first one, and where their positions go.
pub(crate) type PositionsArgs<'a> = (&'a BagIndices, usize, &'a mut [MaybeUninit<i64>]);

/// The functions that resolve indices of type `I`, by level.
pub(crate) const fn positions<I: Index>() -> ByLevel<CompiledPositionsFn> {
    by_level!(fn ResolveRuns<I>)
}

/// The function that resolves indices of a type that is known at run time; `None` where the library does not hold it.
#[inline(never)]
pub(crate) fn positions_of(index: IndexType) -> Option<ByLevel<CompiledPositionsFn>> {
    by_compiled_index!(index, I => positions::<I>())
}

/// Resolves indices run by run.
struct ResolveRuns<I>(PhantomData<I>);

impl<I: Index> LevelFn for ResolveRuns<I> {
    type Args<'a> = PositionsArgs<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (indices, mut first, mut left): Self::Args<'_>) -> bool {
        assert!(left.len() <= indices.n && first <= indices.n - left.len(), "fewer indices than positions");
        let runs = &indices.runs;
        let mut bad = false;
        while !left.is_empty() {
            // Divisions take as long as the rest of a short call.
            let (run, at) = if first < runs.run { (0, first) } else { (first / runs.run, first % runs.run) };
            let (now, rest) = left.split_at_mut((runs.run - at).min(left.len()));
            let from = runs.index.wrapping_offset(runs.outer.wrapping_mul(run as isize));
            let from = from.wrapping_offset(runs.step.wrapping_mul(at as isize));
            first += now.len();
            // SAFETY: K3: from index `at` of the run on, as many as are left of it, and not more than `n` in all.
            let from = unsafe { IndexRun::<I>::new(from, runs.step, now.len()) };
            bad |= resolve_run(&indices.rule, &from, now);
            left = rest;
        }
        bad
    }
}

/// Some indices of one run.
struct IndexRun<I> {
    from: *const u8,
    step: isize,
    n: usize,
    index: PhantomData<I>,
}

impl<I: Index> IndexRun<I> {
    /// # Safety
    /// `n` values of `I` may be read, at any alignment, `step` bytes apart.
    #[inline(always)]
    unsafe fn new(from: *const u8, step: isize, n: usize) -> Self {
        IndexRun { from, step, n, index: PhantomData }
    }

    /// Makes a position of each index; returns whether one was out of range.
    #[inline(always)]
    fn each(&self, out: &mut [MaybeUninit<i64>], position: impl Fn(I) -> (i64, bool)) -> bool {
        debug_assert_eq!(self.n, out.len(), "a position for each index");
        // As wide as positions, so that vectors of both have as many elements.
        let mut missed = 0;
        let mut all = |step: isize| {
            for (i, out) in out.iter_mut().enumerate() {
                let at = self.from.wrapping_offset(step.wrapping_mul(i as isize));
                // SAFETY: an index of the run, as there are `n`.
                let (position, is_missed) = position(unsafe { at.cast::<I>().read_unaligned() });
                missed |= i64::from(is_missed);
                out.write(position);
            }
        };
        // A step that is a constant leaves a loop that compilers vectorise.
        if self.step == size_of::<I>() as isize {
            all(size_of::<I>() as isize)
        } else {
            all(self.step)
        }
        missed != 0
    }
}

/// Resolves indices of one run.
#[inline(always)]
fn resolve_run<I: Index>(by: &BagRule, run: &IndexRun<I>, out: &mut [MaybeUninit<i64>]) -> bool {
    let BagRule { dim, policy, padding, skips_negative } = *by;
    let rule = IndexRule::new(policy, dim);
    let (otherwise, is_bad) = match policy.missing {
        Missing::Fill => (ZEROS, false),
        Missing::Skip => (LEFT_OUT, false),
        // Position 0, which every axis has that has any.
        Missing::Fail => (if dim == 0 { LEFT_OUT } else { 0 }, true),
    };
    let in_range = move |value: I| {
        let (x, inside) = rule.check(value);
        if inside { (x, false) } else { (otherwise, true) }
    };
    let remapped = move |value: I| match policy.check(value, dim) {
        (x, true) => (x, false),
        _ => (otherwise, true),
    };
    let skip_negative = move |value: I| {
        if I::TYPE.is_signed() && value.widen() < 0 { (LEFT_OUT, false) } else { remapped(value) }
    };
    let missed = match policy.remap {
        _ if skips_negative => run.each(out, skip_negative),
        Some(_) => run.each(out, remapped),
        None => run.each(out, in_range),
    };
    if let Some(padding) = padding {
        for position in out.iter_mut() {
            // SAFETY: `each` has written all of them.
            let found = unsafe { position.assume_init() };
            position.write(if found == padding { LEFT_OUT } else { found });
        }
    }
    missed && is_bad
}

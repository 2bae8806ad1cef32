//! Positions from the indices of bags, in 64 bits.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::nest::plane::Indices;
use crate::kernels::reduce::bag::{SKIP, ZERO_ROW};
use crate::types::element::Unaligned;
use crate::types::index::{Index, IndexType, by_compiled_index};
use crate::types::level::Available;
use crate::types::policy::{KernelPolicy, Missing};

/// The indices of all bags in order, and the rule that resolves them.
#[derive(Clone, Copy)]
pub(crate) struct BagIndices<'a> {
    /// K3: the address of the first index; all indices of the runs may be read.
    index: *const u8,
    runs: &'a IndexRuns,
    rule: &'a BagRule,
}

/// The layout of indices: evenly spaced runs of evenly spaced indices.
#[derive(Clone, Copy)]
pub(crate) struct IndexRuns {
    pub(crate) n: usize,
    /// Indices per run, at least 1 if `n > 0`.
    pub(crate) run: usize,
    /// Bytes between the indices of a run.
    pub(crate) step: isize,
    /// Bytes between runs.
    pub(crate) outer: isize,
}

impl IndexRuns {
    /// The address of index `at`, given the address of index 0, and the indices from there to the end of its run.
    #[inline(always)]
    pub(crate) fn at(&self, index: *const u8, at: usize) -> (*const u8, usize) {
        // A division takes as long as all other work of a short call.
        let (run, at) = if at < self.run { (0, at) } else { (at / self.run, at % self.run) };
        let index = index.wrapping_offset(self.outer.wrapping_mul(run as isize));
        (index.wrapping_offset(self.step.wrapping_mul(at as isize)), self.run - at)
    }
}

/// The rule for the indices of a call.
#[derive(Clone, Copy)]
pub(crate) struct BagRule {
    pub(crate) dim: i64,
    pub(crate) policy: KernelPolicy,
    /// The position whose rows are skipped.
    pub(crate) padding: Option<i64>,
    pub(crate) skips_negative: bool,
    pub(crate) all_count: bool,
    /// Whether `all_count`, and an index out of range is an error.
    pub(crate) is_plain: bool,
}

impl BagRule {
    pub(crate) fn new(dim: usize, policy: KernelPolicy, padding: Option<usize>, skips_negative: bool) -> Self {
        let all_count = padding.is_none() && !skips_negative && policy.missing != Missing::Skip && dim > 0;
        let is_plain = all_count && policy.fails() && policy.remap.is_none();
        let (dim, padding) = (dim as i64, padding.map(|row| row as i64));
        BagRule { dim, policy, padding, skips_negative, all_count, is_plain }
    }
}

impl<'a> BagIndices<'a> {
    /// The indices of the runs.
    ///
    /// # Safety
    /// K3: while the value exists, each of the `n` indices of the runs may be read, at any alignment. They are
    /// values of the index type of the functions that get them.
    #[inline(always)]
    pub(crate) unsafe fn new(index: *const u8, runs: &'a IndexRuns, rule: &'a BagRule) -> Self {
        debug_assert!(runs.n == 0 || runs.run > 0, "a run without indices");
        BagIndices { index, runs, rule }
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.runs.n
    }

    /// Asserts that `first..first + n` is in range.
    #[inline(always)]
    fn assert_holds(&self, first: usize, n: usize) {
        assert!(n <= self.runs.n && first <= self.runs.n - n, "fewer indices than positions");
    }
}

/// Resolves the indices of bags from a first one on, one per position of the buffer. Returns whether an index is out of
/// range, if the policy makes that an error.
pub(crate) type PositionsFn = for<'a> fn(PositionsArgs<'a>) -> bool;

pub(crate) type CompiledPositionsFn = for<'a> unsafe fn(PositionsArgs<'a>) -> bool;

level_pointers! { for<'a> fn(PositionsArgs<'a>) -> bool; }

/// The indices, the number of the first, and the buffer of their positions.
pub(crate) type PositionsArgs<'a> = (BagIndices<'a>, usize, &'a mut [MaybeUninit<i64>]);

/// The functions that resolve indices of a type.
pub struct PositionsFns {
    /// For one contiguous run under a plain rule, as in most calls.
    plain: ByLevel<CompiledPositionsFn>,
    any: ByLevel<CompiledPositionsFn>,
    size: usize,
}

impl PositionsFns {
    pub(crate) const fn of<I: Index>() -> &'static Self {
        const { &PositionsFns { plain: by_level!(fn Resolve<I>), any: by_level!(fn ResolveRuns<I>), size: size_of::<I>() } }
    }

    /// The functions of an index type known at run time; `None` if the library does not hold them.
    #[inline(never)]
    pub(crate) fn of_index(index: IndexType) -> Option<&'static Self> {
        by_compiled_index!(index, I => Self::of::<I>())
    }

    /// The function of a level for indices along `runs`.
    #[inline(always)]
    pub(crate) fn at(&self, runs: &IndexRuns, rule: &BagRule, level: Available) -> PositionsFn {
        let is_plain = rule.is_plain && runs.run >= runs.n && runs.step == self.size as isize;
        if is_plain { &self.plain } else { &self.any }.at(level)
    }
}

/// Resolves contiguous indices of one run, under a plain rule.
struct Resolve<I>(PhantomData<I>);

impl<I: Index> LevelFn for Resolve<I> {
    type Args<'a> = PositionsArgs<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (indices, first, left): Self::Args<'_>) -> bool {
        let BagIndices { index, runs, rule } = indices;
        indices.assert_holds(first, left.len());
        assert!(rule.is_plain && runs.step == size_of::<I>() as isize && runs.n <= runs.run, "runs of another kind");
        let from = index.cast::<Unaligned<I>>().wrapping_add(first);
        // SAFETY: K3: by the assertions above, the indices are in the only run, and contiguous.
        let from = unsafe { core::slice::from_raw_parts(from, left.len()) };
        // The flag is 64-bit like positions, so that vectors of both have the same number of lanes.
        let (rule, mut missed) = (IndexRule::new(rule.policy, rule.dim), 0);
        for (value, out) in from.iter().zip(left) {
            let (x, inside) = rule.check(value.0);
            missed |= i64::from(!inside);
            out.write(if inside { x } else { 0 });
        }
        missed != 0
    }
}

struct ResolveRuns<I>(PhantomData<I>);

impl<I: Index> LevelFn for ResolveRuns<I> {
    type Args<'a> = PositionsArgs<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (indices, mut first, mut left): Self::Args<'_>) -> bool {
        let BagIndices { index, runs, rule } = indices;
        indices.assert_holds(first, left.len());
        let mut bad = false;
        while !left.is_empty() {
            let (from, more) = runs.at(index, first);
            let (now, rest) = left.split_at_mut(more.min(left.len()));
            first += now.len();
            // SAFETY: K3: `now.len()` values of `I` (`BagIndices::new`), in one run, and in range by `assert_holds`.
            let from = unsafe { Indices::new(from, runs.step, now.len()) };
            bad |= resolve_run::<I>(rule, from, now);
            left = rest;
        }
        bad
    }
}

/// Resolves each index by `position`; returns whether any is missed.
#[inline(always)]
fn resolve_each<I: Index>(indices: Indices, out: &mut [MaybeUninit<i64>], position: impl Fn(I) -> (i64, bool)) -> bool {
    assert_eq!(indices.n(), out.len(), "a position for each index");
    // The flag is 64-bit like positions, so that vectors of both have the same number of lanes.
    let mut missed = 0;
    for (i, out) in out.iter_mut().enumerate() {
        let (position, is_missed) = position(indices.read(i));
        missed |= i64::from(is_missed);
        out.write(position);
    }
    missed != 0
}

#[inline(always)]
fn resolve_run<I: Index>(by: &BagRule, run: Indices, out: &mut [MaybeUninit<i64>]) -> bool {
    let &BagRule { dim, policy, padding, skips_negative, .. } = by;
    let rule = IndexRule::new(policy, dim);
    let (otherwise, is_bad) = match policy.missing {
        Missing::Fill => (ZERO_ROW, false),
        Missing::Skip => (SKIP, false),
        // Position 0 exists in every non-empty axis.
        Missing::Fail => (if dim == 0 { SKIP } else { 0 }, true),
    };
    let or_skip = |value: I, (x, inside): (i64, bool)| {
        let is_skipped = I::TYPE.is_signed() && skips_negative && value.widen() < 0;
        (
            if is_skipped {
                SKIP
            } else if inside {
                x
            } else {
                otherwise
            },
            !inside && !is_skipped,
        )
    };
    // A constant step lets compilers vectorise the loop.
    let missed = match run.contiguous(size_of::<I>()) {
        Some(run) if policy.remap.is_none() => resolve_each(run, out, |value| or_skip(value, rule.check(value))),
        _ => resolve_each(run, out, |value| or_skip(value, policy.check(value, dim))),
    };
    if let Some(padding) = padding {
        for position in out.iter_mut() {
            // SAFETY: `resolve_each` has initialised all positions.
            let found = unsafe { position.assume_init() };
            position.write(if found == padding { SKIP } else { found });
        }
    }
    missed && is_bad
}

//! The bodies of scatters: indices are resolved as for a gather, then rows go to a [`RowConsumer`].
//!
//! ```text
//! take single elements by their indices, if there is a function for it; else
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless the previous block had the same indices)
//!     skip rows out of range                   (`ScatterOutOfBounds::Drop` only), and rows of other threads
//!     pass its rows to the consumer
//! ```
//!
//! If each index is used once, blocks are short: the processor resolves the next indices while it waits for memory. In
//! rounds, the consumer also gets the rows of the next block, to prefetch.

use crate::kernels::nest::args::{Cursor, IndexArgs, KernelSpec, Loop};

use crate::kernels::bodies::direct::resolve_tuple;
use crate::kernels::bodies::{Body, State};
use crate::kernels::levels::Isa;
use crate::kernels::nest::plane::{Plane, Strip};
use crate::kernels::nest::positions::{BLOCK, Block, Positions};
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};
use crate::kernels::prefetch::{LINE, NextSlice, prefetch};
use crate::kernels::reduce::scatter::{
    ChosenRows, Ends, FusedScatterFns, IndexedElements, IndexedJob, RowConsumer, STREAM_AHEAD, SelectedRows,
    StridedUpdates,
};
use crate::kernels::resolve::block::ResolveFns;
use crate::kernels::resolve::check::{self, CheckFn};
use crate::types::index::Index;
use crate::types::method::Method;

/// The body of a scatter's kernel, by its plan's method. Kernels of every rank share this function. The consumer has
/// the reduction.
#[inline(never)]
#[must_use]
pub(crate) fn scatter_body<I: Index, L: Isa>(args: &IndexArgs<'_>) -> Body {
    match args.spec().method {
        Method::Direct => direct_scattered::<I>,
        _ if const { L::LEVEL.is_fallback() } => scattered::<I, L, BLOCK>,
        Method::Prefetched => scattered_in_rounds::<I, L>,
        Method::Chunks => scattered::<I, L, CHUNK_OF_SCATTERS>,
        _ => scattered::<I, L, BLOCK>,
    }
}

/// Runs a plane of a scatter in blocks of up to `N` rows.
#[inline(never)]
fn scattered<I: Index, L: Isa, const N: usize>(state: &mut State, plane: Plane<'_>) {
    const { assert!(N <= BLOCK) };
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    in_blocks(state, plane, &Resolver::of::<I, L>(level), N);
}

/// [`scattered`] in blocks of up to `most` rows. Only `resolver` depends on the index type and the level.
#[inline(never)]
fn in_blocks(state: &mut State, plane: Plane<'_>, resolver: &Resolver, most: usize) {
    let (args, spec, consumer) = (plane.args(), plane.spec(), consumer(plane));
    if consumer.only_checks() {
        return check(state, plane, resolver);
    }
    if let Some(by_index) = consumer.by_index() {
        if spec.components.len() == 1 {
            // SAFETY: a scatter's plane carries K3, K4, S1, S2 and S3. S4: `by_index` is for the plan's types.
            let job = unsafe { IndexedJob::new(indexed(plane, resolver)) };
            let out_of_range = by_index.reduce(&job);
            return state.took(plane, out_of_range);
        }
        return by_tuple(state, plane, resolver, by_index);
    }
    let (outer, inner, mut which, mut missed) = (args.outer(), args.inner(), SelectedRows::new(), false);
    let ahead = spec.outer_prefetch_distance;
    for strip in plane.strips() {
        if ahead != 0 {
            let later = strip.at().skip(outer, ahead);
            prefetch(later.index, inner.index.unsigned_abs().saturating_mul(inner.n));
            prefetch(later.out, inner.out.unsigned_abs().saturating_mul(inner.n));
        }
        for start in (0..strip.n()).step_by(most) {
            let block = strip.part(start, most);
            let (rows, _) = state.resolve(&block, block.n() == strip.n(), resolver.fns, NextSlice::NONE);
            if most == CHUNK_OF_SCATTERS {
                prefetch_streams(&block);
                strip.next_slice(start).fetch_steps(block.n());
            }
            missed |= rows.in_range().is_none();
            consumer.take(chosen(spec, &rows, &mut which), None);
        }
    }
    state.took(plane, missed);
}

impl State {
    /// Counts the rows of a scatter's plane as done, unless an index was `missed` and that is an error.
    fn took(&mut self, plane: Plane<'_>, missed: bool) {
        if !missed || !plane.spec().policy.fails() {
            self.done += plane.rows();
        }
    }
}

/// The elements of a plane, taken by their indices.
#[inline(always)]
fn indexed(plane: Plane<'_>, resolver: &Resolver) -> IndexedElements {
    let (args, spec, strip, at) = (plane.args(), plane.spec(), plane.first(), plane.at());
    let (component, inner) = (&spec.components[0], args.inner());
    debug_assert_eq!(spec.components.len(), 1, "S4");
    IndexedElements {
        n: inner.n,
        outer: *args.outer(),
        index: at.index.wrapping_offset(component.index),
        dim: component.dim as u64,
        policy: spec.policy,
        index_bytes: resolver.index_bytes,
        is_signed: resolver.is_signed,
        updates: at.out,
        index_step: inner.index,
        updates_step: inner.out,
        destination: at.data.cast_mut(),
        stride: args.stride(),
        destination_step: inner.data,
        next: strip.next_slice(0),
    }
}

/// Rows per chunk, for short rows by indices that are each used once. The processor reaches the next indices before all
/// earlier rows have arrived (workload `index_add/4M_into_64K_scalars`).
const CHUNK_OF_SCATTERS: usize = 128;

/// Takes the elements of a plane whose inner loop does not move the index tuple (S4).
#[inline(never)]
fn by_tuple(state: &mut State, plane: Plane<'_>, resolver: &Resolver, by_index: &FusedScatterFns) {
    let (outer, inner) = (plane.args().outer(), plane.args().inner());
    debug_assert_eq!(inner.index, 0, "S4");
    let (planes, stays) = if outer.index == 0 { (1, *outer) } else { (outer.n, Loop::ONCE) };
    let mut missed = false;
    for strip in plane.strips().take(planes) {
        let (row, _) = state.resolve(&strip.take(1), false, resolver.fns, NextSlice::NONE);
        if row.in_range().is_some() {
            let mut at = Cursor { data: row.source(0), ..strip.at() };
            for _ in 0..stays.n {
                let first = Ends { updates: at.out, destination: at.data.cast_mut() };
                // SAFETY: S1 to S4: the tuple is in range, and neither the inner loop nor `stays` moves it.
                by_index.reduce_stepped(unsafe { StridedUpdates::new(first, [inner.out, inner.data], inner.n) });
                at = at.step(&stays);
            }
        } else {
            missed = true;
        }
    }
    state.took(plane, missed);
}

/// Prefetches indices [`STREAM_AHEAD`] bytes after a strip, and updates if they are contiguous and short.
#[inline(always)]
fn prefetch_streams(strip: &Strip<'_>) {
    let (inner, row, at, n) = (strip.args().inner(), strip.spec().row, strip.at(), strip.n());
    prefetch(at.index.wrapping_add(STREAM_AHEAD), n * inner.index.unsigned_abs().min(LINE));
    if inner.out == row as isize && row < LINE {
        prefetch(at.out.wrapping_add(STREAM_AHEAD), n * row);
    }
}

/// Runs a plane of a scatter in rounds: the rows of the next round are prefetched while a round is taken.
#[inline(never)]
fn scattered_in_rounds<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    in_rounds(state, plane, &Resolver::of::<I, L>(level));
}

/// [`scattered_in_rounds`]; only `resolver` depends on the index type and the level.
#[inline(never)]
fn in_rounds(state: &mut State, plane: Plane<'_>, resolver: &Resolver) {
    let consumer = consumer(plane);
    if consumer.only_checks() {
        return check(state, plane, resolver);
    }
    let State { positions, block, .. } = state;
    let (mut other_positions, mut other_block, mut missed) = (Positions::new(), Block::new(), false);
    let (mut which, mut other_which) = (SelectedRows::new(), SelectedRows::new());
    let mut these = ScatterRound { positions, block, which: &mut which };
    let mut next = ScatterRound { positions: &mut other_positions, block: &mut other_block, which: &mut other_which };
    for strip in plane.strips() {
        missed |= rounds(consumer, strip, resolver.fns, &mut these, &mut next);
    }
    state.took(plane, missed);
}

struct ScatterRound<'a> {
    positions: &'a mut Positions,
    block: &'a mut Block,
    which: &'a mut SelectedRows,
}

/// Runs the inner loop in rounds; returns whether an index was out of range.
#[inline(always)]
fn rounds<'a>(
    consumer: &RowConsumer,
    mut left: Strip<'_>,
    fns: ResolveFns,
    these: &mut ScatterRound<'a>,
    next: &mut ScatterRound<'a>,
) -> bool {
    let spec = left.spec();
    let (mut round, mut out_of_range) = (left.take(0), false);
    loop {
        let after = left.part(0, spec.prefetch_distance.clamp(1, BLOCK));
        out_of_range |= next.block.resolve(next.positions, &after, fns);
        left = left.skip(after.n());
        prefetch_streams(&after);
        // SAFETY: the previous iteration resolved these positions, if any, and swapped the buffers.
        let rows = unsafe { ResolvedRows::new(&round, these.positions.as_ptr(), NextSlice::NONE, *these.block) };
        // SAFETY: `next.block.resolve` has just written the positions of `after`.
        let later = unsafe { ResolvedRows::new(&after, next.positions.as_ptr(), NextSlice::NONE, *next.block) };
        consumer.take(chosen(spec, &rows, these.which), Some(chosen(spec, &later, next.which)));
        core::mem::swap(these, next);
        if after.n() == 0 || (these.block.has_bad() && spec.policy.fails()) {
            return out_of_range;
        }
        round = after;
    }
}

/// The rows of a resolved block whose index is in range; no rows if an index is out of range and that is an error.
#[inline(always)]
fn chosen<'a>(spec: &KernelSpec, rows: &'a ResolvedRows<'_>, which: &'a mut SelectedRows) -> ChosenRows<'a> {
    let listed = if rows.n() == 0 || rows.in_range().is_some() {
        None
    } else if spec.policy.fails() {
        Some(&[][..])
    } else {
        which.choose(rows);
        Some(which.rows())
    };
    // SAFETY: S1 to S3 for rows of a strip of the scatter: all are in range, or `listed` has only rows in range.
    unsafe { ChosenRows::new(rows, listed) }
}

/// The functions that resolve and check indices of a type at a level.
struct Resolver {
    fns: ResolveFns,
    check: CheckFn,
    index_bytes: usize,
    is_signed: bool,
}

impl Resolver {
    #[inline(always)]
    fn of<I: Index, L: Isa>(level: L) -> Self {
        Resolver {
            fns: level.resolve_fns::<I>(),
            check: check::of::<I>(level),
            index_bytes: size_of::<I>(),
            is_signed: I::TYPE.is_signed(),
        }
    }
}

/// Checks the indices of a plane without taking its rows. Resolves only blocks that `resolver.check` does not accept.
#[inline(never)]
fn check(state: &mut State, plane: Plane<'_>, resolver: &Resolver) {
    let planes = if plane.args().outer().index == 0 { 1 } else { plane.args().outer().n };
    let mut missed = false;
    for strip in plane.strips().take(planes) {
        for start in (0..strip.n()).step_by(BLOCK) {
            let block = strip.part(start, BLOCK);
            if let [component] = plane.spec().components.as_slice()
                && (resolver.check)((&block.indices(component), component.dim as i32))
            {
                continue;
            }
            let (rows, _) = state.resolve(&block, block.n() == strip.n(), resolver.fns, NextSlice::NONE);
            missed |= rows.in_range().is_none();
        }
    }
    state.took(plane, missed);
}

/// Runs a plane of a scatter row by row, in 64 bits.
#[inline(never)]
fn direct_scattered<I: Index>(state: &mut State, plane: Plane<'_>) {
    let (consumer, mut missed) = (consumer(plane), false);
    for mut strip in plane.strips() {
        while strip.n() > 0 {
            match resolve_tuple::<I>(&strip, &plane.spec().components) {
                Some(position) => take_row(consumer, &strip, position),
                None => missed = true,
            }
            strip.step();
        }
    }
    state.took(plane, missed);
}

/// Takes the first row of a strip at a position in range.
#[inline(never)]
fn take_row(consumer: &RowConsumer<'_>, strip: &Strip<'_>, position: i64) {
    let zero = 0;
    // SAFETY: `direct_scattered` passes a position that `resolve_tuple` found in range; `zero` is 0.
    let rows = unsafe { MoveJob::of_one(strip, position, &zero) }.resolved();
    // SAFETY: S1 to S3 for a row of a strip of the scatter, whose position is in range.
    consumer.take(unsafe { ChosenRows::new(&rows, None) }, None);
}

#[inline(always)]
fn consumer<'a>(plane: Plane<'a>) -> &'a RowConsumer<'a> {
    // SAFETY: S3: `params` of a scatter is a `RowConsumer` that outlives the call.
    unsafe { &*plane.args().params().cast::<RowConsumer>() }
}

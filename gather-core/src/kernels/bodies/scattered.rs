//! The bodies of scatters: indices are resolved as for a gather, then their rows go to a [`Sink`].
//!
//! ```text
//! take single elements by their indices, where there is a function that does; else
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless they are those of the block before)
//!     leave out rows out of range              (`ScatterOutOfBounds::Drop` only), and those of other threads
//!     hand its rows to the sink
//! ```
//!
//! Blocks are short where each index is used once: so the processor resolves the next ones while it waits for memory.
//! In rounds, the rows of the next block are handed over too, to be prefetched.

use crate::kernels::args::{Cursor, IndexArgs, Loop};
use crate::kernels::bodies::blocks::{next_slice, resolve_block};
use crate::kernels::bodies::direct::resolve_tuple;
use crate::kernels::bodies::{Body, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::prefetch::{LINE, NextSlice, prefetch};
use crate::kernels::reduce::scatter::{
    Chosen, Ends, IndexedElements, IndexedFns, IndexedJob, STREAM_AHEAD, Sink, SteppedRows, Which,
};
use crate::kernels::resolve::ResolveJob;
use crate::kernels::resolve::block::{BLOCK, Block, Positions, ResolveFns};
use crate::kernels::resolve::check::{self, CheckFn};
use crate::types::index::Index;
use crate::types::method::Method;
use crate::types::policy::OutOfBounds;

/// The body of a scatter's kernel, by its plan's method: a function of its own, as [`body`](super::body) is. The
/// reduction is the sink's.
#[inline(never)]
#[must_use]
pub(crate) fn scatter_body<I: Index, L: Isa>(args: &IndexArgs<'_>) -> Body {
    match args.spec.method {
        Method::Direct => direct_scattered::<I>,
        _ if const { L::LEVEL.is_fallback() } => scattered::<I, L, BLOCK>,
        Method::Prefetched => scattered_in_rounds::<I, L>,
        Method::Chunks => scattered::<I, L, CHUNK_OF_SCATTERS>,
        _ => scattered::<I, L, BLOCK>,
    }
}

/// Runs a plane of a scatter in blocks of up to `N` rows.
///
/// # Safety
/// As for [`Body`](super::Body), with the contract of a scatter.
unsafe fn scattered<I: Index, L: Isa, const N: usize>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    const { assert!(N <= BLOCK) };
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise.
    unsafe { in_blocks(state, args, at, &Resolver::of::<I, L>(level), N) }
}

/// As [`scattered`], for an index type and a level that only resolving knows.
///
/// # Safety
/// As for [`scattered`]; a block has up to `most` rows, which are at most [`BLOCK`].
#[inline(never)]
unsafe fn in_blocks(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, resolver: &Resolver, most: usize) {
    // SAFETY: S3.
    let sink = unsafe { sink(args) };
    if sink.only_checks() {
        // SAFETY: the caller's promise.
        return unsafe { check(state, args, *at, resolver) };
    }
    if let Some(by_index) = sink.by_index() {
        if args.spec.components.len() == 1 {
            // SAFETY: the contract of a scatter for the plane: S4.
            let job = unsafe { IndexedJob::new(indexed(args, *at, resolver)) };
            state.out_of_range |= by_index.reduce(&job);
            return;
        }
        // SAFETY: the caller's promise; S4.
        return unsafe { by_tuple(state, args, *at, resolver, by_index) };
    }
    let (outer, inner, mut plane, mut which) = (args.outer(), args.inner(), *at, Which::new());
    let ahead = args.spec.outer_prefetch_distance;
    for _ in 0..outer.n {
        if ahead != 0 {
            let later = plane.skip(outer, ahead);
            prefetch(later.index, inner.index.unsigned_abs().saturating_mul(inner.n));
            prefetch(later.out, inner.out.unsigned_abs().saturating_mul(inner.n));
        }
        for start in (0..inner.n).step_by(most) {
            let (at, n) = (plane.skip(inner, start), (inner.n - start).min(most));
            // SAFETY: K2 and K3 for `n` indices from here on.
            unsafe { resolve_block(state, args, at.index, n, resolver.fns) };
            if most == CHUNK_OF_SCATTERS {
                ask_for_streams(args, at, n);
                next_slice(args, plane, start).fetch_steps(n);
            }
            let rows = MoveJob::new(args, at, state.positions.as_ptr(), n, NextSlice::NONE);
            // SAFETY: the contract of a scatter for these rows, whose positions have just been resolved.
            let rows = unsafe { chosen(args, &rows, &state.block, &mut which) };
            sink.take(rows, None);
        }
        plane = plane.step(outer);
    }
}

/// The plane at a cursor, whose elements are taken by their indices.
#[inline(always)]
fn indexed(args: &IndexArgs<'_>, at: Cursor, resolver: &Resolver) -> IndexedElements {
    let (component, inner) = (&args.spec.components[0], args.inner());
    debug_assert_eq!(args.spec.components.len(), 1, "S4");
    IndexedElements {
        n: inner.n,
        outer: *args.outer(),
        index: at.index.wrapping_offset(component.index),
        dim: component.dim as u64,
        policy: args.spec.policy,
        index_bytes: resolver.index_bytes,
        is_signed: resolver.is_signed,
        updates: at.out,
        index_step: inner.index,
        updates_step: inner.out,
        destination: at.data.cast_mut(),
        stride: args.stride,
        destination_step: inner.data,
        next: next_slice(args, at, 0),
    }
}

/// Rows of a chunk: each index of a short row is used once, and the processor sees the next ones before it has all that
/// these wait for (workload `index_add/4M_into_64K_scalars`).
const CHUNK_OF_SCATTERS: usize = 128;

/// Takes the elements of a plane whose inner loop stays at one tuple of indices: the tuple is resolved, and all of the
/// loop has its position.
///
/// # Safety
/// As for [`in_blocks`]; S4 for `by_index`.
#[inline(never)]
unsafe fn by_tuple(
    state: &mut State,
    args: &IndexArgs<'_>,
    mut plane: Cursor,
    resolver: &Resolver,
    by_index: &IndexedFns,
) {
    let (outer, inner) = (args.outer(), args.inner());
    debug_assert_eq!(inner.index, 0, "S4");
    let (planes, stays) = if outer.index == 0 { (1, *outer) } else { (outer.n, Loop::ONCE) };
    for _ in 0..planes {
        // SAFETY: K2 and K3 for the tuple.
        unsafe { resolve_block(state, args, plane.index, 1, resolver.fns) };
        if !state.block.has_bad() {
            // SAFETY: the position has just been resolved.
            let position = unsafe { state.positions.as_ptr().read() };
            let data = plane.data.wrapping_offset(args.stride.wrapping_mul(position as isize));
            let mut at = Cursor { data, ..plane };
            for _ in 0..stays.n {
                let first = Ends { updates: at.out, destination: at.data.cast_mut() };
                // SAFETY: the contract of a scatter for these elements, which the tuple reaches.
                by_index.reduce_stepped(unsafe { SteppedRows::new(first, [inner.out, inner.data], inner.n) });
                at = at.step(&stays);
            }
        }
        plane = plane.step(outer);
    }
}

/// Prefetches the indices and updates of a few iterations, those that follow `n` of the inner loop, where they are
/// contiguous.
#[inline(always)]
fn ask_for_streams(args: &IndexArgs<'_>, at: Cursor, n: usize) {
    let (inner, row) = (args.inner(), args.spec.row);
    prefetch(at.index.wrapping_add(STREAM_AHEAD), n * inner.index.unsigned_abs().min(LINE));
    if inner.out == row as isize && row < LINE {
        prefetch(at.out.wrapping_add(STREAM_AHEAD), n * row);
    }
}

/// Runs a plane of a scatter in rounds: the rows of the next indices are prefetched while those of some are taken.
///
/// # Safety
/// As for [`Body`](super::Body), with the contract of a scatter.
unsafe fn scattered_in_rounds<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise.
    unsafe { in_rounds(state, args, at, &Resolver::of::<I, L>(level)) }
}

/// As [`scattered_in_rounds`], for an index type and a level that only resolving knows.
///
/// # Safety
/// As for [`scattered_in_rounds`].
#[inline(never)]
unsafe fn in_rounds(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, resolver: &Resolver) {
    // SAFETY: S3.
    let sink = unsafe { sink(args) };
    if sink.only_checks() {
        // SAFETY: the caller's promise.
        return unsafe { check(state, args, *at, resolver) };
    }
    let (outer, mut plane) = (args.outer(), *at);
    let State { positions, block, out_of_range, .. } = state;
    let (mut other_positions, mut other_block) = (Positions::new(), Block::new());
    let (mut which, mut other_which) = (Which::new(), Which::new());
    let mut these = Round { positions, block, which: &mut which };
    let mut next = Round { positions: &mut other_positions, block: &mut other_block, which: &mut other_which };
    for _ in 0..outer.n {
        // SAFETY: the caller's promise, for the inner loop.
        *out_of_range |= unsafe { rounds(args, sink, plane, resolver.fns, &mut these, &mut next) };
        plane = plane.step(outer);
    }
}

/// The indices of a round.
struct Round<'a> {
    positions: &'a mut Positions,
    block: &'a mut Block,
    which: &'a mut Which,
}

/// Runs the inner loop in rounds; returns whether an index was out of range.
///
/// # Safety
/// As for [`scattered_in_rounds`].
#[inline(always)]
unsafe fn rounds<'a>(
    args: &IndexArgs<'_>,
    sink: &Sink,
    mut at: Cursor,
    fns: ResolveFns,
    these: &mut Round<'a>,
    next: &mut Round<'a>,
) -> bool {
    let (inner, round) = (args.inner(), args.spec.prefetch_distance.clamp(1, BLOCK));
    let (mut n, mut left, mut out_of_range) = (0, inner.n, false);
    loop {
        let (after, n_next) = (at.skip(inner, n), left.min(round));
        // SAFETY: K2 and K3 for these indices; they are at most a block.
        out_of_range |= unsafe { next.block.resolve(next.positions, args, after.index, n_next, fns) };
        left -= n_next;
        ask_for_streams(args, after, n_next);
        let rows = MoveJob::new(args, at, these.positions.as_ptr(), n, NextSlice::NONE);
        let later = MoveJob::new(args, after, next.positions.as_ptr(), n_next, NextSlice::NONE);
        // SAFETY: the contract of a scatter for these rows, whose positions were resolved in the round before, if there
        // are any.
        let rows = unsafe { chosen(args, &rows, these.block, these.which) };
        // SAFETY: the contract of a scatter for these rows, whose positions have just been resolved.
        let later = unsafe { chosen(args, &later, next.block, next.which) };
        sink.take(rows, Some(later));
        core::mem::swap(these, next);
        if n_next == 0 || (these.block.has_bad() && args.spec.policy.out_of_bounds == OutOfBounds::Error) {
            return out_of_range;
        }
        (at, n) = (after, n_next);
    }
}

/// The rows of a resolved block that are taken: those whose index is in range. None where one that is not is an error.
///
/// # Safety
/// The contract of a scatter for the rows, at most a block, whose positions have been resolved into `block`.
#[inline(always)]
unsafe fn chosen<'a>(args: &IndexArgs<'_>, rows: &'a MoveJob, block: &Block, which: &'a mut Which) -> Chosen<'a> {
    let has_bad = rows.n > 0 && block.has_bad();
    let listed = match args.spec.policy.out_of_bounds {
        _ if !has_bad => None,
        OutOfBounds::Error => Some(&[][..]),
        _ => {
            // SAFETY: the positions have been written.
            unsafe { which.choose(rows, |position| block.is_bad(position)) };
            Some(which.rows())
        }
    };
    // SAFETY: the contract of a scatter: those whose position is not in range are left out.
    unsafe { Chosen::new(rows, listed) }
}

/// The functions that resolve indices of a type at a level, and that check them.
struct Resolver {
    fns: ResolveFns,
    check: CheckFn,
    index_bytes: usize,
    /// Whether the index type has values below 0.
    is_signed: bool,
}

impl Resolver {
    #[inline(always)]
    fn of<I: Index, L: Isa>(level: L) -> Self {
        Resolver {
            fns: ResolveFns::of::<I, L>(level),
            check: check::of::<I>(level),
            index_bytes: size_of::<I>(),
            is_signed: I::TYPE.is_signed(),
        }
    }
}

/// Checks the indices of a plane, whose rows are not taken: those that are not valid are resolved.
///
/// # Safety
/// K2, K3 and K7 for the plane.
unsafe fn check(state: &mut State, args: &IndexArgs<'_>, mut plane: Cursor, resolver: &Resolver) {
    let (outer, inner) = (args.outer(), args.inner());
    let planes = if outer.index == 0 { 1 } else { outer.n };
    for _ in 0..planes {
        for start in (0..inner.n).step_by(BLOCK) {
            let (index, n) = (plane.skip(inner, start).index, (inner.n - start).min(BLOCK));
            if let [component] = args.spec.components.as_slice() {
                let job = ResolveJob::new(core::ptr::null_mut(), args, component, index, n);
                if (resolver.check)(&job) {
                    continue;
                }
            }
            // SAFETY: K2 and K3 for these indices.
            unsafe { resolve_block(state, args, index, n, resolver.fns) };
        }
        plane = plane.step(outer);
    }
}

/// Runs a plane of a scatter row by row, in 64 bits.
///
/// # Safety
/// As for [`Body`](super::Body), with the contract of a scatter.
unsafe fn direct_scattered<I: Index>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: S3.
    let sink = unsafe { sink(args) };
    let (outer, inner, mut plane) = (args.outer(), args.inner(), *at);
    for _ in 0..outer.n {
        let mut at = plane;
        for _ in 0..inner.n {
            // SAFETY: K2 and K3 for this index.
            match unsafe { resolve_tuple::<I>(args, &args.spec.components, at.index) } {
                // SAFETY: the contract of a scatter for this row.
                Some(position) => unsafe { take_row(args, sink, at, position) },
                None => state.out_of_range = true,
            }
            at = at.step(inner);
        }
        plane = plane.step(outer);
    }
}

/// Takes a row.
///
/// # Safety
/// The contract of a scatter for this row, whose position is in range.
#[inline(never)]
unsafe fn take_row(args: &IndexArgs<'_>, sink: &Sink, at: Cursor, position: i64) {
    let data = at.data.wrapping_offset(args.stride.wrapping_mul(position as isize));
    let zero = 0i32;
    let rows = MoveJob::new(args, Cursor { data, ..at }, &raw const zero, 1, NextSlice::NONE);
    // SAFETY: the contract of a scatter for this row, whose position is in its address already.
    sink.take(unsafe { Chosen::new(&rows, None) }, None);
}

/// The sink of a scatter.
///
/// # Safety
/// S3.
#[inline(always)]
unsafe fn sink<'a>(args: &IndexArgs<'a>) -> &'a Sink<'a> {
    // SAFETY: the caller's promise.
    unsafe { &*args.params.cast::<Sink>() }
}

//! Prefetched: while the rows of some indices are moved, those of the next ones are prefetched.
//!
//! ```text
//! for each round:
//!     resolve its indices
//!     for each of its rows:   prefetch it, move a row of the round before
//! move the rows of the last round
//! ```
//!
//! A processor has a number of cache misses in flight, if they are known early enough. So rows are prefetched a whole
//! round ahead, also where one round ends and the next begins.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::State;
use crate::kernels::bodies::filled::move_some;
use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::{FillRow, SelectFn};
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::moves::prefetch::{LINE, NextSlice, prefetch};
use crate::kernels::moves::prefetching::{MovePrefetching, MovePrefetchingFn};
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::moves::{ByWay, MoveJob};
use crate::kernels::resolve::TupleJob;
use crate::kernels::resolve::block::{BLOCK, Block, Positions, ResolveFns};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// Bytes by which indices are prefetched: among rows that come from anywhere, the hardware stops to follow them
/// (workload `gather/rows64B_1Mx16_1M`).
const INDICES_AHEAD: usize = 4 << 10;
/// The most bytes of a tuple that is prefetched. Longer ones the hardware follows, and to prefetch them takes time
/// (workload `gather_nd/k3_elems_128x128x128_1M`).
const MOST_ASKED: usize = 16;

/// The body of [`Method::Prefetched`](crate::Method::Prefetched).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn prefetched<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    let row = args.spec.row;
    let way = Way { move_rows: W::by_way(row, AtLevel(level)), select: W::select(level, row) };
    // SAFETY: the caller's promise.
    unsafe { planes(level, state, args, at, way, ResolveFns::of::<I, L>(level)) }
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for short rows.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn streamed<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    let way = Way { move_rows: level.entry::<StreamRows>(), select: None };
    // SAFETY: the caller's promise; K9: the rows are long enough.
    unsafe { planes(level, state, args, at, way, ResolveFns::of::<I, L>(level)) };
    stream::fence();
}

/// [`MovePrefetching`] at a level.
struct AtLevel<L>(L);

impl<L: Isa> ByWay for AtLevel<L> {
    type Fn = MovePrefetchingFn;

    #[inline(always)]
    fn of<C: CopyRow>(self) -> MovePrefetchingFn {
        self.0.entry::<MovePrefetching<C>>()
    }
}

/// How rows are moved. `select` is that of the width, where there is one that does as `move_rows` does.
#[derive(Clone, Copy)]
struct Way {
    move_rows: MovePrefetchingFn,
    select: Option<SelectFn>,
}

/// Runs a plane. Only `fns` know the index type.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MovePrefetchingFn`]; `fns` are those of the kernel's index type.
#[inline(never)]
unsafe fn planes<L: Isa>(level: L, state: &mut State, args: &IndexArgs<'_>, at: &Cursor, way: Way, fns: ResolveFns) {
    let (outer, mut at) = (args.outer(), *at);
    for _ in 0..outer.n {
        // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
        let done = unsafe { run_tuples(level, state, args, at, way, fns) };
        if !done {
            // SAFETY: as above.
            unsafe { run(level, state, args, at, way, fns) };
        }
        at = at.step(outer);
    }
}

/// Runs the inner loop.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run<L: Isa>(level: L, state: &mut State, args: &IndexArgs<'_>, at: Cursor, way: Way, fns: ResolveFns) {
    let State { positions, block, out_of_range, fill, .. } = state;
    let mut other = Positions::new();
    let mut rooms = [positions, &mut other];
    let (inner, round) = (args.inner(), round(args));

    let mut left = inner.n;
    let mut rolling = Rolling::new(level, args, at, way, fill);
    while left > 0 {
        let (index, n) = (rolling.at.index, left.min(round));
        // SAFETY: K2 and K3 for these indices; they are at most a block.
        *out_of_range |= unsafe { block.resolve(rooms[0], args, index, n, fns) };
        left -= n;
        ask_for_indices(index, inner.index, n, LINE);
        // SAFETY: the caller's promise; the positions have been written.
        if !unsafe { rolling.go_on(rooms[0].as_ptr(), n, block) } {
            return;
        }
        rooms.swap(0, 1);
    }
    // SAFETY: the caller's promise.
    unsafe { rolling.finish() };
}

/// Runs the inner loop by one call of the level for all rounds. Only tuples that are contiguous are run so, by levels
/// that have a way of their own for as many components. For others nothing is done, and `false` returned.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run_tuples<L: Isa>(
    level: L,
    state: &mut State,
    args: &IndexArgs<'_>,
    at: Cursor,
    way: Way,
    fns: ResolveFns,
) -> bool {
    let Some(resolve_tuples) = fns.of_tuples(args) else {
        return false;
    };
    let State { positions, block, out_of_range, fill, .. } = state;
    let mut other = Positions::new();
    let mut rooms = [positions.as_mut_ptr(), other.as_mut_ptr()];
    let job = TupleJob {
        index: at.index,
        n: args.inner().n,
        chunk: round(args),
        components: &args.spec.components,
        policy: args.spec.policy,
        rooms,
    };
    let mut rolling = Rolling::new(level, args, at, way, fill);
    let mut goes_on = true;
    let mut each = |n, bad| {
        ask_for_indices(rolling.at.index, args.inner().index, n, MOST_ASKED);
        block.note(bad);
        *out_of_range |= bad;
        // SAFETY: the caller's promise; the positions of these rows have been written.
        goes_on = unsafe { rolling.go_on(rooms[0], n, block) };
        rooms.swap(0, 1);
        goes_on
    };
    let done = resolve_tuples((&job, &mut each));
    if done && goes_on {
        // SAFETY: the caller's promise.
        unsafe { rolling.finish() };
    }
    done
}

/// Prefetches the indices that follow `n` from `index` on after [`INDICES_AHEAD`] bytes, if they lie at most `most`
/// bytes apart.
#[inline(always)]
fn ask_for_indices(index: *const u8, step: isize, n: usize, most: usize) {
    if (1..=most as isize).contains(&step) {
        prefetch(index.wrapping_add(INDICES_AHEAD), n * step as usize);
    }
}

/// Rows of a round.
#[inline(always)]
fn round(args: &IndexArgs<'_>) -> usize {
    args.spec.prefetch_distance.clamp(1, BLOCK)
}

/// The inner loop on its way: the rows of a round are moved while those of the next round are prefetched.
struct Rolling<'a, L> {
    args: &'a IndexArgs<'a>,
    /// The cursor of the round that is resolved next.
    at: Cursor,
    /// The rows that were prefetched last, and which of their indices are out of range.
    asked: MoveJob,
    block: Block,
    way: Way,
    fill: &'a mut FillRow,
    level: L,
}

impl<'a, L: Isa> Rolling<'a, L> {
    /// The loop at its start: no rows have been prefetched.
    #[inline(always)]
    fn new(level: L, args: &'a IndexArgs<'a>, at: Cursor, way: Way, fill: &'a mut FillRow) -> Self {
        let asked = MoveJob::new(args, at, core::ptr::null(), 0, NextSlice::NONE);
        Rolling { args, at, asked, block: Block::new(), way, fill, level }
    }

    /// Prefetches the rows of a round of `n` indices, which have been resolved as `block` says, and moves those of the
    /// round before; returns whether to go on: not where an index is out of range and that is an error.
    ///
    /// # Safety
    /// As for [`planes`], for these rows; `positions` holds their positions up to the end of the next call.
    #[inline(never)]
    unsafe fn go_on(&mut self, positions: *const i32, n: usize, block: &Block) -> bool {
        let next = MoveJob::new(self.args, self.at, positions, n, NextSlice::NONE);
        // SAFETY: K1, K2, K4, K6 and K7 for the rows of both whose positions are in range; others are only prefetched.
        unsafe { self.move_asked(&next) };
        self.block = *block;
        (self.at, self.asked) = (self.at.skip(self.args.inner(), n), next);
        !(block.has_bad() && self.args.spec.policy.out_of_bounds == OutOfBounds::Error)
    }

    /// Moves the rows of the last round.
    ///
    /// # Safety
    /// As for [`Rolling::go_on`].
    #[inline(never)]
    unsafe fn finish(&mut self) {
        // SAFETY: the caller's promise; nothing is prefetched.
        unsafe { self.move_asked(&MoveJob { n: 0, ..self.asked }) };
    }

    /// Moves the rows that were prefetched last, and prefetches those of `ahead`.
    ///
    /// # Safety
    /// As for [`Rolling::go_on`].
    #[inline(always)]
    unsafe fn move_asked(&mut self, ahead: &MoveJob) {
        let Way { move_rows, select } = self.way;
        if !self.block.has_bad() {
            return move_rows((&self.asked, ahead));
        }
        let nothing = |job: &MoveJob| MoveJob { n: 0, ..*job };
        move_rows((&nothing(ahead), ahead));
        let mut move_rows = |job: &MoveJob| move_rows((job, &nothing(job)));
        let (asked, block) = (self.asked, self.block);
        // SAFETY: the contract of these rows, which were resolved into the block.
        unsafe { move_some(self.level, self.args, &asked, &block, self.fill, select, &mut move_rows) };
    }
}

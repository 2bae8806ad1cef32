//! Prefetched: the rows of a round of indices are moved while the rows of the next round are prefetched.
//!
//! ```text
//! for each round:
//!     resolve its indices
//!     for each of its rows:   prefetch it, move a row of the previous round
//! move the rows of the last round
//! ```
//!
//! A processor has several cache misses in flight if their addresses are known early. So rows are prefetched a whole
//! round ahead.

use crate::kernels::bodies::filled::{MoveBy, Moves, Short};
use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::FillRow;
use crate::kernels::moves::prefetching::{MovePrefetching, MovePrefetchingFn};
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::nest::args::KernelSpec;
use crate::kernels::nest::plane::{Plane, Strip};
use crate::kernels::nest::positions::{BLOCK, Positions};
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::prefetch::{LINE, NextSlice, prefetch};
use crate::kernels::resolve::TupleJob;
use crate::kernels::resolve::block::ResolveFns;
use crate::types::index::Index;

/// Bytes ahead at which indices are prefetched: among rows from random addresses, the hardware stops following the
/// indices (workload `gather/rows64B_1Mx16_1M`).
const INDICES_AHEAD: usize = 4 << 10;
/// Maximum bytes of a tuple to prefetch. The hardware follows longer tuples, and prefetching them takes time (workload
/// `gather_nd/k3_elems_128x128x128_1M`).
const MOST_PREFETCHED_OF_A_TUPLE: usize = 16;

/// The body of [`Method::Prefetched`](crate::Method::Prefetched).
#[inline(never)]
pub(super) fn prefetched<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    planes(state, plane, prefetching::<W, L>(level, plane.spec().row), level.resolve_fns::<I>());
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for short rows.
#[inline(never)]
pub(super) fn streamed<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    planes(state, plane, streaming(level), level.resolve_fns::<I>());
    stream::fence();
}

/// The [`Way`] of a width, for rows of `row` bytes. Bodies of every index type share this function.
#[inline(never)]
fn prefetching<W: IndexWidth, L: Isa>(level: L, row: usize) -> Way {
    (W::by_way::<MovePrefetching>(level, row), Short::select::<W>(level, row))
}

#[inline(never)]
fn streaming<L: Isa>(level: L) -> Way {
    (level.entry::<StreamRows>(), Short::blend(level))
}

/// The function that moves rows, and how short rows are filled.
type Way = (MovePrefetchingFn, Short);

/// Runs a plane. Only `fns` depend on the index type.
#[inline(never)]
fn planes(state: &mut State, plane: Plane<'_>, way: Way, fns: ResolveFns) {
    for strip in plane.strips() {
        if !run_tuples(state, &strip, way, fns) {
            run(state, &strip, way, fns);
        }
    }
}

#[inline(always)]
fn run(state: &mut State, strip: &Strip<'_>, way: Way, fns: ResolveFns) {
    let State { positions, block, done, fill, .. } = state;
    let mut other = Positions::new();
    let mut buffers = [positions, &mut other];
    let mut rolling = Rolling::new(strip, way, (done, fill));
    while rolling.left.n() > 0 {
        let round = rolling.left.part(0, round(strip.spec()));
        block.resolve(buffers[0], &round, fns);
        prefetch_indices(&round, LINE);
        // SAFETY: `resolve` has just written the positions. The next round is resolved into the other buffer, and these
        // rows are moved before this buffer is written again.
        let rows = unsafe { ResolvedRows::new(&round, buffers[0].as_ptr(), NextSlice::NONE, *block) };
        if !rolling.advance(&rows) {
            return;
        }
        buffers.swap(0, 1);
    }
    rolling.finish();
}

/// Runs the inner loop by one call for all rounds. Does nothing, and returns `false`, unless tuples are contiguous and
/// the level has a function for their number of components.
#[inline(always)]
fn run_tuples(state: &mut State, strip: &Strip<'_>, way: Way, fns: ResolveFns) -> bool {
    let Some(resolve_tuples) = fns.of_tuples(strip.spec()) else {
        return false;
    };
    let State { positions, block, done, fill, .. } = state;
    let mut other = Positions::new();
    let job = TupleJob::new(strip, round(strip.spec()), [positions, &mut other]);
    let mut buffers = job.buffers();
    let mut rolling = Rolling::new(strip, way, (done, fill));
    let mut continues = true;
    let mut each = |n, bad| {
        let round = rolling.left.take(n);
        prefetch_indices(&round, MOST_PREFETCHED_OF_A_TUPLE);
        block.note(bad);
        // SAFETY: by `TuplesFn`, the positions of these tuples are in `buffers[0]`. The next chunk goes to the other
        // buffer, and these rows are moved before this buffer is written again.
        let rows = unsafe { ResolvedRows::new(&round, buffers[0], NextSlice::NONE, *block) };
        continues = rolling.advance(&rows);
        buffers.swap(0, 1);
        continues
    };
    let resolved = resolve_tuples((&job, &mut each));
    if resolved && continues {
        rolling.finish();
    }
    resolved
}

/// Prefetches indices [`INDICES_AHEAD`] bytes after a round, if indices are at most `most` bytes apart.
#[inline(always)]
fn prefetch_indices(round: &Strip<'_>, most: usize) {
    let step = round.args().inner().index;
    if (1..=most as isize).contains(&step) {
        prefetch(round.at().index.wrapping_add(INDICES_AHEAD), round.n() * step as usize);
    }
}

#[inline(always)]
fn round(spec: &KernelSpec) -> usize {
    spec.prefetch_distance.clamp(1, BLOCK)
}

/// A running inner loop: the rows of a round are moved while the rows of the next round are prefetched.
struct Rolling<'a> {
    /// The iterations whose rows have not been prefetched.
    left: Strip<'a>,
    /// The rows prefetched last.
    prefetched: ResolvedRows<'a>,
    way: Way,
    /// The number of rows moved or filled.
    done: &'a mut usize,
    fill: &'a mut FillRow,
}

impl<'a> Rolling<'a> {
    #[inline(always)]
    fn new(strip: &Strip<'a>, way: Way, (done, fill): (&'a mut usize, &'a mut FillRow)) -> Self {
        Rolling { left: *strip, prefetched: ResolvedRows::none(strip), way, done, fill }
    }

    /// Prefetches the rows of the next round, and moves the rows of the previous round. Returns `false` if an index of
    /// the next round is out of range and that is an error.
    #[inline(never)]
    fn advance(&mut self, next: &ResolvedRows<'a>) -> bool {
        self.move_prefetched(next);
        self.prefetched = *next;
        self.left = self.left.skip(next.n());
        !(next.block().has_bad() && self.left.spec().policy.fails())
    }

    #[inline(never)]
    fn finish(&mut self) {
        self.move_prefetched(&self.prefetched.without_rows());
    }

    /// Moves the rows prefetched last, and prefetches `ahead`.
    #[inline(always)]
    fn move_prefetched(&mut self, ahead: &ResolvedRows<'_>) {
        let ((move_rows, short), prefetched) = (self.way, self.prefetched);
        *self.done += prefetched.n();
        if let Some(job) = prefetched.in_range() {
            return move_rows((job, ahead));
        }
        move_rows((&ahead.nothing(), ahead));
        Moves { rows: MoveBy::Later(move_rows), short }.move_or_fill(self.left.args(), &prefetched, self.fill);
    }
}

//! Reductions of segments: adjacent updates with the same target.
//!
//! ```text
//! for each segment, and each chunk of columns:
//!     sums = the destination if `include_self`, else the first update    (in registers)
//!     for each other update, in order:    sums (op)= the update
//!     the destination = sums, rounded or divided
//! ```
//!
//! So neither a record nor the destination is accessed between two updates of a segment. One loop finds and reduces the
//! segments of rows of one element.
//!
//! # The contract
//!
//! - **A2** Each [`Segment`] has at least one row of updates as in S1, `step` bytes apart, and a row of the destination
//!   as in S2. No two segments have the same row. The same holds for the segments of equal positions of a
//!   [`SinglesJob`]; its positions ascend.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
#[cfg(target_arch = "x86_64")]
use crate::kernels::prefetch;
use crate::kernels::reduce::accumulate::Accumulate;
use crate::kernels::reduce::scatter::accumulators::{by_columns, columns};
use crate::kernels::reduce::scatter::rows::{Ends, SCALAR_CHUNK};
use crate::kernels::reduce::scatter::values::Values;
use crate::types::element::Unaligned;

/// A segment: adjacent updates and their row of the destination. Addresses only, without a proof.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    /// The first of `n` updates.
    pub(crate) updates: *const u8,
    pub(crate) n: usize,
    pub(crate) destination: *mut u8,
}

#[derive(Clone, Copy)]
pub(crate) struct SegmentsJob<'a> {
    segments: &'a [Segment],
    step: isize,
    elements: usize,
    include_self: bool,
}

impl<'a> SegmentsJob<'a> {
    /// Segments of updates `step` bytes apart, in rows of `elements` elements. `include_self`: whether the destination
    /// counts.
    ///
    /// # Safety
    /// A2. The job is given only to functions that reduce elements of the type of its rows.
    pub(crate) unsafe fn new(segments: &'a [Segment], step: isize, elements: usize, include_self: bool) -> Self {
        debug_assert!(segments.iter().all(|segment| segment.n > 0), "A2");
        SegmentsJob { segments, step, elements, include_self }
    }
}

// Functions that reduce segments into their destinations.
level_pointers! { fn(&SegmentsJob<'_>); }

/// Ascending positions, at any alignment.
#[derive(Clone, Copy)]
pub(crate) enum SortedIndices<'a> {
    Short(&'a [Unaligned<i32>]),
    Long(&'a [Unaligned<i64>]),
}

/// Updates of one element each, and their positions.
#[derive(Clone, Copy)]
pub(crate) struct SinglesJob<'a> {
    positions: SortedIndices<'a>,
    first: Ends,
    steps: [isize; 2],
    include_self: bool,
}

impl<'a> SinglesJob<'a> {
    /// Updates of one element each. `first` are the ends of the first update at position 0, and `steps` the bytes
    /// between updates and between positions. `include_self`: whether the destination counts.
    ///
    /// # Safety
    /// A2. The job is given only to a function that reduces elements of the type of its rows.
    pub(crate) unsafe fn new(positions: SortedIndices<'a>, first: Ends, steps: [isize; 2], include_self: bool) -> Self {
        SinglesJob { positions, first, steps, include_self }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct SegmentFns {
    pub(crate) rows: ByLevel<unsafe fn(&SegmentsJob<'_>)>,
    /// Rows of one element: one function for all levels, since no level is faster.
    pub(crate) singles: fn(&SinglesJob<'_>),
}

pub(in crate::kernels::reduce) const fn fns<A: Accumulate>() -> SegmentFns {
    SegmentFns {
        rows: by_level!(
            fn ReduceSegments<A, SCALAR_CHUNK>,
            fn ReduceSegments<A, { 2 * prefetch::LINE }>
        ),
        singles: singles::<A>,
    }
}

fn singles<A: Accumulate>(job: &SinglesJob<'_>) {
    match job.positions {
        SortedIndices::Short(list) => singles_by::<A, _>(job, list, |position| position.0 as isize),
        SortedIndices::Long(list) => singles_by::<A, _>(job, list, |position| position.0 as isize),
    }
}

/// [`singles`] for `list`, the positions of the job.
#[inline(always)]
fn singles_by<A: Accumulate, P: Copy>(job: &SinglesJob<'_>, list: &[P], position: impl Fn(P) -> isize) {
    let SinglesJob { first: Ends { updates, destination }, steps: [step, stride], include_self, .. } = *job;
    let element = |from: *const u8| {
        // SAFETY: A2: one of the updates, or the element of the destination at a position, at any alignment.
        A::widen(unsafe { from.cast::<Unaligned<A::Item>>().read() }.0)
    };
    let (mut from, mut at) = (updates, 0);
    while at < list.len() {
        let (first, begin) = (position(list[at]), at);
        let to = destination.wrapping_offset(stride.wrapping_mul(first));
        let new = element(from);
        let mut sum = if include_self { A::plus(element(to), new) } else { A::begin(new) };
        (from, at) = (from.wrapping_offset(step), at + 1);
        while at < list.len() && position(list[at]) == first {
            sum = A::plus(sum, element(from));
            (from, at) = (from.wrapping_offset(step), at + 1);
        }
        let ended = A::end(sum, at - begin + usize::from(include_self));
        // SAFETY: A2: the element of the destination at one of the positions, at any alignment.
        unsafe { to.cast::<Unaligned<A::Item>>().write(Unaligned(ended)) };
    }
}

/// Reduces segments, up to `BYTES` bytes of columns at a time.
struct ReduceSegments<A, const BYTES: usize>(PhantomData<A>);

impl<A: Accumulate, const BYTES: usize> LevelFn for ReduceSegments<A, BYTES> {
    type Args<'a> = &'a SegmentsJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, job: &SegmentsJob<'_>) {
        for segment in job.segments {
            by_columns!(columns::<A>(BYTES), job.elements, |WIDTH, column| {
                reduce_segment::<A, _, WIDTH>(level, job, segment, column)
            });
        }
    }
}

/// Reduces columns `column..column + N` of a segment.
#[inline(always)]
fn reduce_segment<A: Accumulate, L: Token, const N: usize>(
    level: L,
    job: &SegmentsJob<'_>,
    segment: &Segment,
    column: usize,
) {
    debug_assert!(segment.n > 0 && column + N <= job.elements, "A2");
    let columns = |row: *const u8| {
        let columns = row.cast::<Unaligned<A::Item>>().wrapping_add(column).cast::<[Unaligned<A::Item>; N]>();
        // SAFETY: A2: a row of the segment's updates, or its destination, has these columns, at any alignment.
        A::widen_chunk(level, &unsafe { columns.read() })
    };
    let (mut from, mut left, step) = (segment.updates, segment.n, job.step);
    let mut sums = columns(if job.include_self { segment.destination } else { from });
    if !job.include_self {
        for sum in &mut sums {
            *sum = A::begin(*sum);
        }
        (from, left) = (from.wrapping_offset(step), left - 1);
    }
    for _ in 0..left {
        for (sum, new) in sums.iter_mut().zip(columns(from)) {
            *sum = A::plus(*sum, new);
        }
        from = from.wrapping_offset(step);
    }
    let ended = A::end_chunk(level, &sums, segment.n + usize::from(job.include_self));
    // SAFETY: A2: no other segment has this row of the destination, whose columns may be written.
    let to = unsafe { Values::new(segment.destination, job.elements) };
    to.write_each::<A::Item, N>(column, |k| ended[k].0);
}

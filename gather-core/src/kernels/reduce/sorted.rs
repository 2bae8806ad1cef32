//! Reductions of updates sorted by destination.
//!
//! They need no records: updates of one destination follow one another, and are reduced a vector of columns at a time, in
//! registers.
//!
//! # The contract
//!
//! - **A2** A sorted job ([`SortedJob`]) has for each entry a row of updates as in S1, and a row of the destination as
//!   in S2, at the distances from `updates` and `destination` that the entry says.
//! - K7 holds too.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::isa::{self, LevelFn};
use crate::kernels::moves::placed::FIRST_BYTES;
use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::reduce::accumulators::{at, by_columns, columns};
use crate::kernels::reduce::entries::SortedRows;
use crate::kernels::reduce::in_memory::write_each;
use crate::kernels::reduce::rows::SCALAR_CHUNK;
use crate::kernels::reduce::step::Accumulate;
use crate::types::element::Unaligned;

/// Updates in the order of their destinations.
pub(crate) struct SortedJob<'a> {
    pub(crate) entries: SortedRows<'a>,
    pub(crate) updates: *const u8,
    pub(crate) destination: *mut u8,
    pub(crate) elements: usize,
    pub(crate) include_self: bool,
}

/// Reduces sorted updates into their destinations.
///
/// # Safety
/// A2 and K7.
pub(crate) type SortedFn = unsafe fn(&SortedJob<'_>);

/// The functions of a reduction.
pub(super) const fn fns<A: Accumulate>() -> ByLevel<SortedFn> {
    by_level!(isa::scalar::<Sorted<A, SCALAR_CHUNK>>, isa::avx2::<Sorted<A, { crate::kernels::LINE }>>)
}

/// Prefetch distance, in entries.
const AHEAD: usize = 16;

/// Reduces entries, those of one destination after another, up to `BYTES` bytes of columns at a time.
struct Sorted<A, const BYTES: usize>(PhantomData<A>);

impl<A: Accumulate, const BYTES: usize> LevelFn for Sorted<A, BYTES> {
    type Args<'a> = &'a SortedJob<'a>;
    type Output = ();

    /// # Safety
    /// As for [`SortedFn`], for the type of the reduction.
    #[inline(always)]
    unsafe fn call(job: &SortedJob<'_>) {
        let (mut first, n) = (0, job.entries.len());
        let bytes = FIRST_BYTES.min(job.elements * size_of::<A::Item>());
        while first < n {
            let to = job.entries.to(first);
            let mut end = first;
            while end < n && job.entries.to(end) == to {
                if end + AHEAD < n {
                    prefetch(job.updates.wrapping_add(job.entries.from(end + AHEAD)), bytes);
                    prefetch(job.destination.wrapping_add(job.entries.to(end + AHEAD)), bytes);
                }
                end += 1;
            }
            let to = job.destination.wrapping_add(to);
            let count = end - first + usize::from(job.include_self);
            by_columns!(columns::<A>(BYTES), job.elements, |WIDTH, column| {
                // SAFETY: A2 for these entries, of which there is one or more.
                unsafe { reduce_group::<A, WIDTH>(job, first..end, at(to, column), column, count) }
            });
            first = end;
        }
    }
}

/// Reduces `N` columns of the rows of one destination.
///
/// # Safety
/// As for [`Sorted`], for entries of one destination, of which there is one or more.
#[inline(always)]
unsafe fn reduce_group<A: Accumulate, const N: usize>(
    job: &SortedJob<'_>,
    entries: core::ops::Range<usize>,
    to: *mut [Unaligned<A::Item>; N],
    column: usize,
    count: usize,
) {
    let row = |k: usize| at::<A::Item, N>(job.updates.wrapping_add(job.entries.from(k)), column);
    let mut next = entries.start;
    // SAFETY: A2.
    let first = if job.include_self { unsafe { to.read() } } else { unsafe { row(next).read() } };
    let begin = |new| if job.include_self { A::widen(new) } else { A::begin(A::widen(new)) };
    let mut sums = [begin(first[0].0); N];
    for (sum, first) in sums.iter_mut().zip(&first) {
        *sum = begin(first.0);
    }
    next += usize::from(!job.include_self);
    for entry in next..entries.end {
        // SAFETY: A2.
        let new = unsafe { row(entry).read() };
        for (sum, new) in sums.iter_mut().zip(&new) {
            *sum = A::plus(*sum, A::widen(new.0));
        }
    }
    // SAFETY: A2.
    unsafe { write_each(to, |k| A::end(sums[k], count)) };
}

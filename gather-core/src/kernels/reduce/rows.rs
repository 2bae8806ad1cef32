//! Reducing rows one by one, in their order.
//!
//! A row is reduced element by element, in a loop over two slices, which the compiler vectorises for each level. Rows
//! that go to the same place follow one another, so that each sees what the one before has left.

use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::FIRST_BYTES;
use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::reduce::ByLevel;
use crate::types::element::Element;

/// Reduces resolved rows into their destinations.
///
/// # Safety
/// The contract of a scatter for the rows, whose positions are in range.
pub(crate) type ReduceFn = unsafe fn(&ReduceJob<'_>);

/// Rows to be reduced.
pub(crate) struct ReduceJob<'a> {
    /// Where they come from (`target`) and go to (`source`): a gather's job, run the other way.
    pub(crate) rows: &'a MoveJob,
    /// Which of them, in order; `None` for all.
    pub(crate) which: Option<&'a [u16]>,
    /// Elements of a row.
    pub(crate) elements: usize,
}

/// What becomes of an element and an update: what [`reduce_kernels!`](crate::reduce_kernels!) makes of a closure, and the
/// built-in reductions.
#[doc(hidden)]
pub trait Combine: 'static {
    /// The type of both.
    type Item: Element;
    /// The name.
    const NAME: &'static str = "built in";

    /// What the element becomes.
    fn combine(kept: Self::Item, new: Self::Item) -> Self::Item;

    /// What the first update makes of an element that does not count.
    #[inline(always)]
    fn first(new: Self::Item) -> Self::Item {
        new
    }
}

/// A value at any alignment.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T: Copy>(pub(crate) T);

/// The function of a reduction, by level.
pub(crate) const fn reduce<C: Combine>() -> ByLevel<ReduceFn> {
    ByLevel {
        scalar: reduce_scalar::<C>,
        #[cfg(target_arch = "x86_64")]
        avx2: reduce_avx2::<C>,
    }
}

/// The scalar level of a reduction.
///
/// # Safety
/// As for [`ReduceFn`], for the type of the reduction.
unsafe fn reduce_scalar<C: Combine>(job: &ReduceJob<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_rows::<C>(job) }
}

/// The AVX2 level of a reduction.
///
/// # Safety
/// As for [`ReduceFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn reduce_avx2<C: Combine>(job: &ReduceJob<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_rows::<C>(job) }
}

/// Reduces rows.
///
/// # Safety
/// As for [`ReduceFn`], for the type of the reduction.
#[inline(always)]
unsafe fn reduce_rows<C: Combine>(job: &ReduceJob<'_>) {
    let elements = job.elements;
    debug_assert_eq!(job.rows.row, elements * size_of::<C::Item>(), "S3");
    let row = |from: *const u8, to: *mut u8, elements: usize| {
        // SAFETY: the caller's promise, for one of the rows.
        unsafe { reduce_row::<C>(from, to, elements) }
    };
    // A length that is a constant leaves no loop.
    if elements == 1 {
        // SAFETY: the caller's promise.
        return unsafe { each(job, |from, to| row(from, to, 1)) };
    }
    // SAFETY: the caller's promise.
    unsafe { each(job, |from, to| row(from, to, elements)) }
}

/// Calls `row` with where each row comes from and where it goes, in their order, and asks for the destinations of later
/// ones.
///
/// # Safety
/// As for [`ReduceFn`]; `row` may be called for rows of the job.
#[inline(always)]
pub(super) unsafe fn each(job: &ReduceJob<'_>, row: impl Fn(*const u8, *mut u8)) {
    // A copy in registers: what is written might else be the job itself.
    let rows = MoveJob { ..*job.rows };
    let ahead = rows.prefetch_distance;
    let go = |i: usize| {
        // SAFETY: `i < n`, whose position has been written.
        row(rows.target(i), unsafe { rows.source(i) }.cast_mut());
    };
    let ask = |i: usize| {
        // SAFETY: as above.
        prefetch(unsafe { rows.source(i) }, rows.row.min(FIRST_BYTES));
    };
    match job.which {
        None if ahead == 0 => (0..rows.n).for_each(go),
        None => {
            let asked = rows.n.saturating_sub(ahead);
            for i in 0..asked {
                ask(i + ahead);
                go(i);
            }
            (asked..rows.n).for_each(go);
        }
        Some(which) => {
            for (k, &i) in which.iter().enumerate() {
                if let Some(&later) = which.get(k + ahead).filter(|_| ahead != 0) {
                    ask(usize::from(later));
                }
                go(usize::from(i));
            }
        }
    }
}

/// Reduces a row of `elements` elements.
///
/// # Safety
/// The contract of a scatter for the row.
#[inline(always)]
unsafe fn reduce_row<C: Combine>(from: *const u8, to: *mut u8, elements: usize) {
    // SAFETY: S1: a row of updates, at any alignment.
    let from = unsafe { core::slice::from_raw_parts(from.cast::<Unaligned<C::Item>>(), elements) };
    // SAFETY: S2: a row of the destination, at any alignment, which nothing else uses meanwhile; K4: apart from updates.
    let to = unsafe { core::slice::from_raw_parts_mut(to.cast::<Unaligned<C::Item>>(), elements) };
    combine_rows::<C>(from, to);
}

/// Reduces a row into one of the same length.
#[inline(always)]
fn combine_rows<C: Combine>(from: &[Unaligned<C::Item>], to: &mut [Unaligned<C::Item>]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = Unaligned(C::combine(to.0, from.0));
    }
}

//! Reducing all rows of one destination at once.
//!
//! ```text
//! for each chunk of the row's elements:
//!     sums = the destination's elements            (unless they do not count)
//!     for each row of updates, in order: sums (op)= its elements
//!     the destination's elements = sums, rounded or divided
//! ```

use core::mem::MaybeUninit;

use crate::kernels::reduce::ByLevel;
use crate::kernels::reduce::rows::{Combine, Unaligned};
use crate::kernels::reduce::sink::Entry;

/// Reduces the rows of a group into their destination.
///
/// # Safety
/// The contract of a scatter for these rows, of which there is at least one.
pub(crate) type GroupFn = unsafe fn(&Group<'_>);

/// Rows that go to one destination.
pub(crate) struct Group<'a> {
    /// The destination.
    pub(crate) to: *mut u8,
    /// What rows are counted from.
    pub(crate) updates: *const u8,
    /// The rows, in their order.
    pub(crate) entries: &'a [Entry],
    /// Elements and bytes of a row.
    pub(crate) elements: usize,
    pub(crate) row: usize,
    /// Whether what the destination holds counts.
    pub(crate) include_self: bool,
}

/// A reduction whose intermediate results may be no elements.
pub(crate) trait Accumulate: 'static {
    /// An element.
    type Item: Copy + 'static;
    /// An intermediate result.
    type Sum: Copy;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// What the first update makes of an element that does not count.
    fn first(new: Self::Item) -> Self::Sum;

    /// One update more.
    fn add(sum: Self::Sum, new: Self::Item) -> Self::Sum;

    /// The element, made of so many.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;
}

impl<C: Combine> Accumulate for C {
    type Item = C::Item;
    type Sum = C::Item;

    #[inline(always)]
    fn widen(kept: Self::Item) -> Self::Sum {
        kept
    }

    #[inline(always)]
    fn first(new: Self::Item) -> Self::Sum {
        C::first(new)
    }

    #[inline(always)]
    fn add(sum: Self::Sum, new: Self::Item) -> Self::Sum {
        C::combine(sum, new)
    }

    #[inline(always)]
    fn end(sum: Self::Sum, _: usize) -> Self::Item {
        sum
    }
}

/// The function of a reduction, by level.
pub(crate) const fn group<A: Accumulate>() -> ByLevel<GroupFn> {
    ByLevel {
        scalar: group_scalar::<A>,
        #[cfg(target_arch = "x86_64")]
        avx2: group_avx2::<A>,
    }
}

/// The scalar level of a reduction.
///
/// # Safety
/// As for [`GroupFn`], for the type of the reduction.
unsafe fn group_scalar<A: Accumulate>(group: &Group<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_group::<A>(group) }
}

/// The AVX2 level of a reduction.
///
/// # Safety
/// As for [`GroupFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn group_avx2<A: Accumulate>(group: &Group<'_>) {
    // SAFETY: the caller's promise.
    unsafe { reduce_group::<A>(group) }
}

/// Reduces a group, with as many sums on the stack as take some kilobytes, or one.
///
/// # Safety
/// As for [`GroupFn`], for the type of the reduction.
#[inline(always)]
unsafe fn reduce_group<A: Accumulate>(group: &Group<'_>) {
    match const { size_of::<A::Sum>() } {
        // SAFETY: the caller's promise.
        0..=64 => unsafe { reduce_chunks::<A, 64>(group) },
        // SAFETY: the caller's promise.
        65..=1024 => unsafe { reduce_chunks::<A, 4>(group) },
        // SAFETY: the caller's promise.
        _ => unsafe { reduce_chunks::<A, 1>(group) },
    }
}

/// Reduces a group, `CHUNK` elements at a time.
///
/// # Safety
/// As for [`GroupFn`], for the type of the reduction.
#[inline(always)]
unsafe fn reduce_chunks<A: Accumulate, const CHUNK: usize>(group: &Group<'_>) {
    debug_assert_eq!(group.row, group.elements * size_of::<A::Item>(), "S3");
    let [first, rest @ ..] = group.entries else { return };
    let count = rest.len() + 1 + usize::from(group.include_self);
    let mut room = [const { MaybeUninit::<A::Sum>::uninit() }; CHUNK];
    for start in (0..group.elements).step_by(CHUNK) {
        let sums = &mut room[..(group.elements - start).min(CHUNK)];
        let to = group.to.cast::<Unaligned<A::Item>>().wrapping_add(start);
        // SAFETY: S2: elements of the destination, at any alignment, which nothing else uses meanwhile.
        let to = unsafe { core::slice::from_raw_parts_mut(to, sums.len()) };
        let n = sums.len();
        let row = |entry: &Entry| {
            let from = group.updates.wrapping_offset(entry.from).cast::<Unaligned<A::Item>>().wrapping_add(start);
            // SAFETY: S1: elements of a row of updates, at any alignment.
            unsafe { core::slice::from_raw_parts(from, n) }
        };
        if group.include_self {
            for ((sum, kept), new) in sums.iter_mut().zip(to.iter()).zip(row(first)) {
                sum.write(A::add(A::widen(kept.0), new.0));
            }
        } else {
            sums.iter_mut().zip(row(first)).for_each(|(sum, new)| {
                sum.write(A::first(new.0));
            });
        }
        for entry in rest {
            for (sum, new) in sums.iter_mut().zip(row(entry)) {
                // SAFETY: written above.
                let kept = unsafe { sum.assume_init() };
                sum.write(A::add(kept, new.0));
            }
        }
        for (to, sum) in to.iter_mut().zip(sums) {
            // SAFETY: written above.
            let sum = unsafe { sum.assume_init() };
            *to = Unaligned(A::end(sum, count));
        }
    }
}

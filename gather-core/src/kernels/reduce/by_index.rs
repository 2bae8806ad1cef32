//! Reducing single elements by valid indices: none negative, none out of range.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load the element that it names and its update, combine, store
//! ```
//!
//! These are few operations, and nothing is written between an index and its use. The first index that is not valid
//! ends the loop, and what is left is resolved block by block. As long as every index is valid, the branch is predicted. Gathers have the same loop (`moves/gather_positions.rs`). Where all elements take one update,
//! it is loaded once.

use core::marker::PhantomData;

use crate::kernels::args::Loop;
use crate::kernels::bodies::elements::MOST_ELEMENT;
use crate::kernels::moves::prefetch::{NextSlice, STEP, prefetch};
use crate::kernels::reduce::rows::{Combine, One, TakeRow};

/// Elements of the inner loops of a plane, along each of which indices are contiguous, and updates are contiguous or one
/// and the same.
#[derive(Clone, Copy)]
pub(crate) struct IndexedJob {
    /// Elements of an inner loop, at least 1.
    pub(crate) n: usize,
    /// The loop around the inner ones.
    pub(crate) outer: Loop,
    pub(crate) index: *const u8,
    /// The size of the axis.
    pub(crate) dim: u64,
    pub(crate) updates: *const u8,
    /// The destination at position 0 of the first iteration.
    pub(crate) destination: *mut u8,
    /// Bytes of the destination from one position to the next, and from one iteration to the next.
    pub(crate) stride: isize,
    pub(crate) destination_step: isize,
    /// The part of the next coordinate's destination to prefetch at the same time.
    pub(crate) next: NextSlice,
}

/// Reduces elements up to the first whose index is not valid; returns how many. Short inner loops are run here one
/// after the other: to call a function for each would take longer.
///
/// # Safety
/// S4; K3 for the indices, and S1, S2 and S3 for the elements whose indices are positions.
pub(crate) type ByIndexFn = unsafe fn(&IndexedJob) -> usize;

/// Chooses the function that reduces elements of a size by indices of a size, both in bytes, with updates as they are;
/// `None` where nothing does.
pub(crate) type ChooseByIndex = fn(element: usize, index: usize, updates: Updates) -> Option<ByIndexFn>;

/// How the updates of single elements lie along the inner loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Updates {
    /// Contiguous.
    Contiguous,
    /// All are the one at the first iteration; elements are contiguous along the axis, and the loop does not move the
    /// destination.
    One,
}

/// The [`ChooseByIndex`] of a reduction. Wide elements gain nothing: vectors combine them, and their lines are
/// prefetched.
pub(super) fn choose<C: Combine>(element: usize, index: usize, updates: Updates) -> Option<ByIndexFn> {
    debug_assert_eq!(element, size_of::<C::Item>(), "S3");
    if const { size_of::<C::Item>() > MOST_ELEMENT } {
        return None;
    }
    match (updates, index) {
        (Updates::Contiguous, 1) => Some(reduced::<C, 1>),
        (Updates::Contiguous, 2) => Some(reduced::<C, 2>),
        (Updates::Contiguous, 4) => Some(reduced::<C, 4>),
        (Updates::Contiguous, 8) => Some(reduced::<C, 8>),
        (Updates::One, 1) => Some(reduced_by_one::<C, 1>),
        (Updates::One, 2) => Some(reduced_by_one::<C, 2>),
        (Updates::One, 4) => Some(reduced_by_one::<C, 4>),
        (Updates::One, 8) => Some(reduced_by_one::<C, 8>),
        _ => None,
    }
}

/// # Safety
/// As for [`ByIndexFn`], for the type of the reduction and indices of `INDEX` bytes.
unsafe fn reduced<C: Combine, const INDEX: usize>(job: &IndexedJob) -> usize {
    // SAFETY: the caller's promise.
    unsafe { by_index::<INDEX>(job, size_of::<C::Item>(), &One::<C>(PhantomData)) }
}

/// [`ByIndexFn`] for one update of all elements, which is read once: a histogram. Every byte indexes an axis of 256
/// elements, so that none is compared.
///
/// # Safety
/// As for [`ByIndexFn`], for the type of the reduction, indices of `INDEX` bytes and [`Updates::One`].
unsafe fn reduced_by_one<C: Combine, const INDEX: usize>(job: &IndexedJob) -> usize {
    debug_assert!(job.stride == size_of::<C::Item>() as isize && job.destination_step == 0, "S4");
    let (outer, mut job) = (job.outer, *job);
    for plane in 0..outer.n {
        let done = if INDEX == 1 && job.dim > u64::from(u8::MAX) {
            // SAFETY: the caller's promise; every byte is below `dim`.
            unsafe { by_one::<C, INDEX, false>(job) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { by_one::<C, INDEX, true>(job) }
        };
        if done < job.n {
            return plane * job.n + done;
        }
        (job.index, job.updates) = (job.index.wrapping_offset(outer.index), job.updates.wrapping_offset(outer.out));
        job.destination = job.destination.wrapping_offset(outer.data);
    }
    outer.n * job.n
}

/// As [`reduced_by_one`], for one inner loop; `COMPARE` says whether indices are compared with the size of the axis.
/// The job is a copy: for all that the compiler knows, a store might change it.
///
/// # Safety
/// As for [`reduced_by_one`]; without `COMPARE` all indices are positions.
#[inline(always)]
unsafe fn by_one<C: Combine, const INDEX: usize, const COMPARE: bool>(job: IndexedJob) -> usize {
    let IndexedJob { n, index, updates, .. } = job;
    // SAFETY: S1: an update, at any alignment.
    let new = unsafe { updates.cast::<C::Item>().read_unaligned() };
    let mut done = 0;
    while done < n {
        prefetch(index.wrapping_add(done * INDEX + STREAM_AHEAD), 1);
        if done + UNROLLED <= n {
            for at in done..done + UNROLLED {
                // SAFETY: the caller's promise; `at < n`.
                if !unsafe { take_one::<C, INDEX, COMPARE>(&job, at, new) } {
                    return at;
                }
            }
            done += UNROLLED;
        } else {
            // SAFETY: as above.
            if !unsafe { take_one::<C, INDEX, COMPARE>(&job, done, new) } {
                return done;
            }
            done += 1;
        }
    }
    n
}

/// Combines an update with the element that index `at` names; returns whether it is a position.
///
/// # Safety
/// As for [`by_one`]; `at` is below `n`.
#[inline(always)]
unsafe fn take_one<C: Combine, const INDEX: usize, const COMPARE: bool>(
    job: &IndexedJob,
    at: usize,
    new: C::Item,
) -> bool {
    debug_assert!(at < job.n);
    // SAFETY: K3: one of the `n` indices, which are contiguous (S4).
    let position = unsafe { read::<INDEX>(job.index.wrapping_add(at * INDEX)) };
    debug_assert!(COMPARE || position < job.dim);
    if COMPARE && position >= job.dim {
        return false;
    }
    let to = job.destination.cast::<C::Item>().wrapping_add(position as usize);
    // SAFETY: S2: an element of the destination, whose position is in range, at any alignment; nothing else uses it
    // meanwhile.
    let kept = unsafe { to.read_unaligned() };
    // SAFETY: as above.
    unsafe { to.write_unaligned(C::combine(kept, new)) };
    true
}

/// The number of elements, all with one update, after which later indices are prefetched.
const UNROLLED: usize = 8;
/// The number of elements after which later indices and updates are prefetched.
const GROUP: usize = 16;
/// Bytes by which streams of indices and short updates are prefetched: among random rows, the hardware prefetcher
/// loses these streams (workload `index_add/4M_into_64K_scalars`).
pub(crate) const STREAM_AHEAD: usize = 4 << 10;

/// [`ByIndexFn`] for elements of `bytes` bytes, which `element` takes, and indices of `INDEX` bytes.
///
/// # Safety
/// As for [`ByIndexFn`].
#[inline(always)]
pub(super) unsafe fn by_index<const INDEX: usize>(job: &IndexedJob, bytes: usize, element: &impl TakeRow) -> usize {
    if job.stride == bytes as isize && job.destination_step == 0 {
        // SAFETY: the caller's promise.
        unsafe { elements::<INDEX, true>(job, bytes, element) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { elements::<INDEX, false>(job, bytes, element) }
    }
}

/// As [`by_index`], for updates of `bytes` bytes; `PACKED` says whether elements are contiguous along the axis, and the
/// loop does not move the destination.
///
/// # Safety
/// As for [`by_index`].
#[inline(always)]
pub(super) unsafe fn elements<const INDEX: usize, const PACKED: bool>(
    job: &IndexedJob,
    bytes: usize,
    element: &impl TakeRow,
) -> usize {
    // Copied: for all that the compiler knows, a store might change the job.
    let IndexedJob { n, outer, mut index, dim, mut updates, mut destination, mut next, .. } = *job;
    let (stride, step) = if PACKED { (bytes as isize, 0) } else { (job.stride, job.destination_step) };
    // Takes an element: a macro, because it may end the function.
    macro_rules! take {
        ($plane:expr, $at:expr) => {{
            // SAFETY: K3: one of the `n` indices, which are contiguous (S4).
            let position = unsafe { read::<INDEX>(index.wrapping_add($at * INDEX)) };
            if position >= dim {
                return $plane * n + $at;
            }
            let to = destination.wrapping_offset(stride.wrapping_mul(position as isize));
            let to = to.wrapping_offset(step.wrapping_mul($at as isize));
            // SAFETY: S1, S2 and S3 for an element whose position is in range; updates are contiguous (S4).
            unsafe { element.take(updates.wrapping_add($at * bytes), to) };
        }};
    }
    for plane in 0..outer.n {
        let mut done = 0;
        if n < GROUP {
            prefetch(index.wrapping_add(STREAM_AHEAD), 1);
            prefetch(updates.wrapping_add(STREAM_AHEAD), 1);
            for at in 0..n {
                take!(plane, at);
            }
            done = n;
        }
        while done < n {
            if next.is_some() {
                next.fetch(done / STEP);
                next.fetch(done / STEP + 1);
            }
            prefetch(index.wrapping_add(done * INDEX + STREAM_AHEAD), GROUP * INDEX);
            prefetch(updates.wrapping_add(done * bytes + STREAM_AHEAD), GROUP * bytes);
            for at in done..n.min(done + GROUP) {
                take!(plane, at);
            }
            done += GROUP;
        }
        (index, updates) = (index.wrapping_offset(outer.index), updates.wrapping_offset(outer.out));
        (destination, next) = (destination.wrapping_offset(outer.data), next.moved(outer.data));
    }
    outer.n * n
}

/// An index of `INDEX` bytes, 1, 2, 4 or 8, read as unsigned: a negative one is larger than any axis, of 1 and 2 bytes
/// since the plan knows (P3).
///
/// # Safety
/// As many bytes may be read, at any alignment.
#[inline(always)]
unsafe fn read<const INDEX: usize>(index: *const u8) -> u64 {
    match INDEX {
        // SAFETY: the caller's promise.
        1 => u64::from(unsafe { index.read() }),
        // SAFETY: the caller's promise.
        2 => u64::from(unsafe { index.cast::<u16>().read_unaligned() }),
        // SAFETY: the caller's promise.
        4 => u64::from(unsafe { index.cast::<u32>().read_unaligned() }),
        // SAFETY: the caller's promise.
        _ => unsafe { index.cast::<u64>().read_unaligned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reduce::number::Add;
    use crate::types::index::Index;

    /// Adds 1, 2, 3 .. to 40 elements, one or three apart; returns how many were added, and the sums.
    fn added<I: Index>(indices: &[I], apart: usize, step: usize) -> (usize, Vec<i32>) {
        let mut data = vec![0i32; 40 * apart + indices.len() * step];
        let updates: Vec<i32> = (1..=indices.len() as i32).collect();
        let job = IndexedJob {
            n: indices.len().max(1),
            outer: Loop { n: usize::from(!indices.is_empty()), ..Loop::ONCE },
            index: indices.as_ptr().cast(),
            dim: 40,
            updates: updates.as_ptr().cast(),
            destination: data.as_mut_ptr().cast(),
            stride: 4 * apart as isize,
            destination_step: 4 * step as isize,
            next: NextSlice::NONE,
        };
        let by_index =
            choose::<Add<i32>>(4, size_of::<I>(), Updates::Contiguous).expect("a function for every index type");
        // SAFETY: there are as many indices and updates, and data for 40 positions of each.
        (unsafe { by_index(&job) }, data)
    }

    fn stops_at_the_first_that_is_no_position<I: Index>(good: impl Fn(usize) -> I, bad: &[I]) {
        for (apart, step) in [(1, 0), (3, 0), (3, 1)] {
            for n in [0, 1, 15, 16, 17, 40, 100] {
                let indices: Vec<I> = (0..n).map(|at| good(at * 7 % 40)).collect();
                let expected = |n: usize| {
                    let mut sums = vec![0; 40 * apart + indices.len() * step];
                    (0..n).for_each(|at| sums[at * 7 % 40 * apart + at * step] += at as i32 + 1);
                    (n, sums)
                };
                assert_eq!(added(&indices, apart, step), expected(n));
                for place in [0, 1, 15, 16, 17, 39, 99].into_iter().filter(|&place| place < n) {
                    for &bad in bad {
                        let mut indices = indices.clone();
                        indices[place] = bad;
                        assert_eq!(added(&indices, apart, step), expected(place), "{n}, {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn elements_are_taken_up_to_the_first_that_is_no_position() {
        stops_at_the_first_that_is_no_position(|at| at as i64, &[-1, 40, i64::MIN, i64::MAX, 1 << 32]);
        stops_at_the_first_that_is_no_position(|at| at as u64, &[40, u64::MAX, 1 << 63, 1 << 32]);
        stops_at_the_first_that_is_no_position(|at| at as i32, &[-1, -40, 40, i32::MIN, i32::MAX]);
        stops_at_the_first_that_is_no_position(|at| at as u32, &[40, u32::MAX, 1 << 31]);
        stops_at_the_first_that_is_no_position(|at| at as i16, &[-1, -40, 40, i16::MIN, i16::MAX]);
        stops_at_the_first_that_is_no_position(|at| at as u8, &[40, 128, u8::MAX]);
    }

    #[test]
    fn there_is_none_for_other_sizes() {
        let chosen = |index| [Updates::Contiguous, Updates::One].map(|updates| choose::<Add<i32>>(4, index, updates));
        assert!([0, 3, 16].into_iter().flat_map(chosen).all(|function| function.is_none()));
    }

    /// Adds 3 at indices into `dim` elements, and at every place in turn one that is not valid.
    fn one_update<I: Index>(dim: usize, good: impl Fn(usize) -> I, bad: &[I]) {
        let by_index = choose::<Add<i32>>(4, size_of::<I>(), Updates::One).expect("a function for every index type");
        let counted = |indices: &[I]| {
            let (mut data, update) = (vec![0i32; dim], 3i32);
            let job = IndexedJob {
                n: indices.len().max(1),
                outer: Loop { n: usize::from(!indices.is_empty()), ..Loop::ONCE },
                index: indices.as_ptr().cast(),
                dim: dim as u64,
                updates: (&raw const update).cast(),
                destination: data.as_mut_ptr().cast(),
                stride: 4,
                destination_step: 0,
                next: NextSlice::NONE,
            };
            // SAFETY: there are as many indices, an update, and data for `dim` positions.
            (unsafe { by_index(&job) }, data)
        };
        for n in [0, 1, 7, 8, 9, 16, 100] {
            let indices: Vec<I> = (0..n).map(|at| good(at * 7 % dim)).collect();
            let expected = |n: usize| {
                let mut sums = vec![0; dim];
                (0..n).for_each(|at| sums[at * 7 % dim] += 3);
                (n, sums)
            };
            assert_eq!(counted(&indices), expected(n));
            for place in [0, 1, 7, 8, 9, 15, 99].into_iter().filter(|&place| place < n) {
                for &bad in bad {
                    let mut indices = indices.clone();
                    indices[place] = bad;
                    assert_eq!(counted(&indices), expected(place), "{n}, {place}");
                }
            }
        }
    }

    #[test]
    fn one_update_is_taken_up_to_the_first_that_is_no_position() {
        one_update(40, |at| at as u8, &[40, u8::MAX]);
        one_update(256, |at| at as u8, &[]);
        one_update(40, |at| at as i8, &[-1, 40, i8::MIN, i8::MAX]);
        one_update(128, |at| at as i8, &[-1, i8::MIN]);
        one_update(300, |at| at as u16, &[300, u16::MAX]);
        one_update(300, |at| at as i16, &[-1, 300, i16::MIN]);
        one_update(40, |at| at as i32, &[-1, 40, i32::MIN, i32::MAX]);
        one_update(40, |at| at as i64, &[-1, 40, i64::MIN, i64::MAX, 1 << 32]);
    }
}

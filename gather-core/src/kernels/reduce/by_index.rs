//! Reducing single elements by indices that are positions as they stand: none negative, none out of range.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load the element that it names and its update, combine, store
//! ```
//!
//! These are few operations, and nothing is written between an index and its use. The first index that is no position
//! ends the loop, and what is left is resolved block by block. As long as every index is a position, the branch that
//! says so is predicted. Gathers have the same loop (`moves/gather_positions.rs`). Sums have one more for a single update
//! that goes to all indices, as in a histogram.

use core::marker::PhantomData;

use crate::kernels::bodies::elements::MOST_ELEMENT;
use crate::kernels::moves::prefetch::{NextSlice, STEP, prefetch};
use crate::kernels::reduce::rows::{Combine, One, TakeRow, Unaligned};

/// Elements of an inner loop, whose indices lie side by side.
#[derive(Clone, Copy)]
pub(crate) struct IndexedJob {
    pub(crate) n: usize,
    pub(crate) index: *const u8,
    /// The size of the axis.
    pub(crate) dim: u64,
    pub(crate) updates: *const u8,
    /// Bytes from one update to the next.
    pub(crate) update_step: isize,
    /// The destination at position 0 of the first iteration.
    pub(crate) data: *mut u8,
    /// Bytes of the destination from one position to the next, and from one iteration to the next.
    pub(crate) stride: isize,
    pub(crate) data_step: isize,
    /// What is asked for of the next coordinate's destination meanwhile.
    pub(crate) next: NextSlice,
}

/// Reduces elements up to the first whose index is no position; returns how many.
///
/// # Safety
/// S4; K3 for the indices, and S1, S2 and S3 for the elements whose indices are positions.
pub(crate) type ByIndexFn = unsafe fn(&IndexedJob) -> usize;

/// What reduces elements of a size by indices of a size, both in bytes; `None` where none does.
pub(crate) type ChooseByIndex = fn(element: usize, index: usize) -> Option<ByIndexFn>;

/// The [`ChooseByIndex`] of a reduction. Wide elements gain nothing: vectors combine them, and their lines are asked
/// for.
pub(super) fn choose<C: Combine>(element: usize, index: usize) -> Option<ByIndexFn> {
    debug_assert_eq!(element, size_of::<C::Item>(), "S3");
    match index {
        4 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 4, false>),
        8 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 8, false>),
        _ => None,
    }
}

/// As [`choose`], for sums: those of a histogram have one update for all indices, which may be bytes.
pub(super) fn choose_sum<C: Combine>(element: usize, index: usize) -> Option<ByIndexFn> {
    debug_assert_eq!(element, size_of::<C::Item>(), "S3");
    match index {
        1 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 1, true>),
        2 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 2, true>),
        4 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 4, true>),
        8 if const { size_of::<C::Item>() <= MOST_ELEMENT } => Some(reduced::<C, 8, true>),
        _ => None,
    }
}

/// # Safety
/// As for [`ByIndexFn`], for the type of the reduction and indices of `INDEX` bytes. `ONE` says whether one update for
/// all indices has a loop of its own.
unsafe fn reduced<C: Combine, const INDEX: usize, const ONE: bool>(job: &IndexedJob) -> usize {
    let (bytes, element) = (const { size_of::<C::Item>() }, One::<C>(PhantomData));
    if ONE && job.update_step == 0 && job.stride == bytes as isize && job.data_step == 0 && job.n > 0 {
        // In a register: for all that the compiler knows, a store might change the update.
        // SAFETY: S1: there is an index, and so an update, at any alignment.
        let update = unsafe { job.updates.cast::<Unaligned<C::Item>>().read() };
        let job = IndexedJob { updates: (&raw const update).cast(), ..*job };
        // SAFETY: the caller's promise: the update is where the job says.
        return unsafe { elements::<INDEX>(&job, (bytes as isize, 0, 0), bytes, &element) };
    }
    // SAFETY: the caller's promise.
    unsafe { by_index::<INDEX>(job, bytes, &element) }
}

/// Elements that are reduced before later indices and updates are asked for.
const GROUP: usize = 16;
/// Bytes by which streams of indices and short updates are asked for ahead: among rows that go anywhere, the processor
/// loses sight of them (workload `index_add/4M_into_64K_scalars`).
pub(crate) const STREAM_AHEAD: usize = 4 << 10;

/// [`ByIndexFn`] for elements of `bytes` bytes, which `element` takes, and indices of `INDEX` bytes.
///
/// # Safety
/// As for [`ByIndexFn`].
#[inline(always)]
pub(super) unsafe fn by_index<const INDEX: usize>(job: &IndexedJob, bytes: usize, element: &impl TakeRow) -> usize {
    if job.stride == bytes as isize && job.data_step == 0 && job.update_step == bytes as isize {
        // SAFETY: the caller's promise.
        unsafe { elements::<INDEX>(job, (bytes as isize, 0, bytes as isize), bytes, element) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { elements::<INDEX>(job, (job.stride, job.data_step, job.update_step), bytes, element) }
    }
}

/// As [`by_index`], with the job's stride, data step and update step: as arguments, so that what is known of them is
/// compiled in.
///
/// # Safety
/// As for [`by_index`].
#[inline(always)]
unsafe fn elements<const INDEX: usize>(
    job: &IndexedJob,
    (stride, step, update_step): (isize, isize, isize),
    bytes: usize,
    element: &impl TakeRow,
) -> usize {
    debug_assert_eq!((stride, step, update_step), (job.stride, job.data_step, job.update_step));
    // Copied: for all that the compiler knows, a store might change the job.
    let IndexedJob { n, index, dim, updates, data, next, .. } = *job;
    let update = |at: usize| updates.wrapping_offset(update_step.wrapping_mul(at as isize));
    let mut done = 0;
    while done < n {
        if next.is_some() {
            next.fetch(done / STEP);
            next.fetch(done / STEP + 1);
        }
        prefetch(index.wrapping_add(done * INDEX + STREAM_AHEAD), GROUP * INDEX);
        if update_step == bytes as isize {
            prefetch(update(done).wrapping_add(STREAM_AHEAD), GROUP * bytes);
        }
        for at in done..n.min(done + GROUP) {
            // SAFETY: K3: one of the `n` indices, which lie side by side (S4).
            let position = unsafe { read::<INDEX>(index.wrapping_add(at * INDEX)) };
            if position >= dim {
                return at;
            }
            let to = data.wrapping_offset(stride.wrapping_mul(position as isize));
            let to = to.wrapping_offset(step.wrapping_mul(at as isize));
            // SAFETY: S1, S2 and S3 for an element whose position is in range, and its update.
            unsafe { element.take(update(at), to) };
        }
        done += GROUP;
    }
    n
}

/// An index of `INDEX` bytes, read as unsigned: a negative one is no position of the axis (S4).
///
/// # Safety
/// As many bytes may be read, at any alignment.
#[inline(always)]
unsafe fn read<const INDEX: usize>(index: *const u8) -> u64 {
    match INDEX {
        // SAFETY: the caller's promise.
        1 => u64::from(unsafe { index.read() }),
        // SAFETY: as above.
        2 => u64::from(unsafe { index.cast::<u16>().read_unaligned() }),
        // SAFETY: as above.
        4 => u64::from(unsafe { index.cast::<u32>().read_unaligned() }),
        // SAFETY: as above.
        _ => unsafe { index.cast::<u64>().read_unaligned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reduce::number::Add;
    use crate::types::index::Index;

    /// Adds 1, 2, 3 .. or 1, 1, 1 .. to 40 elements, one or three apart; returns how many were added, and the sums.
    fn added<I: Index>(indices: &[I], (apart, step): (usize, usize), counts: bool) -> (usize, Vec<i32>) {
        let mut data = vec![0i32; 40 * apart + indices.len() * step];
        let updates: Vec<i32> = (1..=indices.len() as i32).collect();
        let job = IndexedJob {
            n: indices.len(),
            index: indices.as_ptr().cast(),
            dim: 40,
            updates: updates.as_ptr().cast(),
            update_step: if counts { 4 } else { 0 },
            data: data.as_mut_ptr().cast(),
            stride: 4 * apart as isize,
            data_step: 4 * step as isize,
            next: NextSlice::NONE,
        };
        let by_index = choose_sum::<Add<i32>>(4, size_of::<I>()).expect("a function for indices of any size");
        let begin = data.clone();
        // SAFETY: there are as many indices and updates, and data for 40 positions of each.
        let done = unsafe { by_index(&job) };
        if let Some(general) = choose::<Add<i32>>(4, size_of::<I>()) {
            let mut again = begin;
            let job = IndexedJob { data: again.as_mut_ptr().cast(), ..job };
            // SAFETY: as above.
            assert_eq!((unsafe { general(&job) }, &again), (done, &data));
        }
        (done, data)
    }

    fn stops_at_the_first_that_is_no_position<I: Index>(good: impl Fn(usize) -> I, bad: &[I]) {
        let steps = [(1, 0), (3, 0), (3, 1)];
        for ((apart, step), counts) in steps.into_iter().flat_map(|steps| [(steps, false), (steps, true)]) {
            for n in [0, 1, 15, 16, 17, 40, 100] {
                let indices: Vec<I> = (0..n).map(|at| good(at * 7 % 40)).collect();
                let expected = |n: usize| {
                    let mut sums = vec![0; 40 * apart + indices.len() * step];
                    (0..n)
                        .for_each(|at| sums[at * 7 % 40 * apart + at * step] += if counts { at as i32 + 1 } else { 1 });
                    (n, sums)
                };
                assert_eq!(added(&indices, (apart, step), counts), expected(n));
                for place in [0, 1, 15, 16, 17, 39, 99].into_iter().filter(|&place| place < n) {
                    for &bad in bad {
                        let mut indices = indices.clone();
                        indices[place] = bad;
                        assert_eq!(added(&indices, (apart, step), counts), expected(place), "{n}, {place}");
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
        stops_at_the_first_that_is_no_position(|at| at as u16, &[40, u16::MAX, 1 << 15, 256]);
        stops_at_the_first_that_is_no_position(|at| at as i8, &[-1, -40, 40, i8::MIN, i8::MAX]);
        stops_at_the_first_that_is_no_position(|at| at as u8, &[40, u8::MAX, 1 << 7]);
    }

    #[test]
    fn short_indices_are_for_sums() {
        assert!([1, 2].iter().all(|&size| choose::<Add<i32>>(4, size).is_none()));
        assert!([1, 2, 4, 8].iter().all(|&size| choose_sum::<Add<i32>>(4, size).is_some()));
    }
}

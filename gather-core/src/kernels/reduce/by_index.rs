//! Reducing single elements by their indices.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load the element that it names and its update, combine, store
//! ```
//!
//! These are few operations, and nothing is written between an index and its use. As long as every index is valid, the
//! branch is predicted. The first index that is not valid ends a loop over contiguous indices and updates. What is left
//! of it, and some short loops after it, are taken by a loop that knows what such an index stands for. So are indices
//! and updates that are not contiguous. Gathers have the same loop (`moves/gather_positions.rs`). Where all elements
//! take one update, it is loaded once.

use core::marker::PhantomData;

use crate::kernels::bodies::elements::MOST_ELEMENT;
use crate::kernels::moves::prefetch::{STEP, prefetch};
use crate::kernels::reduce::indexed::IndexedJob;
use crate::kernels::reduce::read::{Exact, ReadIndex};
use crate::kernels::reduce::rows::{Combine, One, TakeRow};
use crate::kernels::reduce::stepped::stepped;
use crate::types::index::Index;
use crate::types::policy::IndexPolicy;

/// The position of an index of the type that the function is for, under a policy that gives one to every index, along
/// an axis of a size.
///
/// # Safety
/// K3: the index may be read, at any alignment.
pub(crate) type MovedFn = unsafe fn(*const u8, IndexPolicy, i64) -> i64;

/// [`MovedFn`] for an index type.
///
/// # Safety
/// As for [`MovedFn`].
pub(crate) unsafe fn moved<I: Index>(index: *const u8, policy: IndexPolicy, dim: i64) -> i64 {
    // SAFETY: the caller's promise.
    policy.check(unsafe { index.cast::<I>().read_unaligned() }, dim).0
}

/// Reduces the elements of a plane whose indices are in range, in their order; returns whether an index is not. Short
/// inner loops are run here one after the other: to call a function for each would take longer.
///
/// # Safety
/// S4; K3 for the indices, and S1, S2 and S3 for the elements whose indices are in range.
pub(crate) type ByIndexFn = unsafe fn(&IndexedJob) -> bool;

/// Chooses the function that reduces elements of a size by indices of a size, both in bytes, with updates as they are;
/// `None` where nothing does.
pub(crate) type ChooseByIndex = fn(element: usize, index: usize, updates: Updates) -> Option<ByIndexFn>;

/// How the updates of single elements lie along the inner loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Updates {
    /// Every element has its own.
    Each,
    /// All are the one at the first iteration; indices are contiguous, elements are so along the axis, and the loop
    /// does not move the destination.
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
        (Updates::Each, 1) => Some(reduced::<C, Exact<1>>),
        (Updates::Each, 2) => Some(reduced::<C, Exact<2>>),
        (Updates::Each, 4) => Some(reduced::<C, Exact<4>>),
        (Updates::Each, 8) => Some(reduced::<C, Exact<8>>),
        (Updates::One, 1) => Some(reduced_by_one::<C, Exact<1>>),
        (Updates::One, 2) => Some(reduced_by_one::<C, Exact<2>>),
        (Updates::One, 4) => Some(reduced_by_one::<C, Exact<4>>),
        (Updates::One, 8) => Some(reduced_by_one::<C, Exact<8>>),
        _ => None,
    }
}

/// # Safety
/// As for [`ByIndexFn`], for the type of the reduction and indices of a size of `R`.
unsafe fn reduced<C: Combine, R: ReadIndex>(job: &IndexedJob) -> bool {
    // SAFETY: the caller's promise.
    unsafe { by_index::<R>(job, size_of::<C::Item>(), &One::<C>(PhantomData)) }
}

/// [`ByIndexFn`] for one update of all elements, which is read once: a histogram. Every byte indexes an axis of 256
/// elements, so that none is compared.
///
/// # Safety
/// As for [`ByIndexFn`], for the type of the reduction, indices of a size of `R` and [`Updates::One`].
unsafe fn reduced_by_one<C: Combine, R: ReadIndex>(job: &IndexedJob) -> bool {
    debug_assert!(job.stride == size_of::<C::Item>() as isize && job.destination_step == 0, "S4");
    debug_assert!(job.index_step == job.index_bytes as isize, "S4");
    let every_byte = R::of(job.index_bytes).bytes() == 1 && job.dim > u64::from(u8::MAX);
    let mut out_of_range = false;
    for plane in job.planes() {
        let done = if every_byte {
            // SAFETY: the caller's promise; every byte is below `dim`.
            unsafe { by_one::<C, R, false>(plane) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { by_one::<C, R, true>(plane) }
        };
        if done < plane.n {
            // SAFETY: the caller's promise.
            out_of_range |= unsafe { stepped::<R, _>(&plane.rest(done), &One::<C>(PhantomData)) };
        }
    }
    out_of_range
}

/// As [`reduced_by_one`], for one inner loop; `COMPARE` says whether indices are compared with the size of the axis.
/// The job is a copy: for all that the compiler knows, a store might change it.
///
/// # Safety
/// As for [`reduced_by_one`]; without `COMPARE` all indices are positions.
#[inline(always)]
unsafe fn by_one<C: Combine, R: ReadIndex, const COMPARE: bool>(job: IndexedJob) -> usize {
    let IndexedJob { n, index, updates, .. } = job;
    // SAFETY: S1: an update, at any alignment.
    let new = unsafe { updates.cast::<C::Item>().read_unaligned() };
    let bytes = R::of(job.index_bytes).bytes();
    let mut done = 0;
    while done < n {
        prefetch(index.wrapping_add(done * bytes + STREAM_AHEAD), 1);
        if done + UNROLLED <= n {
            for at in done..done + UNROLLED {
                // SAFETY: the caller's promise; `at < n`.
                if !unsafe { take_one::<C, R, COMPARE>(&job, at, new) } {
                    return at;
                }
            }
            done += UNROLLED;
        } else {
            // SAFETY: as above.
            if !unsafe { take_one::<C, R, COMPARE>(&job, done, new) } {
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
unsafe fn take_one<C: Combine, R: ReadIndex, const COMPARE: bool>(job: &IndexedJob, at: usize, new: C::Item) -> bool {
    debug_assert!(at < job.n);
    let indices = R::of(job.index_bytes);
    // SAFETY: K3: one of the `n` indices, which are contiguous (S4).
    let position = unsafe { indices.read(job.index.wrapping_add(at * indices.bytes())) };
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
/// The number of elements after which later indices and updates are prefetched. A loop of fewer is a short one.
pub(super) const GROUP: usize = 16;
/// Bytes by which streams of indices and short updates are prefetched: among random rows, the hardware prefetcher
/// loses these streams (workload `index_add/4M_into_64K_scalars`).
pub(crate) const STREAM_AHEAD: usize = 4 << 10;

/// [`ByIndexFn`] for elements of `bytes` bytes, which `element` takes, and indices of a size of `R`.
///
/// # Safety
/// As for [`ByIndexFn`].
#[inline(always)]
pub(super) unsafe fn by_index<R: ReadIndex>(job: &IndexedJob, bytes: usize, element: &impl TakeRow) -> bool {
    if !job.is_contiguous(bytes) {
        // SAFETY: the caller's promise.
        unsafe { stepped::<R, _>(job, element) }
    } else if job.stride == bytes as isize && job.destination_step == 0 {
        // SAFETY: as above.
        unsafe { contiguous::<R, true>(job, bytes, element, element) }
    } else {
        // SAFETY: as above.
        unsafe { contiguous::<R, false>(job, bytes, element, element) }
    }
}

/// As [`by_index`], for contiguous indices and updates, and `PACKED` as for [`elements`]. `any` takes what [`stepped`]
/// takes.
///
/// # Safety
/// As for [`by_index`].
#[inline(always)]
pub(super) unsafe fn contiguous<R: ReadIndex, const PACKED: bool>(
    job: &IndexedJob,
    bytes: usize,
    element: &impl TakeRow,
    any: &impl TakeRow,
) -> bool {
    let (mut left, mut out_of_range) = (*job, false);
    loop {
        // SAFETY: the caller's promise, for the planes that are left.
        let taken = unsafe { elements::<R, PACKED>(&left, bytes, element) };
        if taken == left.outer.n * left.n {
            return out_of_range;
        }
        let rest = left.after(taken / left.n);
        // SAFETY: as above, for what is left of an inner loop.
        out_of_range |= unsafe { stepped::<R, _>(&rest.first(1).rest(taken % left.n), any) };
        // Where one short loop has such an index, the next ones may.
        let (others, planes) = (rest.after(1), if left.n < GROUP { SHORT_AFTER } else { 0 });
        let some = others.first(planes.min(others.outer.n));
        // SAFETY: as above, for some inner loops.
        out_of_range |= unsafe { stepped::<R, _>(&some, any) };
        left = others.after(some.outer.n);
    }
}

/// Short inner loops after one with an index that is negative or out of range, for which others are expected.
const SHORT_AFTER: usize = 64;

/// Reduces elements of a plane over contiguous indices and updates, up to the first index that is negative or out of
/// range; returns how many. `PACKED` says whether elements are contiguous along the axis, and the loop does not move
/// the destination.
///
/// # Safety
/// As for [`by_index`].
#[inline(always)]
pub(super) unsafe fn elements<R: ReadIndex, const PACKED: bool>(
    job: &IndexedJob,
    bytes: usize,
    element: &impl TakeRow,
) -> usize {
    debug_assert!(job.is_contiguous(bytes));
    let indices = R::of(job.index_bytes);
    // Copied: for all that the compiler knows, a store might change the job.
    let IndexedJob { n, outer, mut index, dim, mut updates, mut destination, mut next, .. } = *job;
    let (stride, step) = if PACKED { (bytes as isize, 0) } else { (job.stride, job.destination_step) };
    // Takes an element: a macro, because it may end the function.
    macro_rules! take {
        ($plane:expr, $at:expr) => {{
            // SAFETY: K3: one of the `n` indices, which are contiguous.
            let position = unsafe { indices.read(index.wrapping_add($at * indices.bytes())) };
            if position >= dim {
                return $plane * n + $at;
            }
            let to = destination.wrapping_offset(stride.wrapping_mul(position as isize));
            let to = to.wrapping_offset(step.wrapping_mul($at as isize));
            // SAFETY: S1, S2 and S3 for an element whose position is in range; updates are contiguous.
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
            prefetch(index.wrapping_add(done * indices.bytes() + STREAM_AHEAD), GROUP * indices.bytes());
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

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::*;
    use crate::kernels::args::Loop;
    use crate::kernels::moves::prefetch::NextSlice;
    use crate::kernels::reduce::number::Add;
    use crate::types::policy::{NegativeIndex, OutOfBounds};

    /// A job of one inner loop over contiguous indices and updates, into contiguous `i32`s.
    fn job<I: Index>(indices: &[I], updates: &[i32], data: &mut [i32], dim: usize) -> IndexedJob {
        IndexedJob {
            n: indices.len().max(1),
            outer: Loop { n: usize::from(!indices.is_empty()), ..Loop::ONCE },
            index: indices.as_ptr().cast(),
            dim: dim as u64,
            policy: IndexPolicy { negative: NegativeIndex::Reject, out_of_bounds: OutOfBounds::Zero },
            is_signed: I::TYPE.is_signed(),
            moved: moved::<I>,
            updates: updates.as_ptr().cast(),
            index_bytes: size_of::<I>(),
            index_step: size_of::<I>() as isize,
            updates_step: 4,
            destination: data.as_mut_ptr().cast(),
            stride: 4,
            destination_step: 0,
            next: NextSlice::NONE,
        }
    }

    /// How the elements of a test lie: elements of the destination from one position to the next, and from one
    /// iteration to the next; elements of indices and updates from one iteration to the next.
    const PLACES: [(usize, usize, usize); 5] = [(1, 0, 1), (3, 0, 1), (3, 1, 1), (1, 0, 2), (3, 1, 3)];

    /// Adds 1, 2, 3 .. to 40 elements, and compares with what is expected of it.
    fn agrees<I: Index + Debug>(indices: &[I], policy: IndexPolicy) {
        for (apart, step, spread) in PLACES {
            let room = 40 * apart + indices.len() * step;
            let (mut sums, mut data) = (vec![0i32; room], vec![0i32; room]);
            let spare = |at: usize| at.is_multiple_of(spread).then_some(at / spread);
            let updates: Vec<i32> =
                (0..indices.len() * spread).map(|at| spare(at).map_or(-9, |at| at as i32 + 1)).collect();
            let spread_out: Vec<I> = (0..indices.len() * spread).map(|at| indices[at / spread]).collect();
            let job = IndexedJob {
                n: indices.len().max(1),
                policy,
                index_step: (size_of::<I>() * spread) as isize,
                updates_step: 4 * spread as isize,
                stride: 4 * apart as isize,
                destination_step: 4 * step as isize,
                ..job(&spread_out, &updates, &mut data, 40)
            };
            let by_index =
                choose::<Add<i32>>(4, size_of::<I>(), Updates::Each).expect("a function for every index type");
            // SAFETY: there are as many indices and updates, and data for 40 positions of each.
            let out_of_range = unsafe { by_index(&job) };
            let mut expected = false;
            for (at, &index) in indices.iter().enumerate() {
                match policy.resolve(index, 40) {
                    Some(position) => sums[position as usize * apart + at * step] += at as i32 + 1,
                    None => expected = true,
                }
            }
            assert_eq!((out_of_range, data), (expected, sums), "{indices:?}, {apart}, {step}, {spread}, {policy:?}");
        }
    }

    fn takes_what_is_in_range<I: Index + Debug>(good: impl Fn(usize) -> I, bad: &[I]) {
        for negative in [NegativeIndex::Reject, NegativeIndex::FromEnd] {
            for out_of_bounds in [OutOfBounds::Zero, OutOfBounds::Clamp, OutOfBounds::Wrap] {
                let policy = IndexPolicy { negative, out_of_bounds };
                for n in [0, 1, 15, 16, 17, 40, 100, 300] {
                    let indices: Vec<I> = (0..n).map(|at| good(at * 7 % 40)).collect();
                    agrees(&indices, policy);
                    for apart in [1, 3, 20, 90] {
                        let some_bad =
                            |at: usize| if at % apart == apart - 1 { bad[at % bad.len()] } else { indices[at] };
                        agrees(&(0..n).map(some_bad).collect::<Vec<I>>(), policy);
                    }
                    for place in [0, 1, 15, 16, 17, 39, 99].into_iter().filter(|&place| place < n) {
                        for &bad in bad {
                            let mut indices = indices.clone();
                            indices[place] = bad;
                            agrees(&indices, policy);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn elements_are_taken_whose_indices_are_in_range() {
        takes_what_is_in_range(|at| at as i64, &[-1, 40, i64::MIN, i64::MAX, 1 << 32]);
        takes_what_is_in_range(|at| at as u64, &[40, u64::MAX, 1 << 63, 1 << 32]);
        takes_what_is_in_range(|at| at as i32, &[-1, -40, 40, i32::MIN, i32::MAX]);
        takes_what_is_in_range(|at| at as u32, &[40, u32::MAX, 1 << 31]);
        takes_what_is_in_range(|at| at as i16, &[-1, -40, 40, i16::MIN, i16::MAX]);
        takes_what_is_in_range(|at| at as u8, &[40, 128, u8::MAX]);
    }

    #[test]
    fn there_is_none_for_other_sizes() {
        let chosen = |index| [Updates::Each, Updates::One].map(|updates| choose::<Add<i32>>(4, index, updates));
        assert!([0, 3, 16].into_iter().flat_map(chosen).all(|function| function.is_none()));
    }

    /// Adds 3 at indices into `dim` elements, and at every place in turn one that is not valid.
    fn one_update<I: Index>(dim: usize, good: impl Fn(usize) -> I, bad: &[I]) {
        let by_index = choose::<Add<i32>>(4, size_of::<I>(), Updates::One).expect("a function for every index type");
        let counted = |indices: &[I]| {
            let (mut data, update) = (vec![0i32; dim], [3i32]);
            let job = IndexedJob { updates_step: 0, ..job(indices, &update, &mut data, dim) };
            // SAFETY: there are as many indices, an update, and data for `dim` positions.
            (unsafe { by_index(&job) }, data)
        };
        for n in [0, 1, 7, 8, 9, 16, 100] {
            let indices: Vec<I> = (0..n).map(|at| good(at * 7 % dim)).collect();
            let expected = |left_out: Option<usize>| {
                let mut sums = vec![0; dim];
                (0..n).filter(|&at| Some(at) != left_out).for_each(|at| sums[at * 7 % dim] += 3);
                (left_out.is_some(), sums)
            };
            assert_eq!(counted(&indices), expected(None));
            for place in [0, 1, 7, 8, 9, 15, 99].into_iter().filter(|&place| place < n) {
                for &bad in bad {
                    let mut indices = indices.clone();
                    indices[place] = bad;
                    assert_eq!(counted(&indices), expected(Some(place)), "{n}, {place}");
                }
            }
        }
    }

    #[test]
    fn one_update_is_taken_by_indices_in_range() {
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

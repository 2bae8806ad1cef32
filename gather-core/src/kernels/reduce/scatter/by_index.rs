//! Reductions of single elements by their indices.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load its element and its update, combine, store
//! ```
//!
//! Nothing is buffered between an index and its use. While every index is valid, the branch is predicted. The first
//! invalid index ends the quick loop. Another loop (`stepped`), which handles invalid indices, takes a chunk of
//! elements from there on; then the quick loop resumes. Gathers have the same loop (`moves/gather_positions.rs`).
//!
//! The loops over elements are compiled per reduction ([`FusedScatterFns`]); this module has the code between them.

use core::num::NonZero;

use crate::kernels::level_fn;
use crate::kernels::moves::MOST_ELEMENT;
use crate::kernels::prefetch::{STEP, prefetch};
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::accumulators::{InPlace, TakeRows, UNNOTED, choose};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::{Exact, ReadIndex};
use crate::kernels::reduce::scatter::rows::{ReduceFn, ReduceJob, Row, SCALAR_CHUNK, TakeRow};
use crate::kernels::reduce::scatter::stepped::{SteppedFn, StridedUpdates, buffered, one_by_one, stepped};

/// Reduces the elements of a plane in order, up to the first index that is negative or out of range; returns their
/// number. [`FastPath::packed`] and [`FastPath::any_steps`] state the layouts that the function takes.
pub(crate) type QuickFn = fn(&IndexedJob) -> usize;

/// The functions that reduce rows of a few elements by indices of one size.
#[derive(Clone, Copy)]
pub(crate) struct FusedScatterFns {
    /// The loops of a hot reduction.
    pub(in crate::kernels::reduce) quick: Option<FastPath>,
    /// Reduces rows at any addresses.
    pub(in crate::kernels::reduce) rows: ReduceFn,
    /// The size of the rows of all these functions.
    pub(in crate::kernels::reduce) row: Row,
}

/// The loops over elements of a hot reduction, for indices of one size.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct FastPath {
    /// For indices and updates at any steps if `any_steps`, else for contiguous ones.
    pub(in crate::kernels::reduce) any: QuickFn,
    /// For contiguous indices and updates, and a destination that is contiguous along the axis and that the loop does
    /// not move.
    pub(in crate::kernels::reduce) packed: QuickFn,
    /// Reduces rows a step apart; `None` if their ends are buffered.
    pub(in crate::kernels::reduce) stepped: Option<SteppedFn>,
    /// Bytes between updates that `packed` takes.
    pub(in crate::kernels::reduce) step: isize,
    /// Whether `any` takes indices and updates at any steps.
    pub(in crate::kernels::reduce) any_steps: bool,
}

/// Chooses the functions that reduce rows of elements by indices of `index` bytes, if any.
pub(crate) type ChooseFused = fn(row: Elements, index: usize) -> Option<&'static FusedScatterFns>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) n: usize,
    pub(crate) size: usize,
}

impl Elements {
    pub(crate) fn one(size: usize) -> Self {
        Elements { n: 1, size }
    }
}

pub(in crate::kernels::reduce) trait TakeFew: TakeRow {
    /// Bytes per element of updates.
    const BYTES: usize;

    /// Takes rows of `elements` elements.
    fn of(elements: usize) -> Self;
}

impl FusedScatterFns {
    /// The functions for rows of one element; `rows` takes them at any addresses. With `COUNTS`, a single update for
    /// all rows has a specialised loop: a histogram.
    pub(in crate::kernels::reduce) const fn hot<T: TakeFew, R: ReadIndex, const COUNTS: bool>(rows: ReduceFn) -> Self {
        let quick = FastPath {
            any: at_any_steps::<T, R, COUNTS>,
            packed: quick::<T, R, PACKED, 1>,
            stepped: Some(one_by_one::<T>),
            step: T::BYTES as isize,
            any_steps: true,
        };
        FusedScatterFns { quick: Some(quick), ..Self::cold::<T>(rows) }
    }

    /// [`FusedScatterFns::hot`] without specialised loops, for indices of any size.
    pub(in crate::kernels::reduce) const fn cold<T: TakeFew>(rows: ReduceFn) -> Self {
        let row = Row { elements: 1, bytes: T::BYTES, destination_bytes: T::BYTES };
        FusedScatterFns { quick: None, rows, row }
    }

    /// Reduces the elements of a plane whose indices are in range, in order; returns whether an index is out of range.
    #[inline(always)]
    pub(crate) fn reduce(&self, job: &IndexedJob) -> bool {
        let contiguous =
            |quick: &FastPath| job.index_step == job.index_bytes as isize && job.updates_step == quick.step;
        let takes = |quick: &&FastPath| job.index_step != 0 && (quick.any_steps || contiguous(quick));
        let Some(quick) = self.quick.as_ref().filter(takes) else {
            return stepped(job, self);
        };
        let packed = job.stride == self.row.destination_bytes as isize && job.destination_step == 0;
        let quick = if contiguous(quick) && packed { quick.packed } else { quick.any };
        let taken = quick(job);
        taken != job.outer.n * job.n && self.resume(quick, job, taken)
    }

    /// Reduces the elements of a plane from `taken` on. The index of element `taken` is negative or out of range.
    #[inline(never)]
    fn resume(&self, quick: QuickFn, job: &IndexedJob, mut taken: usize) -> bool {
        let (mut left, mut out_of_range) = (*job, false);
        while taken < left.outer.n * left.n {
            let (rest, at) = (left.after(taken / left.n), taken % left.n);
            out_of_range |= self.finish(quick, rest.take(1), at);
            // After a short loop with an invalid index, the next loops probably have invalid indices, too.
            let (others, planes) = (rest.after(1), if left.n < GROUP { SHORT_AFTER } else { 0 });
            let chunk = others.take(planes.min(others.outer.n));
            out_of_range |= stepped(&chunk, self);
            left = others.after(chunk.outer.n);
            taken = quick(&left);
        }
        out_of_range
    }

    /// Reduces rows a step apart, which share one index.
    #[inline(always)]
    pub(crate) fn reduce_stepped(&self, rows: StridedUpdates) {
        match self.quick.as_ref().and_then(|quick| quick.stepped) {
            Some(stepped) => stepped(rows, self.row),
            None => buffered(self, rows),
        }
    }

    /// Reduces the elements of an inner loop from `at` on. The index of element `at` is negative or out of range.
    fn finish(&self, quick: QuickFn, inner: IndexedJob, mut at: usize) -> bool {
        let (mut out_of_range, mut len) = (false, AFTER);
        while at < inner.n {
            let chunk = inner.rest(at).up_to(len);
            out_of_range |= stepped(&chunk, self);
            at += chunk.n;
            if at < inner.n {
                let taken = quick(&inner.rest(at));
                // With many invalid indices, the quick loop does not pay off.
                len = if taken < len { 2 * len } else { AFTER };
                at += taken;
            }
        }
        out_of_range
    }
}

/// Reduces rows in place, at the scalar level.
pub(super) fn in_place<C: Combine>(job: &ReduceJob<'_>) {
    level_fn::scalar::<TakeRows<C, UNNOTED, SCALAR_CHUNK>>(job);
}

/// The [`ChooseFused`] of a cold reduction. Elements above `MOST_ELEMENT` gain nothing: vectors combine them, and their
/// lines are prefetched.
pub(in crate::kernels::reduce) fn cold<C: Combine>(row: Elements, index: usize) -> Option<&'static FusedScatterFns> {
    debug_assert_eq!(row.size, size_of::<C::Item>(), "S3");
    if const { size_of::<C::Item>() > MOST_ELEMENT } || row.n != 1 || !matches!(index, 1 | 2 | 4 | 8) {
        return None;
    }
    Some(const { &FusedScatterFns::cold::<InPlace<C>>(in_place::<C>) })
}

/// The [`ChooseFused`] of a hot reduction; `COUNTS` adds the loops of histograms. Sizes without a hot loop have the
/// functions of [`cold`].
pub(in crate::kernels::reduce) fn hot<C: Combine, const COUNTS: bool>(
    row: Elements,
    index: usize,
) -> Option<&'static FusedScatterFns> {
    match (row.n, index) {
        (1, 1) if COUNTS => Some(const { &FusedScatterFns::hot::<InPlace<C>, Exact<1>, COUNTS>(in_place::<C>) }),
        (1, 4) => Some(const { &FusedScatterFns::hot::<InPlace<C>, Exact<4>, COUNTS>(in_place::<C>) }),
        (1, 8) => Some(const { &FusedScatterFns::hot::<InPlace<C>, Exact<8>, COUNTS>(in_place::<C>) }),
        (2..=4, 4 | 8) => choose::<C, UNNOTED>(index, row.n),
        _ => cold::<C>(row, index),
    }
}

/// Elements per prefetch of later indices and updates. A loop of fewer elements is short.
pub(in crate::kernels::reduce) const GROUP: usize = 16;
/// Elements taken by `stepped` after an invalid index: more invalid indices are expected.
const AFTER: usize = 32;
/// Short inner loops taken by `stepped` after a loop with an invalid index: more are expected.
const SHORT_AFTER: usize = 64;
/// Prefetch distance of the streams of indices and short updates, in bytes: among random rows, the hardware prefetcher
/// loses these streams (workload `index_add/4M_into_64K_scalars`).
pub(crate) const STREAM_AHEAD: usize = 4 << 10;

/// Indices and updates are contiguous. The destination is contiguous along the axis, and the loop does not move it.
const PACKED: u8 = 0;
/// Indices and updates are contiguous.
pub(in crate::kernels::reduce) const CONTIGUOUS: u8 = 1;
/// Indices, updates and the destination have arbitrary steps.
const STEPPED: u8 = 2;
/// [`PACKED`] with one update for all rows: a histogram.
const ONE_UPDATE: u8 = 3;

/// [`QuickFn`] for rows of one element at any steps.
fn at_any_steps<T: TakeFew, R: ReadIndex, const COUNTS: bool>(job: &IndexedJob) -> usize {
    let steps = [job.index_step, job.updates_step, job.stride, job.destination_step];
    if COUNTS && steps == [R::BYTES as isize, 0, T::BYTES as isize, 0] {
        return quick::<T, R, ONE_UPDATE, 1>(job);
    }
    quick::<T, R, STEPPED, 1>(job)
}

/// [`QuickFn`] for rows of `ELEMENTS` elements that `T` takes, in the layout `PLACES`, by indices of `R`.
pub(in crate::kernels::reduce) fn quick<T: TakeFew, R: ReadIndex, const PLACES: u8, const ELEMENTS: usize>(
    job: &IndexedJob,
) -> usize {
    elements::<R, PLACES>(job, Elements { n: ELEMENTS, size: T::BYTES }, &T::of(ELEMENTS))
}

/// Reduces the rows of a plane in the layout `PLACES`, up to the first index that is negative or out of range; returns
/// their number.
#[inline(always)]
pub(in crate::kernels::reduce) fn elements<R: ReadIndex, const PLACES: u8>(
    job: &IndexedJob,
    row: Elements,
    element: &impl TakeRow,
) -> usize {
    let bytes = row.n * row.size;
    // A copy: the compiler must assume that a store may change `*job`.
    let mut job = match PLACES {
        PACKED => job.contiguous(R::bytes(job.index_bytes), bytes).packed(bytes),
        ONE_UPDATE => job.contiguous(R::bytes(job.index_bytes), 0).packed(bytes),
        CONTIGUOUS => job.contiguous(R::bytes(job.index_bytes), bytes),
        _ => *job,
    };
    let (Some(n), planes) = (NonZero::new(job.n).map(NonZero::get), job.outer.n) else { return 0 };
    let group = if PLACES == ONE_UPDATE { 4 * GROUP } else { GROUP };
    let ahead = if n < GROUP { [1; 2] } else { [group * R::bytes(job.index_bytes), group * bytes] };
    for plane in 0..planes {
        let mut done = 0;
        while done < n {
            // The single update does not move, and the destination of a histogram is in the caches.
            if PLACES != ONE_UPDATE && job.next.is_some() {
                job.next.skip(done / STEP).fetch_steps(group);
            }
            let later = job.rest(done);
            prefetch(later.index.wrapping_add(STREAM_AHEAD), ahead[0]);
            if PLACES != ONE_UPDATE {
                prefetch(later.updates.wrapping_add(STREAM_AHEAD), ahead[1]);
            }
            for at in done..n.min(done + group) {
                let Some(position) = job.position(job.index::<R>(at)) else { return plane * n + at };
                element.take(job.row(at, position, row.n));
            }
            done += group;
        }
        job = job.after(1);
    }
    planes * n
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::*;
    use crate::kernels::nest::args::Loop;
    use crate::kernels::prefetch::NextSlice;
    use crate::kernels::reduce::number::Add;
    use crate::kernels::reduce::scatter::indexed::IndexedElements;
    use crate::types::index::Index;
    use crate::types::policy::{KernelPolicy, NegativeIndex, ScatterOutOfBounds};

    /// A job of one inner loop over contiguous indices and updates, into contiguous `i32`s.
    fn job<I: Index>(indices: &[I], updates: &[i32], data: &mut [i32], dim: usize) -> IndexedElements {
        IndexedElements {
            n: indices.len().max(1),
            outer: Loop { n: usize::from(!indices.is_empty()), ..Loop::ONCE },
            index: indices.as_ptr().cast(),
            dim: dim as u64,
            policy: ScatterOutOfBounds::Drop.lower(NegativeIndex::Reject, false),
            is_signed: I::TYPE.is_signed(),
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

    /// Layouts of a test in elements: the destination's distance between positions and between iterations, and the
    /// distance of indices and updates between iterations.
    const PLACES: [(usize, usize, usize); 5] = [(1, 0, 1), (3, 0, 1), (3, 1, 1), (1, 0, 2), (3, 1, 3)];

    /// Adds 1, 2, 3 .. to 40 elements, and compares with the expected sums.
    fn agrees<I: Index + Debug>(indices: &[I], policy: KernelPolicy) {
        for (apart, step, spread) in PLACES {
            let len = 40 * apart + indices.len() * step;
            let (mut sums, mut data) = (vec![0i32; len], vec![0i32; len]);
            let spare = |at: usize| at.is_multiple_of(spread).then_some(at / spread);
            let updates: Vec<i32> =
                (0..indices.len() * spread).map(|at| spare(at).map_or(-9, |at| at as i32 + 1)).collect();
            let spread_out: Vec<I> = (0..indices.len() * spread).map(|at| indices[at / spread]).collect();
            let job = IndexedElements {
                n: indices.len().max(1),
                policy,
                index_step: (size_of::<I>() * spread) as isize,
                updates_step: 4 * spread as isize,
                stride: 4 * apart as isize,
                destination_step: 4 * step as isize,
                ..job(&spread_out, &updates, &mut data, 40)
            };
            let by_index =
                hot::<Add<i32>, true>(Elements::one(4), size_of::<I>()).expect("a function for every index type");
            // SAFETY: there are `n` indices and updates, and data for 40 positions of each.
            let out_of_range = by_index.reduce(&unsafe { IndexedJob::new(job) });
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
            let policy = ScatterOutOfBounds::Drop.lower(negative, false);
            for n in [0, 1, 15, 16, 17, 40, 100, 300] {
                let indices: Vec<I> = (0..n).map(|at| good(at * 7 % 40)).collect();
                agrees(&indices, policy);
                for apart in [1, 3, 20, 90] {
                    let some_bad = |at: usize| if at % apart == apart - 1 { bad[at % bad.len()] } else { indices[at] };
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

    #[test]
    fn elements_are_taken_whose_indices_are_in_range() {
        takes_what_is_in_range(|at| at as i64, &[-1, 40, i64::MIN, i64::MAX, 1 << 32]);
        takes_what_is_in_range(|at| at as u64, &[40, u64::MAX, 1 << 63, 1 << 32]);
        takes_what_is_in_range(|at| at as i32, &[-1, -40, 40, i32::MIN, i32::MAX]);
        takes_what_is_in_range(|at| at as u32, &[40, u32::MAX, 1 << 31]);
        takes_what_is_in_range(|at| at as i16, &[-1, -40, 40, i16::MIN, i16::MAX]);
        takes_what_is_in_range(|at| at as u8, &[40, 128, u8::MAX]);
    }

    /// Adds rows of 2 to 4 elements, `apart` elements between positions, and compares.
    fn rows_agree<I: Index + Debug>(good: impl Fn(usize) -> I, bad: I) {
        for (elements, apart, n) in (2..=4)
            .flat_map(|elements| [elements, 5].map(|apart| (elements, apart)))
            .flat_map(|(elements, apart)| [1, 15, 16, 40, 100].map(|n| (elements, apart, n)))
        {
            for place in [None, Some(0), Some(n / 2), Some(n - 1)] {
                let at = |k: usize| k * 7 % 40;
                let list: Vec<I> = (0..n).map(|k| if Some(k) == place { bad } else { good(at(k)) }).collect();
                let updates: Vec<i32> = (1..=(n * elements) as i32).collect();
                let (mut sums, mut data) = (vec![0; 40 * apart], vec![0; 40 * apart]);
                let (bytes, stride) = (4 * elements as isize, 4 * apart as isize);
                let job = IndexedElements { updates_step: bytes, stride, ..job(&list, &updates, &mut data, 40) };
                let row = Elements { n: elements, size: 4 };
                let by_index = hot::<Add<i32>, true>(row, size_of::<I>()).expect("functions for a few");
                // SAFETY: there are `n` indices and rows of updates, and data for 40 positions.
                let out_of_range = by_index.reduce(&unsafe { IndexedJob::new(job) });
                for (k, new) in updates.chunks(elements).enumerate().filter(|&(k, _)| Some(k) != place) {
                    sums[at(k) * apart..].iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
                }
                assert_eq!((out_of_range, data), (place.is_some(), sums), "{list:?}, {elements}, {apart}");
            }
        }
    }

    #[test]
    fn rows_of_a_few_elements_are_taken() {
        rows_agree(|at| at as i64, 1 << 32);
        rows_agree(|at| at as u32, 40);
    }

    #[test]
    fn there_is_none_for_other_sizes() {
        assert!([0, 3, 16].into_iter().all(|index| hot::<Add<i32>, true>(Elements::one(4), index).is_none()));
    }
}

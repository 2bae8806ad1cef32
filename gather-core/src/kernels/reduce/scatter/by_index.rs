//! Reducing single elements by their indices.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load the element that it names and its update, combine, store
//! ```
//!
//! These are few operations, and nothing is written between an index and its use. As long as every index is valid, the
//! branch is predicted. The first index that is not valid ends the loop: some elements from there on are taken by
//! another one (`stepped`), which knows what such an index stands for, and then the quick one goes on. Gathers have the
//! same loop (`moves/gather_positions.rs`).
//!
//! A reduction has the loops over elements ([`FusedScatterFns`]). What happens between them stands once, here.

use core::num::NonZero;

use crate::kernels::level_fn;
use crate::kernels::moves::MOST_ELEMENT;
use crate::kernels::prefetch::{STEP, prefetch};
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::accumulators::{InPlace, TakeRows, UNNOTED, choose};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::{Exact, ReadIndex};
use crate::kernels::reduce::scatter::rows::{ReduceFn, ReduceJob, Row, SCALAR_CHUNK, TakeRow};
use crate::kernels::reduce::scatter::stepped::{SteppedFn, StridedUpdates, one_by_one, stepped, written_down};

/// Reduces the elements of a plane, in their order, up to the first index that is negative or out of range; returns how
/// many. The elements lie as the function takes them ([`FastPath::packed`], [`FastPath::any_steps`]).
pub(crate) type QuickFn = fn(&IndexedJob) -> usize;

/// The functions that reduce rows of a few elements by indices of a size.
#[derive(Clone, Copy)]
pub(crate) struct FusedScatterFns {
    /// The loops of a reduction that is hot.
    pub(in crate::kernels::reduce) quick: Option<FastPath>,
    /// Rows anywhere.
    pub(in crate::kernels::reduce) rows: ReduceFn,
    /// The rows of all of these.
    pub(in crate::kernels::reduce) row: Row,
}

/// The loops over elements of a reduction that is hot, for indices of a size.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct FastPath {
    /// At any steps, or only contiguous ones, as `any_steps` says.
    pub(in crate::kernels::reduce) any: QuickFn,
    /// The same for contiguous indices and updates and a destination that is contiguous along the axis, in a loop that
    /// does not move it.
    pub(in crate::kernels::reduce) packed: QuickFn,
    /// Rows a step apart; `None` where they are written down.
    pub(in crate::kernels::reduce) stepped: Option<SteppedFn>,
    /// Bytes from one update to the next that `packed` takes.
    pub(in crate::kernels::reduce) step: isize,
    /// Whether `any` takes indices and updates at any steps, or only contiguous ones.
    pub(in crate::kernels::reduce) any_steps: bool,
}

/// Chooses the functions that reduce rows of elements by indices of a size, in bytes; `None` where nothing does.
pub(crate) type ChooseFused = fn(row: Elements, index: usize) -> Option<&'static FusedScatterFns>;

/// Elements of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) n: usize,
    /// Bytes of an element.
    pub(crate) size: usize,
}

impl Elements {
    /// An element.
    pub(crate) fn one(size: usize) -> Self {
        Elements { n: 1, size }
    }
}

/// Takes a row of a few elements.
pub(in crate::kernels::reduce) trait TakeFew: TakeRow {
    /// Bytes of an element of updates.
    const BYTES: usize;

    /// Takes rows of this number of elements.
    fn of(elements: usize) -> Self;
}

impl FusedScatterFns {
    /// The functions for rows of an element, those anywhere by `rows`. With `COUNTS`, one update of all elements has a
    /// loop of its own: a histogram.
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

    /// The same without loops of their own, for indices of any size.
    pub(in crate::kernels::reduce) const fn cold<T: TakeFew>(rows: ReduceFn) -> Self {
        let row = Row { elements: 1, bytes: T::BYTES, destination_bytes: T::BYTES };
        FusedScatterFns { quick: None, rows, row }
    }

    /// Reduces the elements of a plane whose indices are in range, in their order; returns whether an index is not.
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
        taken != job.outer.n * job.n && self.go_on(quick, job, taken)
    }

    /// Reduces the elements of a plane from one on whose index is negative or out of range.
    #[inline(never)]
    fn go_on(&self, quick: QuickFn, job: &IndexedJob, mut taken: usize) -> bool {
        let (mut left, mut out_of_range) = (*job, false);
        while taken < left.outer.n * left.n {
            let (rest, at) = (left.after(taken / left.n), taken % left.n);
            out_of_range |= self.finish(quick, rest.first(1), at);
            // Where one short loop has such an index, the next ones may.
            let (others, planes) = (rest.after(1), if left.n < GROUP { SHORT_AFTER } else { 0 });
            let some = others.first(planes.min(others.outer.n));
            out_of_range |= stepped(&some, self);
            left = others.after(some.outer.n);
            taken = quick(&left);
        }
        out_of_range
    }

    /// Reduces rows a step apart: those of one index.
    #[inline(always)]
    pub(crate) fn reduce_stepped(&self, rows: StridedUpdates) {
        match self.quick.as_ref().and_then(|quick| quick.stepped) {
            Some(stepped) => stepped(rows, self.row),
            None => written_down(self, rows),
        }
    }

    /// Reduces the elements of an inner loop from one on whose index is negative or out of range.
    fn finish(&self, quick: QuickFn, inner: IndexedJob, mut at: usize) -> bool {
        let (mut out_of_range, mut some) = (false, AFTER);
        while at < inner.n {
            let these = inner.rest(at).up_to(some);
            out_of_range |= stepped(&these, self);
            at += these.n;
            if at < inner.n {
                let taken = quick(&inner.rest(at));
                // Where there are many such indices, the quick loop does not pay.
                some = if taken < some { 2 * some } else { AFTER };
                at += taken;
            }
        }
        out_of_range
    }
}

/// Reduces rows where they lie, at the scalar level.
pub(super) fn in_place<C: Combine>(job: &ReduceJob<'_>) {
    level_fn::scalar::<TakeRows<C, UNNOTED, SCALAR_CHUNK>>(job);
}

/// The [`ChooseFused`] of a reduction that is cold. Wide elements gain nothing: vectors combine them, and their lines
/// are prefetched.
pub(in crate::kernels::reduce) fn cold<C: Combine>(row: Elements, index: usize) -> Option<&'static FusedScatterFns> {
    debug_assert_eq!(row.size, size_of::<C::Item>(), "S3");
    if const { size_of::<C::Item>() > MOST_ELEMENT } || row.n != 1 || !matches!(index, 1 | 2 | 4 | 8) {
        return None;
    }
    Some(const { &FusedScatterFns::cold::<InPlace<C>>(in_place::<C>) })
}

/// The [`ChooseFused`] of a reduction that is hot; with `COUNTS`, of one that histograms are made by. All other indices
/// of 1 and 2 bytes are resolved some at a time.
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

/// The number of elements after which later indices and updates are prefetched. A loop of fewer is a short one.
pub(in crate::kernels::reduce) const GROUP: usize = 16;
/// Elements after an index that is negative or out of range, among which others are expected.
const AFTER: usize = 32;
/// Short inner loops after one with such an index, for which others are expected.
const SHORT_AFTER: usize = 64;
/// Bytes by which streams of indices and short updates are prefetched: among random rows, the hardware prefetcher
/// loses these streams (workload `index_add/4M_into_64K_scalars`).
pub(crate) const STREAM_AHEAD: usize = 4 << 10;

/// Indices and updates are contiguous, and so is the destination along the axis. The loop does not move it.
const PACKED: u8 = 0;
/// Indices and updates are contiguous.
pub(in crate::kernels::reduce) const CONTIGUOUS: u8 = 1;
/// Indices, updates and the destination have steps of their own.
const STEPPED: u8 = 2;
/// As [`PACKED`], with one update for all rows: a histogram.
const ONE_UPDATE: u8 = 3;

/// [`QuickFn`] for rows of an element at any steps.
fn at_any_steps<T: TakeFew, R: ReadIndex, const COUNTS: bool>(job: &IndexedJob) -> usize {
    let steps = [job.index_step, job.updates_step, job.stride, job.destination_step];
    if COUNTS && steps == [R::BYTES as isize, 0, T::BYTES as isize, 0] {
        return quick::<T, R, ONE_UPDATE, 1>(job);
    }
    quick::<T, R, STEPPED, 1>(job)
}

/// [`QuickFn`] for rows of `ELEMENTS` elements, which `T` takes and which lie as `PLACES` says, and indices of a size
/// of `R`.
pub(in crate::kernels::reduce) fn quick<T: TakeFew, R: ReadIndex, const PLACES: u8, const ELEMENTS: usize>(
    job: &IndexedJob,
) -> usize {
    elements::<R, PLACES>(job, Elements { n: ELEMENTS, size: T::BYTES }, &T::of(ELEMENTS))
}

/// Reduces rows of a plane, which lie as `PLACES` says, up to the first index that is negative or out of range; returns
/// how many.
#[inline(always)]
pub(in crate::kernels::reduce) fn elements<R: ReadIndex, const PLACES: u8>(
    job: &IndexedJob,
    row: Elements,
    element: &impl TakeRow,
) -> usize {
    let bytes = row.n * row.size;
    // Copied: for all that the compiler knows, a store might change the job.
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
            // The one update stays where it is, and counts are near.
            if PLACES != ONE_UPDATE && job.next.is_some() {
                job.next.from(done / STEP).fetch_steps(group);
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

    /// How the elements of a test lie: elements of the destination from one position to the next, and from one
    /// iteration to the next; elements of indices and updates from one iteration to the next.
    const PLACES: [(usize, usize, usize); 5] = [(1, 0, 1), (3, 0, 1), (3, 1, 1), (1, 0, 2), (3, 1, 3)];

    /// Adds 1, 2, 3 .. to 40 elements, and compares with what is expected of it.
    fn agrees<I: Index + Debug>(indices: &[I], policy: KernelPolicy) {
        for (apart, step, spread) in PLACES {
            let room = 40 * apart + indices.len() * step;
            let (mut sums, mut data) = (vec![0i32; room], vec![0i32; room]);
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
            // SAFETY: there are as many indices and updates, and data for 40 positions of each.
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

    /// Adds rows of 2 to 4 elements, `apart` elements from one position to the next, and compares.
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
                // SAFETY: there are as many indices and rows of updates, and data for 40 positions.
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

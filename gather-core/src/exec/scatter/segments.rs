//! Scatters whose targets ascend: the updates of one row are a contiguous segment.
//!
//! ```text
//! compare each index with the next, up to the first descent                     (every index is checked)
//! for each segment of equal indices: reduce its updates in registers
//! ```
//!
//! Reduction by segments needs no records, and reads and writes each row of the destination once. For rows of up to
//! `FEW_ELEMENTS` elements it pays if segments are long. For longer rows it pays from two updates per segment on. In
//! place of `Accumulated` and `Sorted` it also pays for segments of one update.

use core::mem::MaybeUninit;
use core::ops::Range;

use crate::exec::scatter::part::ScatterPart;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for};
use crate::kernels::reduce::scatter;
use crate::kernels::reduce::scatter::{Ends, FEW_ELEMENTS, Segment, SegmentFns, SegmentsJob, SinglesJob};
use crate::kernels::{Cursor, Loop, start_of_part};
use crate::plan::fold::{Loops, for_each};
use crate::plan::{Strategy, is_free};
use crate::types::element::Unaligned;

/// A plan whose indices ascend and are all in range.
pub(super) struct AscendingUpdates<'a> {
    whole: &'a ScatterPart<'a>,
    /// The loop over indices.
    along: Loop,
    /// The loops that do not move the index.
    others: Loops,
    index: SegmentIndices<'a>,
    fns: SegmentFns,
}

/// Contiguous indices of 4 or 8 bytes.
#[derive(Clone, Copy)]
struct SegmentIndices<'a>(scatter::SortedIndices<'a>);

/// Minimum indices to reduce by segments.
const LEAST: usize = 32;
/// Minimum average updates of a segment of short rows.
const LONG_SEGMENT: usize = 32;
/// Indices per block of comparisons.
const BLOCK: usize = 128;

/// The updates of a plan by segments, if its indices ascend and reduction by segments pays.
pub(super) fn find<'a>(whole: &'a ScatterPart<'a>) -> Option<AscendingUpdates<'a>> {
    let plan = whole.plan;
    let (spec, fns) = (plan.spec(), plan.reducer.segments?);
    let [component] = spec.components.as_slice() else { return None };
    if plan.axes().is_empty() || !plan.may_ascend {
        return None;
    }
    let mut moving = plan.loops().iter().filter(|along| along.index != 0);
    let (&along, None) = (moving.next()?, moving.next()) else { return None };
    let size = plan.index().size();
    // Another ordered loop would revisit the rows of segments.
    let ordered = plan.loops().iter().filter(|along| !is_free(along)).count();
    if along.n < LEAST || along.index != size as isize || is_free(&along) || ordered > 1 {
        return None;
    }
    let first = whole.origin().index.wrapping_offset(component.index);
    let index = match size {
        // SAFETY: K3: `along.n` contiguous indices, at any alignment. An unsigned index above the signed range reads
        // as negative, so the list does not ascend.
        4 => scatter::SortedIndices::Short(unsafe { core::slice::from_raw_parts(first.cast(), along.n) }),
        // SAFETY: K3: `along.n` contiguous indices of 8 bytes, at any alignment.
        8 => scatter::SortedIndices::Long(unsafe { core::slice::from_raw_parts(first.cast(), along.n) }),
        _ => return None,
    };
    // The end of a segment is a branch that is mispredicted, unless all segments have one update. A misprediction
    // costs as much as several short rows.
    let short = plan.elements <= FEW_ELEMENTS;
    let (least, unique) = match &plan.way {
        Strategy::InPlace | Strategy::Panels(_) => (if short { LONG_SEGMENT } else { 2 }, false),
        Strategy::Accumulated(_) | Strategy::Sorted => (if short { LONG_SEGMENT } else { 1 }, true),
    };
    let ascends = match index {
        scatter::SortedIndices::Short(list) => {
            let below = |any: i32, one: Unaligned<i32>, next: Unaligned<i32>| any | next.0 | next.0.wrapping_sub(one.0);
            ascend(list, |index| i64::from(index.0), below, component.dim, (least, unique))
        }
        scatter::SortedIndices::Long(list) => {
            let below = |any: i64, one: Unaligned<i64>, next: Unaligned<i64>| any | next.0 | next.0.wrapping_sub(one.0);
            ascend(list, |index| index.0, below, component.dim, (least, unique))
        }
    };
    let others = || plan.loops().iter().copied().filter(|along| along.index == 0).collect();
    ascends.then(|| AscendingUpdates { whole, along, others: others(), index: SegmentIndices(index), fns })
}

/// Whether `list` ascends within `0..dim` and reduction by segments pays: the first segments have at least `least`
/// numbers on average, or `unique` is set and none of the first numbers repeats.
///
/// `below(acc, a, b)` is negative iff `acc < 0`, `b < 0` or `b < a`. It avoids comparisons, which some vectors lack.
#[inline(always)]
fn ascend<T: Copy, B: Copy + Default + Into<i64>>(
    list: &[T],
    value: impl Fn(T) -> i64,
    below: impl Fn(B, T, T) -> B,
    dim: i64,
    (least, unique): (usize, bool),
) -> bool {
    let (Some(&first), Some(&last)) = (list.first(), list.last()) else { return false };
    if value(first) < 0 || value(last) >= dim {
        return false;
    }
    let begin = &list[..list.len().min(BLOCK + 1)];
    let equal = begin.iter().zip(&begin[1..]).filter(|&(&one, &next)| value(one) == value(next)).count();
    if (begin.len() - equal) * least > begin.len() && !(unique && equal == 0) {
        return false;
    }
    let mut done = 0;
    while done + 1 < list.len() {
        let block = &list[done..list.len().min(done + BLOCK + 1)];
        let any = block.iter().zip(&block[1..]).fold(B::default(), |any, (&one, &next)| below(any, one, next));
        if any.into() < 0 {
            return false;
        }
        done += block.len() - 1;
    }
    true
}

impl<'a> SegmentIndices<'a> {
    fn len(&self) -> usize {
        match self.0 {
            scatter::SortedIndices::Short(list) => list.len(),
            scatter::SortedIndices::Long(list) => list.len(),
        }
    }

    #[inline(always)]
    fn get(&self, at: usize) -> i64 {
        match self.0 {
            scatter::SortedIndices::Short(list) => i64::from(list[at].0),
            scatter::SortedIndices::Long(list) => list[at].0,
        }
    }

    fn part(&self, range: Range<usize>) -> scatter::SortedIndices<'a> {
        match self.0 {
            scatter::SortedIndices::Short(list) => scatter::SortedIndices::Short(&list[range]),
            scatter::SortedIndices::Long(list) => scatter::SortedIndices::Long(&list[range]),
        }
    }

    /// End of the segment that begins at `at`.
    #[inline(always)]
    fn end(&self, at: usize) -> usize {
        let first = self.get(at);
        let mut end = at + 1;
        while end < self.len() && self.get(end) == first {
            end += 1;
        }
        end
    }

    /// Start of slice `part` of `parts`, moved to the start of a segment.
    fn begin(&self, part: usize, parts: usize) -> usize {
        let at = start_of_part(self.len(), part, parts);
        if at == 0 || at == self.len() || self.get(at - 1) != self.get(at) { at } else { self.end(at) }
    }
}

/// Maximum segments per call of the reduction.
const SEGMENTS: usize = 64;

impl AscendingUpdates<'_> {
    /// Reduces every update into its row.
    pub(super) fn run(&self, tasks: usize) {
        let parts = if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) };
        parallel_for(tasks, parts, |part, _| {
            let range = self.index.begin(part, parts)..self.index.begin(part + 1, parts);
            let step = |at: Cursor, along: &Loop| at.step(along);
            for_each(&self.others, *self.whole.origin(), step, &mut |origin| self.reduce(range.clone(), origin));
        });
    }

    /// Reduces the updates `range`, which are whole segments that no other thread reduces, at one coordinate of the
    /// other loops. `origin` is the cursor at index 0.
    fn reduce(&self, range: Range<usize>, origin: Cursor) {
        let AscendingUpdates { whole, along, index, fns, .. } = self;
        let (elements, include_self) = (whole.elements, whole.plan.include_self);
        if elements == 1 {
            let Cursor { out, data, .. } = origin.skip(along, range.start);
            let first = Ends { updates: out, destination: data.cast_mut() };
            let (positions, steps) = (index.part(range), [along.out, whole.stride()]);
            // SAFETY: A2 by S1, S2 and `find`: positions are in range and ascend; `range` has whole segments.
            return (fns.singles)(&unsafe { SinglesJob::new(positions, first, steps, include_self) });
        }
        let function = fns.rows.at(whole.spec().level);
        let (mut segments, mut n) = ([const { MaybeUninit::<Segment>::uninit() }; SEGMENTS], 0);
        let reduce = |segments: &[MaybeUninit<Segment>]| {
            // SAFETY: callers pass only written elements.
            let segments = unsafe { core::slice::from_raw_parts(segments.as_ptr().cast::<Segment>(), segments.len()) };
            // SAFETY: A2 by S1, S2 and `find`: positions are in range and ascend; these are whole segments.
            function(&unsafe { SegmentsJob::new(segments, along.out, elements, include_self) });
        };
        let mut at = range.start;
        while at < range.end {
            let end = index.end(at);
            let Cursor { out, data, .. } = origin.skip(along, at);
            let position = index.get(at) as isize;
            let destination = data.wrapping_offset(whole.stride().wrapping_mul(position)).cast_mut();
            segments[n].write(Segment { updates: out, n: end - at, destination });
            n += 1;
            if n == SEGMENTS {
                reduce(&segments[..n]);
                n = 0;
            }
            at = end;
        }
        reduce(&segments[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ascend_within_an_axis() {
        let below = |any: i64, one: i64, next: i64| any | next | next.wrapping_sub(one);
        let ascends = |list: &[i64], dim, least| ascend(list, |index| index, below, dim, (least, false));
        let sorted: Vec<i64> = (0..1000).map(|at| at / 3).collect();
        assert!(ascends(&sorted, 334, 1) && ascends(&sorted, 334, 2) && !ascends(&sorted, 333, 1));
        assert!(!ascends(&[-1, 0, 1], 5, 1) && !ascends(&[], 5, 1) && ascends(&[4], 5, 1));
        let unique: Vec<i64> = (0..1000).collect();
        assert!(ascends(&unique, 1000, 1) && !ascends(&unique, 1000, 2));
        for at in 1..1000 {
            let mut list = sorted.clone();
            list[at] = if list[at] == 0 { -1 } else { 0 };
            assert_eq!(ascends(&list, 334, 1), list.is_sorted() && list[0] >= 0, "{at}");
            list[at] = i64::MIN;
            assert!(!ascends(&list, 334, 1), "{at}");
        }
    }

    #[test]
    fn parts_begin_with_runs() {
        let list: Vec<Unaligned<i32>> = [0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 3].map(Unaligned).to_vec();
        let index = SegmentIndices(scatter::SortedIndices::Short(&list));
        for parts in 1..20 {
            let begins: Vec<usize> = (0..=parts).map(|part| index.begin(part, parts)).collect();
            assert!(begins.is_sorted() && begins[0] == 0 && begins[parts] == list.len(), "{begins:?}");
            assert!(begins.iter().all(|begin| [0, 3, 4, 10, 11].contains(begin)), "{begins:?}");
        }
    }
}

//! Bounds of bags.

#![forbid(unsafe_code)]

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::kernels::reduce::bag::{BagLengths, IndexRuns};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::types::error::Error;

/// Bounds of bags in the row-major order of the indices.
#[derive(Clone)]
pub(crate) struct Bounds {
    /// B5: bounds ascend from 0 to at most the number of indices.
    kind: BoundsKind,
    longest: usize,
}

#[derive(Clone)]
enum BoundsKind {
    /// Bags of one length.
    Every { len: usize, bags: usize },
    /// Bag `b` is `bounds[b]..bounds[b + 1]`. There is at least one bound.
    At(Arc<Vec<usize>>),
}

impl Bounds {
    pub(crate) fn every(len: usize, bags: usize) -> Self {
        Bounds { kind: BoundsKind::Every { len, bags }, longest: if bags == 0 { 0 } else { len } }
    }

    /// Bags that begin at `offsets` into `indices` indices. The last bag ends at `indices`. With `last_is_end`, the
    /// last offset begins no bag: it is the end of the last bag.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::AllocationFailed`], [`Error::BagOffsetOutOfRange`].
    pub(crate) fn at<O: Copy + Into<i128> + TryInto<usize>>(
        offsets: impl ExactSizeIterator<Item = O> + Clone,
        indices: usize,
        last_is_end: bool,
    ) -> Result<Self, Error> {
        if last_is_end && offsets.len() == 0 {
            return Err(Error::NoOffsets);
        }
        let mut bounds = memory::reserve::<usize>(offsets.len().saturating_add(1))?;
        let (mut longest, mut last, mut most) = (0, 0, 0);
        bounds.extend(offsets.clone().map(|offset| {
            let bound = offset.try_into().unwrap_or(usize::MAX);
            // If `bound < last`, both at most `indices <= isize::MAX`, the difference wraps and exceeds `indices`.
            longest = longest.max(bound.wrapping_sub(last));
            (last, most) = (bound, most.max(bound));
            bound
        }));
        let bounds = if most <= indices { Self::ascending(bounds, longest, indices, last_is_end) } else { None };
        bounds.ok_or_else(|| out_of_range(&mut offsets.map(Into::into), indices))
    }

    /// The bags that begin at `bounds`, each at most `indices`; `longest` is the maximum difference of adjacent
    /// bounds. `None` if the bounds do not ascend from 0.
    #[inline(never)]
    fn ascending(mut bounds: Vec<usize>, mut longest: usize, indices: usize, last_is_end: bool) -> Option<Self> {
        let mut last = bounds.last().copied().unwrap_or(0);
        if longest > indices || bounds.first().is_some_and(|&first| first != 0) {
            return None;
        }
        if !last_is_end || bounds.is_empty() {
            // Without bags, no index is in a bag.
            let end = if bounds.is_empty() { 0 } else { indices };
            longest = longest.max(end - last);
            last = end;
            bounds.push(end);
        }
        // Offsets often describe bags of one length.
        let bags = bounds.len() - 1;
        let kind = match longest.checked_mul(bags) {
            Some(all) if all == last => BoundsKind::Every { len: longest, bags },
            _ => BoundsKind::At(Arc::new(bounds)),
        };
        Some(Bounds { kind, longest })
    }

    pub(crate) fn bags(&self) -> usize {
        match &self.kind {
            BoundsKind::Every { bags, .. } => *bags,
            BoundsKind::At(bounds) => bounds.len() - 1,
        }
    }

    /// The first index of `bag`. `start(bags())` is the end of the last bag.
    pub(crate) fn start(&self, bag: usize) -> usize {
        match &self.kind {
            BoundsKind::Every { len, .. } => len * bag,
            BoundsKind::At(bounds) => bounds[bag],
        }
    }

    pub(crate) fn of(&self, bag: usize) -> Range<usize> {
        self.start(bag)..self.start(bag + 1)
    }

    /// The longest prefix of `bags` with at most `most` rows, up to the first empty bag unless `may_be_empty`.
    pub(crate) fn first_of(&self, bags: Range<usize>, most: usize, may_be_empty: bool) -> BagLengths<'_> {
        match &self.kind {
            &BoundsKind::Every { len, .. } => {
                let all = if may_be_empty { bags.len() } else { 0 };
                BagLengths::Every { len, bags: most.checked_div(len).map_or(all, |most| bags.len().min(most)) }
            }
            BoundsKind::At(bounds) => {
                let bounds = &bounds[bags.start..=bags.end];
                let most = bounds[0] + most;
                let fits = |pair: &&[usize]| pair[0] < pair[1] && pair[1] <= most;
                BagLengths::Between(match may_be_empty {
                    true => &bounds[..bounds.partition_point(|&bound| bound <= most)],
                    false => &bounds[..=bounds.windows(2).take_while(fits).count()],
                })
            }
        }
    }

    #[inline]
    pub(crate) fn lengths(&self) -> BagLengths<'_> {
        match &self.kind {
            &BoundsKind::Every { len, bags } => BagLengths::Every { len, bags },
            BoundsKind::At(bounds) => BagLengths::Between(bounds),
        }
    }

    pub(crate) fn used(&self) -> usize {
        self.start(self.bags())
    }

    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The first bag of slice `part` of `parts` of equal weight. A bag of `n` indices weighs `n + 1`.
    pub(crate) fn part(&self, part: usize, parts: usize) -> usize {
        let bags = self.bags();
        let worth = |bag: usize| self.start(bag) as u128 + bag as u128;
        let wanted = worth(bags) * part as u128 / parts as u128;
        let (mut from, mut to) = (0, bags);
        while from < to {
            let middle = from + (to - from) / 2;
            if worth(middle) < wanted { from = middle + 1 } else { to = middle }
        }
        from
    }
}

/// The runs of a tensor of the indices' shape, with elements of `size` bytes.
#[inline(always)]
pub(crate) fn index_runs(layout: &Layout, size: usize) -> IndexRuns {
    let (n, size) = (layout.len(), size as isize);
    let (run, step, outer) = match (layout.shape(), layout.strides()) {
        (&[bags, run], &[outer, step]) if bags > 1 && outer != step.wrapping_mul(run as isize) => {
            (run.max(1), step, outer)
        }
        (_, &[.., step]) => (n.max(1), step, 0),
        _ => (1, 0, 0),
    };
    IndexRuns { n, run, step: step.wrapping_mul(size), outer: outer.wrapping_mul(size) }
}

/// The error of the first offset that descends or exceeds the number of indices.
#[cold]
fn out_of_range(offsets: &mut dyn Iterator<Item = i128>, indices: usize) -> Error {
    let mut min = 0;
    for (position, offset) in offsets.enumerate() {
        let max = if position == 0 { 0 } else { indices };
        match usize::try_from(offset) {
            Ok(bound) if (min..=max).contains(&bound) => min = bound,
            _ => return Error::BagOffsetOutOfRange { position, offset, min, max },
        }
    }
    unreachable!("the offsets have changed while they were read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_bags_and_are_even() {
        for lengths in [&[][..], &[0], &[5], &[0, 0, 0, 100, 0, 0], &[1, 2, 3, 4, 5, 6, 7], &[1000, 1, 1, 1]] {
            let mut sum = 0;
            let offsets: Vec<i128> = lengths
                .iter()
                .map(|&len| {
                    sum += len;
                    sum - len
                })
                .collect();
            let bounds = Bounds::at(offsets.into_iter(), sum as usize, false).unwrap();
            assert_eq!((bounds.bags(), bounds.used()), (lengths.len(), sum as usize));
            for parts in [1, 2, 3, 8, 100] {
                let starts: Vec<usize> = (0..=parts).map(|part| bounds.part(part, parts)).collect();
                assert_eq!((starts[0], starts[parts]), (0, lengths.len()), "{lengths:?} in {parts}");
                assert!(starts.is_sorted());
            }
        }
        let even = Bounds::every(32, 1000);
        assert_eq!((0..=4).map(|part| even.part(part, 4)).collect::<Vec<_>>(), [0, 250, 500, 750, 1000]);
        let skewed = Bounds::at([0, 600, 700, 800, 900].into_iter(), 1000, false).unwrap();
        assert_eq!(skewed.part(1, 2), 1);
    }

    #[test]
    fn offsets_are_checked_in_order() {
        let error = |offsets: &[i128], last_is_end| Bounds::at(offsets.iter().copied(), 10, last_is_end).err();
        let out_of_range = |position, offset, min, max| Some(Error::BagOffsetOutOfRange { position, offset, min, max });
        assert_eq!(error(&[1, 2], false), out_of_range(0, 1, 0, 0));
        assert_eq!(error(&[-1], false), out_of_range(0, -1, 0, 0));
        assert_eq!(error(&[0, 5, 4, 11], false), out_of_range(2, 4, 5, 10));
        assert_eq!(error(&[0, 5, 11], true), out_of_range(2, 11, 5, 10));
        assert_eq!(error(&[0, i128::from(u64::MAX)], true), out_of_range(1, i128::from(u64::MAX), 0, 10));
        assert_eq!(error(&[], true), Some(Error::NoOffsets));
        assert_eq!(error(&[0, 10, 10], false), None);
        assert_eq!(Bounds::at([0u8; 0].into_iter(), 10, false).unwrap().used(), 0);
        let with_end = Bounds::at([0, 3, 7].into_iter(), 10, true).unwrap();
        assert_eq!((with_end.bags(), with_end.used(), with_end.longest()), (2, 7, 4));
    }

    #[test]
    fn offsets_whose_differences_wrap_are_refused() {
        // Adjacent bounds differ by at most the number of indices, also modulo `usize::MAX + 1`.
        let most = isize::MAX as usize;
        for offsets in [[0, most, usize::MAX - 1, 1], [0, most, most + 2, 0]] {
            for last_is_end in [false, true] {
                let refused = Bounds::at(offsets.map(|offset| offset as u64).into_iter(), most, last_is_end).err();
                let (offset, max) = (offsets[2] as i128, most);
                let expected = Error::BagOffsetOutOfRange { position: 2, offset, min: max, max };
                assert_eq!(refused, Some(expected), "{offsets:?}");
            }
        }
    }
}

//! Where bags begin and end.

#![forbid(unsafe_code)]

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::kernels::reduce::bag::Lengths;
use crate::tensor::memory;
use crate::types::error::Error;

/// Where bags begin and end among the indices, which follow one another in row-major order.
#[derive(Clone)]
pub(crate) struct Bounds {
    /// B5: the bounds of bags ascend, from 0 to at most the number of indices that they were made for.
    kind: BoundsKind,
    longest: usize,
}

#[derive(Clone)]
enum BoundsKind {
    /// Bags of one length.
    Every { len: usize, bags: usize },
    /// Bag `b` from the `b`-th on to the next. There is at least one.
    At(Arc<Vec<usize>>),
}

impl Bounds {
    /// `bags` bags of `len` indices each, of `bags * len`.
    pub(crate) fn every(len: usize, bags: usize) -> Self {
        Bounds { kind: BoundsKind::Every { len, bags }, longest: if bags == 0 { 0 } else { len } }
    }

    /// Bags that begin at offsets into `indices` indices. The last one ends with the indices, or at the last offset
    /// where that is `its_end`.
    ///
    /// # Errors
    /// [`Error::NoOffsets`], [`Error::AllocationFailed`], [`Error::BagOffsetOutOfRange`].
    pub(crate) fn at(
        offsets: impl ExactSizeIterator<Item = i128>,
        indices: usize,
        its_end: bool,
    ) -> Result<Self, Error> {
        if its_end && offsets.len() == 0 {
            return Err(Error::NoOffsets);
        }
        let mut bounds = memory::reserve::<usize>(offsets.len().saturating_add(1))?;
        let mut longest = 0;
        for (position, offset) in offsets.enumerate() {
            let before = bounds.last().copied();
            let (min, max) = (before.unwrap_or(0), if position == 0 { 0 } else { indices });
            let bound = usize::try_from(offset).ok().filter(|bound| (min..=max).contains(bound));
            let bound = bound.ok_or(Error::BagOffsetOutOfRange { position, offset, min, max })?;
            longest = longest.max(bound - min);
            bounds.push(bound);
        }
        let last = bounds.last().copied();
        if !its_end || last.is_none() {
            // Without bags there are no indices in any.
            let end = if last.is_some() { indices } else { 0 };
            longest = longest.max(end - last.unwrap_or(0));
            bounds.push(end);
        }
        // Offsets often say that all bags have one length.
        if bounds.windows(2).all(|pair| pair[1] - pair[0] == longest) {
            return Ok(Self::every(longest, bounds.len() - 1));
        }
        Ok(Bounds { kind: BoundsKind::At(Arc::new(bounds)), longest })
    }

    /// The number of bags.
    pub(crate) fn bags(&self) -> usize {
        match &self.kind {
            BoundsKind::Every { bags, .. } => *bags,
            BoundsKind::At(bounds) => bounds.len() - 1,
        }
    }

    /// The first index of a bag; for the bag after the last, the end of the last.
    pub(crate) fn start(&self, bag: usize) -> usize {
        match &self.kind {
            BoundsKind::Every { len, .. } => len * bag,
            BoundsKind::At(bounds) => bounds[bag],
        }
    }

    /// The indices of a bag.
    pub(crate) fn of(&self, bag: usize) -> Range<usize> {
        self.start(bag)..self.start(bag + 1)
    }

    /// As many of `bags`, from the first on, as have up to `most` rows together. A bag without rows ends them.
    pub(crate) fn full(&self, bags: Range<usize>, most: usize) -> Lengths<'_> {
        match &self.kind {
            BoundsKind::Every { len, .. } => Lengths::Every { len: *len, bags: bags.len().min(most / len) },
            BoundsKind::At(bounds) => {
                let bounds = &bounds[bags.start..=bags.end];
                let fits = |pair: &&[usize]| pair[0] < pair[1] && pair[1] - bounds[0] <= most;
                Lengths::Between(&bounds[..=bounds.windows(2).take_while(fits).count()])
            }
        }
    }

    /// The lengths of all bags; `None` where one is empty, or there is none.
    pub(crate) fn none_is_empty(&self) -> Option<Lengths<'_>> {
        match &self.kind {
            &BoundsKind::Every { len, bags } => (len > 0 && bags > 0).then_some(Lengths::Every { len, bags }),
            BoundsKind::At(bounds) => {
                let is_full = bounds.len() > 1 && bounds.windows(2).all(|pair| pair[0] < pair[1]);
                is_full.then_some(Lengths::Between(bounds))
            }
        }
    }

    /// How many indices are in bags.
    pub(crate) fn used(&self) -> usize {
        self.start(self.bags())
    }

    /// The most indices of a bag.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The first bag of part `part` of `parts` that are worth as much: bags count as one index more than they have.
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
        let error = |offsets: &[i128], its_end| Bounds::at(offsets.iter().copied(), 10, its_end).err();
        let out_of_range = |position, offset, min, max| Some(Error::BagOffsetOutOfRange { position, offset, min, max });
        assert_eq!(error(&[1, 2], false), out_of_range(0, 1, 0, 0));
        assert_eq!(error(&[-1], false), out_of_range(0, -1, 0, 0));
        assert_eq!(error(&[0, 5, 4, 11], false), out_of_range(2, 4, 5, 10));
        assert_eq!(error(&[0, 5, 11], true), out_of_range(2, 11, 5, 10));
        assert_eq!(error(&[0, i128::from(u64::MAX)], true), out_of_range(1, i128::from(u64::MAX), 0, 10));
        assert_eq!(error(&[], true), Some(Error::NoOffsets));
        assert_eq!(error(&[0, 10, 10], false), None);
        assert_eq!(Bounds::at([].into_iter(), 10, false).unwrap().used(), 0);
        let with_end = Bounds::at([0, 3, 7].into_iter(), 10, true).unwrap();
        assert_eq!((with_end.bags(), with_end.used(), with_end.longest()), (2, 7, 4));
    }
}

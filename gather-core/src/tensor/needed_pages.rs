//! Requests for the pages of a mapped table ahead of the call that reads them.
//!
//! ```text
//! for each row of a call:      skip its pages if a `Residency` has them; else collect the range of its pages
//! sort and merge the ranges    of the whole call; and whenever the list has doubled, so that it stays short
//! request them                 `process_madvise` takes many ranges, `madvise` one
//! ```

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::tensor::page_advice::{Advice, advise_all, page_size};
use crate::tensor::residency::Residency;

/// The rows and ranges requested by [`will_need`](crate::Gather::will_need).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdviceStats {
    /// The number of rows named by the indices, also of rows whose pages are known; 0 if a [`Residency`] knows every
    /// page of its files.
    pub rows: usize,
    /// The number of page ranges requested: each page of a call is in one range, and adjacent pages share a range.
    pub ranges: usize,
    /// Bytes of the ranges.
    pub bytes: usize,
}

/// The requests of a call.
pub(crate) struct PageRequests<'r, 't> {
    /// The ranges of pages that rows need, counted from address 0.
    ranges: Vec<(usize, usize)>,
    /// The number of ranges to merge at.
    most: usize,
    page_log2: u32,
    residency: Option<&'r mut Residency<'t>>,
    advised: AdviceStats,
}

impl<'r, 't> PageRequests<'r, 't> {
    /// Minimum ranges to merge while rows are collected.
    const MERGED: usize = 4096;

    /// No requests yet; `None` if the system takes no such requests.
    ///
    /// Nor is anything requested if all pages are known.
    pub(crate) fn new(residency: Option<&'r mut Residency<'t>>) -> Option<Self> {
        let residency = match residency {
            Some(residency) => Some(residency.begin_call()?),
            None => None,
        };
        let (page_log2, advised) = (page_size()?.trailing_zeros(), AdviceStats::default());
        Some(PageRequests { ranges: Vec::new(), most: Self::MERGED, page_log2, residency, advised })
    }

    /// Counts a row.
    #[inline]
    pub(crate) fn count_row(&mut self) {
        self.advised.rows = self.advised.rows.saturating_add(1);
    }

    /// Requests the pages of `bytes` bytes at address `start`, or of one byte.
    #[inline]
    pub(crate) fn add(&mut self, start: usize, bytes: usize) {
        let end = start.saturating_add(bytes.max(1));
        let (first, end) = (start >> self.page_log2, ((end - 1) >> self.page_log2) + 1);
        if self.residency.is_none() {
            return self.push(first, end);
        }
        for page in first..end {
            if self.residency.as_mut().is_some_and(|residency| residency.mark(page)) {
                self.push(page, page + 1);
            }
        }
    }

    #[inline]
    fn push(&mut self, first: usize, end: usize) {
        if let Some(last) = self.ranges.last_mut()
            && last.0 <= first
            && first <= last.1
        {
            last.1 = last.1.max(end);
            return;
        }
        if self.ranges.len() == self.most {
            self.merge();
            self.most = self.most.max(self.ranges.len() * 2);
        }
        if self.ranges.try_reserve(1).is_err() {
            // The pages so far are requested now.
            self.flush();
        }
        if self.ranges.len() < self.ranges.capacity() {
            self.ranges.push((first, end));
        }
    }

    /// Requests the pages of all rows.
    pub(crate) fn finish(mut self) -> AdviceStats {
        self.flush();
        self.advised
    }

    /// Sorts the ranges, and merges ranges that overlap or are adjacent.
    fn merge(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, range| {
            let joins = next.0 <= range.1;
            if joins {
                range.1 = range.1.max(next.1);
            }
            joins
        });
    }

    fn flush(&mut self) {
        self.merge();
        if let Some(residency) = &mut self.residency {
            // Before the requests, so that the resident set stays below its budget.
            residency.give_back_excess();
        }
        let advised = &mut self.advised;
        advise_all(&self.ranges, self.page_log2, Advice::WillNeed, &mut |range| {
            advised.ranges += 1;
            advised.bytes = advised.bytes.saturating_add(range.len());
        });
        self.ranges.clear();
    }
}

#[cfg(all(test, feature = "std", unix, not(miri)))]
mod tests {
    use super::*;
    use crate::tensor::residency::ResidencyStats;

    fn advised(rows: &[(usize, usize)], residency: Option<&mut Residency<'_>>) -> (usize, usize, usize) {
        let page = page_size().unwrap();
        let memory = vec![1u8; 64 * page];
        let first = memory.as_ptr().addr().next_multiple_of(page);
        let mut requests = PageRequests::new(residency).unwrap();
        for &(start, bytes) in rows {
            requests.count_row();
            requests.add(first + start, bytes);
        }
        let advised = requests.finish();
        (advised.rows, advised.ranges, advised.bytes / page)
    }

    #[test]
    fn rows_of_the_same_and_of_neighbouring_pages_share_a_range() {
        let page = page_size().unwrap();
        let advised = |rows: &[(usize, usize)]| advised(rows, None);
        assert_eq!(advised(&[]), (0, 0, 0));
        assert_eq!(advised(&[(5, 10)]), (1, 1, 1));
        assert_eq!(advised(&[(0, page)]), (1, 1, 1));
        assert_eq!(advised(&[(page - 1, 2)]), (1, 1, 2));
        assert_eq!(advised(&[(9 * page, 8), (5, 10), (page - 3, 3), (100, 1)]), (4, 2, 2));
        assert_eq!(advised(&[(2 * page, 8), (5, 10), (page + 3, 1)]), (3, 1, 3));
        assert_eq!(advised(&[(3 * page, 8), (page + 3, 1)]), (2, 2, 2));
    }

    #[test]
    fn ranges_are_merged_over_the_whole_call() {
        let page = page_size().unwrap();
        // 30,000 rows in every second page, in an order that merges none of them as it comes.
        let rows: Vec<_> = (0..30_000).map(|at| (at * 7919 % 30 * 2 * page, 8)).collect();
        assert_eq!(advised(&rows, None), (30_000, 30, 30));
        let rows: Vec<_> = (0..30_000).map(|at| (at * 7919 % (60 * page), 8)).collect();
        assert_eq!(advised(&rows, None), (30_000, 1, 61));
    }

    #[test]
    fn known_pages_are_not_requested_again() {
        let page = page_size().unwrap();
        let memory = vec![1u8; 12 * page];
        let first = memory.as_ptr().addr().next_multiple_of(page) - memory.as_ptr().addr();
        let mut residency = Residency::new([&memory[first..first + 8 * page], &[], &memory[first..first + 3 * page]]);
        let mut advised = |rows: &[usize]| {
            let Some(mut requests) = PageRequests::new(Some(&mut residency)) else { return usize::MAX };
            rows.iter().for_each(|&row| requests.add(memory[first + row * page..].as_ptr().addr(), 2 * page));
            requests.finish().bytes / page
        };
        assert_eq!([advised(&[0, 4]), advised(&[4, 0]), advised(&[3]), advised(&[3, 4])], [4, 0, 1, 0]);
        // Pages 8 and 9 are in no file; then all pages are known.
        assert_eq!([advised(&[8]), advised(&[6]), advised(&[1]), advised(&[0])], [0, 2, 1, usize::MAX]);
        let counts = |residency: &Residency<'_>| {
            let ResidencyStats { file_bytes, known_bytes, requested_bytes, .. } = residency.stats();
            [file_bytes, known_bytes, requested_bytes as usize].map(|bytes| bytes / page)
        };
        assert_eq!(counts(&residency), [8, 8, 8]);
        residency.forget();
        assert_eq!(counts(&residency), [8, 0, 8]);
        assert_eq!(counts(&Residency::new::<[u8]>([])), [0; 3]);
    }
}

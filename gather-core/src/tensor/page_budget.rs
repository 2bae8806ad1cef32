//! A bound on the known pages of a [`Residency`](crate::Residency): the pages that are given back first.
//!
//! ```text
//! while known > budget:                           nearly the least recently used range, by one bit a range
//!     range = ranges[hand]; hand = hand + 1       256 pages
//!     if range was used since the hand passed it: forget that; next
//!     give back its pages, except the pages of this call and of the call before
//! ```
//!
//! In a trial an exact order of single pages missed 2 to 5 percent less, and its bookkeeping took more time than that saved.
//! A program may request the pages of a batch while the batch before is still to be read: so both are kept.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::tensor::residency::{BLOCK_LOG2, BLOCK_WORDS, Word};

/// A bound on the known pages.
#[derive(Clone)]
pub(crate) struct Budget {
    pub(crate) pages: usize,
    /// The number of pages given back, in all and since the known pages were last corrected.
    pub(crate) given_back: u64,
    pub(crate) given_back_since: usize,
    /// Whether a page that had just been given back was absent.
    pub(crate) is_bounded: Option<bool>,
    ranges: Vec<PageRange>,
    /// The next range to look at.
    hand: usize,
}

/// Pages of [`RANGE_WORDS`] words, which are given back together.
#[derive(Clone, Copy, Default)]
struct PageRange {
    /// The last call that used it: `used` of its words is of this call.
    call: u32,
    /// Whether it was used since the hand passed it.
    is_recent: bool,
}

/// Words of a range: 1 MiB of pages of 4 KiB.
const RANGE_WORDS: usize = 4;

impl Budget {
    pub(crate) fn new(pages: usize, words: usize) -> Self {
        let ranges = alloc::vec![PageRange::default(); words / RANGE_WORDS];
        Budget { pages, given_back: 0, given_back_since: 0, is_bounded: None, ranges, hand: 0 }
    }

    /// Notes that a call uses a page of `words[at]`; clears the pages that earlier calls used.
    #[inline]
    pub(crate) fn use_word(&mut self, words: &mut [Word], at: usize, call: u32) {
        let range = &mut self.ranges[at / RANGE_WORDS];
        if range.call != call {
            let is_next = range.call.wrapping_add(1) == call;
            for word in &mut words[at / RANGE_WORDS * RANGE_WORDS..][..RANGE_WORDS] {
                word.used_before = if is_next { word.used } else { 0 };
                word.used = 0;
            }
        }
        *range = PageRange { call, is_recent: true };
    }

    /// Removes pages from `known`, until the budget is kept or only pages of this call and of the call before are left. Returns the ranges of
    /// pages to give back, ascending and disjoint, and the number of known pages in them.
    pub(crate) fn take_excess(
        &mut self,
        words: &mut [Word],
        blocks: &[usize],
        known: usize,
        call: u32,
    ) -> (Vec<(usize, usize)>, usize) {
        let (mut ranges, mut taken) = (Vec::new(), 0);
        // In the first round a recent range is skipped, in the second none is recent.
        for _ in 0..2 * self.ranges.len() {
            if known - taken <= self.pages {
                break;
            }
            let at = self.hand;
            self.hand = (at + 1) % self.ranges.len();
            let range = &mut self.ranges[at];
            if core::mem::take(&mut range.is_recent) {
                continue;
            }
            let age = call.wrapping_sub(range.call);
            let first = at * RANGE_WORDS;
            let words = &mut words[first..first + RANGE_WORDS];
            let kept = |word: &Word| match age {
                0 => word.used | word.used_before,
                1 => word.used,
                _ => 0,
            };
            let pages: u32 = words.iter().map(|word| (word.known & !kept(word)).count_ones()).sum();
            taken += pages as usize;
            for (word, at) in words.iter_mut().zip(first..).take(if pages > 0 { RANGE_WORDS } else { 0 }) {
                // Also pages that are not known: a fault may have brought them.
                let page = blocks[at / BLOCK_WORDS] << BLOCK_LOG2 | ((at % BLOCK_WORDS) << 6);
                push_pages(&mut ranges, word.inside & !kept(word), page);
                word.known &= kept(word);
            }
        }
        self.given_back += taken as u64;
        self.given_back_since += taken;
        ranges.sort_unstable();
        (ranges, taken)
    }
}

/// Adds the pages of a word, from page `first` on, to ranges of adjacent pages.
fn push_pages(ranges: &mut Vec<(usize, usize)>, mut bits: u64, first: usize) {
    while bits != 0 {
        let start = bits.trailing_zeros();
        let count = (bits >> start).trailing_ones();
        let (begin, end) = (first + start as usize, first + (start + count) as usize);
        match ranges.last_mut() {
            Some(last) if last.1 == begin => last.1 = end,
            _ => ranges.push((begin, end)),
        }
        bits &= !(u64::MAX >> (64 - count) << start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of a block without its first 100 and its last 30; the set of known pages is kept beside the words.
    #[test]
    fn the_budget_is_kept_and_pages_of_two_calls_stay() {
        const PAGES: usize = 1 << BLOCK_LOG2;
        let mut words = alloc::vec![Word::default(); BLOCK_WORDS];
        (100..PAGES - 30).for_each(|page| words[page / 64].inside |= 1 << (page % 64));
        let mut budget = Budget::new(2000, BLOCK_WORDS);
        let mut known = alloc::vec![false; PAGES];
        let mut used_before = alloc::vec![false; PAGES];
        let mut seed = 1u64;
        for call in 1..300u32 {
            // Of all pages, of neighbours, and more than the budget has pages.
            let (count, width) = [(100, PAGES - 130), (900, 1200), (3000, PAGES - 130)][call as usize % 3];
            let mut used = alloc::vec![false; PAGES];
            for _ in 0..count {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let page = 100 + (seed >> 33) as usize % width;
                budget.use_word(&mut words, page / 64, call);
                words[page / 64].used |= 1 << (page % 64);
                words[page / 64].known |= 1 << (page % 64);
                (used[page], known[page]) = (true, true);
            }
            let before = known.iter().filter(|&&page| page).count();
            let (ranges, taken) = budget.take_excess(&mut words, &[7], before, call);
            assert!(ranges.is_sorted_by(|a, b| a.1 <= b.0));
            for page in ranges.iter().flat_map(|&(first, end)| first - 7 * PAGES..end - 7 * PAGES) {
                assert!((100..PAGES - 30).contains(&page) && !used[page] && !used_before[page], "page {page}");
                known[page] = false;
            }
            let after = known.iter().filter(|&&page| page).count();
            assert_eq!(after, before - taken);
            assert!(after <= 2000 || (0..PAGES).all(|page| !known[page] || used[page] || used_before[page]));
            assert!(before <= 2000 || after + 256 > 2000.min(before), "{before} pages, {after} left");
            used_before = used;
            assert!((0..PAGES).all(|page| known[page] == (words[page / 64].known >> (page % 64) & 1 == 1)));
        }
    }
}

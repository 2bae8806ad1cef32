//! The pages of mapped files that are known to be in memory.
//!
//! ```text
//! blocks:  128 MiB of addresses each, that have pages of files
//! words:   bits of 64 pages of these blocks: is it in a file? known? used by this call?
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use crate::tensor::page_advice::{Advice, advise, advise_all, drop_pages, in_memory, major_faults, page_size};
use crate::tensor::page_budget::Budget;
use crate::types::declare::debug_by;

/// The bytes that a [`Residency`] counts, in whole pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResidencyStats {
    /// The pages of the files.
    pub file_bytes: usize,
    /// Pages that are known to be in memory.
    pub known_bytes: usize,
    /// Pages that were requested, since [`Residency::new`].
    pub requested_bytes: usize,
    /// Known pages that were given back to keep the budget.
    pub given_back_bytes: usize,
    /// Whether a page was absent just after it had been given back: the budget is kept. `None` without a budget.
    /// `Some(false)` also for files that the process may not write: Linux reports all of their pages as in memory, and
    /// does not drop them without descriptors. With descriptors it drops them.
    pub is_bounded: Option<bool>,
}

/// The pages of mapped files that are known to be in memory, since they were requested or found there. `will_need_in`
/// requests other pages only, and returns at once if all pages are known.
///
/// A hint: results never depend on it. The system may drop a page at any time: [`Residency::forget`] and
/// [`Residency::look`] correct the known pages, and if the process has had more major faults (reads of single pages from
/// the disk) than it requested pages, they are corrected by the next call. The value borrows the files, since other
/// memory may later be mapped at their addresses. Memory outside the files is never requested. On systems other than
/// Unix, and without the feature `std`, nothing is requested.
///
/// Memory: 24 bytes for 64 pages, in blocks of 12 KiB for 128 MiB of addresses.
///
/// ```
/// use gather_core::{Gather, Residency, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // A mapped file in real life.
///     let file = vec![0u8; 1 << 20];
///     let table = View::new(&file, &[4096, 256])?;
///     let mut pages = Residency::new([&file[..]]);
///     let gather = Gather::new(0);
///     for ids in [[7u32, 4000, 8], [8, 7, 4000]] {
///         let told = gather.plan(&table, &ids)?.will_need_in(&table, &ids, &mut pages);
///         let rows = gather.run(&table, &ids)?;
/// #       assert_eq!(rows.shape(), [3, 256]);
/// #       assert!(ids[0] == 7 || told.ranges == 0);
///     }
///     Ok(())
/// }
/// ```
///
/// A file that is truncated while it is mapped ends the process at the next read of a missing page (`SIGBUS`), with and
/// without a `Residency`.
#[derive(Clone)]
pub struct Residency<'t> {
    /// Ascending by address.
    files: Vec<MappedFile<'t>>,
    page_log2: u32,
    /// The blocks with pages of files, ascending: block `b` has pages `b << BLOCK_LOG2..(b + 1) << BLOCK_LOG2`.
    blocks: Vec<usize>,
    /// Bits of 64 pages each of these blocks.
    words: Vec<Word>,
    /// The number of pages of files, of known ones, and of requested ones.
    pages: usize,
    known: usize,
    requested: usize,
    budget: Option<Budget>,
    /// The number of calls, and of major faults and requested pages when the known pages were last corrected.
    calls: u32,
    faults_before: u64,
    requested_before: usize,
}

debug_by!(self: ['t] Residency<'t> { files: self.files.len(), stats: self.stats() });

/// A mapped file, and its descriptor and first mapped byte, if pages are dropped by these.
#[derive(Clone, Copy)]
struct MappedFile<'t> {
    bytes: &'t [u8],
    descriptor: Option<(i32, u64)>,
}

/// Bits of 64 pages: in a file, known to be in memory, used by the call of their range.
#[derive(Clone, Copy, Default)]
pub(crate) struct Word {
    pub(crate) inside: u64,
    pub(crate) known: u64,
    pub(crate) used: u64,
}

/// Pages of a block, and words of its bits.
pub(crate) const BLOCK_LOG2: u32 = 15;
pub(crate) const BLOCK_WORDS: usize = 1 << (BLOCK_LOG2 - 6);

/// Calls between two counts of the major faults.
const CALLS: u32 = 16;

impl<'t> Residency<'t> {
    /// The pages of files, given as their mappings or as bytes; no page is known yet. Name every file that a call reads,
    /// also the files of scales: pages of others are not requested.
    #[must_use]
    pub fn new<F: AsRef<[u8]> + ?Sized + 't>(files: impl IntoIterator<Item = &'t F>) -> Self {
        Self::with_files(files.into_iter().map(|file| MappedFile { bytes: file.as_ref(), descriptor: None }).collect())
    }

    fn with_files(mut files: Vec<MappedFile<'t>>) -> Self {
        files.retain(|file| !file.bytes.is_empty());
        files.sort_by_key(|file| file.bytes.as_ptr().addr());
        let page_log2 = page_size().map_or(12, usize::trailing_zeros);
        let mut new = Residency {
            files,
            page_log2,
            blocks: Vec::new(),
            words: Vec::new(),
            pages: 0,
            known: 0,
            requested: 0,
            budget: None,
            calls: 0,
            faults_before: major_faults(),
            requested_before: 0,
        };
        let ranges: Vec<Range<usize>> = new.files.iter().map(|file| pages_of(file.bytes, page_log2)).collect();
        new.blocks = ranges.iter().flat_map(|of| of.start >> BLOCK_LOG2..=(of.end - 1) >> BLOCK_LOG2).collect();
        new.blocks.sort_unstable();
        new.blocks.dedup();
        new.words.resize(new.blocks.len() * BLOCK_WORDS, Word::default());
        for range in ranges {
            new.for_each_word(range, |word, bits, _| word.inside |= bits);
        }
        new.pages = new.words.iter().map(|word| word.inside.count_ones() as usize).sum();
        new
    }

    /// Keeps the known pages below `bytes`, as far as a call needs fewer: before each request, ranges of 1 MiB that were
    /// not used for long are given back to the system, except pages of the call itself. The files are advised for random
    /// access, since the system would otherwise read pages around each read, which nobody counts. All pages are given
    /// back once at the beginning.
    ///
    /// Contents never change: Linux drops clean pages of files, and keeps or swaps others. It also keeps pages of files
    /// that other processes map or that this process may not write, and cached pages that this process has not read: see
    /// [`ResidencyStats::is_bounded`]. [`Residency::of_files`] drops these too. Other systems give nothing back.
    ///
    /// Cost: system calls for the ranges given back, and a [`Residency::look`] whenever pages of the whole budget, and of
    /// an eighth of the files, have been given back.
    ///
    /// ```
    /// use gather_core::Residency;
    ///
    /// let file = vec![7u8; 1 << 20];
    /// let pages = Residency::new([&file[..]]).budget(256 << 10);
    /// assert_eq!(pages.stats().known_bytes, 0);
    /// assert!(file.iter().all(|&byte| byte == 7));
    /// ```
    #[must_use]
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(Budget::new(bytes >> self.page_log2, self.words.len()));
        for file in &self.files {
            let pages = pages_of(file.bytes, self.page_log2);
            advise(&(pages.start << self.page_log2..pages.end << self.page_log2), Advice::Random);
        }
        self.forget();
        self
    }

    /// As [`Residency::new`] and [`Residency::budget`], by descriptors: `(mapping, descriptor, offset)` for a mapping of a
    /// file from byte `offset` on. Pages also leave memory if they have not been read, or if the process may not write
    /// the file. On systems other than Linux nothing is dropped.
    ///
    /// # Safety
    /// Every page with a byte of a mapping is a page of this file, shared, or private and never written: its bytes are
    /// dropped, and read again from the file.
    #[cfg(all(feature = "std", unix))]
    #[must_use]
    pub unsafe fn of_files<F: AsRef<[u8]> + ?Sized + 't>(
        files: impl IntoIterator<Item = (&'t F, std::os::fd::BorrowedFd<'t>, u64)>,
        bytes: usize,
    ) -> Self {
        use std::os::fd::AsRawFd;

        let files = files.into_iter().map(|(file, descriptor, offset)| MappedFile {
            bytes: file.as_ref(),
            descriptor: Some((descriptor.as_raw_fd(), offset)),
        });
        Self::with_files(files.collect()).budget(bytes)
    }

    /// Forgets all pages: after the system may have dropped them. With a budget, gives them back.
    pub fn forget(&mut self) {
        self.words.iter_mut().for_each(|word| word.known = 0);
        self.known = 0;
        if self.budget.is_some() {
            let pages = self.files.iter().map(|file| pages_of(file.bytes, self.page_log2));
            let files: Vec<(usize, usize)> = pages.map(|of| (of.start, of.end)).collect();
            self.give_back(&files);
        }
    }

    /// The bytes of the files, of known pages, of requests, and of pages given back.
    #[must_use]
    pub fn stats(&self) -> ResidencyStats {
        let (given_back, is_bounded) = self.budget.as_ref().map_or((0, None), |of| (of.given_back, of.is_bounded));
        let [file_bytes, known_bytes, requested_bytes, given_back_bytes] =
            [self.pages, self.known, self.requested, given_back].map(|pages| pages << self.page_log2);
        ResidencyStats { file_bytes, known_bytes, requested_bytes, given_back_bytes, is_bounded }
    }

    /// Asks the system which pages are in memory, and knows these and no others. Returns whether the system said so:
    /// Linux does. But if the process lacks the permission to write a file, Linux reports all pages of the file as in
    /// memory, however it is mapped: do not look then.
    ///
    /// Cost: some 4 ns a page.
    pub fn look(&mut self) -> bool {
        let (mut told, page_log2) = (true, self.page_log2);
        for file in 0..self.files.len() {
            let range = pages_of(self.files[file].bytes, page_log2);
            let mut states = [0u8; LOOKED_AT];
            for first in range.clone().step_by(LOOKED_AT) {
                let end = range.end.min(first + LOOKED_AT);
                told &= in_memory(first << page_log2, page_log2, &mut states[..end - first]);
                let mut known = 0usize;
                self.for_each_word(first..end, |word, bits, page| {
                    let mut resident = 0;
                    for bit in (0..64).filter(|bit| told && bits >> bit & 1 == 1) {
                        resident |= u64::from(states[page + bit - first] & 1) << bit;
                    }
                    known = known.wrapping_sub((word.known & bits).count_ones() as usize);
                    word.known = word.known & !bits | resident;
                    known = known.wrapping_add(resident.count_ones() as usize);
                });
                self.known = self.known.wrapping_add(known);
            }
        }
        told
    }

    /// The word of a page; `None` for a page in no block.
    #[inline]
    fn word(&self, page: usize) -> Option<usize> {
        let block = self.blocks.binary_search(&(page >> BLOCK_LOG2)).ok()?;
        Some(block * BLOCK_WORDS + (page >> 6) % BLOCK_WORDS)
    }

    /// Calls a function with the words of pages of files, the bits of these pages, and the first page of the word.
    fn for_each_word(&mut self, pages: Range<usize>, mut each: impl FnMut(&mut Word, u64, usize)) {
        let mut page = pages.start;
        while page < pages.end {
            let end = ((page | 63) + 1).min(pages.end);
            if let Some(word) = self.word(page) {
                let bits = u64::MAX >> (64 - (end - page)) << (page % 64);
                each(&mut self.words[word], bits, page & !63);
            }
            page = end;
        }
    }

    /// Begins a call: corrects the known pages if they seem wrong; `None` if all pages are known.
    pub(crate) fn begin_call(&mut self) -> Option<&mut Self> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) {
            self.correct();
        }
        (self.known < self.pages).then_some(self)
    }

    /// Corrects the known pages after many major faults, or after many pages were given back.
    #[cold]
    fn correct(&mut self) {
        let faults = major_faults();
        let requested = self.requested - self.requested_before;
        // A look takes the time of a fault for 20,000 pages or so, requests of known pages much more.
        let has_faulted = faults - self.faults_before > (requested + self.pages / 256) as u64;
        let is_due = self.budget.as_ref().is_some_and(|of| of.given_back_since >= of.pages.max(self.pages / 8));
        if !has_faulted && !is_due {
            return;
        }
        (self.faults_before, self.requested_before) = (faults, self.requested);
        let looks = self.budget.as_mut().is_some_and(|budget| {
            budget.given_back_since = 0;
            budget.is_bounded == Some(true)
        });
        if looks {
            self.look();
        } else if has_faulted {
            self.forget();
        }
    }

    /// Marks a page as known, and as used by this call; returns whether it is to be requested.
    #[inline]
    pub(crate) fn mark(&mut self, page: usize) -> bool {
        let Some(at) = self.word(page) else { return false };
        let bit = 1 << (page % 64);
        if let Some(budget) = &mut self.budget {
            budget.use_word(&mut self.words, at, self.calls);
            self.words[at].used |= bit;
        }
        let word = &mut self.words[at];
        let is_new = word.inside & !word.known & bit != 0;
        word.known |= word.inside & bit;
        self.known += usize::from(is_new);
        self.requested += usize::from(is_new);
        is_new
    }

    /// Gives back ranges that were not used for long, until the known pages are below the budget.
    pub(crate) fn give_back_excess(&mut self) {
        let Some(budget) = &mut self.budget else { return };
        let (ranges, pages) = budget.take_excess(&mut self.words, &self.blocks, self.known, self.calls);
        self.known -= pages;
        self.give_back(&ranges);
    }

    /// Gives ranges of pages back to the system, and notes whether the first leaves memory.
    fn give_back(&mut self, ranges: &[(usize, usize)]) {
        let (Some(budget), Some(&(first, end))) = (&mut self.budget, ranges.first()) else { return };
        let page_log2 = self.page_log2;
        if self.files.iter().all(|file| file.descriptor.is_none()) {
            advise_all(ranges, page_log2, Advice::PageOut, &mut |_| ());
        }
        for file in &self.files {
            let Some((descriptor, offset)) = file.descriptor else { continue };
            let of = pages_of(file.bytes, page_log2);
            let begin = ranges.partition_point(|range| range.1 <= of.start);
            for range in ranges[begin..].iter().take_while(|range| range.0 < of.end) {
                let pages = range.0.max(of.start) << page_log2..range.1.min(of.end) << page_log2;
                let skipped = pages.start.saturating_sub(file.bytes.as_ptr().addr());
                // SAFETY: pages with bytes of the mapping, which are clean pages of its file by the contract of
                // `of_files`: only it sets descriptors.
                unsafe { drop_pages(&pages, descriptor, offset.saturating_add(skipped as u64)) };
            }
        }
        if budget.is_bounded != Some(true) {
            let mut states = [1u8; LOOKED_AT];
            let states = &mut states[..(end - first).min(LOOKED_AT)];
            let told = in_memory(first << page_log2, page_log2, states);
            budget.is_bounded = Some(told && states.iter().any(|&state| state & 1 == 0));
        }
    }
}

/// The pages with a byte of a file.
fn pages_of(file: &[u8], page_log2: u32) -> Range<usize> {
    let start = file.as_ptr().addr();
    start >> page_log2..((start + file.len() - 1) >> page_log2) + 1
}

/// Pages that the system is asked about at a time: a multiple of 64.
const LOOKED_AT: usize = 4096;

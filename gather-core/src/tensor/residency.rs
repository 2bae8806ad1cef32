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
    pub requested_bytes: u64,
    /// Known pages that were given back to keep the budget, whether or not they left memory.
    pub given_back_bytes: u64,
    /// Whether a page that was in memory was absent just after it had been given back, when the system last told so.
    /// `None` without a budget, or if no such page was seen. `Some(false)` also for files that the process neither owns
    /// nor may write: Linux reports all of their pages as in memory, and drops them with descriptors only.
    pub is_bounded: Option<bool>,
}

/// The pages of mapped files that are known to be in memory, since they were requested or found there. `will_need_in`
/// requests other pages only. It returns at once if every page of the files is known; else it passes over all indices,
/// 12 to 24 ns each.
///
/// A hint: results never depend on it. The system may drop a page at any time: [`Residency::forget`] and
/// [`Residency::look`] correct the known pages. So does one of the next 16 calls after the process has had more major
/// faults (reads of single pages from the disk) than it requested pages, by 1 for 256 pages of the files. A page whose
/// request the system refused is known too. The value borrows the files, since other memory may later be mapped at their
/// addresses. Memory outside the files is never requested. On systems other than Unix, and without the feature `std`,
/// nothing is requested.
///
/// Memory: 32 bytes for 64 pages, in blocks of 32,768 pages (128 MiB of addresses with pages of 4 KiB).
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
    requested: u64,
    budget: Option<Budget>,
    /// The number of calls, and of major faults and requested pages when the known pages were last corrected.
    calls: u32,
    faults_before: u64,
    requested_before: u64,
}

debug_by!(self: ['t] Residency<'t> { files: self.files.len(), stats: self.stats() });

/// A mapped file, and its descriptor and first mapped byte, if pages are dropped by these.
#[derive(Clone, Copy)]
struct MappedFile<'t> {
    bytes: &'t [u8],
    descriptor: Option<(i32, u64)>,
    /// Whether a page that was in memory was absent just after it had been given back: the system tells which pages are
    /// in memory.
    is_told: bool,
}

/// Bits of 64 pages: in a file, known to be in memory, used by the last call of their range, and by the call before that.
#[derive(Clone, Copy, Default)]
pub(crate) struct Word {
    pub(crate) inside: u64,
    pub(crate) known: u64,
    pub(crate) used: u64,
    pub(crate) used_before: u64,
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
        Self::with_files(
            files
                .into_iter()
                .map(|file| MappedFile { bytes: file.as_ref(), descriptor: None, is_told: false })
                .collect(),
        )
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

    /// Keeps the known pages at most `bytes`, except pages of a call and of the call before: before each request, ranges
    /// of 256 pages that were not used for long are given back to the system. The files are advised for random access,
    /// and stay so: else the system would read pages around each read, which nobody counts. All pages are given back
    /// once at the beginning.
    ///
    /// Contents never change: Linux drops clean pages of files, and keeps or swaps others. Without descriptors it also
    /// keeps pages of files that this process neither owns nor may write, and cached pages that this process has not
    /// read: [`Residency::of_files`] drops both. Pages that other processes have mapped and read stay in memory in both
    /// forms. [`ResidencyStats::is_bounded`] tells whether pages leave memory. Other systems give nothing back.
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
    /// file from byte `offset` on. Pages also leave memory if this process has not read them, or neither owns nor may
    /// write the file. On systems other than Linux nothing is dropped.
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
            is_told: false,
        });
        Self::with_files(files.collect()).budget(bytes)
    }

    /// Forgets all pages: after the system may have dropped them. With a budget, gives them back.
    pub fn forget(&mut self) {
        self.words.iter_mut().for_each(|word| word.known = 0);
        self.known = 0;
        let mut files: Vec<(usize, usize)> = Vec::new();
        for Range { start, end } in self.files.iter().map(|file| pages_of(file.bytes, self.page_log2)) {
            match files.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => files.push((start, end)),
            }
        }
        self.give_back(&files);
    }

    /// The bytes of the files, of known pages, of requests, and of pages given back.
    #[must_use]
    pub fn stats(&self) -> ResidencyStats {
        let (given_back, is_bounded) = self.budget.as_ref().map_or((0, None), |of| (of.given_back, of.is_bounded));
        let [file_bytes, known_bytes] = [self.pages, self.known].map(|pages| pages << self.page_log2);
        let [requested_bytes, given_back_bytes] = [self.requested, given_back].map(|pages| pages << self.page_log2);
        ResidencyStats { file_bytes, known_bytes, requested_bytes, given_back_bytes, is_bounded }
    }

    /// Asks the system which pages are in memory, and knows these and no others. Returns whether the system said so:
    /// Linux does. But if the process neither owns a file nor may write it, Linux reports all pages of the file as in
    /// memory, however it is mapped: do not look then. Pages of a file of which the system says nothing are forgotten.
    ///
    /// Cost: some 4 ns a page.
    pub fn look(&mut self) -> bool {
        let told = (0..self.files.len()).map(|file| self.look_at(file));
        told.filter(|told| !told).count() == 0
    }

    /// [`Residency::look`] for a file. If the system does not say, no page of the file is known.
    fn look_at(&mut self, file: usize) -> bool {
        let page_log2 = self.page_log2;
        let (range, mut told) = (pages_of(self.files[file].bytes, page_log2), true);
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

    /// Begins a call: corrects the known pages if they seem wrong; `None` if all pages are known, and within the budget.
    pub(crate) fn begin_call(&mut self) -> Option<&mut Self> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(CALLS) {
            self.correct();
        }
        let is_over = self.budget.as_ref().is_some_and(|budget| self.known > budget.pages);
        (is_over || self.known < self.pages).then_some(self)
    }

    /// Corrects the known pages after many major faults, or after many pages were given back.
    #[cold]
    fn correct(&mut self) {
        let faults = major_faults();
        let requested = self.requested - self.requested_before;
        // A look takes the time of a fault for 20,000 pages or so, requests of known pages much more. A process that was
        // forked begins with no faults.
        let has_faulted = faults.saturating_sub(self.faults_before) > requested + self.pages as u64 / 256;
        self.faults_before = self.faults_before.min(faults);
        let is_due = self.budget.as_ref().is_some_and(|of| of.given_back_since >= of.pages.max(self.pages / 8));
        if !has_faulted && !is_due {
            return;
        }
        (self.faults_before, self.requested_before) = (faults, self.requested);
        let Some(budget) = &mut self.budget else { return self.forget() };
        budget.given_back_since = 0;
        if self.files.iter().all(|file| file.is_told) {
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
        self.requested += u64::from(is_new);
        is_new
    }

    /// Gives back ranges that were not used for long, until the known pages are below the budget.
    pub(crate) fn give_back_excess(&mut self) {
        let Some(budget) = &mut self.budget else { return };
        let (ranges, pages) = budget.take_excess(&mut self.words, &self.blocks, self.known, self.calls);
        self.known -= pages;
        self.give_back(&ranges);
    }

    /// Gives ranges of pages, ascending and disjoint, back to the system. Notes for some of them whether they left memory.
    fn give_back(&mut self, ranges: &[(usize, usize)]) {
        if self.budget.is_none() || ranges.is_empty() {
            return;
        }
        let samples: Vec<Sample> = (0..self.files.len()).filter_map(|file| self.sample(file, ranges)).collect();
        if self.files.iter().all(|file| file.descriptor.is_none()) {
            advise_all(ranges, self.page_log2, Advice::PageOut, &mut |_| ());
        }
        self.drop_ranges(ranges);
        for Sample { file, first, before } in samples {
            let after = states(first, before.len(), self.page_log2);
            let left = after.iter().zip(&before).any(|(after, before)| after & 1 < before & 1);
            if let Some(budget) = self.budget.as_mut().filter(|_| before.iter().any(|state| state & 1 == 1)) {
                budget.is_bounded = Some(left);
                self.files[file].is_told |= left;
            }
        }
    }

    /// The first pages of the first range in a file, if the file has not told yet, or the range is the first of all.
    fn sample(&self, file: usize, ranges: &[(usize, usize)]) -> Option<Sample> {
        let of = pages_of(self.files[file].bytes, self.page_log2);
        let at = ranges.partition_point(|range| range.1 <= of.start);
        let &(start, end) = ranges.get(at).filter(|_| at == 0 || !self.files[file].is_told)?;
        let (first, end) = (start.max(of.start), end.min(of.end).min(start.max(of.start) + SAMPLED));
        (first < end).then(|| Sample { file, first, before: states(first, end - first, self.page_log2) })
    }

    /// Drops ranges of pages of files with descriptors.
    fn drop_ranges(&self, ranges: &[(usize, usize)]) {
        for file in &self.files {
            let Some((descriptor, offset)) = file.descriptor else { continue };
            let (of, start) = (pages_of(file.bytes, self.page_log2), file.bytes.as_ptr().addr());
            let begin = ranges.partition_point(|range| range.1 <= of.start);
            for range in ranges[begin..].iter().take_while(|range| range.0 < of.end) {
                let pages = range.0.max(of.start) << self.page_log2..range.1.min(of.end) << self.page_log2;
                // The first page may begin before the first byte of the mapping.
                let offset = match pages.start.checked_sub(start) {
                    Some(skipped) => offset.saturating_add(skipped as u64),
                    None => offset.saturating_sub((start - pages.start) as u64),
                };
                // SAFETY: pages with bytes of the mapping, which are clean pages of its file by the contract of
                // `of_files`: only it sets descriptors.
                unsafe { drop_pages(&pages, descriptor, offset) };
            }
        }
    }
}

/// Pages of a file before they are given back.
struct Sample {
    file: usize,
    first: usize,
    /// As by [`in_memory`].
    before: Vec<u8>,
}

/// Maximum pages of a sample.
const SAMPLED: usize = 256;

/// Whether pages are in memory, as bit 0 of each byte; 0 if the system does not say.
fn states(first: usize, pages: usize, page_log2: u32) -> Vec<u8> {
    let mut states = alloc::vec![0; pages];
    if !in_memory(first << page_log2, page_log2, &mut states) {
        states.fill(0);
    }
    states
}

/// The pages with a byte of a file.
fn pages_of(file: &[u8], page_log2: u32) -> Range<usize> {
    let start = file.as_ptr().addr();
    start >> page_log2..((start + file.len() - 1) >> page_log2) + 1
}

/// Maximum pages that the system is asked about at a time.
const LOOKED_AT: usize = 4096;

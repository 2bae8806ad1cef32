//! Requests for the pages of a mapped table ahead of the call that reads them.
//!
//! ```text
//! for each row of a call:      skip its pages if a `Residency` has them; else collect the range of its pages
//! sort and merge the ranges    of the whole call; and whenever the list has doubled, so that it stays short
//! request them                 `process_madvise` takes many ranges, `madvise` one
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use smallvec::SmallVec;

use crate::types::declare::debug_by;

/// The rows and ranges requested by [`will_need`](crate::Gather::will_need).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdviceStats {
    /// The number of rows named by the indices.
    pub rows: usize,
    /// The number of page ranges requested: each page of a call is in one range, and adjacent pages share a range.
    pub ranges: usize,
    /// Bytes of the ranges.
    pub bytes: usize,
}

/// The pages of mapped files that are known to be in memory, since they were requested or found there. `will_need_in`
/// requests other pages only, and returns at once if all pages are known.
///
/// A hint: results never depend on it. The system may drop a page at any time: [`Residency::forget`] and
/// [`Residency::look`] correct what is known. The value borrows the files, since other memory may later be mapped at their
/// addresses. Memory outside the files is never requested. On systems other than Unix, and without the feature `std`,
/// nothing is requested.
///
/// Memory: a bit for each page, in blocks of 4 KiB for 128 MiB of addresses.
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
#[derive(Clone)]
pub struct Residency<'t> {
    files: Vec<&'t [u8]>,
    page_log2: u32,
    /// The blocks with pages of files, ascending: block `b` has pages `b << BLOCK_LOG2..(b + 1) << BLOCK_LOG2`.
    blocks: Vec<usize>,
    /// A bit for each page of these blocks: whether it is known, or in no file.
    bits: Vec<u64>,
    /// The number of pages of files, and of known ones.
    pages: usize,
    known: usize,
}

debug_by!(self: ['t] Residency<'t> { files: self.files.len(), pages: self.pages, known: self.known });

/// Pages of a block, and words of its bits.
const BLOCK_LOG2: u32 = 15;
const BLOCK_WORDS: usize = 1 << (BLOCK_LOG2 - 6);

impl<'t> Residency<'t> {
    /// The pages of files, given as their mappings or as bytes; no page is known yet. Name every file that a call reads,
    /// also the files of scales: pages of others are not requested.
    #[must_use]
    pub fn new<F: AsRef<[u8]> + ?Sized + 't>(files: impl IntoIterator<Item = &'t F>) -> Self {
        let page_log2 = page_size().map_or(12, usize::trailing_zeros);
        let files: Vec<&[u8]> = files.into_iter().map(F::as_ref).filter(|file| !file.is_empty()).collect();
        let mut new = Residency { files, page_log2, blocks: Vec::new(), bits: Vec::new(), pages: 0, known: 0 };
        let ranges: Vec<Range<usize>> = new.files.iter().map(|file| new.pages_of(file)).collect();
        new.blocks = ranges.iter().flat_map(|of| of.start >> BLOCK_LOG2..=(of.end - 1) >> BLOCK_LOG2).collect();
        new.blocks.sort_unstable();
        new.blocks.dedup();
        new.bits.resize(new.blocks.len() * BLOCK_WORDS, u64::MAX);
        // Bits of pages in files are cleared, and counted.
        new.forget();
        (new.pages, new.known) = (new.known.wrapping_neg(), 0);
        new
    }

    /// Forgets all pages: after the system may have dropped them.
    pub fn forget(&mut self) {
        for range in self.files.iter().map(|file| self.pages_of(file)).collect::<Vec<_>>() {
            range.for_each(|page| self.set(page, false));
        }
    }

    /// The number of pages of the files, and of pages that are known to be in memory.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        (self.pages, self.known)
    }

    fn pages_of(&self, file: &[u8]) -> Range<usize> {
        let start = file.as_ptr().addr();
        start >> self.page_log2..((start + file.len() - 1) >> self.page_log2) + 1
    }

    /// The word of a page in `bits`, and its bit; `None` for a page in no block.
    #[inline]
    fn bit(&self, page: usize) -> Option<(usize, u64)> {
        let block = self.blocks.binary_search(&(page >> BLOCK_LOG2)).ok()?;
        Some((block * BLOCK_WORDS + (page >> 6) % BLOCK_WORDS, 1 << (page % 64)))
    }

    /// Sets whether a page is known.
    #[inline]
    fn set(&mut self, page: usize, known: bool) {
        let Some((word, bit)) = self.bit(page) else { return };
        let was = self.bits[word] & bit != 0;
        self.bits[word] = if known { self.bits[word] | bit } else { self.bits[word] & !bit };
        self.known = self.known.wrapping_add(usize::from(known)).wrapping_sub(usize::from(was));
    }

    /// Marks a page; returns whether it was known, or in no file.
    #[inline]
    fn mark(&mut self, page: usize) -> bool {
        let is_new = self.bit(page).is_some_and(|(word, bit)| self.bits[word] & bit == 0);
        if is_new {
            self.set(page, true);
        }
        !is_new
    }
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
        if residency.as_ref().is_some_and(|of| of.known == of.pages) {
            return None;
        }
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
            if self.residency.as_mut().is_some_and(|residency| !residency.mark(page)) {
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
            // Nothing can fail: the pages so far are requested now.
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
        let mut together: SmallVec<[Range<usize>; AT_ONCE]> = SmallVec::new();
        let mut takes_several = true;
        for ranges in self.ranges.chunks(AT_ONCE) {
            together.clear();
            together.extend(ranges.iter().map(|&(first, end)| first << self.page_log2..end << self.page_log2));
            let accepted = if takes_several && together.len() >= FEW { request_together(&together) } else { 0 };
            takes_several &= accepted > 0;
            for (at, range) in together.iter().enumerate() {
                if at < accepted || request(range) {
                    self.advised.ranges += 1;
                    self.advised.bytes = self.advised.bytes.saturating_add(range.len());
                }
            }
        }
        self.ranges.clear();
    }
}

/// Bytes of a page, a power of two; `None` if the system takes no requests for pages.
#[cfg(all(feature = "std", unix, not(miri)))]
fn page_size() -> Option<usize> {
    // SAFETY: `sysconf` only reads.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two())
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
fn page_size() -> Option<usize> {
    None
}

impl Residency<'_> {
    /// Asks the system which pages are in memory, and knows these and no others. Returns whether the system said so:
    /// Linux does. But if the process lacks the permission to write a file, Linux reports all pages of the file as in
    /// memory, however it is mapped: do not look then.
    ///
    /// Cost: some 4 ns a page.
    pub fn look(&mut self) -> bool {
        let mut told = true;
        for file in 0..self.files.len() {
            let range = self.pages_of(self.files[file]);
            for first in range.clone().step_by(LOOKED_AT) {
                let mut pages = [0u8; LOOKED_AT];
                let pages = &mut pages[..LOOKED_AT.min(range.end - first)];
                told &= in_memory(first << self.page_log2, self.page_log2, pages);
                for (at, &state) in pages.iter().enumerate().filter(|_| told) {
                    self.set(first + at, state & 1 == 1);
                }
            }
        }
        told
    }
}

/// Pages that the system is asked about at a time.
const LOOKED_AT: usize = 4096;

/// Writes whether pages from an address on are in memory, as bit 0 of each byte; returns whether the system said so.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn in_memory(start: usize, page_log2: u32, pages: &mut [u8]) -> bool {
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: the call reads no byte of the pages, and writes a byte for each of `pages.len()` pages.
    unsafe { libc::mincore(start, pages.len() << page_log2, pages.as_mut_ptr()) == 0 }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
fn in_memory(_: usize, _: u32, _: &mut [u8]) -> bool {
    false
}

/// Requests a range of whole pages; returns whether the system accepted it.
#[cfg(all(feature = "std", unix, not(miri)))]
fn request(pages: &Range<usize>) -> bool {
    let start = core::ptr::without_provenance_mut(pages.start);
    // SAFETY: for any range, the advice changes no byte, and the kernel refuses an unmapped one.
    unsafe { libc::madvise(start, pages.len(), libc::MADV_WILLNEED) == 0 }
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
fn request(_: &Range<usize>) -> bool {
    false
}

/// Maximum ranges of a system call, and minimum ranges to request by one: it needs two more, for a descriptor.
const AT_ONCE: usize = 256;
const FEW: usize = 4;

/// Requests up to [`AT_ONCE`] ranges of whole pages by one system call. Returns the number of ranges that the system
/// accepted; it stops at the first that it refuses. 0 without the call, which Linux 5.10 has, and many releases only
/// for privileged processes.
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64", not(miri)))]
fn request_together(ranges: &[Range<usize>]) -> usize {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    let mut list = [libc::iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; AT_ONCE];
    for (entry, range) in list.iter_mut().zip(ranges) {
        *entry = libc::iovec { iov_base: core::ptr::without_provenance_mut(range.start), iov_len: range.len() };
    }
    // SAFETY: the call only reads.
    let own = unsafe { libc::getpid() };
    // SAFETY: the call has no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, own, 0) };
    let Some(fd) = i32::try_from(fd).ok().filter(|&fd| fd >= 0) else { return 0 };
    // SAFETY: the kernel has just opened the descriptor, and nothing else has it.
    let process = unsafe { OwnedFd::from_raw_fd(fd) };
    let (fd, n) = (process.as_raw_fd(), ranges.len().min(AT_ONCE));
    // SAFETY: `n` entries of the list; as for `madvise`, the advice changes no byte of any range.
    let bytes = unsafe { libc::syscall(libc::SYS_process_madvise, fd, list.as_ptr(), n, libc::MADV_WILLNEED, 0) };
    let mut left = usize::try_from(bytes).unwrap_or(0);
    ranges.iter().take_while(|range| left.checked_sub(range.len()).inspect(|&rest| left = rest).is_some()).count()
}

#[cfg(not(all(feature = "std", target_os = "linux", target_pointer_width = "64", not(miri))))]
fn request_together(_: &[Range<usize>]) -> usize {
    0
}

#[cfg(all(test, feature = "std", unix, not(miri)))]
mod tests {
    use super::*;

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
        assert_eq!(residency.count(), (8, 8));
        residency.forget();
        assert_eq!(residency.count(), (8, 0));
        let empty = Residency::new::<[u8]>([]);
        assert_eq!((empty.count(), empty.bit(5)), ((0, 0), None));
    }
}

//! Requests for the pages of a mapped table ahead of the call that reads them.
//!
//! ```text
//! for each row of a call:      skip its pages if a `Residency` has them; else collect the range of its pages
//! sort and merge the ranges    of the whole call; and whenever the list has doubled, so that it stays short
//! request them                 `process_madvise` takes many ranges, `madvise` one
//! ```

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;
#[cfg(feature = "std")]
use std::collections::HashMap;
#[cfg(feature = "std")]
use std::hash::{BuildHasherDefault, Hasher};

use smallvec::SmallVec;

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

/// The pages of a table that are known to be in memory, since they were requested or found there. `will_need` with it
/// requests other pages only, so that a table in memory costs no system call.
///
/// A hint: results never depend on it. The system may drop a page at any time; [`Residency::forget`] drops all
/// knowledge. The value borrows the table, since other memory may later be mapped at its addresses. On systems other
/// than Unix, and without the feature `std`, it knows no page, and `will_need` requests none.
///
/// Memory: 16 bytes for each 64 adjacent pages that contain a known page.
///
/// ```
/// use gather_core::{Gather, Residency, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // A mapped file in real life.
///     let table = vec![0u8; 1 << 20];
///     let table = View::new(&table, &[4096, 256])?;
///     let mut pages = Residency::new(&table);
///     let gather = Gather::new(0);
///     for ids in [[7u32, 4000, 8], [8, 7, 4000]] {
///         let told = gather.will_need_in(&table, &ids, &mut pages);
///         let rows = gather.run(&table, &ids)?;
/// #       assert_eq!(rows.shape(), [3, 256]);
/// #       assert!(ids[0] == 7 || told.ranges == 0);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Residency<'t> {
    /// `pages[p / 64]`: bit `p % 64` is set if page `p`, counted from address 0, is known.
    #[cfg(feature = "std")]
    pages: HashMap<usize, u64, BuildHasherDefault<PageHasher>>,
    table: PhantomData<&'t ()>,
}

impl<'t> Residency<'t> {
    /// No page of a table is known yet.
    #[must_use]
    pub fn new<S: ?Sized>(_table: &'t S) -> Self {
        Residency::default()
    }

    /// Forgets all pages: after the system may have dropped them.
    pub fn forget(&mut self) {
        #[cfg(feature = "std")]
        self.pages.clear();
    }

    /// Marks pages; returns whether all of them were known.
    #[cfg(feature = "std")]
    #[inline]
    fn mark(&mut self, pages: Range<usize>) -> bool {
        let mut known = true;
        for page in pages {
            let bits = self.pages.entry(page / 64).or_default();
            known &= *bits >> (page % 64) & 1 == 1;
            *bits |= 1 << (page % 64);
        }
        known
    }

    #[cfg(not(feature = "std"))]
    fn mark(&mut self, _: Range<usize>) -> bool {
        true
    }
}

/// Spreads page numbers, which no attacker chooses: by a multiplication.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
struct PageHasher(u64);

#[cfg(feature = "std")]
impl Hasher for PageHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_usize(byte.into()));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
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
    pub(crate) fn new(residency: Option<&'r mut Residency<'t>>) -> Option<Self> {
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
        if self.residency.as_mut().is_some_and(|residency| residency.mark(first..end)) {
            return;
        }
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
        for ranges in self.ranges.chunks(AT_ONCE) {
            together.clear();
            together.extend(ranges.iter().map(|&(first, end)| first << self.page_log2..end << self.page_log2));
            // The call takes longer than a few others.
            let accepted = if together.len() < FEW { 0 } else { request_together(&together) };
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
/// accepted; it stops at the first that it refuses. 0 without the call, which Linux 5.10 has.
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
        let memory = vec![1u8; 8 * page];
        let mut residency = Residency::new(&memory);
        let mut advised = |rows: &[usize]| {
            let mut requests = PageRequests::new(Some(&mut residency)).unwrap();
            let first = memory.as_ptr().addr().next_multiple_of(page);
            rows.iter().for_each(|&row| requests.add(first + row * page, 2 * page));
            requests.finish().bytes / page
        };
        assert_eq!([advised(&[0, 4]), advised(&[4, 0]), advised(&[3]), advised(&[3, 4])], [4, 0, 2, 0]);
        residency.forget();
        let mut requests = PageRequests::new(Some(&mut residency)).unwrap();
        requests.add(memory.as_ptr().addr(), 1);
        assert_eq!(requests.finish().ranges, 1);
    }
}

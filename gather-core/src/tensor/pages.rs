//! Advice to the system about pages: huge ones for big outputs, and those of a mapped table that are needed soon.
//!
//! # Huge pages
//!
//! The first write to a page of fresh memory costs a page fault, and an output of 64 MiB has 16,384 pages of 4 KiB:
//! the faults can take longer than the kernel that fills it. Linux serves advised memory 2 MiB at a time, where it is
//! set to (`transparent_hugepage` is `madvise` or `always`), which leaves the zeroing. Later reads and writes at
//! random miss the translation buffers less often, too. Where the kernel refuses, the memory is as good as before.

/// Bytes from which on memory is worth the call: below, there is hardly a whole huge page inside.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
const HUGE_FROM: usize = 4 << 20;

/// Asks for huge pages under the whole pages of fresh memory, before its first use.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
pub(crate) fn advise<T>(memory: *mut T, bytes: usize) {
    /// The smallest page there is: the kernel refuses, without harm, an address that does not begin a page of its own.
    const PAGE: usize = 4096;
    if bytes < HUGE_FROM {
        return;
    }
    let skipped = memory.addr().next_multiple_of(PAGE) - memory.addr();
    let whole = (bytes - skipped) / PAGE * PAGE;
    let start = memory.cast::<u8>().wrapping_add(skipped).cast();
    // SAFETY: the range lies inside an allocation of the caller's; the advice changes neither its contents nor what
    // may be done with it. A refusal is of no consequence.
    let _ = unsafe { libc::madvise(start, whole, libc::MADV_HUGEPAGE) };
}

/// Nothing: there is no such advice here.
#[cfg(not(all(feature = "huge-pages", target_os = "linux", not(miri))))]
pub(crate) fn advise<T>(_: *mut T, _: usize) {}

/// The number of rows and ranges in the advice of [`will_need`](crate::Gather::will_need).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WillNeed {
    /// Rows of data that the indices name.
    pub rows: usize,
    /// Ranges of pages that were asked for: rows of the same page and of neighbouring ones share a range.
    pub ranges: usize,
    /// Bytes of these ranges.
    pub bytes: usize,
}

/// Collects rows, and asks for their pages a batch at a time, in the order of their addresses.
pub(crate) struct PageBatch {
    /// First bytes of rows, and the bytes behind their last.
    rows: [(usize, usize); PageBatch::ROWS],
    len: usize,
    page: usize,
    told: WillNeed,
}

impl PageBatch {
    /// Rows of a batch: their requests are under way together, and the list fits on any stack.
    const ROWS: usize = 1024;

    /// An empty batch, where the system takes such advice.
    pub(crate) fn new() -> Option<Self> {
        Some(PageBatch { rows: [(0, 0); Self::ROWS], len: 0, page: page_size()?, told: WillNeed::default() })
    }

    /// Adds a row at an address.
    pub(crate) fn add(&mut self, start: usize, bytes: usize) {
        self.rows[self.len] = (start, start.saturating_add(bytes));
        self.len += 1;
        if self.len == Self::ROWS {
            self.flush();
        }
    }

    /// Asks for what is left.
    pub(crate) fn finish(mut self) -> WillNeed {
        self.flush();
        self.told
    }

    fn flush(&mut self) {
        let rows = &mut self.rows[..self.len];
        rows.sort_unstable();
        self.told.rows = self.told.rows.saturating_add(rows.len());
        let down = |at: usize| at / self.page * self.page;
        let mut rows = rows.iter().map(|&(start, end)| (down(start), end.max(start.saturating_add(1)))).peekable();
        while let Some((start, mut end)) = rows.next() {
            // The next row begins in the last page of this range, or in the one behind it.
            while let Some((_, next)) = rows.next_if(|&(start, _)| start <= down(end - 1).saturating_add(self.page)) {
                end = end.max(next);
            }
            let bytes = end - start;
            if advise_needed(start, bytes) {
                self.told.ranges += 1;
                self.told.bytes = self.told.bytes.saturating_add(bytes.next_multiple_of(self.page));
            }
        }
        self.len = 0;
    }
}

/// Bytes of a page; `None` where the system takes no advice about them.
#[cfg(all(feature = "std", unix, not(miri)))]
fn page_size() -> Option<usize> {
    // SAFETY: the call only answers a question.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two())
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
fn page_size() -> Option<usize> {
    None
}

/// Asks for the pages of a range that begins with one; returns whether the system took it.
#[cfg(all(feature = "std", unix, not(miri)))]
fn advise_needed(start: usize, bytes: usize) -> bool {
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: the advice changes no byte, whatever the range is, and the kernel refuses one that is not mapped.
    unsafe { libc::madvise(start, bytes, libc::MADV_WILLNEED) == 0 }
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
fn advise_needed(_: usize, _: usize) -> bool {
    false
}

#[cfg(all(test, feature = "std", unix, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_same_and_of_neighbouring_pages_share_a_range() {
        let page = page_size().unwrap();
        let memory = vec![1u8; 64 * page];
        let first = memory.as_ptr().addr().next_multiple_of(page);
        let told = |rows: &[(usize, usize)]| {
            let mut batch = PageBatch::new().unwrap();
            rows.iter().for_each(|&(start, bytes)| batch.add(first + start, bytes));
            let told = batch.finish();
            (told.rows, told.ranges, told.bytes / page)
        };
        assert_eq!(told(&[]), (0, 0, 0));
        assert_eq!(told(&[(5, 10)]), (1, 1, 1));
        assert_eq!(told(&[(0, page)]), (1, 1, 1));
        assert_eq!(told(&[(page - 1, 2)]), (1, 1, 2));
        assert_eq!(told(&[(9 * page, 8), (5, 10), (page - 3, 3), (100, 1)]), (4, 2, 2));
        assert_eq!(told(&[(2 * page, 8), (5, 10), (page + 3, 1)]), (3, 1, 3));
        assert_eq!(told(&[(3 * page, 8), (page + 3, 1)]), (2, 2, 2));
        // More than a batch.
        let many: Vec<_> = (0..3000).map(|at| (at * 7919 % (60 * page), 264)).collect();
        let (rows, ranges, pages) = told(&many);
        assert!(rows == 3000 && ranges >= 3 && pages >= 60, "{rows} {ranges} {pages}");
    }
}

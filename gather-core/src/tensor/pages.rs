//! Advice about pages: huge pages for big outputs and for tables, and prefetch of pages of a mapped table.
//!
//! # Huge pages
//!
//! The first write to a page of fresh memory costs a page fault. An output of 64 MiB has 16,384 pages of 4 KiB, whose
//! faults can take longer than the kernel that fills it. Linux provides advised memory 2 MiB at a time (if
//! `transparent_hugepage` is `madvise` or `always`), which leaves only the zeroing. Later random reads and writes also
//! miss the TLB less often. If the kernel refuses, nothing changes.
//!
//! The advice is for fresh memory. [`promote`] moves memory in use to huge pages, at the same addresses.

#[cfg(feature = "std")]
use crate::types::error::Error;

/// Minimum bytes for the advice: smaller memory hardly contains a whole huge page.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
const HUGE_FROM: usize = 4 << 20;

/// Advises huge pages for the whole pages of fresh memory, before its first use.
#[cfg(all(feature = "huge-pages", target_os = "linux", not(miri)))]
pub(crate) fn advise<T>(memory: *mut T, bytes: usize) {
    /// The smallest page size of any system. The kernel refuses, without harm, an address that begins no page.
    const PAGE: usize = 4096;
    if bytes < HUGE_FROM {
        return;
    }
    let skipped = memory.addr().next_multiple_of(PAGE) - memory.addr();
    let whole = (bytes - skipped) / PAGE * PAGE;
    let start = memory.cast::<u8>().wrapping_add(skipped).cast();
    // SAFETY: for any range, the advice changes neither contents nor permissions, and a refusal has no effect.
    let _ = unsafe { libc::madvise(start, whole, libc::MADV_HUGEPAGE) };
}

/// Does nothing: there is no huge-page advice on this system.
#[cfg(not(all(feature = "huge-pages", target_os = "linux", not(miri))))]
pub(crate) fn advise<T>(_: *mut T, _: usize) {}

/// The huge pages reached by [`promote`].
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HugePageStats {
    /// Bytes of a huge page.
    pub page: usize,
    /// The number of candidate places: aligned ranges of `page` bytes inside the memory.
    pub candidates: usize,
    /// The number of places on huge pages after the call.
    pub huge: usize,
}

/// Moves the memory of a table to huge pages, which speeds up random reads. Contents and addresses stay.
///
/// Use it for existing tables: in a `Vec`, or in a mapping of yours. A fresh [`Tensor`](crate::Tensor) of 4 MiB and
/// more has huge pages from its first write on. [A chapter of the guide](crate::guide::large_tables) compares both.
///
/// Bytes before the first place and after the last are not moved, so memory of less than two huge pages may have no
/// place. A place with no touched page is not moved; in any other, all pages are in memory afterwards. A place that
/// cannot be moved stays, and counts in [`HugePageStats::candidates`] only. If the system has no huge page left, the
/// call ends.
///
/// Cost: the system copies the memory, and needs one free huge page at a time. Other threads that touch a page during
/// its move wait for it. A place already on a huge page costs next to nothing.
///
/// ```no_run
/// let mut table = vec![0.5f32; 1 << 24];
/// match gather_core::promote(&mut table) {
///     Ok(reached) => println!("{} of {} pages are huge", reached.huge, reached.candidates),
///     Err(refused) => println!("{refused}"),
/// }
/// ```
///
/// # Errors
/// [`Error::HugePagesUnavailable`], if there are places and none could be moved, or the system has no huge pages.
/// Causes: not Linux 6.1 or later, no transparent huge pages, a file system without them, or too little memory.
///
/// Source: `MADV_COLLAPSE` in the manual of `madvise`.
#[cfg(feature = "std")]
pub fn promote<T>(memory: &mut [T]) -> Result<HugePageStats, Error> {
    let bytes = size_of_val(memory);
    let page = huge_page().ok_or(Error::HugePagesUnavailable { bytes, code: None })?;
    let start = memory.as_mut_ptr().addr();
    let first = start.next_multiple_of(page);
    let places = (start + bytes).saturating_sub(first) / page;
    let mut moved = Collapsed::default();
    moved.collapse(first, places, page);
    match moved.refused {
        Some(code) if moved.places == 0 => Err(Error::HugePagesUnavailable { bytes, code: Some(code) }),
        _ => Ok(HugePageStats { page, candidates: places, huge: moved.places }),
    }
}

#[cfg(feature = "std")]
#[derive(Default)]
struct Collapsed {
    places: usize,
    /// The system's last refusal.
    refused: Option<i32>,
    is_over: bool,
}

#[cfg(feature = "std")]
impl Collapsed {
    /// Moves `places` places to huge pages. The system does not report which places of a refused range it has moved, so
    /// the range is retried in halves. The system skips places already moved.
    fn collapse(&mut self, start: usize, places: usize, page: usize) {
        if places == 0 || self.is_over {
            return;
        }
        match collapse(start, places * page) {
            Ok(()) => self.places += places,
            Err(code) if places == 1 => {
                self.refused = Some(code);
                self.is_over = is_short_of_memory(code);
            }
            Err(_) => {
                let half = places / 2;
                self.collapse(start, half, page);
                self.collapse(start + half * page, places - half, page);
            }
        }
    }
}

/// Bytes of a huge page; `None` if the system has no huge pages.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn huge_page() -> Option<usize> {
    let size = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok()?;
    size.trim().parse().ok().filter(|size: &usize| size.is_power_of_two())
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn huge_page() -> Option<usize> {
    None
}

/// Moves a range of whole huge pages; `Err` is the system's error number if one of them is refused.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn collapse(start: usize, bytes: usize) -> Result<(), i32> {
    /// The number is the same on every architecture, but not every version of `libc` names it.
    const MADV_COLLAPSE: libc::c_int = 25;
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: for any range, the advice changes neither contents, addresses nor permissions; old kernels refuse it.
    match unsafe { libc::madvise(start, bytes, MADV_COLLAPSE) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or_default()),
    }
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn collapse(_: usize, _: usize) -> Result<(), i32> {
    Err(0)
}

/// Whether an error says that the system, or this process's cgroup, has no huge page left.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn is_short_of_memory(code: i32) -> bool {
    matches!(code, libc::ENOMEM | libc::EBUSY)
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn is_short_of_memory(_: i32) -> bool {
    true
}

/// The rows and ranges advised by [`will_need`](crate::Gather::will_need).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdviceStats {
    /// The number of rows named by the indices.
    pub rows: usize,
    /// The number of page ranges advised: rows of the same or of adjacent pages share a range.
    pub ranges: usize,
    /// Bytes of the ranges.
    pub bytes: usize,
}

/// Collects rows, and advises their pages in batches, by ascending address.
pub(crate) struct PageBatch {
    /// Start and end addresses of rows.
    rows: [(usize, usize); PageBatch::ROWS],
    len: usize,
    page: usize,
    advised: AdviceStats,
}

impl PageBatch {
    /// Rows of a batch. The requests of a batch are in flight together, and its list fits on any stack.
    const ROWS: usize = 1024;

    /// An empty batch; `None` if the system takes no such advice.
    pub(crate) fn new() -> Option<Self> {
        Some(PageBatch { rows: [(0, 0); Self::ROWS], len: 0, page: page_size()?, advised: AdviceStats::default() })
    }

    pub(crate) fn add(&mut self, start: usize, bytes: usize) {
        self.rows[self.len] = (start, start.saturating_add(bytes));
        self.len += 1;
        if self.len == Self::ROWS {
            self.flush();
        }
    }

    /// Advises the pending rows.
    pub(crate) fn finish(mut self) -> AdviceStats {
        self.flush();
        self.advised
    }

    fn flush(&mut self) {
        let rows = &mut self.rows[..self.len];
        rows.sort_unstable();
        self.advised.rows = self.advised.rows.saturating_add(rows.len());
        let down = |at: usize| at / self.page * self.page;
        let mut rows = rows.iter().map(|&(start, end)| (down(start), end.max(start.saturating_add(1)))).peekable();
        while let Some((start, mut end)) = rows.next() {
            // The next row begins in the last page of this range, or in the page after it.
            while let Some((_, next)) = rows.next_if(|&(start, _)| start <= down(end - 1).saturating_add(self.page)) {
                end = end.max(next);
            }
            let bytes = end - start;
            if advise_needed(start, bytes) {
                self.advised.ranges += 1;
                self.advised.bytes = self.advised.bytes.saturating_add(bytes.next_multiple_of(self.page));
            }
        }
        self.len = 0;
    }
}

/// Bytes of a page; `None` if the system takes no advice about pages.
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

/// Advises a page-aligned range; returns whether the system accepted it.
#[cfg(all(feature = "std", unix, not(miri)))]
fn advise_needed(start: usize, bytes: usize) -> bool {
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: for any range, the advice changes no byte, and the kernel refuses an unmapped one.
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
        let advised = |rows: &[(usize, usize)]| {
            let mut batch = PageBatch::new().unwrap();
            rows.iter().for_each(|&(start, bytes)| batch.add(first + start, bytes));
            let advised = batch.finish();
            (advised.rows, advised.ranges, advised.bytes / page)
        };
        assert_eq!(advised(&[]), (0, 0, 0));
        assert_eq!(advised(&[(5, 10)]), (1, 1, 1));
        assert_eq!(advised(&[(0, page)]), (1, 1, 1));
        assert_eq!(advised(&[(page - 1, 2)]), (1, 1, 2));
        assert_eq!(advised(&[(9 * page, 8), (5, 10), (page - 3, 3), (100, 1)]), (4, 2, 2));
        assert_eq!(advised(&[(2 * page, 8), (5, 10), (page + 3, 1)]), (3, 1, 3));
        assert_eq!(advised(&[(3 * page, 8), (page + 3, 1)]), (2, 2, 2));
        // More rows than a batch.
        let many: Vec<_> = (0..3000).map(|at| (at * 7919 % (60 * page), 264)).collect();
        let (rows, ranges, pages) = advised(&many);
        assert!(rows == 3000 && ranges >= 3 && pages >= 60, "{rows} {ranges} {pages}");
    }
}

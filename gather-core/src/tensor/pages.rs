//! Advice to the system about pages: huge ones for big outputs and for tables of the caller's, and the pages of a
//! mapped table that are needed soon.
//!
//! # Huge pages
//!
//! The first write to a page of fresh memory costs a page fault, and an output of 64 MiB has 16,384 pages of 4 KiB:
//! the faults can take longer than the kernel that fills it. Linux serves advised memory 2 MiB at a time, where it is
//! set to (`transparent_hugepage` is `madvise` or `always`), which leaves the zeroing. Later reads and writes at
//! random miss the translation buffers less often, too. Where the kernel refuses, the memory is as good as before.
//!
//! The advice serves memory that is not in use yet. [`promote`] has the pages of memory that is in use copied to huge
//! ones, at the same addresses.

#[cfg(feature = "std")]
use crate::types::error::Error;

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

/// The huge pages that [`promote`] reached.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promoted {
    /// Bytes of a huge page.
    pub page: usize,
    /// Places for huge pages: the aligned ranges of this size that lie in the memory as a whole.
    pub places: usize,
    /// Places that hold a huge page now.
    pub huge: usize,
}

/// Moves the memory of a table to huge pages, which reads at random find faster. Contents and addresses stay.
///
/// It is for tables that are there already: in a `Vec`, or in a mapping of the caller's. A fresh
/// [`Tensor`](crate::Tensor) of 4 MiB and more has huge pages from its first write on. [A chapter of the
/// guide](crate::guide::large_tables) says what both gain.
///
/// The bytes before the first place and behind the last stay where they are, so memory of less than two huge pages may
/// have no place. A place of which no page was touched is not moved; of another one, all pages are in memory
/// afterwards. A place that cannot be moved is left as it is, and
/// counted in [`Promoted::places`] only. Where the system has no huge page left, the call ends.
///
/// Cost: the system copies the memory, and needs one free huge page at a time. Other threads that touch a page while it
/// is moved wait for it. A place that holds a huge page already costs next to nothing.
///
/// ```no_run
/// let mut table = vec![0.5f32; 1 << 24];
/// match gather_core::promote(&mut table) {
///     Ok(reached) => println!("{} of {} pages are huge", reached.huge, reached.places),
///     Err(refused) => println!("{refused}"),
/// }
/// ```
///
/// # Errors
/// [`Error::HugePagesUnavailable`], where there are places and none could be moved, or the system has no huge pages:
/// without Linux 6.1 and its transparent huge pages,
/// for memory of a file system that has none, or where memory is short.
///
/// Source: `MADV_COLLAPSE` in the manual of `madvise`.
#[cfg(feature = "std")]
pub fn promote<T>(memory: &mut [T]) -> Result<Promoted, Error> {
    let bytes = size_of_val(memory);
    let page = huge_page().ok_or(Error::HugePagesUnavailable { bytes, code: None })?;
    let start = memory.as_mut_ptr().addr();
    let first = start.next_multiple_of(page);
    let places = (start + bytes).saturating_sub(first) / page;
    let mut moved = Collapsed::default();
    moved.collapse(first, places, page);
    match moved.refused {
        Some(code) if moved.places == 0 => Err(Error::HugePagesUnavailable { bytes, code: Some(code) }),
        _ => Ok(Promoted { page, places, huge: moved.places }),
    }
}

/// The advice of [`promote`], and its result so far.
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
    /// Asks for huge pages at `places` places. The system does not say which of several it could not move: what it
    /// refuses is asked for again in halves, of which it passes over those that are done.
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

/// Bytes of a huge page; `None` where there are none.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn huge_page() -> Option<usize> {
    let size = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok()?;
    size.trim().parse().ok().filter(|size: &usize| size.is_power_of_two())
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn huge_page() -> Option<usize> {
    None
}

/// Moves the whole huge pages of a range; the system's number of its error where it refuses one of them.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn collapse(start: usize, bytes: usize) -> Result<(), i32> {
    /// The number is the same everywhere, but not every version of `libc` names it.
    const MADV_COLLAPSE: libc::c_int = 25;
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: the advice changes neither contents nor addresses nor what may be done with the memory, whatever the
    // range is; kernels that do not know it refuse.
    match unsafe { libc::madvise(start, bytes, MADV_COLLAPSE) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or_default()),
    }
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn collapse(_: usize, _: usize) -> Result<(), i32> {
    Err(0)
}

/// Whether an error says that there is no huge page left, or none for this group of processes.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn is_short_of_memory(code: i32) -> bool {
    matches!(code, libc::ENOMEM | libc::EBUSY)
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(miri)))))]
fn is_short_of_memory(_: i32) -> bool {
    true
}

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

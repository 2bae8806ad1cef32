//! Huge pages for big outputs and for tables.
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

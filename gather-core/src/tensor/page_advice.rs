//! System calls on pages of memory: advice, the pages that are in memory, and major faults.

use core::ops::Range;

use smallvec::SmallVec;

/// Advice that changes no byte of any memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// The pages are requested.
    WillNeed,
    /// The system reads no page around a page that is read.
    Random,
    /// The pages are given back: clean pages of files leave memory, others stay or are swapped.
    PageOut,
}

#[cfg(all(feature = "std", unix, not(miri)))]
impl Advice {
    /// The constant of the system; `None` if it has none.
    fn code(self) -> Option<i32> {
        match self {
            Advice::WillNeed => Some(libc::MADV_WILLNEED),
            Advice::Random => Some(libc::MADV_RANDOM),
            #[cfg(target_os = "linux")]
            Advice::PageOut => Some(libc::MADV_PAGEOUT),
            #[cfg(not(target_os = "linux"))]
            Advice::PageOut => None,
        }
    }
}

/// Gives advice on ranges of pages, counted from address 0; `accepted` gets the bytes of each range that the system
/// accepted.
pub(crate) fn advise_all(
    ranges: &[(usize, usize)],
    page_log2: u32,
    advice: Advice,
    accepted: &mut dyn FnMut(&Range<usize>),
) {
    let mut together: SmallVec<[Range<usize>; AT_ONCE]> = SmallVec::new();
    let mut takes_several = true;
    for ranges in ranges.chunks(AT_ONCE) {
        together.clear();
        together.extend(ranges.iter().map(|&(first, end)| first << page_log2..end << page_log2));
        let several = takes_several && together.len() >= FEW;
        let count = if several { advise_together(&together, advice) } else { 0 };
        takes_several &= count > 0;
        for (at, range) in together.iter().enumerate() {
            if at < count || advise(range, advice) {
                accepted(range);
            }
        }
    }
}

/// Bytes of a page, a power of two; `None` if the system takes no requests for pages.
#[cfg(all(feature = "std", unix, not(miri)))]
pub(crate) fn page_size() -> Option<usize> {
    // SAFETY: `sysconf` only reads.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two())
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
pub(crate) fn page_size() -> Option<usize> {
    None
}

/// Writes whether pages from an address on are in memory, as bit 0 of each byte; returns whether the system said so.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
pub(crate) fn in_memory(start: usize, page_log2: u32, pages: &mut [u8]) -> bool {
    let start = core::ptr::without_provenance_mut(start);
    // SAFETY: the call reads no byte of the pages, and writes a byte for each of `pages.len()` pages.
    unsafe { libc::mincore(start, pages.len() << page_log2, pages.as_mut_ptr()) == 0 }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
pub(crate) fn in_memory(_: usize, _: u32, _: &mut [u8]) -> bool {
    false
}

/// Gives advice on a range of whole pages; returns whether the system accepted it.
#[cfg(all(feature = "std", unix, not(miri)))]
pub(crate) fn advise(pages: &Range<usize>, advice: Advice) -> bool {
    let Some(code) = advice.code() else { return false };
    let start = core::ptr::without_provenance_mut(pages.start);
    // SAFETY: for any range, the advice changes no byte; unmapped pages are skipped or refused.
    unsafe { libc::madvise(start, pages.len(), code) == 0 }
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
pub(crate) fn advise(_: &Range<usize>, _: Advice) -> bool {
    false
}

/// Maximum ranges of a system call, and minimum ranges for one: it needs two more, for a descriptor.
const AT_ONCE: usize = 256;
const FEW: usize = 4;

/// Gives advice on up to [`AT_ONCE`] ranges of whole pages by one system call. Returns the number of ranges that the system
/// accepted; it stops at the first that it refuses. 0 without the call, which Linux 5.10 has, and many releases only
/// for privileged processes.
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64", not(miri)))]
fn advise_together(ranges: &[Range<usize>], advice: Advice) -> usize {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    let Some(code) = advice.code() else { return 0 };
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
    let bytes = unsafe { libc::syscall(libc::SYS_process_madvise, fd, list.as_ptr(), n, code, 0) };
    let mut left = usize::try_from(bytes).unwrap_or(0);
    ranges.iter().take_while(|range| left.checked_sub(range.len()).inspect(|&rest| left = rest).is_some()).count()
}

#[cfg(not(all(feature = "std", target_os = "linux", target_pointer_width = "64", not(miri))))]
fn advise_together(_: &[Range<usize>], _: Advice) -> usize {
    0
}

/// Drops a range of whole pages from memory, and from the cache of the file that they map from `offset` on.
///
/// # Safety
/// Each page is a clean page of a mapped file: reading it again gives the same bytes.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
pub(crate) unsafe fn drop_pages(pages: &Range<usize>, descriptor: i32, offset: u64) {
    let start = core::ptr::without_provenance_mut(pages.start);
    // SAFETY: the pages are clean pages of a file, by the contract: the next read gets the same bytes from the file.
    unsafe { libc::madvise(start, pages.len(), libc::MADV_DONTNEED) };
    let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(pages.len())) else { return };
    // SAFETY: the call has no pointers, and drops only pages of the cache that equal the file.
    unsafe { libc::posix_fadvise64(descriptor, offset, bytes, libc::POSIX_FADV_DONTNEED) };
}

/// Does nothing: this system does not drop pages by a call.
///
/// # Safety
/// None is needed.
#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
pub(crate) unsafe fn drop_pages(_: &Range<usize>, _: i32, _: u64) {}

/// The number of major faults of the process: of pages that were read from a disk when they were touched. 0 if the
/// system does not count them.
#[cfg(all(feature = "std", unix, not(miri)))]
pub(crate) fn major_faults() -> u64 {
    // SAFETY: the structure has integers only, for which zeros are values.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: the call writes the structure.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    if status == 0 { u64::try_from(usage.ru_majflt).unwrap_or(0) } else { 0 }
}

#[cfg(not(all(feature = "std", unix, not(miri))))]
pub(crate) fn major_faults() -> u64 {
    0
}

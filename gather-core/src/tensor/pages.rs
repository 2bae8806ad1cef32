//! Huge pages for big outputs.
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

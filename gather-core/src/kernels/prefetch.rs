//! Prefetching.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches `bytes` bytes for reading.
#[inline(always)]
pub(crate) fn prefetch(start: *const u8, bytes: usize) {
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        let mut at = 0;
        while at < bytes {
            prefetch_line(start.wrapping_add(at));
            at += LINE;
        }
    }
}

/// Maximum bytes prefetched from the start of a row.
const MOST_BYTES: usize = 1 << 10;

/// Prefetches the first `MOST_BYTES` bytes of a row, and the line of its last byte. `bytes >= 1`.
#[inline(always)]
pub(crate) fn prefetch_row(row: *const u8, bytes: usize) {
    prefetch(row, bytes.min(MOST_BYTES));
    prefetch(row.wrapping_add(bytes - 1), 1);
}

#[inline(always)]
fn prefetch_line(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    hint::<{ core::arch::x86_64::_MM_HINT_T0 }>(line);
    // Miri has no inline assembly.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "memory is not read in the language's sense")]
    {
        // SAFETY: only a register is read: a prefetch does not access memory in the language's sense.
        unsafe { core::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(nomem, nostack, preserves_flags)) };
    }
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri)))))]
    let _ = line;
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn hint<const HINT: i32>(line: *const u8) {
    // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
    unsafe { core::arch::x86_64::_mm_prefetch::<HINT>(line.cast()) };
}

/// Prefetches `bytes` bytes into the second-level cache, for reads or writes: a line that no other core holds arrives
/// in a writable state.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_near(start: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        hint::<{ core::arch::x86_64::_MM_HINT_T1 }>(start.wrapping_add(at));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_to_write(line: *mut u8) {
    hint::<{ core::arch::x86_64::_MM_HINT_ET0 }>(line);
}

/// Data of the next outer coordinate, prefetched while the rows of the current coordinate are moved.
///
/// Along the last axis every coordinate has its own slice of data, adjacent to the previous slice. Indices address a
/// slice in any order, so the hardware prefetcher finds no stream. Prefetching the whole next slice at once would stall
/// the moves; line by line between the moves, the prefetches cost nothing (workload `gather/lastaxis_4096x1024_512`).
#[derive(Clone, Copy)]
pub(crate) struct NextSlice {
    at: *const u8,
    /// Bytes per [`STEP`] rows; 0 for none.
    bytes: usize,
}

/// Rows between two prefetches of the next slice: a vector of 4-byte rows.
pub(crate) const STEP: usize = 8;

impl NextSlice {
    pub(crate) const NONE: NextSlice = NextSlice { at: core::ptr::null(), bytes: 0 };

    /// A slice of `bytes` bytes at `at`, spread over `n >= 1` rows, from row `done` on.
    #[inline(always)]
    pub(crate) fn spread(at: *const u8, bytes: usize, n: usize, done: usize) -> Self {
        debug_assert!(n >= 1);
        let bytes = (bytes * STEP).div_ceil(n);
        NextSlice { at: at.wrapping_add(done / STEP * bytes), bytes }
    }

    /// The remainder after `steps * STEP` rows.
    #[inline(always)]
    pub(crate) fn skip(self, steps: usize) -> Self {
        NextSlice { at: self.at.wrapping_add(steps * self.bytes), ..self }
    }

    /// The slice moved by `by` bytes.
    #[inline(always)]
    pub(crate) fn moved(self, by: isize) -> Self {
        NextSlice { at: self.at.wrapping_offset(by), ..self }
    }

    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self.bytes != 0
    }

    /// Prefetches the bytes of `n` rows, in whole steps.
    #[inline(always)]
    pub(crate) fn fetch_steps(self, n: usize) {
        prefetch(self.at, n.div_ceil(STEP) * self.bytes);
    }

    #[inline(always)]
    pub(crate) fn fetch(self, step: usize) {
        prefetch(self.at.wrapping_add(step * self.bytes), self.bytes);
    }
}

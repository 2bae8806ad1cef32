//! Prefetching: bringing memory into a cache before it is needed.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches the lines of `bytes` bytes, to be read.
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

/// The most bytes of a row that are prefetched, except for its last line.
const ASKED: usize = 1 << 10;

/// Prefetches up to a KiB of a row of at least a byte, and the line of its last byte, which may be one more where the
/// row does not begin with a line.
#[inline(always)]
pub(crate) fn prefetch_row(row: *const u8, bytes: usize) {
    prefetch(row, bytes.min(ASKED));
    prefetch(row.wrapping_add(bytes - 1), 1);
}

/// Prefetches a line, to be read.
#[inline(always)]
fn prefetch_line(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    hint::<{ core::arch::x86_64::_MM_HINT_T0 }>(line);
    // Miri knows no assembly.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "memory is not read in the language's sense")]
    {
        // SAFETY: nothing but a register is read: a prefetch does not access memory in the language's sense.
        unsafe { core::arch::asm!("prfm pldl1keep, [{}]", in(reg) line, options(nomem, nostack, preserves_flags)) };
    }
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri)))))]
    let _ = line;
}

/// Prefetches a line, in the way of a hint.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn hint<const HINT: i32>(line: *const u8) {
    // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
    unsafe { core::arch::x86_64::_mm_prefetch::<HINT>(line.cast()) };
}

/// Prefetches lines of `bytes` bytes into the second-level cache, `LINE` bytes apart. They may be written, too:
/// what no other core has comes so that it can be.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_near(start: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        hint::<{ core::arch::x86_64::_MM_HINT_T1 }>(start.wrapping_add(at));
    }
}

/// Prefetches a line that will be written.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_to_write(line: *mut u8) {
    hint::<{ core::arch::x86_64::_MM_HINT_ET0 }>(line);
}

/// Data of the next outer coordinate, to be prefetched while the rows of this one are moved.
///
/// Along the last axis every coordinate has a slice of data of its own, next to the one before it. Indices read it in
/// any order, in which the hardware sees no stream. To prefetch all of the next slice at once would hold the moves up
/// until most of it has come. To prefetch it line by line between the moves costs nothing (workload
/// `gather/lastaxis_4096x1024_512`).
#[derive(Clone, Copy)]
pub(crate) struct NextSlice {
    at: *const u8,
    /// Bytes for each [`STEP`] rows; 0 for none.
    bytes: usize,
}

/// Rows between which data of the next coordinate is prefetched: a vector of 4 bytes each.
pub(crate) const STEP: usize = 8;

impl NextSlice {
    pub(crate) const NONE: NextSlice = NextSlice { at: core::ptr::null(), bytes: 0 };

    /// A slice of `bytes` bytes from `at` on, spread over `n >= 1` rows, from row `done` on.
    #[inline(always)]
    pub(crate) fn spread(at: *const u8, bytes: usize, n: usize, done: usize) -> Self {
        debug_assert!(n >= 1);
        let bytes = (bytes * STEP).div_ceil(n);
        NextSlice { at: at.wrapping_add(done / STEP * bytes), bytes }
    }

    /// The rest after `steps` times [`STEP`] rows.
    #[inline(always)]
    pub(crate) fn from(self, steps: usize) -> Self {
        NextSlice { at: self.at.wrapping_add(steps * self.bytes), ..self }
    }

    /// The next slice of a slice `by` bytes further.
    #[inline(always)]
    pub(crate) fn moved(self, by: isize) -> Self {
        NextSlice { at: self.at.wrapping_offset(by), ..self }
    }

    /// Whether there is anything to prefetch.
    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self.bytes != 0
    }

    /// Prefetches the memory of `n` rows, in whole steps.
    #[inline(always)]
    pub(crate) fn fetch_steps(self, n: usize) {
        prefetch(self.at, n.div_ceil(STEP) * self.bytes);
    }

    /// Prefetches the memory of a step of [`STEP`] rows.
    #[inline(always)]
    pub(crate) fn fetch(self, step: usize) {
        prefetch(self.at.wrapping_add(step * self.bytes), self.bytes);
    }
}

//! Moving resolved lanes: units of a fixed width, and rows of any length.
//!
//! A unit is what one lane moves. Plain types of one size share a unit; a contiguous slice whose bytes are a power of
//! two up to 16 is moved as a unit of that size, whatever its type. Everything longer is a row.
//!
//! Rows are never given to `memcpy` below 256 bytes: a length that is a small constant compiles to a few vector moves,
//! and other lengths are covered by two overlapping moves of half-open size classes:
//!
//! ```text
//! 17..=32: two of 16   33..=64: two of 32   65..=128: two of 64   129..=256: two of 128
//! ```

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::Loop;
use crate::kernels::resolve::Resolve;

/// Resolved lanes on their way: from `data + lane · data_step + unit · units[lane]` to `out + lane · out_step`.
#[derive(Clone, Copy)]
pub struct Lanes {
    pub(crate) out: *mut u8,
    pub(crate) out_step: isize,
    pub(crate) data: *const u8,
    pub(crate) data_step: isize,
    pub(crate) units: *const i32,
    pub(crate) unit: isize,
    pub(crate) n: usize,
    pub(crate) row: usize,
    pub(crate) ahead: usize,
    pub(crate) table: usize,
}

impl Lanes {
    /// Where a lane comes from.
    ///
    /// # Safety
    /// `lane < n`.
    #[inline(always)]
    pub(crate) unsafe fn source(&self, lane: usize) -> *const u8 {
        // SAFETY: `units` has `n` entries.
        let unit = unsafe { self.units.wrapping_add(lane).read() };
        self.data
            .wrapping_offset(self.data_step.wrapping_mul(lane as isize))
            .wrapping_offset(self.unit.wrapping_mul(unit as isize))
    }

    /// The lanes from `first` on, `first <= n`.
    #[inline(always)]
    pub(crate) fn from(&self, first: usize) -> Lanes {
        let at = first as isize;
        Lanes {
            out: self.out.wrapping_offset(self.out_step.wrapping_mul(at)),
            data: self.data.wrapping_offset(self.data_step.wrapping_mul(at)),
            units: self.units.wrapping_add(first),
            n: self.n - first,
            ..*self
        }
    }

    /// Where a lane goes.
    #[inline(always)]
    pub(crate) fn target(&self, lane: usize) -> *mut u8 {
        self.out.wrapping_offset(self.out_step.wrapping_mul(lane as isize))
    }
}

/// Bytes of a row that are fetched ahead: of longer rows the hardware sees enough to fetch the rest.
const FETCHED: usize = 1024;

/// What one lane moves.
pub trait Unit: 'static {
    /// Moves the lanes.
    ///
    /// # Safety
    /// K1, K2, K4, K6 and K7 for the lanes.
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes);

    /// Resolves and moves the lanes of one outer coordinate after the other, at once, where the level can.
    ///
    /// # Safety
    /// As for [`Tier::fused`].
    #[inline(always)]
    unsafe fn fused<I: Index, L: Tier>(_: &Resolve, _: &Lanes, _: &Loop) -> Option<usize> {
        None
    }

    /// Moves the lanes of a BatchToSpace nest.
    ///
    /// # Safety
    /// As for [`crate::kernels::interleave`]'s body.
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams);
}

/// A unit of `BYTES` bytes.
pub enum Fixed<const BYTES: usize> {}

/// A row of bytes of any length.
pub enum Rows {}

impl<const BYTES: usize> Unit for Fixed<BYTES> {
    #[inline(always)]
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { L::move_fixed::<BYTES>(lanes) }
    }

    #[inline(always)]
    unsafe fn fused<I: Index, L: Tier>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<usize> {
        if !matches!(BYTES, 4 | 8) {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { L::fused::<BYTES, I>(job, lanes, outer) }
    }

    #[inline(always)]
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams) {
        // SAFETY: the caller's promise.
        unsafe { L::copy_fixed::<BYTES>(streams) }
    }
}

impl Unit for Rows {
    #[inline(always)]
    unsafe fn move_lanes<L: Tier>(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { L::move_rows(lanes) }
    }

    #[inline(always)]
    unsafe fn copy<L: Tier>(streams: &crate::kernels::interleave::Streams) {
        // SAFETY: the caller's promise.
        unsafe { L::copy_rows(streams) }
    }
}

/// Copies `BYTES` bytes, a constant: a few moves, no call.
///
/// # Safety
/// Both ends reach `BYTES` bytes, to read and to write.
#[inline(always)]
pub(crate) unsafe fn copy_fixed<const BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    let bytes = unsafe { from.cast::<[u8; BYTES]>().read() };
    // SAFETY: as above.
    unsafe { to.cast::<[u8; BYTES]>().write(bytes) };
}

/// Copies `row` bytes, `HALF <= row <= 2 * HALF`, by two overlapping moves.
///
/// # Safety
/// Both ends reach `row` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_halves<const HALF: usize>(from: *const u8, to: *mut u8, row: usize) {
    let rest = row - HALF;
    // SAFETY: the first `HALF <= row` bytes of both ends.
    unsafe { copy_fixed::<HALF>(from, to) };
    // SAFETY: the last `HALF` bytes of both ends begin at `row - HALF`, which is not negative.
    unsafe { copy_fixed::<HALF>(from.wrapping_add(rest), to.wrapping_add(rest)) };
}

/// Moves lanes of `BYTES` bytes.
///
/// # Safety
/// K1, K2, K4 for the lanes, with rows of `BYTES` bytes.
#[inline(always)]
pub(crate) unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
    let packed = lanes.unit == BYTES as isize && lanes.out_step == BYTES as isize;
    if packed && lanes.data_step == 0 {
        let (data, out) = (lanes.data.cast::<[u8; BYTES]>(), lanes.out.cast::<[u8; BYTES]>());
        for lane in 0..lanes.n {
            // SAFETY: `units` has `n` entries.
            let unit = unsafe { lanes.units.wrapping_add(lane).read() };
            // SAFETY: K2: the unit is in range, and its bytes may be read.
            let bytes = unsafe { data.wrapping_offset(unit as isize).read() };
            // SAFETY: K1: the lane may be written.
            unsafe { out.wrapping_add(lane).write(bytes) };
        }
    } else {
        for lane in 0..lanes.n {
            // SAFETY: `lane < n`.
            let from = unsafe { lanes.source(lane) };
            // SAFETY: K1 and K2 for the lane.
            unsafe { copy_fixed::<BYTES>(from, lanes.target(lane)) };
        }
    }
}

/// Moves lanes of `row` bytes.
///
/// # Safety
/// K1, K2, K4 for the lanes.
#[inline(always)]
pub(crate) unsafe fn move_rows(lanes: &Lanes) {
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match lanes.row {
                // SAFETY: the caller's promise, for rows of this many bytes.
                $($bytes => return unsafe { move_fixed::<$bytes>(lanes) },)*
                _ => {}
            }
        };
    }
    macro_rules! each {
        ($copy:expr) => {
            for lane in 0..lanes.n {
                if lanes.ahead != 0 && lane + lanes.ahead < lanes.n {
                    // SAFETY: `lane + ahead < n`.
                    prefetch(unsafe { lanes.source(lane + lanes.ahead) }, lanes.row.min(FETCHED));
                }
                // SAFETY: `lane < n`.
                let from = unsafe { lanes.source(lane) };
                // SAFETY: K1, K2 and K4 for the lane: `row` bytes at both ends, apart from each other.
                unsafe { $copy(from, lanes.target(lane), lanes.row) };
            }
        };
    }
    fixed!(3 5 6 7 9 10 11 12 13 14 15 1 2 4 8 16 20 24 28 32);
    match lanes.row {
        0..=32 => each!(copy_halves::<16>),
        33..=64 => each!(copy_halves::<32>),
        65..=128 => each!(copy_halves::<64>),
        129..=256 => each!(copy_halves::<128>),
        _ => each!(|from: *const u8, to: *mut u8, row| to.copy_from_nonoverlapping(from, row)),
    }
}

/// Asks for the cache lines of a row before they are needed.
#[inline(always)]
pub(crate) fn prefetch(row: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let mut at = 0;
        while at < bytes {
            // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
            unsafe {
                core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
                    row.wrapping_add(at).cast::<i8>(),
                );
            }
            at += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, bytes);
}

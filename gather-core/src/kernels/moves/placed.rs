//! Moving rows from individual addresses: the moves of the method `Direct`.

use core::mem::MaybeUninit;

use crate::kernels::moves::rows::{copy_halves, copy_long};
use crate::kernels::moves::{RowLoop, copy_fixed};
use crate::kernels::nest::args::KernelSpec;
use crate::kernels::nest::plane::OutputRows;
use crate::kernels::prefetch::{LINE, prefetch};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86;

/// Maximum rows resolved before they are moved.
pub(crate) const FEW: usize = 64;

/// Bytes of a row to prefetch; the hardware prefetches the remainder.
pub(crate) const FIRST_BYTES: usize = 4 * LINE;

/// Maximum row bytes for which vectors of 16 bytes copy as fast as vectors of 32.
pub(crate) const NARROW: usize = 32;

/// The source addresses of up to [`FEW`] rows.
pub(crate) type Sources = [MaybeUninit<*const u8>; FEW];

/// Rows to move: from `sources[i]` to row `i` of `to`.
pub(crate) struct PlacedRows<'a> {
    sources: &'a Sources,
    to: OutputRows,
    row: usize,
    prefetch_distance: usize,
}

impl<'a> PlacedRows<'a> {
    /// # Safety
    /// `to.n() <= FEW` sources have been written. At each source a row may be read, and it does not overlap `to`.
    #[inline(always)]
    pub(crate) unsafe fn new(sources: &'a Sources, to: OutputRows, spec: &KernelSpec) -> Self {
        debug_assert!(to.n() <= FEW);
        PlacedRows { sources, to, row: spec.row, prefetch_distance: spec.prefetch_distance }
    }

    /// The source of row `i < n`.
    #[inline(always)]
    fn source(&self, i: usize) -> *const u8 {
        debug_assert!(i < self.to.n());
        // SAFETY: by the contract of `new`, the source of row `i < n` has been written.
        unsafe { self.sources[i].assume_init() }
    }
}

/// A way to copy a row.
pub trait CopyRow: Copy {
    /// Bytes of a row, if constant.
    const BYTES: Option<usize> = None;
    /// Maximum bytes of a row.
    const MOST: usize;

    /// The way to copy rows of `row` bytes.
    fn of(row: usize) -> Self;

    /// Copies a row.
    ///
    /// # Safety
    /// A row may be read at `from` and written at `to`, and the two do not overlap.
    unsafe fn copy(self, from: *const u8, to: *mut u8);

    /// Prefetches the lines of a row of `row` bytes.
    #[inline(always)]
    fn fetch(from: *const u8, row: usize) {
        prefetch(from, if Self::MOST <= LINE { 1 } else { row });
        if Self::MOST > 8 {
            // The line of the last byte: mostly the same line, but a check takes longer. An element is in one line.
            prefetch(from.wrapping_add(row - 1), 1);
        }
    }

    /// Copies a row of `row` bytes, and prefetches the row at `later`.
    ///
    /// # Safety
    /// As for [`CopyRow::copy`].
    #[inline(always)]
    unsafe fn copy_fetching(self, from: *const u8, to: *mut u8, row: usize, later: *const u8) {
        Self::fetch(later, row);
        // SAFETY: by the caller's contract.
        unsafe { self.copy(from, to) }
    }

    /// Copies four rows of `row` bytes to contiguous rows.
    ///
    /// # Safety
    /// As for [`CopyRow::copy`], for each row; `row` is the argument of [`CopyRow::of`].
    #[inline(always)]
    unsafe fn copy_four(self, from: [*const u8; 4], to: *mut u8, row: usize) {
        for (k, from) in from.into_iter().enumerate() {
            // SAFETY: by the caller's contract, for row `k` of four contiguous rows.
            unsafe { self.copy(from, to.wrapping_add(k * row)) };
        }
    }
}

/// Rows of `BYTES` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Exactly<const BYTES: usize>;

impl<const BYTES: usize> CopyRow for Exactly<BYTES> {
    const BYTES: Option<usize> = Some(BYTES);
    const MOST: usize = BYTES;

    #[inline(always)]
    fn of(_: usize) -> Self {
        Exactly
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller's contract.
        unsafe { copy_fixed::<BYTES>(from, to) }
    }

    /// Stores elements of 4 and 8 bytes by whole vectors: one store per element takes longer.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn copy_four(self, from: [*const u8; 4], to: *mut u8, row: usize) {
        macro_rules! load {
            ($ty:ty, $k:literal) => {{
                // SAFETY: by the caller's contract, for an element, at any alignment.
                unsafe { from[$k].cast::<$ty>().read_unaligned() }
            }};
        }
        match BYTES {
            4 => {
                let [a, b, c, d] = [load!(i32, 0), load!(i32, 1), load!(i32, 2), load!(i32, 3)];
                // SAFETY: by the caller's contract, four elements of 4 bytes.
                unsafe { x86::four_words(a, b, c, d).store(to) };
            }
            8 => {
                let pairs = [[load!(i64, 0), load!(i64, 1)], [load!(i64, 2), load!(i64, 3)]];
                for (k, [a, b]) in pairs.into_iter().enumerate() {
                    // SAFETY: by the caller's contract, two of four elements of 8 bytes.
                    unsafe { x86::two_longs(a, b).store(to.wrapping_add(16 * k)) };
                }
            }
            _ => {
                for (k, from) in from.into_iter().enumerate() {
                    // SAFETY: by the caller's contract, for row `k` of four contiguous rows.
                    unsafe { copy_fixed::<BYTES>(from, to.wrapping_add(k * row)) };
                }
            }
        }
    }
}

/// Rows of `.0` bytes, in `HALF..=2 * HALF`.
#[derive(Clone, Copy)]
pub(crate) struct Halves<const HALF: usize>(usize);

impl<const HALF: usize> CopyRow for Halves<HALF> {
    const MOST: usize = 2 * HALF;

    #[inline(always)]
    fn of(row: usize) -> Self {
        Halves(row)
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller's contract.
        unsafe { copy_halves::<HALF>(from, to, self.0) }
    }
}

/// Rows of `.0` bytes, two lines or more.
#[derive(Clone, Copy)]
pub(crate) struct Long(usize);

impl CopyRow for Long {
    const MOST: usize = usize::MAX;

    #[inline(always)]
    fn of(row: usize) -> Self {
        Long(row)
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller's contract.
        unsafe { copy_long(from, to, self.0, None) }
    }

    #[inline(always)]
    unsafe fn copy_fetching(self, from: *const u8, to: *mut u8, row: usize, later: *const u8) {
        // SAFETY: by the caller's contract.
        unsafe { copy_long(from, to, row, Some(later)) }
    }
}

/// How rows of a length are copied: by two overlapping moves of a constant size, or in a loop if they are long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSize {
    One,
    UpTo4,
    UpTo8,
    UpTo16,
    UpTo32,
    UpTo64,
    UpTo128,
    UpTo256,
    Long,
}

impl RowSize {
    pub(crate) const fn of(row: usize) -> Self {
        use RowSize::*;
        /// By `ceil(log2(row))`.
        const SIZES: [RowSize; 9] = [One, UpTo4, UpTo4, UpTo8, UpTo16, UpTo32, UpTo64, UpTo128, UpTo256];
        if row > 256 { Long } else { SIZES[row.next_power_of_two().trailing_zeros() as usize] }
    }
}

/// Evaluates an expression with a type alias for the [`CopyRow`] of a size.
macro_rules! by_size {
    ($size:expr, |$copy:ident| $run:expr) => {
        by_size!($size, $copy, $run, One: Exactly<1>, UpTo4: Halves<2>, UpTo8: Halves<4>, UpTo16: Halves<8>,
            UpTo32: Halves<16>, UpTo64: Halves<32>, UpTo128: Halves<64>, UpTo256: Halves<128>, Long: Long)
    };
    ($size:expr, $copy:ident, $run:expr, $($name:ident: $way:ty),*) => {
        match $size {
            $(RowSize::$name => {
                type $copy = $way;
                $run
            })*
        }
    };
}
pub(crate) use by_size;

pub(crate) enum MovePlaced {}

impl RowLoop for MovePlaced {
    type Args<'a> = &'a PlacedRows<'a>;

    #[inline(always)]
    fn run<C: CopyRow>(rows: &PlacedRows<'_>) {
        let (copy, n, ahead) = (C::of(rows.row), rows.to.n(), rows.prefetch_distance);
        for i in 0..n.min(ahead) {
            prefetch(rows.source(i), rows.row.min(FIRST_BYTES));
        }
        let mut out = rows.to.at();
        for i in 0..n {
            if ahead != 0 && i + ahead < n {
                prefetch(rows.source(i + ahead), rows.row.min(FIRST_BYTES));
            }
            // SAFETY: by the contract of `PlacedRows::new`, row `i < n` may be read, and does not overlap the output.
            unsafe { copy.copy(rows.source(i), out) };
            out = out.wrapping_offset(rows.to.step());
        }
    }
}

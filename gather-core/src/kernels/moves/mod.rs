//! Moving rows by resolved positions.
//!
//! The row that one iteration of the inner loop moves has a width. Plain types of one size share a width. A contiguous
//! slice of 1, 2, 4, 8 or 16 bytes is moved as one element of its size; other slices are rows (`rows.rs`).

pub(crate) mod bits;
pub(crate) mod compress;
pub(crate) mod contiguous;
pub(crate) mod fill;
#[cfg(target_arch = "x86_64")]
pub(crate) mod gather_avx2;
#[cfg(target_arch = "x86_64")]
mod gather_panels;
#[cfg(target_arch = "x86_64")]
pub(crate) mod gather_positions;
#[cfg(target_arch = "x86_64")]
mod loads;
pub(crate) mod masks;
pub(crate) mod placed;
pub(crate) mod prefetching;
pub(crate) mod remainder;
pub(crate) mod rows;
#[cfg(target_arch = "x86_64")]
pub(crate) mod rows_avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod stream;
pub(crate) mod strided;
#[cfg(target_arch = "x86_64")]
pub(crate) mod table_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod table_avx512;

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, NARROW, RowSize, by_size};
use crate::kernels::nest::plane::{Plane, Strip};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::STEP;
use crate::types::level::Level;

/// The fallback for targets without non-temporal stores: rows are moved.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) mod stream {
    use crate::kernels::level_fn::{LevelFn, Token};
    use crate::kernels::moves::prefetching::JobAndNext;
    use crate::kernels::moves::rows::MoveRows;

    pub(crate) enum StreamRows {}

    impl LevelFn for StreamRows {
        type Args<'a> = JobAndNext<'a>;
        type Output = ();

        #[inline(always)]
        fn call<Here: Token>(here: Here, (job, _): JobAndNext<'_>) {
            MoveRows::call(here, job);
        }
    }

    pub(crate) fn fence() {}
}

/// Maximum bytes of an element.
pub(crate) const MOST_ELEMENT: usize = 16;

/// Maximum bytes of converted rows that are collected before their lines are written by non-temporal stores.
pub(crate) const STREAMED_AT_ONCE: usize = 4 << 10;

pub(crate) type MoveJobFn = fn(&MoveJob<'_>);

/// Looks elements up in a table of `job.table_entries` entries, which fits (K9), and writes packed rows from the first
/// on; returns the number of rows.
pub(crate) type LookUpFn = fn(&MoveJob<'_>) -> usize;

/// Looks bytes of a strip up in a table by contiguous one-byte indices, without writing positions. Stops at the first
/// vector with an index out of range, and may stop before a partial vector; returns the number of bytes looked up.
pub(crate) type LookUpBytesFn = fn(&Strip<'_>) -> usize;

/// Maximum entries of a register table at a level, for elements of `bytes` bytes; 0 if the level has no table.
pub(crate) const fn table_entries(level: Level, bytes: usize) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => table_avx2::entries(bytes),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => table_avx512::entries(bytes),
        Level::Neon | Level::Simd128 => match bytes {
            1 => 256,
            2 | 4 | 8 => 64 / bytes,
            _ => 0,
        },
        _ => 0,
    }
}

/// Resolves the indices of one component and moves rows by them, in one loop over a plane. Under `Missing::Fill` rows
/// out of range get the fill. Returns `true` if an index is out of range and that is an error; rows from that index on
/// are not moved.
pub(crate) type GatherFn = fn(Plane<'_>) -> bool;

/// A loop over rows, compiled for each [`CopyRow`].
pub trait RowLoop: 'static {
    type Args<'a>;

    fn run<C: CopyRow>(rows: Self::Args<'_>);
}

/// A [`RowLoop`] compiled for one [`CopyRow`].
pub(crate) type RowLoopFn<F> = for<'a> fn(<F as RowLoop>::Args<'a>);

/// The [`RowLoop`] `F` compiled for the [`CopyRow`] `C`.
struct ByWay<C, F>(PhantomData<(C, F)>);

impl<C: CopyRow, F: RowLoop> LevelFn for ByWay<C, F> {
    type Args<'a> = F::Args<'a>;
    type Output = ();

    const NARROW: bool = C::MOST <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, rows: F::Args<'_>) {
        F::run::<C>(rows);
    }
}

/// The width of one iteration of the inner loop.
pub trait Width: 'static {
    /// Bytes of a row; `None` for any length.
    const BYTES: Option<usize>;

    /// The loop `F` for rows of `row` bytes.
    fn by_way<F: RowLoop>(level: impl Token, row: usize) -> RowLoopFn<F>;
}

/// Rows of `BYTES` bytes.
pub enum Fixed<const BYTES: usize> {}

/// Rows of any length.
pub enum Rows {}

impl<const BYTES: usize> Width for Fixed<BYTES> {
    const BYTES: Option<usize> = Some(BYTES);

    #[inline(always)]
    fn by_way<F: RowLoop>(level: impl Token, row: usize) -> RowLoopFn<F> {
        debug_assert_eq!(row, BYTES, "K6");
        level.entry::<ByWay<Exactly<BYTES>, F>>()
    }
}

impl Width for Rows {
    const BYTES: Option<usize> = None;

    #[inline(always)]
    fn by_way<F: RowLoop>(level: impl Token, row: usize) -> RowLoopFn<F> {
        by_size!(RowSize::of(row), |Way| level.entry::<ByWay<Way, F>>())
    }
}

/// Maximum bytes copied by value. Larger values would pass through the stack, and huge values would overflow it.
const BY_VALUE: usize = 256;

/// Copies `BYTES` bytes, a constant: a few moves and no call up to [`BY_VALUE`].
///
/// # Safety
/// `BYTES` bytes may be read at `from` and written at `to`, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_fixed<const BYTES: usize>(from: *const u8, to: *mut u8) {
    if const { BYTES <= BY_VALUE } {
        // SAFETY: by the caller's contract.
        unsafe { copy_by_value::<BYTES>(from, to) }
    } else {
        // SAFETY: by the caller's contract.
        unsafe { to.copy_from_nonoverlapping(from, BYTES) }
    }
}

/// # Safety
/// As for [`copy_fixed`].
#[inline(always)]
unsafe fn copy_by_value<const BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: by the caller's contract for `from`; an array of bytes has alignment 1.
    let bytes = unsafe { from.cast::<[u8; BYTES]>().read() };
    // SAFETY: by the caller's contract for `to`; an array of bytes has alignment 1.
    unsafe { to.cast::<[u8; BYTES]>().write(bytes) };
}

#[inline(always)]
pub(crate) fn move_fixed<const BYTES: usize>(job: &MoveJob<'_>) {
    if !job.next.is_some() {
        return move_step::<BYTES>(job);
    }
    for first in (0..job.n).step_by(STEP) {
        let step = job.skip(first);
        step.next.fetch(0);
        move_step::<BYTES>(&step.take(step.n.min(STEP)));
    }
}

/// Moves rows of `BYTES` bytes without prefetching. Compilers unroll these loops, but not the loop of
/// [`MovePrefetching`](prefetching::MovePrefetching), which takes up to 1.5 times the instructions at the scalar level.
#[inline(always)]
fn move_step<const BYTES: usize>(job: &MoveJob<'_>) {
    debug_assert!(job.n == 0 || job.row == BYTES, "K6");
    if job.packed {
        let (data, out) = (job.data.cast::<[u8; BYTES]>(), job.out.cast::<[u8; BYTES]>());
        for i in 0..job.n {
            let (from, to) = (data.wrapping_offset(job.position(i) as isize), out.wrapping_add(i));
            // SAFETY: K1, K2 and K4 for row `i < n`, since positions of a job are in range. Rows have `BYTES` bytes,
            // and are contiguous in data and in the output (`packed`).
            unsafe { copy_fixed::<BYTES>(from.cast(), to.cast()) };
        }
    } else {
        for i in 0..job.n {
            // SAFETY: K1, K2 and K4 for row `i < n` of `BYTES` bytes, since positions of a job are in range.
            unsafe { copy_fixed::<BYTES>(job.source(i), job.target(i)) };
        }
    }
}

//! Moving rows by resolved positions.
//!
//! What one iteration of the inner loop moves has a width: plain types of one size share it, and a contiguous slice
//! whose bytes are a power of two up to 16 is moved as one element of that size, whatever its type. Everything longer
//! is a row (`rows.rs`).

pub(crate) mod bits;
pub(crate) mod contiguous;
pub(crate) mod fill;
#[cfg(target_arch = "x86_64")]
pub(crate) mod gather_avx2;
#[cfg(target_arch = "x86_64")]
mod gather_panels;
#[cfg(target_arch = "x86_64")]
pub(crate) mod gather_positions;
pub(crate) mod left;
#[cfg(target_arch = "x86_64")]
mod loads;
pub(crate) mod placed;
pub(crate) mod prefetching;
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

/// Targets without non-temporal stores: rows are moved.
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

/// The most bytes of an element.
pub(crate) const MOST_ELEMENT: usize = 16;

/// The most bytes of converted rows that are put together before their lines are written by non-temporal stores.
pub(crate) const STREAMED_AT_ONCE: usize = 4 << 10;

/// Moves the rows of a job by their positions.
pub(crate) type MoveJobFn = fn(&MoveJob<'_>);

/// Looks elements up in a table of `job.table_entries`, which fits (K9), and writes packed rows; returns how many, from
/// the first on.
pub(crate) type LookUpFn = fn(&MoveJob<'_>) -> usize;

/// Looks bytes of a strip up in a table by contiguous indices of one byte, and writes no positions. Stops at the first
/// vector of indices that is not whole or has one out of range; returns how many bytes were looked up.
pub(crate) type LookUpBytesFn = fn(&Strip<'_>) -> usize;

/// The elements of a table in registers at a level, for elements of `bytes` bytes; 0 where there is no such table.
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

/// Resolves the indices of one component and moves rows by them in one loop, all of a plane; returns whether an index
/// was out of range, if that is an error: nothing from that index on is moved then. Under `Missing::Fill` rows out
/// of range get the fill.
pub(crate) type GatherFn = fn(Plane<'_>) -> bool;

/// A loop over rows, compiled for each way to copy one.
pub trait RowLoop: 'static {
    /// The rows.
    type Args<'a>;

    /// Runs the loop.
    fn run<C: CopyRow>(rows: Self::Args<'_>);
}

/// A [`RowLoop`] by one way to copy a row.
pub(crate) type RowLoopFn<F> = for<'a> fn(<F as RowLoop>::Args<'a>);

/// A [`RowLoop`] by the way `C`.
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
    /// Bytes of a row; `None` for rows of any length.
    const BYTES: Option<usize>;

    /// A loop by the way to copy rows of `row` bytes.
    fn by_way<F: RowLoop>(level: impl Token, row: usize) -> RowLoopFn<F>;
}

/// `BYTES` bytes.
pub enum Fixed<const BYTES: usize> {}

/// A row of bytes of any length.
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

/// Bytes up to which a value is copied by value. Larger values would pass over the stack, and a huge one would not fit
/// there.
const BY_VALUE: usize = 256;

/// Copies `BYTES` bytes, a constant: up to [`BY_VALUE`] a few moves, no call.
///
/// # Safety
/// Both ends reach `BYTES` bytes, to read and to write, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_fixed<const BYTES: usize>(from: *const u8, to: *mut u8) {
    if const { BYTES <= BY_VALUE } {
        // SAFETY: the caller's promise.
        unsafe { copy_by_value::<BYTES>(from, to) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { to.copy_from_nonoverlapping(from, BYTES) }
    }
}

/// # Safety
/// As for [`copy_fixed`].
#[inline(always)]
unsafe fn copy_by_value<const BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller lets us read `BYTES` bytes; an array of bytes has no alignment.
    let bytes = unsafe { from.cast::<[u8; BYTES]>().read() };
    // SAFETY: the caller lets us write `BYTES` bytes, at any alignment.
    unsafe { to.cast::<[u8; BYTES]>().write(bytes) };
}

/// Moves rows of `BYTES` bytes.
#[inline(always)]
pub(crate) fn move_fixed<const BYTES: usize>(job: &MoveJob<'_>) {
    if !job.next.is_some() {
        return move_step::<BYTES>(job);
    }
    for first in (0..job.n).step_by(STEP) {
        let step = job.from(first);
        step.next.fetch(0);
        move_step::<BYTES>(&step.first(step.n.min(STEP)));
    }
}

/// Moves rows of `BYTES` bytes, and prefetches nothing. Compilers unroll these loops, and not that of
/// [`MovePrefetching`](prefetching::MovePrefetching), which took up to 1.5 times the instructions at the scalar level.
#[inline(always)]
fn move_step<const BYTES: usize>(job: &MoveJob<'_>) {
    debug_assert!(job.n == 0 || job.row == BYTES, "K6");
    if job.packed {
        let (data, out) = (job.data.cast::<[u8; BYTES]>(), job.out.cast::<[u8; BYTES]>());
        for i in 0..job.n {
            let (from, to) = (data.wrapping_offset(job.position(i) as isize), out.wrapping_add(i));
            // SAFETY: the position is in range: a row of data, apart from row `i < n` of the output. Both have `BYTES`
            // bytes, and the plan found them contiguous.
            unsafe { copy_fixed::<BYTES>(from.cast(), to.cast()) };
        }
    } else {
        for i in 0..job.n {
            // SAFETY: the position is in range: a row of data, apart from row `i < n` of the output; `BYTES` bytes.
            unsafe { copy_fixed::<BYTES>(job.source(i), job.target(i)) };
        }
    }
}

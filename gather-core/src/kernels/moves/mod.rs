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
mod gather_positions;
#[cfg(target_arch = "x86_64")]
mod loads;
pub(crate) mod placed;
pub(crate) mod prefetch;
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

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::by_level::level_pointers;
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::moves::prefetch::{NextSlice, STEP};
use crate::kernels::resolve::ResolveJob;

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

/// The most bytes of converted rows that are put together before their lines are written by non-temporal stores.
pub(crate) const STREAMED_AT_ONCE: usize = 4 << 10;

/// Moves the rows of a job by their positions.
///
/// # Safety
/// K1, K2, K4, K6 and K7.
pub(crate) type MoveJobFn = fn(&MoveJob);

/// Looks elements up in a table of `job.table_entries`; returns how many, from the first on.
///
/// # Safety
/// As for [`MoveJobFn`], and K9 for the table: it fits, and the rows are packed.
pub(crate) type LookUpFn = fn(&MoveJob) -> usize;

/// Looks bytes up in a table by contiguous indices of one byte, and writes no positions. Stops at the first vector of
/// indices that is not whole or has one out of range; returns how many bytes were looked up.
///
/// # Safety
/// As for [`LookUpFn`], and K3 for the indices.
pub(crate) type LookUpBytesFn = fn(&ResolveJob, &MoveJob) -> usize;

/// Resolves the indices of one component and moves rows by them in one loop, all of a plane; returns whether an index
/// was out of range, if that is an error: nothing from that index on is moved then. Under `OutOfBounds::Zero` rows out
/// of range get the fill.
pub(crate) type GatherFn = fn(&IndexArgs<'_>, &Cursor) -> bool;

level_pointers! {
    MoveJobFn, unsafe fn(&MoveJob);
    LookUpFn, unsafe fn(&MoveJob) -> usize;
    LookUpBytesFn, unsafe fn(&ResolveJob, &MoveJob) -> usize;
    GatherFn, unsafe fn(&IndexArgs<'_>, &Cursor) -> bool;
}

/// What chooses a function by the way to copy a row.
pub trait ByWay {
    /// The function's type.
    type Fn;

    /// The function of a way.
    fn of<C: CopyRow>(self) -> Self::Fn;
}

/// The width of one iteration of the inner loop.
pub trait Width: 'static {
    /// Bytes of a row; `None` for rows of any length.
    const BYTES: Option<usize>;

    /// The function of the way to copy rows of `row` bytes.
    fn by_way<F: ByWay>(row: usize, by: F) -> F::Fn;
}

/// `BYTES` bytes.
pub enum Fixed<const BYTES: usize> {}

/// A row of bytes of any length.
pub enum Rows {}

impl<const BYTES: usize> Width for Fixed<BYTES> {
    const BYTES: Option<usize> = Some(BYTES);

    #[inline(always)]
    fn by_way<F: ByWay>(row: usize, by: F) -> F::Fn {
        debug_assert_eq!(row, BYTES, "K6");
        by.of::<Exactly<BYTES>>()
    }
}

impl Width for Rows {
    const BYTES: Option<usize> = None;

    #[inline(always)]
    fn by_way<F: ByWay>(row: usize, by: F) -> F::Fn {
        by_size!(RowSize::of(row), |Way| by.of::<Way>())
    }
}

/// Rows to be moved: from `data + i · data_step + stride · positions[i]` to `out + i · out_step`, for every `i` below
/// `n`.
#[derive(Clone, Copy)]
pub struct MoveJob {
    pub(crate) out: *mut u8,
    pub(crate) out_step: isize,
    pub(crate) data: *const u8,
    pub(crate) data_step: isize,
    pub(crate) positions: *const i32,
    /// The position along the axis that 0 stands for: other than 0 where `data` has been moved there.
    pub(crate) first_position: usize,
    pub(crate) stride: isize,
    pub(crate) n: usize,
    pub(crate) row: usize,
    /// How many rows are prefetched; 0 for none.
    pub(crate) prefetch_distance: usize,
    /// Whether the plan found that rows are contiguous in the output, that elements are contiguous in data, and that
    /// the loop does not step through data.
    pub(crate) packed: bool,
    pub(crate) table_entries: usize,
    /// Other memory to prefetch at the same time.
    pub(crate) next: NextSlice,
}

impl MoveJob {
    /// `n` rows from `at` on, whose positions are or will be at `positions`.
    #[inline(always)]
    pub(crate) fn new(args: &IndexArgs<'_>, at: Cursor, positions: *const i32, n: usize, next: NextSlice) -> Self {
        let inner = args.inner();
        MoveJob {
            out: at.out,
            out_step: inner.out,
            data: at.data,
            data_step: inner.data,
            positions,
            first_position: 0,
            stride: args.stride,
            n,
            row: args.spec.row,
            prefetch_distance: args.spec.prefetch_distance,
            packed: args.spec.packed,
            table_entries: args.spec.table_entries,
            next,
        }
    }

    /// Where row `i` comes from.
    ///
    /// # Safety
    /// `i < n`, and its position has been written.
    #[inline(always)]
    pub(crate) unsafe fn source(&self, i: usize) -> *const u8 {
        debug_assert!(i < self.n);
        // SAFETY: `positions` has `n` entries.
        let position = unsafe { self.positions.wrapping_add(i).read() };
        self.data
            .wrapping_offset(self.data_step.wrapping_mul(i as isize))
            .wrapping_offset(self.stride.wrapping_mul(position as isize))
    }

    /// Where row `i` goes.
    #[inline(always)]
    pub(crate) fn target(&self, i: usize) -> *mut u8 {
        self.out.wrapping_offset(self.out_step.wrapping_mul(i as isize))
    }

    /// The rows from `first <= n` on.
    #[inline(always)]
    pub(crate) fn from(&self, first: usize) -> MoveJob {
        debug_assert!(first <= self.n);
        let by = first as isize;
        MoveJob {
            out: self.target(first),
            data: self.data.wrapping_offset(self.data_step.wrapping_mul(by)),
            positions: self.positions.wrapping_add(first),
            n: self.n - first,
            next: self.next.from(first / STEP),
            ..*self
        }
    }

    /// Goes on to the rows from `count` on, which are resolved into the same room. The fields are written one by one:
    /// to load all of them at once, as a copy of the whole does, would wait for what was just written.
    #[inline(always)]
    pub(crate) fn advance(&mut self, count: usize) {
        let by = count as isize;
        self.out = self.out.wrapping_offset(self.out_step.wrapping_mul(by));
        self.data = self.data.wrapping_offset(self.data_step.wrapping_mul(by));
        self.next = self.next.from(count / STEP);
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
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    let bytes = unsafe { from.cast::<[u8; BYTES]>().read() };
    // SAFETY: as above.
    unsafe { to.cast::<[u8; BYTES]>().write(bytes) };
}

/// Moves rows of `BYTES` bytes.
#[inline(always)]
pub(crate) fn move_fixed<const BYTES: usize>(job: &MoveJob) {
    if !job.next.is_some() {
        return move_step::<BYTES>(job);
    }
    for first in (0..job.n).step_by(STEP) {
        let step = job.from(first);
        step.next.fetch(0);
        move_step::<BYTES>(&MoveJob { n: step.n.min(STEP), ..step });
    }
}

/// Moves rows of `BYTES` bytes, and prefetches nothing.
#[inline(always)]
fn move_step<const BYTES: usize>(job: &MoveJob) {
    if job.packed {
        let (data, out) = (job.data.cast::<[u8; BYTES]>(), job.out.cast::<[u8; BYTES]>());
        for i in 0..job.n {
            // SAFETY: `positions` has `n` entries.
            let position = unsafe { job.positions.wrapping_add(i).read() };
            let (from, to) = (data.wrapping_offset(position as isize), out.wrapping_add(i));
            // SAFETY: K1, K2 and K4: the position is in range, and its bytes may be read; the row may be written.
            unsafe { copy_fixed::<BYTES>(from.cast(), to.cast()) };
        }
    } else {
        for i in 0..job.n {
            // SAFETY: `i < n`.
            let from = unsafe { job.source(i) };
            // SAFETY: K1 and K2 for the row.
            unsafe { copy_fixed::<BYTES>(from, job.target(i)) };
        }
    }
}

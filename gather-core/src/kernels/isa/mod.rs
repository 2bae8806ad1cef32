//! Instruction sets: the pieces of a kernel that depend on the level.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use scalar::Scalar;

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::kernel::IndexKernel;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::{CopyRow, PlacedRows};
use crate::kernels::moves::strided::StridedRows;
use crate::kernels::resolve::{self, ResolveJob, TupleJob};
use crate::kernels::space::Streams;
use crate::kernels::space::args::{BlockLoop, SpaceCursor};
use crate::types::index::Index;
use crate::types::level::Level;

/// An instruction set. Where a level has no better way, a provided method is that of its `Plain` level, or does
/// nothing.
pub trait Isa: 'static {
    /// The level whose kernels of `Direct` and `StridedCopy` this one runs, and whose way it takes where it has none of
    /// its own. A level that is its own defines every method that would call it.
    type Plain: Isa;

    /// The level.
    const LEVEL: Level;

    /// Whether the level resolves and moves in one loop.
    const GATHERS: bool = false;

    /// Resolves indices; returns whether one was out of range (-1 stands for it then).
    ///
    /// # Safety
    /// K3 and K7; `job.out` has room for `job.n`.
    #[inline(always)]
    unsafe fn resolve<I: Index>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::resolve::<I>(job) }
    }

    /// Says whether all indices of a job, of `BYTES` bytes, are positions as they stand. It may say no where all are.
    ///
    /// # Safety
    /// K3 and K7.
    #[inline(always)]
    unsafe fn are_positions<const BYTES: usize>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::are_positions::<BYTES>(job) }
    }

    /// Resolves indices, any number of them, chunk by chunk into the same room: calls `each` on the number of every
    /// chunk's indices and on whether one of them was out of range, for as long as `each` says.
    ///
    /// # Safety
    /// K3 and K7; `job.out` has room for a chunk.
    #[inline(always)]
    unsafe fn resolve_chunks<I: Index>(job: &ResolveJob, each: &mut dyn FnMut(usize, bool) -> bool) {
        // SAFETY: the caller's promise.
        unsafe { resolve::in_chunks::<I, Self>(job, each) }
    }

    /// Resolves tuples and adds their components up, in chunks, whose positions go to two rooms by turns. After each
    /// chunk `each` is called with its length and whether a tuple was out of range (-1 stands for it then), up to the
    /// first call that returns `false`. Returns `false`, and resolves nothing, where the level has no way of its own
    /// for as many components.
    ///
    /// # Safety
    /// K2, K3 and K7; each room has `job.chunk` places.
    #[inline(always)]
    unsafe fn resolve_tuples<I: Index>(_: &TupleJob<'_>, _: &mut dyn FnMut(usize, bool) -> bool) -> bool {
        false
    }

    /// Moves rows of `BYTES` bytes by their positions.
    ///
    /// # Safety
    /// K1, K2, K4, K6 and K7.
    #[inline(always)]
    unsafe fn move_fixed<const BYTES: usize>(job: &MoveJob) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_fixed::<BYTES>(job) }
    }

    /// Moves rows of any length by their positions.
    ///
    /// # Safety
    /// K1, K2, K4 and K7.
    #[inline(always)]
    unsafe fn move_rows(job: &MoveJob) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_rows(job) }
    }

    /// Moves the rows of a job, with whole lines of the output written past the caches, and asks for the rows of
    /// `ahead`, the job that follows. [`Isa::end_streams`] comes before any other access to what is written.
    ///
    /// # Safety
    /// K1, K2, K4 and K7 for both jobs; rows have a line or more.
    #[inline(always)]
    unsafe fn stream_rows(job: &MoveJob, ahead: &MoveJob) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::stream_rows(job, ahead) }
    }

    /// Orders what was written past the caches before any access that follows, of this thread and of others.
    #[inline(always)]
    fn end_streams() {
        Self::Plain::end_streams();
    }

    /// Moves rows of `BYTES` bytes from where each lies.
    ///
    /// # Safety
    /// K1, K2, K4, K6 and K7.
    #[inline(always)]
    unsafe fn move_placed_fixed<const BYTES: usize>(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_placed_fixed::<BYTES>(rows) }
    }

    /// Moves rows of any length from where each lies.
    ///
    /// # Safety
    /// K1, K2, K4 and K7.
    #[inline(always)]
    unsafe fn move_placed_rows(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_placed_rows(rows) }
    }

    /// Moves the rows of a job, each by the way `C`, and asks for those of the one after it, one with each.
    ///
    /// # Safety
    /// K1, K2, K4 and K7 for both jobs; `C` copies rows of their length.
    #[inline(always)]
    unsafe fn move_prefetching<C: CopyRow>(job: &MoveJob, ahead: &MoveJob) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_prefetching::<C>(job, ahead) }
    }

    /// Moves rows by their positions, each by the way `C`; those whose position is below `least` get the row at `fill`.
    ///
    /// # Safety
    /// As for [`SelectFn`](crate::kernels::moves::fill::SelectFn); `C` copies rows of the job's length.
    #[inline(always)]
    unsafe fn select<C: CopyRow>(job: &MoveJob, fill: *const u8, least: i32) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::select::<C>(job, fill, least) }
    }

    /// Writes the fill over those of contiguous elements of 1, 2, 4 or 8 bytes whose position is below `least`.
    ///
    /// # Safety
    /// As for [`SelectFn`](crate::kernels::moves::fill::SelectFn); all elements have been written.
    #[inline(always)]
    unsafe fn blend(job: &MoveJob, fill: *const u8, least: i32) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::blend(job, fill, least) }
    }

    /// Moves rows that lie a step apart, each by the way `C`.
    ///
    /// # Safety
    /// K1, K2, K4 and K7; `C` copies rows of the job's length.
    #[inline(always)]
    unsafe fn move_strided<C: CopyRow>(rows: &StridedRows) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_strided::<C>(rows) }
    }

    /// The kernel that resolves rows and moves them in one pass, each by the way `C`:
    /// [`one_pass`](crate::kernels::bodies::one_pass) compiled for the level.
    fn one_pass<C: CopyRow, I: Index, const PACKED: bool>() -> IndexKernel {
        Self::Plain::one_pass::<C, I, PACKED>()
    }

    /// Moves the rows of a plane whose index is in range, and fills the others, as
    /// [`move_or_fill`](crate::kernels::bodies::move_or_fill) does.
    ///
    /// # Safety
    /// As there; K7.
    #[inline(always)]
    unsafe fn move_or_fill<C: CopyRow, I: Index, const MOVES: bool>(
        args: &IndexArgs<'_>,
        at: Cursor,
        done: usize,
        left: usize,
    ) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::move_or_fill::<C, I, MOVES>(args, at, done, left) }
    }

    /// Looks elements of `BYTES` bytes up in a table of `job.table_entries`; returns how many, from the first on.
    ///
    /// # Safety
    /// K1, K2, K4, K6, K7, and K9 for the table: it fits, and the rows are packed.
    #[inline(always)]
    unsafe fn look_up<const BYTES: usize>(_: &MoveJob) -> usize {
        0
    }

    /// Looks bytes up in a table straight from indices of one byte, up to a vector of them with one that is out of
    /// range or not whole; returns how many. No position is written.
    ///
    /// # Safety
    /// As for [`Isa::look_up`], and K3 for the indices, which lie side by side.
    #[inline(always)]
    unsafe fn look_up_bytes<I: Index>(_: &ResolveJob, _: &MoveJob) -> usize {
        0
    }

    /// Resolves the indices of one component and moves rows of `BYTES` bytes by them in one loop, all of a plane;
    /// returns whether an index was out of range, if that is an error: nothing from that index on is moved then. Under
    /// `OutOfBounds::Zero` rows out of range get the fill.
    ///
    /// # Safety
    /// K1, K2, K3, K4, K6, K7 and K9 for the plane at the cursor.
    #[inline(always)]
    unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::gather::<BYTES, I>(args, at) }
    }

    /// Interleaves whole periods of contiguous streams of `BYTES` bytes; returns how many, from the first on.
    ///
    /// # Safety
    /// `at` reaches as many periods of the loop, along which the output and each stream of data are contiguous; K7.
    #[inline(always)]
    unsafe fn zip<const BYTES: usize>(_: &BlockLoop, _: SpaceCursor, _: usize) -> usize {
        0
    }

    /// Takes whole periods of contiguous data apart into contiguous streams of `BYTES` bytes; returns how many, from
    /// the first on.
    ///
    /// # Safety
    /// `at` reaches as many periods of the loop, along which data and each stream of the output are contiguous; K7.
    #[inline(always)]
    unsafe fn unzip<const BYTES: usize>(_: &BlockLoop, _: SpaceCursor, _: usize) -> usize {
        0
    }

    /// Interleaves streams of `BYTES` bytes, or takes them apart.
    ///
    /// # Safety
    /// The contract of [`space`](crate::kernels::space), and K7.
    unsafe fn interleave_fixed<const BYTES: usize>(streams: &Streams);

    /// Interleaves streams of rows of any length, or takes them apart, row by row.
    ///
    /// # Safety
    /// The contract of [`space`](crate::kernels::space), and K7.
    #[inline(always)]
    unsafe fn interleave_rows(streams: &Streams) {
        // SAFETY: the caller's promise; K7: what has this level has the lesser one.
        unsafe { Self::Plain::interleave_rows(streams) }
    }
}

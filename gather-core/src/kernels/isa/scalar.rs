//! The level that every machine has.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies;
use crate::kernels::isa::Isa;
use crate::kernels::kernel::IndexKernel;
use crate::kernels::moves::placed::{self, CopyRow, PlacedRows};
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::stream;
use crate::kernels::moves::strided::{self, StridedRows};
use crate::kernels::moves::{self, MoveJob, fill, prefetching, rows};
use crate::kernels::resolve::{self, ResolveJob};
use crate::kernels::space::{self, Streams};
use crate::types::index::Index;
use crate::types::level::Level;

/// The scalar level.
pub enum Scalar {}

impl Isa for Scalar {
    type Plain = Self;
    const LEVEL: Level = Level::Scalar;

    #[inline(never)]
    unsafe fn resolve<I: Index>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise.
        unsafe { resolve::resolve::<I>(job) }
    }

    #[inline(never)]
    unsafe fn are_positions<const BYTES: usize>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise.
        unsafe { resolve::check::are_positions::<BYTES>(job) }
    }

    #[inline(never)]
    unsafe fn move_fixed<const BYTES: usize>(job: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { moves::move_fixed::<BYTES>(job) }
    }

    #[inline(never)]
    unsafe fn move_rows(job: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { rows::move_rows(job) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    unsafe fn stream_rows(job: &MoveJob, ahead: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { stream::stream_rows(job, ahead) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    unsafe fn stream_rows(job: &MoveJob, _: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { Self::move_rows(job) }
    }

    #[inline(always)]
    fn end_streams() {
        #[cfg(target_arch = "x86_64")]
        stream::fence();
    }

    #[inline(never)]
    unsafe fn move_placed_fixed<const BYTES: usize>(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise.
        unsafe { placed::move_fixed::<BYTES>(rows) }
    }

    #[inline(never)]
    unsafe fn move_placed_rows(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise.
        unsafe { placed::move_rows(rows) }
    }

    #[inline(never)]
    unsafe fn move_prefetching<C: CopyRow>(job: &MoveJob, ahead: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { prefetching::move_prefetching::<C>(job, ahead) }
    }

    #[inline(never)]
    unsafe fn select<C: CopyRow>(job: &MoveJob, fill: *const u8, least: i32) {
        // SAFETY: the caller's promise.
        unsafe { fill::select::<C>(job, fill, least) }
    }

    #[inline(never)]
    unsafe fn blend(job: &MoveJob, fill: *const u8, least: i32) {
        // SAFETY: the caller's promise.
        unsafe { fill::blend(job, fill, least) }
    }

    #[inline(never)]
    unsafe fn move_strided<C: CopyRow>(rows: &StridedRows) {
        // SAFETY: the caller's promise.
        unsafe { strided::move_strided::<C>(rows) }
    }

    fn one_pass<C: CopyRow, I: Index, const PACKED: bool>() -> IndexKernel {
        bodies::one_pass::<C, I, Self, PACKED>
    }

    #[inline(always)]
    unsafe fn move_or_fill<C: CopyRow, I: Index, const MOVES: bool>(
        args: &IndexArgs<'_>,
        at: Cursor,
        done: usize,
        left: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { bodies::move_or_fill::<C, I, MOVES>(args, at, done, left) }
    }

    unsafe fn gather<const BYTES: usize, I: Index>(_: &IndexArgs<'_>, _: &Cursor) -> bool {
        unreachable!("K9: plans gather at levels that have instructions for it")
    }

    #[inline(never)]
    unsafe fn interleave_fixed<const BYTES: usize>(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { space::interleave_fixed::<BYTES, Self>(streams) }
    }

    #[inline(never)]
    unsafe fn interleave_rows(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { space::interleave_rows(streams) }
    }
}

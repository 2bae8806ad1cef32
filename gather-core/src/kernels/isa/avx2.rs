//! The level of x86-64 machines with AVX2: what is compiled for it, and what has a way of its own.

use crate::kernels::args::{Cursor, IndexArgs, Outcome};
use crate::kernels::bodies;
use crate::kernels::isa::{Isa, Scalar};
use crate::kernels::kernel::IndexKernel;
use crate::kernels::moves::placed::{self, CopyRow, PlacedRows};
use crate::kernels::moves::strided::{self, StridedRows};
use crate::kernels::moves::{MoveJob, fill, gather_avx2, prefetching, rows, stream, table_avx2};
use crate::kernels::resolve::{ResolveJob, TupleJob, avx2, check, tuples_avx2};
use crate::kernels::space::args::{BlockLoop, SpaceCursor};
use crate::kernels::space::{self, Streams, unzip_avx2, zip_avx2};
use crate::types::index::Index;
use crate::types::level::Level;

/// The most bytes of rows that are copied one by one as at the scalar level, which has vectors of half of them.
const NARROW: usize = 32;

/// The AVX2 level.
pub enum Avx2 {}

impl Isa for Avx2 {
    type Plain = Self;
    const LEVEL: Level = Level::Avx2;

    const GATHERS: bool = true;

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn resolve<I: Index>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise.
        unsafe { avx2::resolve::<I>(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn are_positions<const BYTES: usize>(job: &ResolveJob) -> bool {
        // SAFETY: the caller's promise.
        unsafe { check::are_positions::<BYTES>(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn resolve_chunks<I: Index>(job: &ResolveJob, each: &mut dyn FnMut(usize, bool) -> bool) {
        // SAFETY: the caller's promise.
        unsafe { avx2::resolve_chunks::<I>(job, each) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn resolve_tuples<I: Index>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe { tuples_avx2::resolve_tuples::<I>(job, each) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn move_fixed<const BYTES: usize>(job: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { gather_avx2::move_fixed::<BYTES>(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn move_rows(job: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { rows::move_rows(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn stream_rows(job: &MoveJob, ahead: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { stream::stream_rows(job, ahead) }
    }

    #[inline(always)]
    fn end_streams() {
        stream::fence();
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn move_placed_fixed<const BYTES: usize>(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise.
        unsafe { placed::move_fixed::<BYTES>(rows) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn move_placed_rows(rows: &PlacedRows<'_>) {
        // SAFETY: the caller's promise.
        unsafe { placed::move_rows(rows) }
    }

    #[inline(always)]
    unsafe fn move_prefetching<C: CopyRow>(job: &MoveJob, ahead: &MoveJob) {
        if const { C::MOST <= NARROW } {
            // SAFETY: the caller's promise.
            return unsafe { Scalar::move_prefetching::<C>(job, ahead) };
        }
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { move_prefetching::<C>(job, ahead) }
    }

    #[inline(always)]
    unsafe fn select<C: CopyRow>(job: &MoveJob, fill: *const u8, least: i32) {
        if const { C::MOST <= NARROW } {
            // SAFETY: the caller's promise.
            return unsafe { Scalar::select::<C>(job, fill, least) };
        }
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { select::<C>(job, fill, least) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn blend(job: &MoveJob, fill: *const u8, least: i32) {
        // SAFETY: the caller's promise.
        unsafe { fill::blend(job, fill, least) }
    }

    #[inline(always)]
    unsafe fn move_strided<C: CopyRow>(rows: &StridedRows) {
        if const { C::MOST <= NARROW } {
            // SAFETY: the caller's promise.
            return unsafe { Scalar::move_strided::<C>(rows) };
        }
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { move_strided::<C>(rows) }
    }

    fn one_pass<C: CopyRow, I: Index, const PACKED: bool>() -> IndexKernel {
        if const { C::MOST <= NARROW } { Scalar::one_pass::<C, I, PACKED>() } else { one_pass::<C, I, PACKED> }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn move_or_fill<C: CopyRow, I: Index, const MOVES: bool>(
        args: &IndexArgs<'_>,
        at: Cursor,
        done: usize,
        left: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { bodies::move_or_fill::<C, I, MOVES>(args, at, done, left) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn look_up<const BYTES: usize>(job: &MoveJob) -> usize {
        // SAFETY: the caller's promise.
        unsafe { table_avx2::look_up::<BYTES>(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn look_up_bytes<I: Index>(job: &ResolveJob, moves: &MoveJob) -> usize {
        // SAFETY: the caller's promise.
        unsafe { table_avx2::look_up_bytes::<I>(job, moves) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
        // SAFETY: the caller's promise.
        unsafe { gather_avx2::gather::<BYTES, I>(args, at) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn zip<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { zip_avx2::periods::<BYTES>(inner, at, periods) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn unzip<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { unzip_avx2::periods::<BYTES>(inner, at, periods) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn interleave_fixed<const BYTES: usize>(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { space::interleave_fixed::<BYTES, Avx2>(streams) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn interleave_rows(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { space::interleave_rows(streams) }
    }
}

/// [`Isa::move_prefetching`] compiled for AVX2.
///
/// # Safety
/// As for [`Isa::move_prefetching`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_prefetching<C: CopyRow>(job: &MoveJob, ahead: &MoveJob) {
    // SAFETY: the caller's promise.
    unsafe { prefetching::move_prefetching::<C>(job, ahead) }
}

/// [`Isa::select`] compiled for AVX2.
///
/// # Safety
/// As for [`Isa::select`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn select<C: CopyRow>(job: &MoveJob, fill: *const u8, least: i32) {
    // SAFETY: the caller's promise.
    unsafe { fill::select::<C>(job, fill, least) }
}

/// [`Isa::move_strided`] compiled for AVX2.
///
/// # Safety
/// As for [`Isa::move_strided`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_strided<C: CopyRow>(rows: &StridedRows) {
    // SAFETY: the caller's promise.
    unsafe { strided::move_strided::<C>(rows) }
}

/// [`Isa::one_pass`] compiled for AVX2.
///
/// # Safety
/// The kernel contract for the arguments.
#[target_feature(enable = "avx2")]
unsafe fn one_pass<C: CopyRow, I: Index, const PACKED: bool>(args: &IndexArgs<'_>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { bodies::one_pass::<C, I, Avx2, PACKED>(args) }
}

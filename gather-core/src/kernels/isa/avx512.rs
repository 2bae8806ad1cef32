//! The level of x86-64 machines with AVX-512: what is compiled for it, and what has a way of its own. The rest is that
//! of the level AVX2, where longer vectors and masks gain nothing.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::isa::{Avx2, Isa};
use crate::kernels::moves::{MoveJob, gather_avx512, rows_avx512, table_avx512};
use crate::kernels::resolve::{ResolveJob, TupleJob, avx512};
use crate::kernels::space::args::{BlockLoop, SpaceCursor};
use crate::kernels::space::{self, Streams, zip_avx512};
use crate::types::index::Index;
use crate::types::level::Level;

/// The AVX-512 level: F, BW, VL, DQ and VBMI.
pub enum Avx512 {}

impl Isa for Avx512 {
    type Plain = Avx2;
    const LEVEL: Level = Level::Avx512;

    const GATHERS: bool = true;

    #[inline(always)]
    unsafe fn resolve_chunks<I: Index>(job: &ResolveJob, each: &mut dyn FnMut(usize, bool) -> bool) {
        // SAFETY: the caller's promise; K7: the machine has AVX2 too.
        unsafe { Avx2::resolve_chunks::<I>(job, each) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn resolve_tuples<I: Index>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe { avx512::resolve_tuples::<I>(job, each) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn move_rows(job: &MoveJob) {
        // SAFETY: the caller's promise.
        unsafe { rows_avx512::move_rows(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn look_up<const BYTES: usize>(job: &MoveJob) -> usize {
        // SAFETY: the caller's promise.
        unsafe { table_avx512::look_up::<BYTES>(job) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn look_up_bytes<I: Index>(job: &ResolveJob, moves: &MoveJob) -> usize {
        // SAFETY: the caller's promise.
        unsafe { table_avx512::look_up_bytes::<I>(job, moves) }
    }

    #[inline(always)]
    unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
        if matches!(BYTES, 4 | 8) {
            // SAFETY: the caller's promise.
            return unsafe { gather::<BYTES, I>(args, at) };
        }
        // SAFETY: the caller's promise; K7: the machine has AVX2 too.
        unsafe { Avx2::gather::<BYTES, I>(args, at) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn zip<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { zip_avx512::periods::<BYTES>(inner, at, periods) }
    }

    #[inline(always)]
    unsafe fn unzip<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
        // SAFETY: the caller's promise; K7: the machine has AVX2 too.
        unsafe { Avx2::unzip::<BYTES>(inner, at, periods) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn interleave_fixed<const BYTES: usize>(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { space::interleave_fixed::<BYTES, Avx512>(streams) }
    }
}

/// [`Isa::gather`] of rows of 4 and 8 bytes.
///
/// # Safety
/// As for [`Isa::gather`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
    // SAFETY: the caller's promise.
    unsafe { gather_avx512::gather::<BYTES, I>(args, at) }
}

//! The level of x86-64 machines with AVX-512: the pieces that have algorithms of their own. The rest is that of the
//! level AVX2, where longer vectors and masks gain nothing.

use crate::kernels::isa::{Avx2, Isa, LevelFn};
use crate::kernels::moves::{LookUpBytesFn, LookUpFn, MoveJobFn, rows_avx512, table_avx512};
use crate::kernels::resolve::tuples::ResolveTuples;
use crate::kernels::resolve::{ChunksFn, TuplesFn};
use crate::kernels::space::PeriodsFn;
use crate::kernels::space::zip_x86::ZipAvx512;
use crate::kernels::words::Sixteen;
use crate::types::index::Index;
use crate::types::level::Level;

/// The AVX-512 level: F, BW, VL, DQ and VBMI.
pub enum Avx512 {}

impl Isa for Avx512 {
    type Plain = Avx2;
    const LEVEL: Level = Level::Avx512;

    const GATHERS: bool = true;

    #[inline(always)]
    fn resolve_chunks<I: Index>() -> ChunksFn {
        Avx2::resolve_chunks::<I>()
    }

    #[inline(always)]
    fn resolve_tuples<I: Index>() -> Option<TuplesFn> {
        Some(avx512::<ResolveTuples<I, Sixteen>>)
    }

    #[inline(always)]
    fn move_rows() -> MoveJobFn {
        rows_avx512::move_rows
    }

    #[inline(always)]
    fn look_up<const BYTES: usize>() -> Option<LookUpFn> {
        Some(table_avx512::look_up::<BYTES>)
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>() -> Option<LookUpBytesFn> {
        Some(table_avx512::look_up_bytes::<I>)
    }

    #[inline(always)]
    fn zip<const BYTES: usize>() -> Option<PeriodsFn> {
        Some(avx512::<ZipAvx512<BYTES>>)
    }

    #[inline(always)]
    fn unzip<const BYTES: usize>() -> Option<PeriodsFn> {
        Avx2::unzip::<BYTES>()
    }
}

/// A [`LevelFn`] compiled for AVX-512.
///
/// # Safety
/// As for [`LevelFn::call`]; K7: the machine has what the level needs.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn avx512<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    // SAFETY: the caller's promise.
    unsafe { F::call(args) }
}

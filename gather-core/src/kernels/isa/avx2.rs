//! The level of x86-64 machines with AVX2, FMA and F16C.

use crate::kernels::isa::{Entry, GatherFn, Isa, LevelFn, scalar};
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::moves::{LookUpBytesFn, LookUpFn, MoveJobFn, gather_avx2, table_avx2};
use crate::kernels::resolve::tuples::ResolveTuples;
use crate::kernels::resolve::vectors::{Resolve, ResolveChunks};
use crate::kernels::resolve::{ChunksFn, ResolveFn, TuplesFn};
use crate::kernels::space::zip_x86::ZipAvx2;
use crate::kernels::space::{PeriodsFn, unzip_avx2};
use crate::kernels::words::Eight;
use crate::types::index::Index;
use crate::types::level::Level;

/// The AVX2 level.
pub enum Avx2 {}

impl Isa for Avx2 {
    type Plain = Self;
    const LEVEL: Level = Level::Avx2;

    const GATHERS: bool = true;

    #[inline(always)]
    fn entry<F: LevelFn>() -> Entry<F> {
        if const { F::NARROW } { scalar::<F> } else { avx2::<F> }
    }

    #[inline(always)]
    fn resolve<I: Index>() -> ResolveFn {
        avx2::<Resolve<I, Eight>>
    }

    #[inline(always)]
    fn resolve_chunks<I: Index>() -> ChunksFn {
        avx2::<ResolveChunks<I, Eight>>
    }

    #[inline(always)]
    fn resolve_tuples<I: Index>() -> Option<TuplesFn> {
        Some(avx2::<ResolveTuples<I, Eight>>)
    }

    #[inline(always)]
    fn move_fixed<const BYTES: usize>() -> MoveJobFn {
        gather_avx2::move_fixed::<BYTES>
    }

    #[inline(always)]
    fn move_rows() -> MoveJobFn {
        avx2::<MoveRows>
    }

    #[inline(always)]
    fn look_up<const BYTES: usize>() -> Option<LookUpFn> {
        Some(table_avx2::look_up::<BYTES>)
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>() -> Option<LookUpBytesFn> {
        Some(table_avx2::look_up_bytes::<I>)
    }

    #[inline(always)]
    fn gather<const BYTES: usize, I: Index>() -> GatherFn {
        gather_avx2::gather::<BYTES, I>
    }

    #[inline(always)]
    fn zip<const BYTES: usize>() -> Option<PeriodsFn> {
        Some(avx2::<ZipAvx2<BYTES>>)
    }

    #[inline(always)]
    fn unzip<const BYTES: usize>() -> Option<PeriodsFn> {
        Some(unzip_avx2::periods::<BYTES>)
    }
}

/// A [`LevelFn`] compiled for AVX2.
///
/// # Safety
/// As for [`LevelFn::call`]; K7: the machine has AVX2, FMA and F16C.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) unsafe fn avx2<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    // SAFETY: the caller's promise.
    unsafe { F::call(args) }
}

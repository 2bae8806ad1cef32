//! The level of x86-64 machines with AVX-512: the pieces that have algorithms of their own. The rest is that of the
//! level AVX2, where longer vectors and masks gain nothing.

#![forbid(unsafe_code)]

use crate::kernels::isa::{Avx2, GatherFn, Isa};
use crate::kernels::moves::{LookUpBytesFn, LookUpFn, MoveJobFn, gather_avx512, rows_avx512, table_avx512};
use crate::kernels::resolve::{ChunksFn, TuplesFn, avx512};
use crate::kernels::space::{PeriodsFn, zip_avx512};
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
        Some(avx512::resolve_tuples::<I>)
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
    fn gather<const BYTES: usize, I: Index>() -> GatherFn {
        if const { matches!(BYTES, 4 | 8) } { gather_avx512::gather::<BYTES, I> } else { Avx2::gather::<BYTES, I>() }
    }

    #[inline(always)]
    fn zip<const BYTES: usize>() -> Option<PeriodsFn> {
        Some(zip_avx512::periods::<BYTES>)
    }

    #[inline(always)]
    fn unzip<const BYTES: usize>() -> Option<PeriodsFn> {
        Avx2::unzip::<BYTES>()
    }
}

//! Levels: the functions of each step of a kernel.
//!
//! Most steps are one algorithm, compiled for each level: a [`LevelFn`](crate::kernels::level_fn::LevelFn), called by
//! [`Token::entry`]. The methods of [`Isa`] are the steps for which levels have different algorithms.

#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::level_fn::{Scalar, Token};
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::moves::{self, GatherFn, LookUpBytesFn, LookUpFn, MoveJobFn};
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::{gather_avx2, gather_positions, rows_avx512, table_avx2, table_avx512};
use crate::kernels::resolve::block::ResolveFns;
#[cfg(target_arch = "x86_64")]
use crate::kernels::resolve::tuples::ResolveTuples;
#[cfg(target_arch = "x86_64")]
use crate::kernels::resolve::vectors::{Resolve, ResolveChunks};
use crate::kernels::resolve::{self, ChunksFn, ResolveFn, TuplesFn};
use crate::kernels::space::PeriodsFn;
#[cfg(target_arch = "x86_64")]
use crate::kernels::space::unzip_avx2::Unzip;
#[cfg(target_arch = "x86_64")]
use crate::kernels::space::zip_x86::{ZipAvx2, ZipAvx512};
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::{Eight, Sixteen};
use crate::types::index::Index;

/// An instruction set. If a level has no algorithm of its own, a method returns the function of its `Plain` level.
pub trait Isa: Token {
    /// The level that supplies the kernels of `Direct` and `StridedCopy`, and every function that this level lacks. For
    /// the scalar level and AVX2 it is `Self`.
    type Plain: Isa;

    #[must_use]
    fn plain(self) -> Self::Plain;

    /// Whether the level resolves and moves in one loop.
    const GATHERS: bool = false;

    #[inline(always)]
    #[must_use]
    fn resolve<I: Index>(self) -> ResolveFn {
        self.plain().resolve::<I>()
    }

    #[inline(always)]
    #[must_use]
    fn resolve_chunks<I: Index>(self) -> ChunksFn {
        self.plain().resolve_chunks::<I>()
    }

    /// Resolves tuples in chunks; `None` if the level has no algorithm for it.
    #[inline(always)]
    #[must_use]
    fn resolve_tuples<I: Index>(self) -> Option<TuplesFn> {
        None
    }

    #[inline(always)]
    #[must_use]
    fn resolve_fns<I: Index>(self) -> ResolveFns {
        ResolveFns::new(self.resolve::<I>(), self.resolve_tuples::<I>())
    }

    /// Moves rows of `BYTES` bytes by their positions (K6).
    #[inline(always)]
    #[must_use]
    fn move_fixed<const BYTES: usize>(self) -> MoveJobFn {
        self.plain().move_fixed::<BYTES>()
    }

    /// Moves rows of any length by their positions.
    #[inline(always)]
    #[must_use]
    fn move_rows(self) -> MoveJobFn {
        self.entry::<MoveRows>()
    }

    /// Looks elements of `BYTES` bytes up in a table in registers; `None` if the level has no tables.
    #[inline(always)]
    #[must_use]
    fn look_up<const BYTES: usize>(self) -> Option<LookUpFn> {
        None
    }

    /// Looks bytes up in a table in registers, directly by one-byte indices; `None` if the level has no tables.
    #[inline(always)]
    #[must_use]
    fn look_up_bytes<I: Index>(self) -> Option<LookUpBytesFn> {
        None
    }

    /// Gathers rows of `BYTES` bytes, if [`Isa::GATHERS`].
    #[inline(always)]
    #[must_use]
    fn gather<const BYTES: usize, I: Index>(self) -> GatherFn {
        unreachable!("K9: plans gather at levels that have instructions for it")
    }

    /// Interleaves contiguous streams of `BYTES` bytes; `None` if the level has no algorithm for it.
    #[inline(always)]
    #[must_use]
    fn zip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        None
    }

    /// Splits contiguous data into streams of `BYTES` bytes; `None` if the level has no algorithm for it.
    #[inline(always)]
    #[must_use]
    fn unzip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        None
    }
}

impl Isa for Scalar {
    type Plain = Self;

    #[inline(always)]
    fn plain(self) -> Self {
        self
    }

    #[inline(always)]
    fn resolve<I: Index>(self) -> ResolveFn {
        resolve::resolve::<I>
    }

    #[inline(always)]
    fn resolve_chunks<I: Index>(self) -> ChunksFn {
        resolve::chunks::<I>
    }

    #[inline(always)]
    fn move_fixed<const BYTES: usize>(self) -> MoveJobFn {
        moves::move_fixed::<BYTES>
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    type Plain = Self;

    const GATHERS: bool = true;

    #[inline(always)]
    fn plain(self) -> Self {
        self
    }

    #[inline(always)]
    fn resolve<I: Index>(self) -> ResolveFn {
        self.entry::<Resolve<I, Eight>>()
    }

    #[inline(always)]
    fn resolve_chunks<I: Index>(self) -> ChunksFn {
        self.entry::<ResolveChunks<I, Eight>>()
    }

    #[inline(always)]
    fn resolve_tuples<I: Index>(self) -> Option<TuplesFn> {
        Some(self.entry::<ResolveTuples<I, Eight>>())
    }

    #[inline(always)]
    fn move_fixed<const BYTES: usize>(self) -> MoveJobFn {
        self.entry::<gather_avx2::MoveFixed<BYTES>>()
    }

    #[inline(always)]
    fn look_up<const BYTES: usize>(self) -> Option<LookUpFn> {
        Some(self.entry::<table_avx2::LookUp<BYTES>>())
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>(self) -> Option<LookUpBytesFn> {
        Some(self.entry::<table_avx2::LookUpBytes<I>>())
    }

    #[inline(always)]
    fn gather<const BYTES: usize, I: Index>(self) -> GatherFn {
        self.entry::<gather_positions::Gather<BYTES, I>>()
    }

    #[inline(always)]
    fn zip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        Some(self.entry::<ZipAvx2<BYTES>>())
    }

    #[inline(always)]
    fn unzip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        Some(self.entry::<Unzip<BYTES>>())
    }
}

/// The methods that are missing here gain nothing from longer vectors and masks.
#[cfg(target_arch = "x86_64")]
impl Isa for Avx512 {
    type Plain = Avx2;

    const GATHERS: bool = true;

    #[inline(always)]
    fn plain(self) -> Avx2 {
        self.below()
    }

    #[inline(always)]
    fn resolve_tuples<I: Index>(self) -> Option<TuplesFn> {
        Some(self.entry_of_its_own::<ResolveTuples<I, Sixteen>>())
    }

    #[inline(always)]
    fn move_rows(self) -> MoveJobFn {
        self.entry_of_its_own::<rows_avx512::MoveRowsByMasks>()
    }

    #[inline(always)]
    fn look_up<const BYTES: usize>(self) -> Option<LookUpFn> {
        Some(self.entry_of_its_own::<table_avx512::LookUp<BYTES>>())
    }

    #[inline(always)]
    fn look_up_bytes<I: Index>(self) -> Option<LookUpBytesFn> {
        Some(self.entry_of_its_own::<table_avx512::LookUpBytes<I>>())
    }

    #[inline(always)]
    fn gather<const BYTES: usize, I: Index>(self) -> GatherFn {
        self.plain().gather::<BYTES, I>()
    }

    #[inline(always)]
    fn zip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        Some(self.entry_of_its_own::<ZipAvx512<BYTES>>())
    }

    #[inline(always)]
    fn unzip<const BYTES: usize>(self) -> Option<PeriodsFn> {
        self.plain().unzip::<BYTES>()
    }
}

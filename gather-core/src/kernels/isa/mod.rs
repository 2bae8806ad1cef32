//! Levels: which function runs each piece of a kernel.
//!
//! A level is a table of functions. Most pieces are one algorithm, compiled for each level: a [`LevelFn`]. It has one
//! entry for each level, [`Isa::entry`]. The other methods name the pieces for which levels have algorithms of their
//! own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use scalar::Scalar;
pub(crate) use scalar::scalar;

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::moves::{LookUpBytesFn, LookUpFn, MoveJobFn};
use crate::kernels::resolve::{self, ChunksFn, ResolveFn, TuplesFn};
use crate::kernels::space::PeriodsFn;
use crate::types::index::Index;
use crate::types::level::Level;

/// A function that is compiled for each level. Its body is inlined into the entries.
pub trait LevelFn {
    /// The arguments.
    type Args<'a>;

    /// The result.
    type Output;

    /// Whether vectors of 16 bytes serve as well as longer ones, so that the entry of the scalar level serves AVX2.
    const NARROW: bool = false;

    /// Runs the function.
    ///
    /// # Safety
    /// The contract of the function, K7 included.
    unsafe fn call(args: Self::Args<'_>) -> Self::Output;
}

/// A [`LevelFn`] compiled for a level.
///
/// # Safety
/// As for [`LevelFn::call`].
pub(crate) type Entry<F> = for<'a> unsafe fn(<F as LevelFn>::Args<'a>) -> <F as LevelFn>::Output;

/// Resolves the indices of one component and moves rows by them in one loop, all of a plane; returns whether an index
/// was out of range, if that is an error: nothing from that index on is moved then. Under `OutOfBounds::Zero` rows out
/// of range get the fill.
///
/// # Safety
/// K1, K2, K3, K4, K6, K7 and K9 for the plane at the cursor.
pub(crate) type GatherFn = unsafe fn(&IndexArgs<'_>, &Cursor) -> bool;

/// An instruction set. Where a level has no algorithm of its own, a method names that of its `Plain` level.
pub trait Isa: 'static {
    /// The level whose kernels of `Direct` and `StridedCopy` this one runs, and whose functions it takes where it has
    /// none of its own. The scalar level and AVX2 are their own.
    type Plain: Isa;

    /// The level.
    const LEVEL: Level;

    /// Whether the level resolves and moves in one loop.
    const GATHERS: bool = false;

    /// A function compiled for the level.
    #[inline(always)]
    #[must_use]
    fn entry<F: LevelFn>() -> Entry<F> {
        Self::Plain::entry::<F>()
    }

    /// Resolves indices.
    #[inline(always)]
    #[must_use]
    fn resolve<I: Index>() -> ResolveFn {
        Self::Plain::resolve::<I>()
    }

    /// Resolves indices chunk by chunk.
    #[inline(always)]
    #[must_use]
    fn resolve_chunks<I: Index>() -> ChunksFn {
        resolve::in_chunks::<I, Self>
    }

    /// Resolves tuples chunk by chunk, where the level has an algorithm for it.
    #[inline(always)]
    #[must_use]
    fn resolve_tuples<I: Index>() -> Option<TuplesFn> {
        None
    }

    /// Moves rows of `BYTES` bytes by their positions (K6).
    #[inline(always)]
    #[must_use]
    fn move_fixed<const BYTES: usize>() -> MoveJobFn {
        Self::Plain::move_fixed::<BYTES>()
    }

    /// Moves rows of any length by their positions.
    #[inline(always)]
    #[must_use]
    fn move_rows() -> MoveJobFn {
        Self::Plain::move_rows()
    }

    /// Looks elements of `BYTES` bytes up in a table of registers, where the level has one.
    #[inline(always)]
    #[must_use]
    fn look_up<const BYTES: usize>() -> Option<LookUpFn> {
        None
    }

    /// Looks bytes up in a table of registers straight from indices of one byte, where the level has one.
    #[inline(always)]
    #[must_use]
    fn look_up_bytes<I: Index>() -> Option<LookUpBytesFn> {
        None
    }

    /// Gathers rows of `BYTES` bytes, where [`Isa::GATHERS`].
    #[inline(always)]
    #[must_use]
    fn gather<const BYTES: usize, I: Index>() -> GatherFn {
        Self::Plain::gather::<BYTES, I>()
    }

    /// Interleaves contiguous streams of `BYTES` bytes, where the level has an algorithm for it.
    #[inline(always)]
    #[must_use]
    fn zip<const BYTES: usize>() -> Option<PeriodsFn> {
        None
    }

    /// Takes contiguous data apart into streams of `BYTES` bytes, where the level has an algorithm for it.
    #[inline(always)]
    #[must_use]
    fn unzip<const BYTES: usize>() -> Option<PeriodsFn> {
        None
    }
}

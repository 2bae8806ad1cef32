//! The level that every machine has.

use crate::kernels::isa::{Entry, GatherFn, Isa, LevelFn};
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::moves::{self, MoveJobFn};
use crate::kernels::resolve::{self, ResolveFn};
use crate::types::index::Index;
use crate::types::level::Level;

/// The scalar level.
pub enum Scalar {}

impl Isa for Scalar {
    type Plain = Self;
    const LEVEL: Level = Level::Scalar;

    #[inline(always)]
    fn entry<F: LevelFn>() -> Entry<F> {
        scalar::<F>
    }

    #[inline(always)]
    fn resolve<I: Index>() -> ResolveFn {
        resolve::resolve::<I>
    }

    #[inline(always)]
    fn move_fixed<const BYTES: usize>() -> MoveJobFn {
        moves::move_fixed::<BYTES>
    }

    #[inline(always)]
    fn move_rows() -> MoveJobFn {
        scalar::<MoveRows>
    }

    fn gather<const BYTES: usize, I: Index>() -> GatherFn {
        unreachable!("K9: plans gather at levels that have instructions for it")
    }
}

/// A [`LevelFn`] compiled for the scalar level.
///
/// # Safety
/// As for [`LevelFn::call`].
#[inline(never)]
pub(crate) unsafe fn scalar<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    // SAFETY: the caller's promise.
    unsafe { F::call(args) }
}

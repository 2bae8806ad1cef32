//! The level that every machine has.

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::interleave::{self, Streams};
use crate::kernels::resolve::{self as scalar, Resolve};
use crate::kernels::rows;
use crate::kernels::unit::{self, Lanes};

/// The scalar level.
pub enum Scalar {}

impl Tier for Scalar {
    #[inline(never)]
    unsafe fn resolve<I: Index>(job: &Resolve) -> bool {
        // SAFETY: the caller's promise.
        unsafe { scalar::resolve::<I>(job) }
    }

    #[inline(never)]
    unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { unit::move_fixed::<BYTES>(lanes) }
    }

    #[inline(never)]
    unsafe fn move_rows(lanes: &Lanes) {
        // SAFETY: the caller's promise.
        unsafe { rows::move_rows(lanes) }
    }

    #[inline(never)]
    unsafe fn copy_fixed<const BYTES: usize>(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { interleave::copy_fixed::<BYTES>(streams) }
    }

    #[inline(never)]
    unsafe fn copy_rows(streams: &Streams) {
        // SAFETY: the caller's promise.
        unsafe { interleave::copy_rows(streams) }
    }
}

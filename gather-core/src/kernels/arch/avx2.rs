//! The level of x86-64 machines with AVX2.

use crate::index::Index;
use crate::kernels::arch::{Tier, zip};
use crate::kernels::args::Phased;
use crate::kernels::block::{self, Resolve};
use crate::kernels::interleave::{self, Streams};
use crate::kernels::unit::{self, Lanes};

/// The AVX2 level.
pub enum Avx2 {}

impl Tier for Avx2 {
    #[inline(always)]
    unsafe fn resolve<I: Index>(job: &Resolve) -> bool {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { resolve::<I>(job) }
    }

    #[inline(always)]
    unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { move_fixed::<BYTES>(lanes) }
    }

    #[inline(always)]
    unsafe fn move_rows(lanes: &Lanes) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { move_rows(lanes) }
    }

    #[inline(always)]
    unsafe fn copy_fixed<const BYTES: usize>(streams: &Streams) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { copy_fixed::<BYTES>(streams) }
    }

    #[inline(always)]
    unsafe fn copy_rows(streams: &Streams) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { copy_rows(streams) }
    }
}

/// [`Tier::resolve`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn resolve<I: Index>(job: &Resolve) -> bool {
    // SAFETY: the caller's promise.
    unsafe { block::resolve::<I>(job) }
}

/// [`Tier::move_fixed`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
    // SAFETY: the caller's promise.
    unsafe { unit::move_fixed::<BYTES>(lanes) }
}

/// [`Tier::move_rows`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_rows(lanes: &Lanes) {
    // SAFETY: the caller's promise.
    unsafe { unit::move_rows(lanes) }
}

/// [`Tier::copy_fixed`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn copy_fixed<const BYTES: usize>(streams: &Streams) {
    let periods = |lane: &Phased, at, periods| {
        // SAFETY: `at` reaches as many periods: the caller's promise for the lanes.
        unsafe { zip::periods::<BYTES>(lane, at, periods) }
    };
    // SAFETY: the caller's promise.
    unsafe { interleave::copy_fixed_with::<BYTES>(streams, periods) }
}

/// [`Tier::copy_rows`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn copy_rows(streams: &Streams) {
    // SAFETY: the caller's promise.
    unsafe { interleave::copy_rows(streams) }
}

//! The level of x86-64 machines with AVX2.

use crate::index::Index;
use crate::kernels::arch::resolve::Bounds;
use crate::kernels::arch::{Tier, fused, lookup, resolve, zip};
use crate::kernels::args::{Loop, Phased};
use crate::kernels::interleave::{self, Streams};
use crate::kernels::resolve::{self as scalar, GoOn, Resolve, TURN, Tuples};
use crate::kernels::rows;
use crate::kernels::unit::{self, Lanes};
use crate::ops::OutOfBounds;

/// The AVX2 level.
pub enum Avx2 {}

impl Tier for Avx2 {
    #[inline(always)]
    unsafe fn resolve<I: Index>(job: &Resolve) -> bool {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { resolve_lanes::<I>(job) }
    }

    #[inline(always)]
    unsafe fn resolve_in_turns<I: Index>(job: &Resolve, each: &mut dyn FnMut(usize, bool) -> GoOn) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { resolve_in_turns::<I>(job, each) }
    }

    #[inline(always)]
    unsafe fn resolve_tuples<I: Index>(job: &Tuples<'_>) -> Option<bool> {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { resolve_tuples::<I>(job) }
    }

    #[inline(always)]
    unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { move_fixed::<BYTES>(lanes) }
    }

    #[inline(always)]
    unsafe fn fused<const BYTES: usize, I: Index>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<bool> {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { fused_lanes::<BYTES, I>(job, lanes, outer) }
    }

    #[inline(always)]
    unsafe fn look_up<I: Index>(job: &Resolve, lanes: &Lanes) -> usize {
        // SAFETY: the caller's promise; K7: the machine has AVX2.
        unsafe { look_up::<I>(job, lanes) }
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
unsafe fn resolve_lanes<I: Index>(job: &Resolve) -> bool {
    let (mut done, mut out_of_range) = (0, false);
    if job.stride == size_of::<I>() as isize {
        let bounds = Bounds::of(job);
        // SAFETY: the caller's promise; the indices are contiguous.
        (done, out_of_range) = unsafe { resolve::contiguous::<I>(job, bounds) };
        if done == job.n {
            return out_of_range;
        }
    }
    // SAFETY: the caller's promise, for the lanes from `done` on.
    out_of_range | unsafe { scalar::resolve::<I>(&job.rest(done)) }
}

/// [`Tier::resolve_in_turns`] for AVX2: bounds are made once for all turns, and the vectors of a turn unrolled, without which
/// turns take as long as blocks.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn resolve_in_turns<I: Index>(job: &Resolve, each: &mut dyn FnMut(usize, bool) -> GoOn) {
    let mut done = 0;
    if job.stride == size_of::<I>() as isize {
        let bounds = Bounds::of(job);
        while job.n - done >= TURN {
            // SAFETY: the caller's promise; the indices are contiguous, and a turn is whole vectors.
            let (_, out_of_range) = unsafe { resolve::contiguous::<I>(&job.turn(done, TURN), bounds) };
            done += TURN;
            if !each(TURN, out_of_range) {
                return;
            }
        }
    }
    let resolve = |job: &Resolve| {
        // SAFETY: the caller's promise, for some of the indices.
        unsafe { resolve_lanes::<I>(job) }
    };
    scalar::in_turns(&job.turn(done, job.n - done), resolve, each);
}

/// [`Tier::resolve_tuples`] for AVX2: of 2, 3 and 4 components.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn resolve_tuples<I: Index>(job: &Tuples<'_>) -> Option<bool> {
    let (done, mut out_of_range) = match job.components.len() {
        // SAFETY: the caller's promise; there are two components.
        2 => unsafe { resolve::tuples::<I, 2>(job) },
        // SAFETY: as above, three.
        3 => unsafe { resolve::tuples::<I, 3>(job) },
        // SAFETY: as above, four.
        4 => unsafe { resolve::tuples::<I, 4>(job) },
        _ => return None,
    };
    if out_of_range && job.out_of_bounds == OutOfBounds::Wrap {
        let again = |lane| {
            // SAFETY: the caller's promise; `lane < done <= n`.
            unsafe { job.resolve_one::<I>(lane) };
        };
        // SAFETY: `out` holds `done` units, whole vectors.
        unsafe { resolve::each_negative(job.out, done, again) };
        out_of_range = false;
    }
    for lane in done..job.n {
        // SAFETY: the caller's promise.
        out_of_range |= unsafe { job.resolve_one::<I>(lane) };
    }
    Some(out_of_range)
}

/// [`Tier::move_fixed`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes) {
    let done = if lanes.table == 0 {
        // SAFETY: the caller's promise.
        unsafe { fused::resolved::<BYTES>(lanes) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { lookup::lanes::<BYTES>(lanes) }
    };
    if done == 0 {
        // SAFETY: the caller's promise.
        return unsafe { unit::move_fixed::<BYTES>(lanes) };
    }
    // SAFETY: the caller's promise, for the lanes from `done` on.
    unsafe { unit::move_fixed::<BYTES>(&lanes.from(done)) }
}

/// [`Tier::fused`] for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn fused_lanes<const BYTES: usize, I: Index>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<bool> {
    // SAFETY: the caller's promise.
    unsafe { fused::lanes::<BYTES, I>(job, lanes, outer) }
}

/// [`Tier::look_up`] for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn look_up<I: Index>(job: &Resolve, lanes: &Lanes) -> usize {
    // SAFETY: the caller's promise.
    unsafe { lookup::straight::<I>(job, lanes) }
}

/// [`Tier::move_rows`] compiled for AVX2.
///
/// # Safety
/// As there.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn move_rows(lanes: &Lanes) {
    // SAFETY: the caller's promise.
    unsafe { rows::move_rows(lanes) }
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

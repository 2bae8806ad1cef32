//! Resolving and moving lanes of 4, 8 and 12 bytes in one loop with AVX2, the first two by `vpgatherdd` and `vpgatherdq`.
//!
//! The blocked kernel resolves 512 indices, then moves 512 lanes. While it resolves, it waits for the indices to come from
//! memory; while it moves, for data to come from the caches; and never for both at once. Here eight indices are resolved
//! in a register, written to the block for whoever needs them again, and gathered from: the processor overlaps the next
//! indices with the last elements. Lanes out of range are masked off and keep what stood in the register before, which is the
//! fill; under `Wrap` they are divided afterwards, lane by lane.
//!
//! Measured on 4 million lanes in nanoseconds each (2026-11-21, 2-core EPYC of the Zen 4 class; fastest of 25 rounds):
//!
//! ```text
//! table                        4 KiB  32 KiB  256 KiB  1 MiB  8 MiB  64 MiB
//! i32 indices, blocked          0.39    0.76     1.06   1.11   1.57    5.81
//!              fused, gather    0.40    0.62     0.81   0.76   1.24    5.54
//!              fused, scalar    0.36    0.69     0.92   1.00   1.46    5.60
//! i64 indices, blocked          0.48    1.16     1.26   1.53   2.04    7.25
//!              fused, gather    0.51    1.02     1.09   0.97   1.51    6.46
//!              fused, scalar    0.53    1.00     1.22   1.41   1.99    7.27
//! ```
//!
//! All lanes of an outer coordinate are one call, unless their units are needed again: at the end of each block the
//! processor ran dry, which cost 20 ns for data in the second-level cache and 190 beyond it.
//!
//! Rows of 12 bytes (three `f32`) are moved one by one, their units taken out of the vector by shuffles. In milliseconds, a million
//! rows with i64 indices, turns of 64 lanes beside it, and the moves alone:
//!
//! ```text
//! data          768 KiB  3 MiB  12 MiB  24 MiB
//! turns            1.67   1.91     6.8     9.2
//! in one loop      2.0    2.4      5.8     7.6
//! moves            1.40   1.80     5.7     8.5
//! ```
//!
//! so plans have large data take it. The loop must not write to the stack: with a vector stored in each step, spilled around
//! a call or kept for nobody, large data took 8 to 9 ms in place of 5.8.
//!
//! Lanes that are resolved already (tuples, and one block of indices for many slices) are gathered in the same way:
//! `gather_nd/k3_elems_128x128x128_1M` takes 2.5 ms by it and 4.0 by scalar loads, `k2_elems_2048x2048_1M` 3.9 and 5.0;
//! in the first-level cache both take 0.33 ns a lane. Fetching each lane's
//! element ahead gained nothing below 64 MiB and cost 0.2 ns a lane. On processors whose microcode slows gather
//! instructions down (none was at hand) the blocked kernels of the scalar level may be the faster ones.

use core::arch::x86_64::{
    __m128i, __m256i, _MM_HINT_ET0, _MM_HINT_T0, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_prefetch, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi32_epi64, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_mask_i32gather_epi32, _mm256_mask_i32gather_epi64, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_xor_si256,
};

use crate::index::Index;
use crate::kernels::arch::resolve::{self, Bounds, EIGHT, any_negative, in_order, is_split, load};
use crate::kernels::args::{Cursor, Loop};
use crate::kernels::resolve::{Resolve, resolve_and_move};
use crate::kernels::unit::{Lanes, copy_fixed};
use crate::ops::OutOfBounds;

/// Whether the lanes are taken here: from contiguous indices to contiguous output.
#[inline(always)]
fn takes<const BYTES: usize, I: Index>(job: &Resolve, lanes: &Lanes) -> bool {
    matches!(BYTES, 4 | 8 | 12)
        && job.stride == size_of::<I>() as isize
        && lanes.out_step == BYTES as isize
        && lanes.n >= EIGHT
}

/// Where a lane's element lies, as the gather instructions have it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// At `data + BYTES * unit`: units are scaled by the instruction.
    Packed,
    /// At `data + unit * units[lane] + data_step * lane`, all of which fits in 32 bits.
    Near,
}

impl Form {
    #[inline(always)]
    fn of<const BYTES: usize>(job: &Resolve, lanes: &Lanes) -> Option<Form> {
        if lanes.unit == BYTES as isize && lanes.data_step == 0 {
            return Some(Form::Packed);
        }
        if !matches!(BYTES, 4 | 8) {
            return None;
        }
        let fits = |step: isize, n: usize| {
            let reach = step.unsigned_abs().checked_mul(n);
            reach.is_some_and(|reach| reach <= i32::MAX as usize / 2)
        };
        (fits(lanes.unit, job.dim as usize) && fits(lanes.data_step, lanes.n)).then_some(Form::Near)
    }
}

/// Resolves and moves the lanes of one outer coordinate after the other; `None` where another kernel has to.
///
/// # Safety
/// As for [`Tier::fused`](super::Tier::fused).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn lanes<const BYTES: usize, I: Index>(job: &Resolve, lanes: &Lanes, outer: &Loop) -> Option<bool> {
    if !takes::<BYTES, I>(job, lanes) {
        return None;
    }
    // SAFETY: K6, the caller's promise.
    let fill = unsafe { fill::<BYTES>(job, lanes) };
    let row = Row::new(job, lanes, fill);
    let form = Form::of::<BYTES>(job, lanes)?;
    let (mut at, mut out_of_range) = (Cursor { out: lanes.out, data: lanes.data, index: job.index }, false);
    for _ in 0..outer.n {
        out_of_range |= match form {
            // SAFETY: the caller's promise; the form holds, which does not depend on the outer coordinate.
            Form::Packed => unsafe { row.run::<I, true>(job, lanes, at) },
            // SAFETY: as above.
            Form::Near => unsafe { row.run::<I, false>(job, lanes, at) },
        };
        if out_of_range && job.out_of_bounds == OutOfBounds::Error {
            break;
        }
        at = at.step(outer);
    }
    Some(out_of_range)
}

/// What a lane out of range gets: the fill, repeated; zeros where there is another policy.
///
/// # Safety
/// K6 for a unit of `BYTES` bytes.
#[inline(always)]
unsafe fn fill<const BYTES: usize>(job: &Resolve, lanes: &Lanes) -> [u8; BYTES] {
    let mut fill = [0; BYTES];
    if job.out_of_bounds == OutOfBounds::Zero {
        for part in fill.chunks_exact_mut(lanes.fill_len) {
            // SAFETY: K6: the fill has as many bytes, which the part has too; it is a constant of ours.
            unsafe { part.as_mut_ptr().copy_from_nonoverlapping(lanes.fill, lanes.fill_len) };
        }
    }
    fill
}

/// What the lanes of every outer coordinate have in common.
#[derive(Clone, Copy)]
struct Row<const BYTES: usize> {
    bounds: Bounds,
    fill: [u8; BYTES],
    filled: __m256i,
    unit: __m256i,
    /// Bytes of data from the first lane to each of the first eight, and from each to the one eight further.
    at: __m256i,
    step: __m256i,
}

impl<const BYTES: usize> Row<BYTES> {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(job: &Resolve, lanes: &Lanes, fill: [u8; BYTES]) -> Self {
        let data_step = lanes.data_step as i32;
        let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        Row {
            bounds: Bounds::of(job),
            filled: if job.out_of_bounds == OutOfBounds::Zero { spread(fill) } else { _mm256_setzero_si256() },
            fill,
            unit: _mm256_set1_epi32(lanes.unit as i32),
            at: _mm256_mullo_epi32(numbers, _mm256_set1_epi32(data_step)),
            step: _mm256_set1_epi32(data_step.wrapping_mul(EIGHT as i32)),
        }
    }

    /// Runs the lanes of the outer coordinate at a cursor; returns whether an index was out of range (and is not wrapped).
    ///
    /// # Safety
    /// As for [`lanes`]; `PACKED` says the form.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn run<I: Index, const PACKED: bool>(self, job: &Resolve, lanes: &Lanes, at: Cursor) -> bool {
        let (mut offset, mut found) = (self.at, _mm256_setzero_si256());
        let index = at.index.cast::<I>();
        let steps = job.n / EIGHT;
        let fetches = lanes.ahead != 0 || lanes.next.is_some();
        for step in 0..steps {
            if fetches {
                lanes.next.fetch(step);
                let later = step * EIGHT + lanes.ahead;
                fetch(index.wrapping_add(later).cast());
                if BYTES <= 8 {
                    fetch_to_write(at.out.wrapping_add(later * BYTES));
                }
            }
            // SAFETY: K3: eight of the `n` indices.
            let indices = unsafe { load(index.wrapping_add(step * EIGHT)) };
            let resolved = self.bounds.resolve(indices);
            let resolved = if is_split::<I>() { in_order(resolved) } else { resolved };
            found = _mm256_or_si256(found, resolved);
            if job.keep {
                // SAFETY: `out` has room for `n` units; these are eight of them.
                unsafe { _mm256_storeu_si256(job.out.wrapping_add(step * EIGHT).cast(), resolved) };
            }
            if !matches!(BYTES, 4 | 8) {
                if any_negative(resolved) {
                    // SAFETY: the caller's promise, for eight of the lanes.
                    unsafe { few::<BYTES, I>(job, lanes, at, step * EIGHT, &self.fill) };
                } else {
                    // SAFETY: the caller's promise; the form is packed.
                    unsafe { move_eight::<BYTES>(at, step * EIGHT, resolved) };
                }
                continue;
            }
            let offsets =
                if PACKED { resolved } else { _mm256_add_epi32(_mm256_mullo_epi32(resolved, self.unit), offset) };
            offset = _mm256_add_epi32(offset, self.step);
            let to = at.out.wrapping_add(step * EIGHT * BYTES);
            let inside = _mm256_xor_si256(resolved, _mm256_set1_epi32(-1));
            // SAFETY: K1 and K2: eight lanes; the units of those inside are in range, and their offsets fit in 32 bits.
            unsafe { gather::<BYTES, PACKED>(at.data, offsets, inside, self.filled, to) };
        }
        let done = steps * EIGHT;
        let mut out_of_range = any_negative(found);
        if out_of_range && job.out_of_bounds == OutOfBounds::Wrap {
            // SAFETY: the caller's promise; the first `done` units are resolved, and kept.
            unsafe { wrap::<BYTES, I>(&job.at(at), &lanes.moved_to(at), done) };
            out_of_range = false;
        }
        if done < job.n {
            let (job, lanes) = (job.at(at).rest(done), lanes.moved_to(at).from(done));
            // SAFETY: the caller's promise, for the lanes from `done` on.
            out_of_range |= unsafe { resolve_and_move::<I, BYTES>(&job, &lanes, &self.fill) };
        }
        out_of_range
    }
}

/// Moves the eight packed lanes from `first` on, which resolve to `units`.
///
/// # Safety
/// K1, K2 and K4 for the lanes, whose units are in range.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn move_eight<const BYTES: usize>(at: Cursor, first: usize, units: __m256i) {
    let (low, high) = (_mm256_castsi256_si128(units), _mm256_extracti128_si256::<1>(units));
    let pairs =
        [_mm_cvtsi128_si64(low), _mm_extract_epi64::<1>(low), _mm_cvtsi128_si64(high), _mm_extract_epi64::<1>(high)];
    for lane in 0..EIGHT {
        let unit = (pairs[lane / 2] >> (lane % 2 * 32)) as u32;
        let from = at.data.wrapping_add(unit as usize * BYTES);
        // SAFETY: K1, K2 and K4 for the lane, whose unit is in range.
        unsafe { copy_fixed::<BYTES>(from, at.out.wrapping_add((first + lane) * BYTES)) };
    }
}

/// Resolves and moves the eight lanes from `first` on one by one, since some are out of range.
///
/// # Safety
/// As for [`lanes`], of which these are some.
#[cold]
#[inline(never)]
unsafe fn few<const BYTES: usize, I: Index>(
    job: &Resolve,
    lanes: &Lanes,
    at: Cursor,
    first: usize,
    fill: &[u8; BYTES],
) {
    let job = Resolve { n: EIGHT, ..job.at(at).rest(first) };
    // SAFETY: the caller's promise, for eight of the lanes.
    unsafe { resolve_and_move::<I, BYTES>(&job, &lanes.moved_to(at).from(first), fill) };
}

/// Asks for a line to be read.
#[inline(always)]
fn fetch(line: *const u8) {
    // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
}

/// Asks for a line to be written.
#[inline(always)]
fn fetch_to_write(line: *mut u8) {
    // SAFETY: as in `fetch`.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.cast()) };
}

/// Wraps and moves the lanes among the first `done` that are not in range of their own.
///
/// # Safety
/// As for [`lanes`] under `OutOfBounds::Wrap`; `done` lanes, whole vectors, are resolved.
#[cold]
#[target_feature(enable = "avx2")]
unsafe fn wrap<const BYTES: usize, I: Index>(job: &Resolve, lanes: &Lanes, done: usize) {
    let again = |lane| {
        // SAFETY: `lane < done <= n`, and its unit has been written.
        let from = unsafe { lanes.source(lane) };
        // SAFETY: K1, K2 and K4 for the lane, whose unit is wrapped and so in range.
        unsafe { copy_fixed::<BYTES>(from, lanes.target(lane)) };
    };
    // SAFETY: the caller's promise.
    unsafe { resolve::wrap::<I>(job, done, again) };
}

/// A vector of as many times `element` as it takes.
#[inline]
#[target_feature(enable = "avx2")]
fn spread<const BYTES: usize>(element: [u8; BYTES]) -> __m256i {
    let mut bytes = [0u8; 32];
    for part in bytes.chunks_exact_mut(BYTES) {
        part.copy_from_slice(&element);
    }
    // SAFETY: 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Moves as many resolved lanes as make whole vectors; returns how many.
///
/// # Safety
/// As for [`Tier::move_fixed`](super::Tier::move_fixed).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn resolved<const BYTES: usize>(lanes: &Lanes) -> usize {
    let packed = lanes.unit == BYTES as isize && lanes.out_step == BYTES as isize && lanes.data_step == 0;
    if !matches!(BYTES, 4 | 8) || !packed {
        return 0;
    }
    let steps = lanes.n / EIGHT;
    for step in 0..steps {
        lanes.next.fetch(step);
        // SAFETY: eight of the `n` units.
        let units = unsafe { _mm256_loadu_si256(lanes.units.wrapping_add(step * EIGHT).cast()) };
        let to = lanes.out.wrapping_add(step * EIGHT * BYTES);
        let (all, none) = (_mm256_set1_epi32(-1), _mm256_setzero_si256());
        // SAFETY: K1 and K2: eight lanes, whose units are in range.
        unsafe { gather::<BYTES, true>(lanes.data, units, all, none, to) };
    }
    steps * EIGHT
}

/// Gathers eight elements of `BYTES` bytes at offsets, in elements where `PACKED` and else in bytes: those of the lanes that
/// are negative in `inside`. The others get what `instead` holds.
///
/// # Safety
/// The elements inside may be read, and eight may be written at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn gather<const BYTES: usize, const PACKED: bool>(
    data: *const u8,
    offsets: __m256i,
    inside: __m256i,
    instead: __m256i,
    to: *mut u8,
) {
    if BYTES == 4 {
        let elements = if PACKED {
            // SAFETY: the caller's promise.
            unsafe { _mm256_mask_i32gather_epi32::<4>(instead, data.cast(), offsets, inside) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { _mm256_mask_i32gather_epi32::<1>(instead, data.cast(), offsets, inside) }
        };
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(to.cast(), elements) };
        return;
    }
    for half in 0..2 {
        let (offsets, inside) = (half_of(offsets, half), _mm256_cvtepi32_epi64(half_of(inside, half)));
        let elements = if PACKED {
            // SAFETY: the caller's promise, for four of the elements.
            unsafe { _mm256_mask_i32gather_epi64::<8>(instead, data.cast(), offsets, inside) }
        } else {
            // SAFETY: as above.
            unsafe { _mm256_mask_i32gather_epi64::<1>(instead, data.cast(), offsets, inside) }
        };
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.wrapping_add(half * 32).cast(), elements) };
    }
}

/// The lower or the upper four of eight lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn half_of(lanes: __m256i, half: usize) -> __m128i {
    if half == 0 { _mm256_castsi256_si128(lanes) } else { _mm256_extracti128_si256::<1>(lanes) }
}

//! Decoding with AVX2, eight numbers at a time, where compilers vectorise the loops badly or not at all.
//!
//! Results equal the results of the loops, to the bit. Only the loops make results of types other than `f32`.

#[cfg(feature = "half")]
use core::any::TypeId;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::kernels::columns_avx2::{Eight, Tail};
use crate::kernels::level_fn::Avx2;
use crate::types::codes::Float;
use crate::types::fused::{FusedFormat, FusedRow};

const EIGHT: usize = 8;

/// Whether results are `f32`.
const fn is_single<U: Float>() -> bool {
    matches!(U::FORMAT, FusedFormat::F32)
}

/// Writes eight `f32` results, to elements `U` or arrays of them.
#[inline(always)]
fn write<U: Float, T>(_: Avx2, values: __m256, to: &mut [MaybeUninit<T>]) {
    assert!(const { is_single::<U>() } && size_of_val(to) == EIGHT * size_of::<f32>(), "eight results");
    // SAFETY: the token proves the level. By the assertion, `to` has the bytes of eight `f32`, and `U`, whose format is
    // `F32`, is `f32`. Callers in this module give a `T` of `U`s, which may have any bits.
    unsafe { _mm256_storeu_ps(to.as_mut_ptr().cast(), values) };
}

/// Decodes a fused row of a coding. Returns `false` and decodes nothing unless results are `f32`.
#[inline(always)]
pub(super) fn fused<C: Eight, U: Float>(level: Avx2, bytes: &[u8], row: &FusedRow, to: &mut [MaybeUninit<U>]) -> bool {
    if const { !is_single::<U>() } {
        return false;
    }
    debug_assert!(bytes.len() == row.bytes() && to.len() == row.columns(), "F1");
    let (scale, bias) = C::params(level, bytes, row.params_at());
    let last = C::bytes(to.len() / EIGHT * EIGHT);
    let codes = &bytes[row.codes_at()..][..last];
    let (to, rest) = to.as_chunks_mut::<EIGHT>();
    for (codes, to) in codes.chunks_exact(C::bytes(EIGHT)).zip(to) {
        write::<U, U>(level, C::values(level, C::eight(level, codes), scale, bias), to);
    }
    if !rest.is_empty() {
        let last = C::last(level, bytes, &Tail::new(row, last));
        let mut eight = [MaybeUninit::<U>::uninit(); EIGHT];
        write::<U, U>(level, C::values(level, last, scale, bias), &mut eight);
        rest.copy_from_slice(&eight[..rest.len()]);
    }
    true
}

/// Decodes whole groups of eight codes; returns the remainder, which is everything unless results are `f32`.
#[inline(always)]
pub(super) fn codes<'a, 'b, U: Float, const PER: usize>(
    level: Avx2,
    from: &'a [u8],
    to: &'b mut [MaybeUninit<[U; PER]>],
    is_signed: bool,
    (scale, zero_point): (f32, f32),
) -> (&'a [u8], &'b mut [MaybeUninit<[U; PER]>]) {
    if const { !is_single::<U>() } {
        return (from, to);
    }
    let bytes = const { EIGHT / PER };
    let n = from.len() / bytes * bytes;
    let ((from, rest), (to, others)) = (from.split_at(n), to.split_at_mut(n));
    for (codes, to) in from.chunks_exact(bytes).zip(to.chunks_exact_mut(bytes)) {
        let codes = match *codes {
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            _ => unreachable!("eight codes"),
        };
        // SAFETY: the token proves the level.
        write::<U, _>(level, unsafe { numbers::<PER>(codes, is_signed, scale, zero_point) }, to);
    }
    (rest, others)
}

/// Eight codes as numbers: `(code - zero_point) * scale`.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers<const PER: usize>(codes: u64, is_signed: bool, scale: f32, zero_point: f32) -> __m256 {
    let bits = (EIGHT / PER) as i32;
    let up_to = |first: i32, step: i32| {
        let steps = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(step));
        _mm256_add_epi32(_mm256_set1_epi32(first), steps)
    };
    let numbers = match (PER, is_signed) {
        (1, false) => _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(codes as i64)),
        (1, true) => _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(codes as i64)),
        (_, false) => {
            let codes = _mm256_srlv_epi32(_mm256_set1_epi32(codes as i32), up_to(0, bits));
            _mm256_and_si256(codes, _mm256_set1_epi32((1 << bits) - 1))
        }
        (_, true) => {
            // Each code is shifted to the top of its lane, and back with its sign.
            let codes = _mm256_sllv_epi32(_mm256_set1_epi32(codes as i32), up_to(32 - bits, -bits));
            _mm256_srav_epi32(codes, _mm256_set1_epi32(32 - bits))
        }
    };
    let numbers = _mm256_sub_ps(_mm256_cvtepi32_ps(numbers), _mm256_set1_ps(zero_point));
    _mm256_mul_ps(numbers, _mm256_set1_ps(scale))
}

/// Converts elements as [`maps::convert`](crate::maps::convert) does; returns the remainder, which is everything except
/// for `f16` to `f32`.
#[inline(always)]
pub(super) fn conversion<'a, 'b, T: 'static, U: 'static>(
    level: Avx2,
    from: &'a [T],
    to: &'b mut [MaybeUninit<U>],
) -> (&'a [T], &'b mut [MaybeUninit<U>]) {
    #[cfg(feature = "half")]
    if TypeId::of::<T>() == TypeId::of::<half::f16>() && TypeId::of::<U>() == TypeId::of::<f32>() {
        #[inline]
        #[target_feature(enable = "avx2,f16c")]
        fn widened<T>(halves: &[T; EIGHT]) -> __m256 {
            assert_eq!(size_of::<T>(), size_of::<half::f16>(), "a half");
            // SAFETY: the array has 16 bytes, all initialised: `T` is `f16`, by the comparison above. At any alignment.
            _mm256_cvtph_ps(unsafe { _mm_loadu_si128(halves.as_ptr().cast()) })
        }
        let ((from, rest), (to, others)) = (from.as_chunks::<EIGHT>(), to.as_chunks_mut::<EIGHT>());
        for (halves, to) in from.iter().zip(to) {
            // SAFETY: the token proves the level.
            write::<f32, U>(level, unsafe { widened(halves) }, to);
        }
        return (rest, others);
    }
    let _ = level;
    (from, to)
}

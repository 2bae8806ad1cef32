//! Instructions of x86-64 as safe functions: the token of a level proves that the machine has them.
//!
//! Algorithms call no intrinsics. They pass vectors to the methods of a token, or to the functions of
//! [`Vector`](crate::kernels::vector::Vector) and [`Words`](crate::kernels::words::Words).

use core::arch::x86_64::*;
pub(crate) use core::arch::x86_64::{__m128i, __m256, __m256d, __m256i, __m512, __m512d, __m512i};
use core::mem::MaybeUninit;

use crate::kernels::level_fn::{Avx2, Avx512, Token};
use crate::kernels::prefetch::LINE;
use crate::kernels::vector::Vector;
use crate::types::element::Unaligned;

/// Methods of a token, each an expression of intrinsics of its level.
macro_rules! instructions {
    ($level:ident: $($(#[$doc:meta])* $name:ident$(<const $n:ident>)?($($arg:ident: $ty:ty),*) -> $out:ty { $($body:tt)* })*) => {
        impl $level {$(
            $(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name$(<const $n: usize>)?(self, $($arg: $ty),*) -> $out {
                // SAFETY: the token proves that the machine has the level of the intrinsics, which access no memory.
                unsafe { $($body)* }
            }
        )*}
    };
}

instructions! {
    Avx2:
    /// `table[numbers[k] & 15]`; 0 if bit 7 of a number is set.
    look_up_16(table: __m128i, numbers: __m128i) -> __m128i { _mm_shuffle_epi8(table, numbers) }
    /// [`Avx2::look_up_16`] in both 128-bit halves.
    look_up_32(table: __m256i, numbers: __m256i) -> __m256i { _mm256_shuffle_epi8(table, numbers) }
    or_16(a: __m128i, b: __m128i) -> __m128i { _mm_or_si128(a, b) }

    /// `half` in both halves.
    twice(half: __m128i) -> __m256i { _mm256_broadcastsi128_si256(half) }
    joined(low: __m128i, high: __m128i) -> __m256i { _mm256_set_m128i(high, low) }
    halves(a: __m256i) -> [__m128i; 2] { [_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a)] }
    /// The low halves of both vectors, and the high halves.
    paired(a: __m256i, b: __m256i) -> [__m256i; 2] {
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
    }

    /// In each half, the `BYTES`-byte elements of `a` and `b` interleaved: from their low eight bytes, and from their
    /// high eight bytes.
    unpacked<const BYTES>(a: __m256i, b: __m256i) -> [__m256i; 2] {
        match BYTES {
            1 => [_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)],
            2 => [_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)],
            4 => [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)],
            _ => [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)],
        }
    }

    zero() -> __m256i { _mm256_setzero_si256() }
    xor(a: __m256i, b: __m256i) -> __m256i { _mm256_xor_si256(a, b) }
    and(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
    and_not(a: __m256i, not: __m256i) -> __m256i { _mm256_andnot_si256(not, a) }

    splat8(byte: u8) -> __m256i { _mm256_set1_epi8(byte as i8) }
    plus8(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi8(a, b) }
    /// `a - b`, signed and saturated.
    minus8(a: __m256i, b: __m256i) -> __m256i { _mm256_subs_epi8(a, b) }
    /// All ones in negative bytes.
    negative8(a: __m256i) -> __m256i { _mm256_cmpgt_epi8(_mm256_setzero_si256(), a) }
    /// All ones in bytes with `a <= b`, unsigned.
    at_most8(a: __m256i, b: __m256i) -> __m256i { _mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a) }
    /// Whether the top bit of every byte is set.
    are_all8(mask: __m256i) -> bool { _mm256_movemask_epi8(mask) == -1 }
    /// In each half, 32-bit lanes of both vectors, saturated to unsigned 16 bits.
    packed16(a: __m256i, b: __m256i) -> __m256i { _mm256_packus_epi32(a, b) }
    /// In each half, 16-bit lanes of both vectors, saturated to unsigned bytes.
    packed8(a: __m256i, b: __m256i) -> __m256i { _mm256_packus_epi16(a, b) }

    minus32(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi32(a, b) }
    least32(a: __m256i, b: __m256i) -> __m256i { _mm256_min_epu32(a, b) }
    at_least_zero32(a: __m256i) -> __m256i { _mm256_max_epi32(a, _mm256_setzero_si256()) }
    eighths32(a: __m256i) -> __m256i { _mm256_srli_epi32::<3>(a) }
    times_eight32(a: __m256i) -> __m256i { _mm256_slli_epi32::<3>(a) }
    /// `a << by`, lane by lane.
    shifted32(a: __m256i, by: __m256i) -> __m256i { _mm256_sllv_epi32(a, by) }
    /// All ones in lanes with bit 3 set.
    bit_three32(a: __m256i) -> __m256i { _mm256_srai_epi32::<31>(_mm256_slli_epi32::<28>(a)) }
    /// All ones in lanes with `a > b`, signed.
    greater32(a: __m256i, b: __m256i) -> __m256i { _mm256_cmpgt_epi32(a, b) }
    any(mask: __m256i) -> bool { _mm256_testz_si256(mask, mask) == 0 }
    /// The 32-bit lanes of `a` at `numbers`.
    permuted32(a: __m256i, numbers: __m256i) -> __m256i { _mm256_permutevar8x32_epi32(a, numbers) }
    /// Eight bytes, zero-extended to 32 bits.
    widened8(bytes: u64) -> __m256i { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64)) }
    /// `2 b` and `2 b + 1` for each of eight bytes `b < 128`.
    pairs8(bytes: u64) -> __m128i {
        let bytes = _mm_cvtsi64_si128(bytes as i64);
        let even = _mm_add_epi8(bytes, bytes);
        _mm_add_epi8(_mm_unpacklo_epi8(even, even), _mm_set1_epi16(0x0100))
    }
    /// The bytes that are not 0.
    nonzero8(a: __m256i) -> u32 { !_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_setzero_si256())) as u32 }

    splat_single(number: f32) -> __m256 { _mm256_set1_ps(number) }
    singles(bits: __m256i) -> __m256 { _mm256_castsi256_ps(bits) }
    /// Two `f16` as `f32`: the low one in every lane, and the high one in every lane.
    splat_halves(both: i32) -> [__m256; 2] {
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(both));
        [_mm256_broadcastss_ps(both), _mm256_broadcastss_ps(_mm_movehdup_ps(both))]
    }
    singles_of_f16(bits: __m128i) -> __m256 { _mm256_cvtph_ps(bits) }
    singles_of_bf16(bits: __m128i) -> __m256 { bf16_to_256(bits) }
    singles_of_bytes(bytes: u64) -> __m256 {
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes as i64)))
    }
    /// Eight numbers of `bits <= 4` bits each, the first in the lowest bits.
    singles_of_bits(word: u64, bits: i32) -> __m256 {
        let shifts = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(bits));
        let numbers = _mm256_srlv_epi32(_mm256_set1_epi32(word as i32), shifts);
        _mm256_cvtepi32_ps(_mm256_and_si256(numbers, _mm256_set1_epi32((1 << bits) - 1)))
    }
    scaled(a: __m256, scale: __m256, bias: __m256) -> __m256 { _mm256_add_ps(_mm256_mul_ps(a, scale), bias) }
    /// `a * scale + bias`, rounded once.
    scaled_fused(a: __m256, scale: __m256, bias: __m256) -> __m256 { _mm256_fmadd_ps(a, scale, bias) }

    longs(a: __m128i) -> [i64; 2] { [_mm_cvtsi128_si64(a), _mm_extract_epi64::<1>(a)] }
    /// 32-bit numbers, sign-extended to 64 bits.
    widened(a: __m128i) -> __m256i { _mm256_cvtepi32_epi64(a) }
    /// `2 p` and `2 p + 1` for each of four 32-bit positions `p >= 0`.
    numbers_of_pairs(positions: __m128i) -> __m256i {
        let even = _mm256_slli_epi64::<1>(_mm256_cvtepu32_epi64(positions));
        let odd = _mm256_add_epi64(_mm256_slli_epi64::<32>(even), _mm256_set1_epi64x(1 << 32));
        _mm256_or_si256(even, odd)
    }
}

impl Avx2 {
    /// The first eight of `words`, zero-filled if there are fewer.
    #[inline(always)]
    pub(crate) fn first_words(self, words: &[Unaligned<i32>]) -> __m256i {
        let numbers = __m256i::of(self, &[0i32, 1, 2, 3, 4, 5, 6, 7]);
        let lanes = self.greater32(__m256i::of(self, &[words.len().min(8) as i32; 8]), numbers);
        // SAFETY: the token proves that the machine has AVX2, and the mask has at most `words.len()` lanes.
        unsafe { _mm256_maskload_epi32(words.as_ptr().cast(), lanes) }
    }
}

instructions! {
    Avx512:
    /// The `BYTES`-byte elements of `a` followed by `b`, at `numbers`.
    permuted<const BYTES>(a: __m512i, numbers: __m512i, b: __m512i) -> __m512i {
        match BYTES {
            1 => _mm512_permutex2var_epi8(a, numbers, b),
            2 => _mm512_permutex2var_epi16(a, numbers, b),
            4 => _mm512_permutex2var_epi32(a, numbers, b),
            _ => _mm512_permutex2var_epi64(a, numbers, b),
        }
    }
    splat_64(byte: u8) -> __m512i { _mm512_set1_epi8(byte as i8) }
    negative_64(a: __m512i) -> u64 { _mm512_movepi8_mask(a) }
    /// The `BYTES`-byte elements of `a` where `mask` is 1, from the first lane on; zeros after them.
    compressed<const BYTES>(mask: u64, a: __m512i) -> __m512i {
        match BYTES {
            1 => _mm512_maskz_compress_epi8(mask, a),
            2 => _mm512_maskz_compress_epi16(mask as u32, a),
            4 => _mm512_maskz_compress_epi32(mask as u16, a),
            _ => _mm512_maskz_compress_epi64(mask as u8, a),
        }
    }
    /// The bytes that are not 0.
    nonzero_64(a: __m512i) -> u64 { _mm512_test_epi8_mask(a, a) }
    /// `a + b` in the lanes of `mask`, `a` elsewhere.
    plus_where_64(a: __m512i, mask: u64, b: __m512i) -> __m512i { _mm512_mask_add_epi8(a, mask, a, b) }
    /// The bytes with `a <= b`, unsigned.
    at_most_64(a: __m512i, b: __m512i) -> u64 { _mm512_cmple_epu8_mask(a, b) }
    select_64(mask: u64, yes: __m512i, no: __m512i) -> __m512i { _mm512_mask_mov_epi8(no, mask, yes) }
    /// 32-bit numbers, zero-extended to 64 bits.
    widened_8(a: __m256i) -> __m512i { _mm512_cvtepu32_epi64(a) }
    /// The low 16 bits of the 32-bit lanes of `a`, then of `b`.
    narrowed_32(a: __m512i, b: __m512i) -> __m512i {
        let (low, high) = (_mm512_cvtepi32_epi16(a), _mm512_cvtepi32_epi16(b));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
    /// The 32-bit lanes of four vectors, each at most 255, as bytes.
    narrowed_64(vectors: [__m512i; 4]) -> __m512i {
        let [a, b, c, d] = vectors;
        // Packing works on 128-bit quarters: 4 bytes each of a b c d a b c d ..
        let packed = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_permutexvar_epi32(order, packed)
    }
}

/// Functions of intrinsics that every x86-64 machine has.
macro_rules! of_every_machine {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[allow(unused_unsafe, reason = "intrinsics of SSE2 have become safe functions")]
        pub(crate) fn $name($($arg: $ty),*) -> $out {
            // SAFETY: every x86-64 machine has SSE2.
            unsafe { $body }
        }
    )*};
}

of_every_machine! {
    four_words(a: i32, b: i32, c: i32, d: i32) -> __m128i { _mm_set_epi32(d, c, b, a) }
    two_longs(a: i64, b: i64) -> __m128i { _mm_set_epi64x(b, a) }
    /// Orders the stores of [`stream_line`] before all later accesses, of this thread and of others.
    fence() -> () { _mm_sfence() }
}

macro_rules! vectors {
    ($($vector:ty: $level:ty, $token:ident;)*) => {$(
        impl Vector for $vector {
            type Level = $level;

            #[inline(always)]
            fn level<Here: Token>(here: Here) -> Option<$level> {
                here.$token()
            }
        }
    )*};
}
vectors! {
    __m128i: Avx2, avx2;
    __m256i: Avx2, avx2;
    __m256: Avx2, avx2;
    __m256d: Avx2, avx2;
    __m512i: Avx512, avx512;
    __m512: Avx512, avx512;
    __m512d: Avx512, avx512;
}

/// Copies a line by non-temporal stores of `VECTOR` bytes.
///
/// # Safety
/// Both ends reach `LINE` bytes and do not overlap; `to` is a multiple of `LINE`. A [`fence`] comes before any other
/// access to the line. The machine has vectors of `VECTOR` bytes; every machine has 16-byte vectors.
#[inline(always)]
pub(crate) unsafe fn stream_line<const VECTOR: usize>(from: *const u8, to: *mut u8) {
    const { assert!(matches!(VECTOR, 16 | 32 | 64)) };
    debug_assert!(to.addr().is_multiple_of(LINE));
    for at in (0..LINE).step_by(VECTOR) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        macro_rules! copy {
            ($load:ident, $stream:ident) => {{
                // SAFETY: the line may be read, by the caller's contract; `at + VECTOR <= LINE`.
                let part = unsafe { $load(from.cast()) };
                // SAFETY: the line may be written and begins at a multiple of `LINE`, by the caller's contract.
                unsafe { $stream(to.cast(), part) }
            }};
        }
        match VECTOR {
            64 => copy!(_mm512_loadu_si512, _mm512_stream_si512),
            32 => copy!(_mm256_loadu_si256, _mm256_stream_si256),
            _ => copy!(_mm_loadu_si128, _mm_stream_si128),
        }
    }
}

/// The mask of the first `n` of 64 lanes.
#[inline(always)]
const fn first_lanes(n: usize) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

/// A vector whose first bytes are loaded and stored under a mask.
pub(crate) trait MaskedBytes: Vector {
    /// The first `LEN` of `bytes`, zero-filled if there are fewer.
    fn load_first(level: Avx512, bytes: &[u8]) -> Self;

    /// Stores the first `bytes.len()` bytes of the vector.
    fn store_first(self, level: Avx512, bytes: &mut [MaybeUninit<u8>]);
}

macro_rules! masked_bytes {
    ($($vector:ty: $mask:ty, $load:ident, $store:ident;)*) => {$(
        impl MaskedBytes for $vector {
            #[inline(always)]
            fn load_first(_: Avx512, bytes: &[u8]) -> Self {
                // SAFETY: the token proves that the machine has AVX-512, and the mask has only lanes in `bytes`.
                unsafe { $load(first_lanes(bytes.len()) as $mask, bytes.as_ptr().cast()) }
            }

            #[inline(always)]
            fn store_first(self, _: Avx512, bytes: &mut [MaybeUninit<u8>]) {
                // SAFETY: the token proves that the machine has AVX-512, and the mask has only lanes in `bytes`.
                unsafe { $store(bytes.as_mut_ptr().cast(), first_lanes(bytes.len()) as $mask, self) }
            }
        }
    )*};
}
masked_bytes! {
    __m128i: u16, _mm_maskz_loadu_epi8, _mm_mask_storeu_epi8;
    __m256i: u32, _mm256_maskz_loadu_epi8, _mm256_mask_storeu_epi8;
    __m512i: u64, _mm512_maskz_loadu_epi8, _mm512_mask_storeu_epi8;
}

/// `bf16` numbers, the upper bits of their `f32`. Signalling NaNs are kept; a later addition or multiplication makes
/// them quiet.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn bf16_to_256(bits: __m128i) -> __m256 {
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits)))
}

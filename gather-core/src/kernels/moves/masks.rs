//! Masks as bits: packs bytes to bits, and counts bits.

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86::{__m256i, __m512i};
use crate::tensor::bitmap::{BitWords, BitWriter, Bitmap, WORD, first_bits};
use crate::types::level::Available;

/// A function of bytes and the bits for them, compiled for a level.
type CompiledPack = for<'a> unsafe fn((&'a [u8], &'a mut [u8])) -> usize;
/// A function that counts the 1 bits of bytes, compiled for a level.
type CompiledCount = for<'a> unsafe fn(&'a [u8]) -> usize;

/// A function of two bitmaps and the bits for both, compiled for a level.
type CompiledAnd = for<'a> unsafe fn(([Bitmap<'a>; 2], &'a mut [u8])) -> usize;

level_pointers! {
    for<'a> fn(([Bitmap<'a>; 2], &'a mut [u8])) -> usize;
    for<'a> fn((&'a [u8], &'a mut [u8])) -> usize;
    for<'a> fn(&'a [u8]) -> usize;
}

/// Packs bytes to bits, 1 for each byte that is not 0, zero-padded to whole bytes. Returns the number of 1 bits.
pub(crate) fn pack_bytes(level: Available, bytes: &[u8], bits: &mut [u8]) -> usize {
    const PACK: ByLevel<CompiledPack> = by_level!(fn Pack, fn Pack, fn Pack);
    debug_assert_eq!(bits.len(), bytes.len().div_ceil(8));
    PACK.at(level)((bytes, bits))
}

enum Pack {}

impl LevelFn for Pack {
    type Args<'a> = (&'a [u8], &'a mut [u8]);
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (bytes, bits): (&[u8], &mut [u8])) -> usize {
        let ((chunks, rest), (words, left)) = (bytes.as_chunks::<WORD>(), bits.as_chunks_mut::<8>());
        let mut ones = 0;
        for (chunk, to) in chunks.iter().zip(&mut *words) {
            let word = nonzero(here, chunk);
            ones += word.count_ones() as usize;
            *to = word.to_le_bytes();
        }
        let word = nonzero_bytes(rest);
        // The bits of the remainder: a part of a word, or the last word if 57 or more bytes remain.
        let to = if left.is_empty() && !rest.is_empty() {
            words.last_mut().map_or(left, |last| &mut last[..])
        } else {
            left
        };
        let n = rest.len().div_ceil(8);
        to[..n].copy_from_slice(&word.to_le_bytes()[..n]);
        ones + word.count_ones() as usize
    }
}

/// The bytes that are not 0, as bits.
#[inline(always)]
fn nonzero<Here: Token>(here: Here, chunk: &[u8; WORD]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(level) = here.avx512() {
            return level.nonzero_64(__m512i::of(level, chunk));
        }
        if let Some(level) = here.avx2() {
            let [low, high] = chunk.as_chunks::<32>().0 else { unreachable!("two halves") };
            let [low, high] = [low, high].map(|half| level.nonzero8(__m256i::of(level, half)));
            return u64::from(high) << 32 | u64::from(low);
        }
    }
    let _ = here;
    nonzero_bytes(chunk)
}

/// The bytes, up to [`WORD`], that are not 0, as bits.
#[inline]
pub(crate) fn nonzero_bytes(bytes: &[u8]) -> u64 {
    let of = |eight: [u8; 8]| {
        const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
        let bytes = u64::from_le_bytes(eight);
        // Bit 7 of each byte: whether the byte is not 0. No carry leaves a byte.
        let ones = (((bytes & LOW) + LOW) | bytes) & !LOW;
        // Moves bit `8 i` to bit `56 + i`, for each byte `i`.
        (ones >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let (eights, rest) = bytes.as_chunks::<8>();
    let word = eights.iter().enumerate().fold(0, |word, (at, eight)| word | of(*eight) << (8 * at));
    if rest.is_empty() {
        return word;
    }
    let last = core::array::from_fn(|at| rest.get(at).copied().unwrap_or(0));
    word | of(last) << (8 * eights.len())
}

/// Writes the bits that are 1 in both bitmaps, of one length, zero-padded to whole bytes. Returns their number.
pub(crate) fn and_bits(level: Available, both: [Bitmap<'_>; 2], bits: &mut [u8]) -> usize {
    const AND: ByLevel<CompiledAnd> = by_level!(fn And);
    debug_assert!(both[0].len() == both[1].len() && bits.len() == both[0].len().div_ceil(8));
    AND.at(level)((both, bits))
}

enum And {}

impl LevelFn for And {
    type Args<'a> = ([Bitmap<'a>; 2], &'a mut [u8]);
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(_: Here, ([a, b], bits): ([Bitmap<'_>; 2], &mut [u8])) -> usize {
        let [mut first, mut second] = [a, b].map(|bits| BitWords::new(bits, 0, bits.len()));
        let mut writer = BitWriter::new(bits);
        while let (Some(a), Some(b)) = (first.next_whole(), second.next_whole()) {
            writer.push(a & b, WORD);
        }
        // One of the two may have given a word more.
        let mut at = writer.len();
        while at < a.len() {
            let n = WORD.min(a.len() - at);
            writer.push(a.word(at, n) & b.word(at, n), n);
            at += n;
        }
        writer.finish()
    }
}

/// The number of 1 bits in `n` bits from bit `at` on.
pub(crate) fn count_ones(level: Available, bits: &Bitmap<'_>, at: usize, n: usize) -> usize {
    const COUNT: ByLevel<CompiledCount> = by_level!(fn CountOnes);
    if n <= WORD {
        return bits.word(at, n).count_ones() as usize;
    }
    let (bytes, skipped) = bits.bytes_from(at);
    let (last, used) = ((skipped + n).div_ceil(8) - 1, (skipped + n - 1) % 8 + 1);
    let outside = |byte: u8, mask: u64| (u64::from(byte) & mask).count_ones() as usize;
    let others = outside(bytes[0], first_bits(skipped)) + outside(bytes[last], !first_bits(used));
    COUNT.at(level)(&bytes[..=last]) - others
}

enum CountOnes {}

impl LevelFn for CountOnes {
    type Args<'a> = &'a [u8];
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(_: Here, bytes: &[u8]) -> usize {
        let (words, rest) = bytes.as_chunks::<8>();
        let ones: usize = words.iter().map(|word| u64::from_le_bytes(*word).count_ones() as usize).sum();
        ones + rest.iter().map(|byte| byte.count_ones() as usize).sum::<usize>()
    }
}

//! Validity bits and positions: marks the positions of null indices, and looks bits of data up by position.
//!
//! ```text
//! for each eight positions:
//!     load the four bytes that hold each bit     (one by one: `loads.rs`)
//!     shift each bit to the sign of its lane
//!     collect the signs, and the signs of the positions: a missing index has any bit
//! ```
//!
//! No load reads past the bitmap, for any positions.

use core::marker::PhantomData;
use core::ops::{BitAnd, BitOr, Not};

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::loads;
use crate::kernels::resolve::check::{ArePositions, CompiledCheckFn};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::{Eight, Words};
use crate::tensor::bitmap::{BitWords, BitWriter, Bitmap, WORD, first_bits};
use crate::types::index::Index;
use crate::types::level::Available;

/// The bits at up to [`WORD`] positions, each relative to a first bit, and a second word whose bits are 1 for negative
/// positions. Their bits in the first word are any.
pub(crate) type LookUpBitsFn<I> = for<'a> fn((&'a Bitmap<'a>, usize, &'a [I])) -> [u64; 2];

pub struct BitFns<I: 'static> {
    pub(crate) look_up: ByLevel<CompiledLookUpBits<I>>,
    /// Sets positions to -1 where the bit is 0; returns whether a position whose bit is 1 is negative.
    pub(crate) mark_nulls: ByLevel<CompiledMarkNulls<I>>,
    /// Whether indices of the size of `I` are positions along an axis of a size, as they are.
    pub(crate) are_positions: ByLevel<CompiledCheckFn>,
}

/// [`LookUpBitsFn`], compiled for a level.
type CompiledLookUpBits<I> = for<'a> unsafe fn((&'a Bitmap<'a>, usize, &'a [I])) -> [u64; 2];
/// [`BitFns::mark_nulls`], compiled for a level.
type CompiledMarkNulls<I> = for<'a> unsafe fn((&'a mut [I], Bitmap<'a>)) -> bool;

level_pointers! {
    for<'a> fn((&'a Bitmap<'a>, usize, &'a [I])) -> [u64; 2], I: Index;
    for<'a> fn((&'a mut [I], Bitmap<'a>)) -> bool, I: Index;
    for<'a> fn(&'a [u8]) -> usize;
}

impl BitFns<i32> {
    pub(crate) const OF_I32: Self = BitFns {
        look_up: by_level!(fn LookUpBits<i32>, fn LookUpBitsByVectors),
        mark_nulls: by_level!(fn MarkNulls<i32>),
        are_positions: by_level!(fn ArePositions<i32>),
    };
}

impl BitFns<i64> {
    pub(crate) const OF_I64: Self = BitFns {
        look_up: by_level!(scalar fn LookUpBits<i64>),
        mark_nulls: by_level!(fn MarkNulls<i64>),
        are_positions: by_level!(fn ArePositions<i64>),
    };
}

/// Positions marked per step. The bit of each lane is then a constant, so that compilers compare vectors.
const LANES: usize = 32;

/// [`BitFns::mark_nulls`].
struct MarkNulls<I>(PhantomData<I>);

impl<I: Index + Not<Output = I> + BitAnd<Output = I> + BitOr<Output = I>> LevelFn for MarkNulls<I> {
    type Args<'a> = (&'a mut [I], Bitmap<'a>);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (positions, valid): (&mut [I], Bitmap<'_>)) -> bool {
        let (mut at, mut signs) = (0, I::ZERO);
        let mut mark = |position: &mut I, word: u32, lane: usize| {
            // Not a comparison: compilers would make it a store under a mask, which takes 20 cycles on some machines.
            let mask = I::truncated(i64::from((word << (LANES - 1 - lane)) as i32 >> 31));
            signs = signs | (*position & mask);
            *position = *position | !mask;
        };
        let (chunks, rest) = positions.as_chunks_mut::<LANES>();
        for chunk in chunks {
            let word = valid.word(at, LANES) as u32;
            for (lane, position) in chunk.iter_mut().enumerate() {
                mark(position, word, lane);
            }
            at += LANES;
        }
        for (lane, position) in rest.iter_mut().enumerate() {
            mark(position, valid.bit(at + lane) as u32, 0);
        }
        signs.widen() < 0
    }
}

/// The number of 1 bits in `n` bits from bit `at` on.
pub(crate) fn count_ones(level: Available, bits: &Bitmap<'_>, at: usize, n: usize) -> usize {
    if n <= WORD {
        return if n == 0 { 0 } else { bits.word(at, n).count_ones() as usize };
    }
    let (bytes, skipped) = bits.bytes_from(at);
    let (last, used) = ((skipped + n).div_ceil(8) - 1, (skipped + n - 1) % 8 + 1);
    let outside = |byte: u8, mask: u64| (u64::from(byte) & mask).count_ones() as usize;
    let others = outside(bytes[0], first_bits(skipped)) + outside(bytes[last], !first_bits(used));
    by_level!(fn CountOnes).at(level)(&bytes[..=last]) - others
}

/// Counts the 1 bits of bytes.
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

/// Positions looked up per step.
const EIGHT: usize = 8;

/// A [`LookUpBitsFn`] for the scalar level.
struct LookUpBits<I>(PhantomData<I>);

impl<I: Index> LevelFn for LookUpBits<I> {
    type Args<'a> = (&'a Bitmap<'a>, usize, &'a [I]);
    type Output = [u64; 2];

    #[inline(always)]
    fn call<Here: Token>(_: Here, (bits, first, positions): Self::Args<'_>) -> [u64; 2] {
        look_up_bits(bits, first, positions)
    }
}

/// Looks bits up one by one. The loop over eight is unrolled.
#[inline(always)]
fn look_up_bits<I: Index>(bits: &Bitmap<'_>, first: usize, positions: &[I]) -> [u64; 2] {
    debug_assert!(positions.len() <= WORD);
    let mut words = [0; 2];
    let mut add = |at: usize, positions: &[I]| {
        for (lane, position) in positions.iter().enumerate() {
            let position = position.widen();
            words[0] |= bits.bit(first + position.max(0) as usize) << (at + lane);
            words[1] |= u64::from(position < 0) << (at + lane);
        }
    };
    let (eights, rest) = positions.as_chunks::<EIGHT>();
    eights.iter().enumerate().for_each(|(at, eight)| add(EIGHT * at, eight));
    add(EIGHT * eights.len(), rest);
    words
}

/// A [`LookUpBitsFn`] with AVX2.
#[cfg(target_arch = "x86_64")]
struct LookUpBitsByVectors;

#[cfg(target_arch = "x86_64")]
impl LevelFn for LookUpBitsByVectors {
    type Args<'a> = (&'a Bitmap<'a>, usize, &'a [i32]);
    type Output = [u64; 2];

    #[inline(always)]
    fn call<Here: Token>(here: Here, (bits, first, positions): Self::Args<'_>) -> [u64; 2] {
        let (bytes, skipped) = bits.bytes_from(first);
        let (Some(level), Some(last)) = (here.avx2(), bytes.len().checked_sub(size_of::<u32>())) else {
            return look_up_bits(bits, first, positions);
        };
        // A position is below 2^31 bits, so below 2^28 bytes.
        let last = Eight::splat(level, last.min(1 << 28) as i32);
        let (skipped, sign) = (Eight::splat(level, skipped as i32), Eight::splat(level, 31));
        let (eights, rest) = positions.as_chunks::<EIGHT>();
        let mut words = [0; 2];
        for (step, eight) in eights.iter().enumerate() {
            let positions = Eight::of(level, eight);
            let at = Eight::plus(level.at_least_zero32(positions), skipped);
            let offsets = level.least32(level.eighths32(at), last);
            // SAFETY: `0 <= offset <= last`, and four bytes may be read at `last`. There is no output.
            let rows = unsafe { loads::rows::<4, false>(level, bytes.as_ptr(), offsets) };
            let [fours, _] = loads::eight::<4>(level, rows);
            let bit = level.minus32(at, level.times_eight32(offsets));
            let signs = [level.shifted32(fours, level.minus32(sign, bit)), positions];
            for (word, signs) in words.iter_mut().zip(signs) {
                *word |= u64::from(Eight::negative_bits(signs)) << (EIGHT * step);
            }
        }
        if !rest.is_empty() {
            let of_rest = look_up_bits(bits, first, rest);
            words.iter_mut().zip(of_rest).for_each(|(word, rest)| *word |= rest << (EIGHT * eights.len()));
        }
        words
    }
}

/// Writes the bits where a mask of the same length is 1. Returns the number of 1 bits written.
pub(crate) fn select_bits(level: Available, mask: Bitmap<'_>, bits: Bitmap<'_>, out: &mut [u8]) -> usize {
    by_level!(fn SelectBits).at(level)((out, mask, bits))
}

level_pointers! {
    for<'a> fn((&'a mut [u8], Bitmap<'a>, Bitmap<'a>)) -> usize;
}

/// [`select_bits`].
enum SelectBits {}

impl LevelFn for SelectBits {
    type Args<'a> = (&'a mut [u8], Bitmap<'a>, Bitmap<'a>);
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (out, mask, bits): Self::Args<'_>) -> usize {
        let mut writer = BitWriter::new(out);
        let [mut masks, mut words] = [mask, bits].map(|bits| BitWords::new(bits, 0, mask.len()));
        let mut push = |mask: u64, bits| writer.push(selected(here, bits, mask), mask.count_ones() as usize);
        while let (Some(mask), Some(bits)) = (masks.next_whole(), words.next_whole()) {
            push(mask, bits);
        }
        if let (Some((mask, _)), Some((bits, _))) = (masks.next_last(), words.next_last()) {
            push(mask, bits);
        }
        writer.finish()
    }
}

/// The bits where `mask` is 1, side by side from bit 0 on. With AVX2 one instruction, which AMD's processors before
/// Zen 3 run in steps, one or more for each 1 bit.
#[inline(always)]
fn selected<Here: Token>(here: Here, bits: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(level) = here.avx2() {
        return level.selected(bits, mask);
    }
    let _ = here;
    if mask == u64::MAX { bits } else { selected_by_steps(bits, mask) }
}

/// Moves each bit down by the number of zeros below it in the mask: by 1 if bit 0 of this number is 1, by 2 if bit 1
/// is, and so on.
fn selected_by_steps(bits: u64, mut mask: u64) -> u64 {
    let (mut bits, mut zeros) = (bits & mask, !mask << 1);
    for by in [1, 2, 4, 8, 16, 32] {
        // Whether the number of zeros up to each bit is odd. Half of them are left for the next step.
        let odd = [1, 2, 4, 8, 16, 32].iter().fold(zeros, |odd, shift| odd ^ odd << shift);
        let moved = |word: u64| word & !odd | (word & odd) >> by;
        (bits, mask, zeros) = (moved(bits), moved(mask), zeros & !odd);
    }
    let _ = mask;
    bits
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::kernels::level_fn::avx2;
    use crate::types::level::Level;

    #[test]
    fn steps_select_the_bits_that_an_instruction_selects() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for (at, sparse) in (0..1000).zip([0, 1, 2, 3].into_iter().cycle()) {
            let mut mask = bits.rotate_left(at) ^ bits >> 7;
            (0..sparse).for_each(|by| mask &= bits.rotate_left(11 * by));
            for mask in [mask, !mask, 0, u64::MAX, 1, 1 << 63, mask | mask << 1] {
                let lanes = (0..64).filter(|lane| mask >> lane & 1 == 1);
                let expected = lanes.enumerate().fold(0, |word, (to, lane)| word | (bits >> lane & 1) << to);
                assert_eq!(selected_by_steps(bits, mask), expected, "{bits:x} by {mask:x}");
                assert_eq!(selected(crate::kernels::level_fn::Scalar, bits, mask), expected);
            }
            bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ bits >> 31;
        }
    }

    #[test]
    fn vectors_find_the_bits_that_scalar_code_finds() {
        if !Level::Avx2.is_available() {
            return;
        }
        let bytes: [u8; 24] = core::array::from_fn(|at| ((at as u32).wrapping_mul(2_654_435_761) >> 13) as u8);
        for (offset, len) in (0..20).flat_map(|offset| [1, 7, 9, 20, 31, 32, 33, 64, 100, 170].map(|len| (offset, len)))
        {
            let bits = Bitmap::new(&bytes, offset, len).unwrap();
            for first in [0, 1, 5, len / 2].into_iter().filter(|&first| first < len) {
                for n in [0, 1, 7, 8, 9, 63, 64] {
                    let position = |at: i32| if at % 5 == 3 { -1 } else { at * 29 % (len - first) as i32 };
                    let positions: alloc::vec::Vec<i32> = (0..n).map(position).collect();
                    // SAFETY: the machine has AVX2.
                    let found = unsafe { avx2::<LookUpBitsByVectors>((&bits, first, &positions)) };
                    assert_eq!(found, look_up_bits(&bits, first, &positions), "{n} from {first} of {len} at {offset}");
                }
            }
        }
    }
}

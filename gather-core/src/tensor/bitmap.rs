//! Validity bitmaps of Apache Arrow: 1 is valid, 0 is null, and the least significant bit of a byte comes first.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::tensor::memory;
use crate::types::declare::{accessors, debug_by};
use crate::types::error::Error;

/// Bits of a word: the unit of reads and writes.
pub(crate) const WORD: usize = 64;

/// A borrowed bitmap: 1 is valid, 0 is null; the least significant bit of a byte comes first, as in Apache Arrow.
///
/// ```
/// use gather_core::Bitmap;
///
/// fn main() -> Result<(), gather_core::Error> {
///     // Three bits from bit 2 on.
///     let bitmap = Bitmap::new(&[0b0001_0100], 2, 3)?;
///     assert_eq!([0, 1, 2, 3].map(|at| bitmap.get(at)), [Some(true), Some(false), Some(true), None]);
///     assert_eq!(bitmap.null_count(), 1);
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Bitmap<'a> {
    /// Exactly the bytes that hold bits of the bitmap.
    bytes: &'a [u8],
    /// The position of the first bit, less than 8.
    offset: usize,
    len: usize,
}

impl<'a> Bitmap<'a> {
    /// A bitmap of `len` bits, the first of which is bit `offset` of the bytes. Other bits are not read.
    ///
    /// # Errors
    /// [`Error::BitmapTooShort`] if the bytes end before bit `offset + len`.
    pub fn new(bytes: &'a [u8], offset: usize, len: usize) -> Result<Self, Error> {
        let end = offset.checked_add(len).map(|end| end.div_ceil(8));
        match end.and_then(|end| bytes.get(offset / 8..end.max(offset / 8))) {
            Some(bytes) => Ok(Bitmap { bytes, offset: offset % 8, len }),
            None => Err(Error::BitmapTooShort { bytes: bytes.len(), offset, len }),
        }
    }

    accessors! { self:
        /// The number of bits.
        pub fn len() -> usize => self.len;
        /// Whether there is no bit.
        pub fn is_empty() -> bool => self.len == 0;
    }

    /// Whether the value at a position is valid; `None` if `at >= len`.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<bool> {
        (at < self.len).then(|| self.bit(at) != 0)
    }

    /// The number of nulls. Cost: one pass over the bytes.
    #[must_use]
    pub fn null_count(&self) -> usize {
        let words = (0..self.len).step_by(WORD).map(|at| self.word(at, WORD.min(self.len - at)));
        self.len - words.map(|word| word.count_ones() as usize).sum::<usize>()
    }

    /// Whether any bit is 0. Cost: one pass over the bytes up to the first null.
    pub(crate) fn has_nulls(&self) -> bool {
        let full = |at| {
            let n = WORD.min(self.len - at);
            self.word(at, n) == first_bits(n)
        };
        !(0..self.len).step_by(WORD).all(full)
    }

    /// Copies the bits to `out`, from bit 0 on, zero-padded to whole bytes. Returns the number of 1 bits.
    pub(crate) fn copy_to(&self, out: &mut [u8]) -> usize {
        debug_assert_eq!(out.len(), self.len.div_ceil(8));
        let (from, shift) = (self.bytes, self.offset);
        if shift == 0 {
            out.copy_from_slice(&from[..out.len()]);
        } else {
            let next = from[1..].iter().chain(core::iter::once(&0));
            for ((to, &low), &high) in out.iter_mut().zip(from).zip(next) {
                *to = low >> shift | high << (8 - shift);
            }
        }
        if !self.len.is_multiple_of(8) {
            out[self.len / 8] &= first_bits(self.len % 8) as u8;
        }
        let (words, rest) = out.as_chunks::<8>();
        let ones = words.iter().map(|word| u64::from_le_bytes(*word).count_ones() as usize).sum::<usize>();
        ones + rest.iter().map(|byte| byte.count_ones() as usize).sum::<usize>()
    }

    /// The bit at position `at < len`.
    #[inline(always)]
    pub(crate) fn bit(&self, at: usize) -> u64 {
        debug_assert!(at < self.len, "bit {at} of {}", self.len);
        let at = self.offset + at;
        u64::from(self.bytes[at / 8] >> (at % 8)) & 1
    }

    /// The bytes from the byte of bit `at` on, and the position of the bit in it.
    #[inline(always)]
    pub(crate) fn bytes_from(&self, at: usize) -> (&'a [u8], usize) {
        debug_assert!(at < self.len, "bit {at} of {}", self.len);
        let at = self.offset + at;
        (&self.bytes[at / 8..], at % 8)
    }

    /// Bits `at..at + n`, with `n <= WORD`, from the least significant bit on. The upper bits are 0.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize, n: usize) -> u64 {
        debug_assert!(n <= WORD && at + n <= self.len, "{n} bits from {at} on, of {}", self.len);
        let (first, shift) = ((self.offset + at) / 8, (self.offset + at) % 8);
        let (low, next) = match self.bytes.get(first..).and_then(<[u8]>::split_first_chunk::<8>) {
            Some((bytes, rest)) => (u64::from_le_bytes(*bytes), rest.first().copied().unwrap_or(0)),
            None => (self.bytes.iter().skip(first).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0),
        };
        // Two shifts, so that no branch depends on `shift`, which may be 0.
        let high = u64::from(next) << (WORD - 1 - shift) << 1;
        (low >> shift | high) & first_bits(n)
    }

    /// The first position and the length of each run of 1 bits in a word from a multiple of [`WORD`] on. If `SINGLE`,
    /// each bit is a run.
    #[inline(always)]
    pub(crate) fn runs<const SINGLE: bool>(self) -> impl Iterator<Item = (usize, usize)> + Clone {
        (0..self.len).step_by(WORD).flat_map(move |first| {
            let mut word = self.word(first, WORD.min(self.len - first));
            core::iter::from_fn(move || {
                let lane = (word != 0).then(|| word.trailing_zeros() as usize)?;
                let n = if SINGLE { 1 } else { (word >> lane).trailing_ones() as usize };
                // The carry of an addition clears a run.
                word &= if SINGLE { word - 1 } else { word.wrapping_add(1 << lane) };
                Some((first + lane, n))
            })
        })
    }

    /// Bits `at + i * step` for `i` in `0..n`, with `n <= WORD`, laid out as by [`Bitmap::word`].
    #[inline]
    pub(crate) fn stepped_word(&self, at: isize, step: isize, n: usize) -> u64 {
        match step {
            0 => self.bit(at as usize).wrapping_neg() & first_bits(n),
            1 => self.word(at as usize, n),
            step => word_of(n, |lane| self.bit(at.wrapping_add(step.wrapping_mul(lane as isize)) as usize)),
        }
    }
}

/// Words of adjacent bits.
#[derive(Clone, Copy)]
pub(crate) struct BitWords<'a> {
    bits: Bitmap<'a>,
    /// The position of the next bit, and of the end.
    at: usize,
    end: usize,
    /// The bytes from the next bit's on, and the position of the bit in the first one.
    bytes: &'a [u8],
    shift: usize,
}

impl<'a> BitWords<'a> {
    /// The words of `n` bits from bit `at` on.
    #[inline(always)]
    pub(crate) fn new(bits: Bitmap<'a>, at: usize, n: usize) -> Self {
        let (bytes, shift) = if n == 0 { (&[][..], 0) } else { bits.bytes_from(at) };
        BitWords { bits, at, end: at + n, bytes, shift }
    }

    /// The next word of [`WORD`] bits, by one load; `None` if fewer bits are left.
    #[inline(always)]
    pub(crate) fn next_whole(&mut self) -> Option<u64> {
        let (low, rest) = self.bytes.split_first_chunk::<8>()?;
        if self.end - self.at < WORD {
            return None;
        }
        // At `shift` 0 nothing of the ninth byte is used, and there may be none.
        let next = rest.first().copied().unwrap_or(0);
        (self.at, self.bytes) = (self.at + WORD, rest);
        Some(u64::from_le_bytes(*low) >> self.shift | u64::from(next) << 1 << (WORD - 1 - self.shift))
    }

    /// The last word, and the number of its bits; `None` if no bit is left.
    #[inline(always)]
    pub(crate) fn next_last(&mut self) -> Option<(u64, usize)> {
        let (at, n) = (self.at, self.end - self.at);
        debug_assert!(n < WORD, "{n} bits after the whole words");
        self.at = self.end;
        if n == 0 { None } else { Some((self.bits.word(at, n), n)) }
    }
}

debug_by!(self: [] Bitmap<'_> { len: self.len, null_count: self.null_count() });

/// A mask of the `n` least significant bits, `n <= WORD`.
#[inline(always)]
pub(crate) fn first_bits(n: usize) -> u64 {
    if n == 0 { 0 } else { u64::MAX >> (WORD - n) }
}

/// A word of `n <= WORD` bits, of which bit `i` is `bit(i)`, 0 or 1.
#[inline(always)]
pub(crate) fn word_of(n: usize, bit: impl Fn(usize) -> u64) -> u64 {
    (0..n).fold(0, |word, lane| word | bit(lane) << lane)
}

/// Nulls of data and of indices, given to [`Nullable::run`](crate::Nullable::run). `None`: no nulls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nulls<'a> {
    /// A bit for each index, in row-major order; for each tuple, in GatherNd.
    pub indices: Option<Bitmap<'a>>,
    /// A bit for each row of data that an index names, or for each element of data, in row-major order.
    pub data: Option<Bitmap<'a>>,
}

/// The validity of a result's values: an owned [`Bitmap`] whose first bit is bit 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Validity {
    bytes: Vec<u8>,
    len: usize,
    nulls: usize,
}

impl Validity {
    /// A bitmap of `len` bits. `write` fills its zeroed bytes and returns the number of nulls.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], then the errors of `write`.
    pub(crate) fn write(len: usize, write: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Result<Self, Error> {
        let mut bytes = memory::reserve(len.div_ceil(8))?;
        bytes.resize(len.div_ceil(8), 0);
        let nulls = write(&mut bytes)?;
        Ok(Validity { bytes, len, nulls })
    }

    accessors! { self:
        /// The number of bits.
        pub fn len() -> usize => self.len;
        /// Whether there is no bit.
        pub fn is_empty() -> bool => self.len == 0;
        /// The number of nulls, counted when the bitmap was made.
        pub fn null_count() -> usize => self.nulls;
        /// The bytes. Bits after the last one are 0.
        pub fn as_bytes() -> &[u8] => &self.bytes;
    }

    /// The bytes, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bitmap.
    #[must_use]
    pub fn bitmap(&self) -> Bitmap<'_> {
        Bitmap { bytes: &self.bytes, offset: 0, len: self.len }
    }

    /// Whether a value is valid; `None` if `at >= len`.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<bool> {
        self.bitmap().get(at)
    }
}

debug_by!(self: [] Validity { len: self.len, null_count: self.nulls });

pub(crate) struct BitWriter<'a> {
    bytes: &'a mut [u8],
    /// The number of bytes written.
    at: usize,
    /// Pending bits, `filled < WORD` of them.
    word: u64,
    filled: usize,
    valid: usize,
}

impl<'a> BitWriter<'a> {
    /// A writer to `bytes`, which is large enough for all bits.
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        BitWriter { bytes, at: 0, word: 0, filled: 0, valid: 0 }
    }

    /// Appends the `n <= WORD` low bits of `bits`, whose upper bits are 0.
    #[inline(always)]
    pub(crate) fn push(&mut self, bits: u64, n: usize) {
        debug_assert!(n <= WORD && bits & !first_bits(n) == 0);
        self.valid += bits.count_ones() as usize;
        self.word |= bits << self.filled;
        if self.filled + n < WORD {
            self.filled += n;
            return;
        }
        self.bytes[self.at..][..8].copy_from_slice(&self.word.to_le_bytes());
        self.at += 8;
        self.word = if self.filled == 0 { 0 } else { bits >> (WORD - self.filled) };
        self.filled = self.filled + n - WORD;
    }

    /// Writes the pending bits; returns the number of 1 bits.
    pub(crate) fn finish(self) -> usize {
        let left = self.filled.div_ceil(8);
        self.bytes[self.at..][..left].copy_from_slice(&self.word.to_le_bytes()[..left]);
        self.valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern.
    fn bytes(n: usize) -> Vec<u8> {
        (0..n as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn whole_words_end_with_the_bits_and_not_before() {
        let bytes = bytes(40);
        for (offset, len) in (0..20).flat_map(|offset| [0_usize, 1, 63, 64, 65, 128, 200].map(|len| (offset, len))) {
            // No byte follows that the bits do not need.
            let bits = Bitmap::new(&bytes[..(offset + len).div_ceil(8)], offset, len).unwrap();
            for first in [0, 1, 8, 64].into_iter().filter(|&first| first <= len) {
                let mut words = BitWords::new(bits, first, len - first);
                let whole: Vec<u64> = core::iter::from_fn(|| words.next_whole()).collect();
                assert_eq!(whole.len(), (len - first) / WORD, "{len} from {first} at {offset}");
                assert!((0..).zip(&whole).all(|(at, &word)| word == bits.word(first + at * WORD, WORD)));
                let rest = (len - first) % WORD;
                assert_eq!(words.next_last(), (rest > 0).then(|| (bits.word(len - rest, rest), rest)));
                assert_eq!((words.next_whole(), words.next_last()), (None, None));
            }
        }
    }

    #[test]
    fn bits_are_those_of_arrow_at_any_offset() {
        let bytes = bytes(40);
        for offset in 0..70 {
            for len in [0, 1, 7, 8, 63, 64, 65, 130, 250] {
                let bitmap = Bitmap::new(&bytes, offset, len).unwrap();
                let expected = |at: usize| bytes[(offset + at) / 8] >> ((offset + at) % 8) & 1 == 1;
                assert!((0..len).all(|at| bitmap.get(at) == Some(expected(at))) && bitmap.get(len).is_none());
                assert_eq!(bitmap.null_count(), (0..len).filter(|&at| !expected(at)).count());
                for at in 0..len {
                    let n = (len - at).min(WORD);
                    for n in [1, n / 2, n] {
                        let word = word_of(n, |lane| u64::from(expected(at + lane)));
                        assert_eq!(bitmap.word(at, n), word, "{n} of {len} from {at} at {offset}");
                        assert_eq!(bitmap.stepped_word(at as isize, 1, n), word);
                    }
                    let back = word_of(n.min(at + 1), |lane| u64::from(expected(at - lane)));
                    assert_eq!(bitmap.stepped_word(at as isize, -1, n.min(at + 1)), back);
                    let same = if expected(at) { first_bits(n) } else { 0 };
                    assert_eq!(bitmap.stepped_word(at as isize, 0, n), same);
                }
            }
        }
    }

    #[test]
    fn bitmaps_that_are_too_short_are_refused() {
        let bytes = [0xffu8; 3];
        for (offset, len) in [(0, 24), (23, 1), (24, 0), (16, 8)] {
            assert_eq!(Bitmap::new(&bytes, offset, len).unwrap().null_count(), 0);
        }
        for (offset, len) in [(0, 25), (24, 1), (17, 8), (usize::MAX, 1), (32, 0), (1, usize::MAX)] {
            let refused = Bitmap::new(&bytes, offset, len).unwrap_err();
            assert_eq!(refused, Error::BitmapTooShort { bytes: 3, offset, len });
        }
    }

    #[test]
    fn copies_begin_with_bit_0() {
        let source = bytes(64);
        for offset in (0..20).chain([63, 64, 65]) {
            for len in [1usize, 7, 8, 9, 63, 64, 65, 127, 300, 512 - offset] {
                let bitmap = Bitmap::new(&source, offset, len).unwrap();
                let mut out = alloc::vec![0xaa; len.div_ceil(8)];
                assert_eq!(bitmap.copy_to(&mut out), len - bitmap.null_count(), "{len} from {offset}");
                let copy = Bitmap::new(&out, 0, len).unwrap();
                assert!((0..len).all(|at| copy.get(at) == bitmap.get(at)), "{len} from {offset}");
                assert!(len.is_multiple_of(8) || out[len / 8] >> (len % 8) == 0, "bits behind the last one");
            }
        }
    }

    #[test]
    fn words_are_written_one_after_the_other() {
        let source = bytes(64);
        let bitmap = Bitmap::new(&source, 3, 480).unwrap();
        for step in [1, 7, 8, 31, 63, 64] {
            for len in [0usize, 1, 8, 63, 64, 65, 300, 480] {
                let mut out = alloc::vec![0xaa; len.div_ceil(8) + 1];
                let mut writer = BitWriter::new(&mut out[..len.div_ceil(8)]);
                (0..len).step_by(step).for_each(|at| {
                    let n = step.min(len - at);
                    writer.push(bitmap.word(at, n), n);
                });
                let valid = writer.finish();
                let written = Bitmap::new(&out, 0, len).unwrap();
                assert!((0..len).all(|at| written.get(at) == bitmap.get(at)));
                assert_eq!((valid, out[len.div_ceil(8)]), (len - written.null_count(), 0xaa));
                assert!(len % 8 == 0 || out[len / 8] >> (len % 8) == 0, "bits behind the last one");
            }
        }
    }
}

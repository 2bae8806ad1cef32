//! Selecting rows by the bits of a mask: row `i` is copied if bit `i` is 1, behind the row copied before it.
//!
//! ```text
//! for each word of 64 bits:
//!     few ones, or rows that are no elements:   copy row by row, by the number of trailing zeros
//!     more, of elements of 1, 2, 4, 8 bytes:    for each vector
//!                                                   load, move the elements of ones to the front, store
//!                                                   (the next store overwrites the other lanes)
//! ```
//!
//! AVX-512 has an instruction that moves elements to the front; its form that stores to memory is slow on some
//! machines. AVX2 permutes by a table of all eight bits. The last vectors, which would pass the end of the output, are
//! stored under a mask, or row by row.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86::{self, __m128i, __m256i, __m512i, MaskedBytes};
#[cfg(target_arch = "x86_64")]
use crate::tensor::bitmap::first_bits;
use crate::tensor::bitmap::{BitWords, Bitmap, WORD};
use crate::types::level::Available;

/// A line of rows, and the bits that select some of them.
///
/// Invariant S1: the contract of [`SelectJob::new`].
#[derive(Clone, Copy)]
pub(crate) struct SelectJob<'a> {
    words: BitWords<'a>,
    ends: Ends,
    most: usize,
    row: usize,
}

/// A row of data, and the row of the output for the next 1 bit; and the steps to the rows after them.
#[derive(Clone, Copy)]
struct Ends {
    from: *const u8,
    to: *mut u8,
    data: isize,
    out: isize,
}

/// Copies the selected rows of a line; returns their number.
pub(crate) type SelectFn = for<'a> fn(&'a SelectJob<'a>) -> usize;
/// [`SelectFn`], compiled for a level.
type CompiledSelect = for<'a> unsafe fn(&'a SelectJob<'a>) -> usize;

level_pointers! {
    for<'a> fn(&'a SelectJob<'a>) -> usize;
}

impl<'a> SelectJob<'a> {
    /// The job to select among `n` rows of `row` bytes, from `data` on, by bits `first..first + n`.
    ///
    /// # Safety
    /// S1: for `i < n`, `row` bytes may be read at `data + i * steps[0]`. For `j < most`, `row` bytes may be written at
    /// `out + j * steps[1]`. No two of these rows share a byte with each other, or with data. At most `most` of the bits
    /// are 1.
    #[inline(always)]
    pub(crate) unsafe fn new(
        (bits, first, n): (Bitmap<'a>, usize, usize),
        (data, out): (*const u8, *mut u8),
        steps: [isize; 2],
        (most, row): (usize, usize),
    ) -> Self {
        debug_assert!(first + n <= bits.len() && row > 0, "S1");
        let ends = Ends { from: data, to: out, data: steps[0], out: steps[1] };
        SelectJob { words: BitWords::new(bits, first, n), ends, most, row }
    }
}

impl Ends {
    /// The ends after `n` rows of data, `ones` of which have been copied.
    #[inline(always)]
    fn after(self, n: usize, ones: usize) -> Self {
        Ends { from: self.source(n), to: self.target(ones), ..self }
    }

    #[inline(always)]
    fn source(self, i: usize) -> *const u8 {
        self.from.wrapping_offset(self.data.wrapping_mul(i as isize))
    }

    #[inline(always)]
    fn target(self, i: usize) -> *mut u8 {
        self.to.wrapping_offset(self.out.wrapping_mul(i as isize))
    }

    /// Copies row `i` for each 1 bit `i` of a word.
    ///
    /// # Safety
    /// Row `i` may be read, a row for each 1 bit may be written, and they do not overlap. `copy` copies such rows.
    #[inline(always)]
    unsafe fn copy_each<C: CopyRow>(self, copy: C, mut word: u64) {
        let mut ends = self;
        while word != 0 {
            let i = word.trailing_zeros() as usize;
            // SAFETY: by the caller's contract, for this 1 bit.
            unsafe { copy.copy(self.source(i), ends.to) };
            (word, ends) = (word & (word - 1), ends.after(0, 1));
        }
    }
}

/// The function that selects rows of `row` bytes. Rows are `packed` if they are contiguous in data and in the output.
pub(crate) fn select_fn(level: Available, row: usize, packed: bool) -> SelectFn {
    /// Elements of 1, 2, 4, 8 and 16 bytes; packed if `P`.
    macro_rules! elements {
        ($P:literal) => {
            [
                by_level!(fn SelectElements<1, $P>, fn SelectElements<1, $P>, fn SelectElements<1, $P>),
                by_level!(fn SelectElements<2, $P>, fn SelectElements<2, $P>, fn SelectElements<2, $P>),
                by_level!(fn SelectElements<4, $P>, fn SelectElements<4, $P>, fn SelectElements<4, $P>),
                by_level!(fn SelectElements<8, $P>, fn SelectElements<8, $P>, fn SelectElements<8, $P>),
                by_level!(fn SelectElements<16, $P>),
            ]
        };
    }
    const PACKED: [ByLevel<CompiledSelect>; 5] = elements!(true);
    const STRIDED: [ByLevel<CompiledSelect>; 5] = elements!(false);
    if row.is_power_of_two() && row <= 16 {
        return if packed { &PACKED } else { &STRIDED }[row.trailing_zeros() as usize].at(level);
    }
    by_size!(RowSize::of(row), |Way| by_level!(fn SelectRows<Way>)).at(level)
}

/// [`SelectFn`] for rows that are copied one by one, or by the words that select all of them.
struct SelectRows<C>(PhantomData<C>);

impl<C: CopyRow> LevelFn for SelectRows<C> {
    type Args<'a> = &'a SelectJob<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(_: Here, job: &SelectJob<'_>) -> usize {
        let (copy, row) = (C::of(job.row), job.row as isize);
        let (mut words, mut ends, mut done) = (job.words, job.ends, 0);
        while let Some(word) = words.next_whole() {
            let ones = word.count_ones() as usize;
            if ones == WORD && [ends.data, ends.out] == [row; 2] {
                // SAFETY: S1: `WORD` rows are selected, and contiguous in data and in the output.
                unsafe { ends.to.copy_from_nonoverlapping(ends.from, WORD * job.row) };
            } else {
                // SAFETY: S1, for the rows of this word.
                unsafe { ends.copy_each(copy, word) };
            }
            (ends, done) = (ends.after(WORD, ones), done + ones);
        }
        while let Some((word, n)) = words.next_last() {
            // SAFETY: S1, for the rows of this word.
            unsafe { ends.copy_each(copy, word) };
            let ones = word.count_ones() as usize;
            (ends, done) = (ends.after(n, ones), done + ones);
        }
        done
    }
}

/// [`SelectFn`] for elements of `BYTES` bytes, contiguous in data and in the output if `PACKED`.
struct SelectElements<const BYTES: usize, const PACKED: bool>;

impl<const BYTES: usize, const PACKED: bool> LevelFn for SelectElements<BYTES, PACKED> {
    type Args<'a> = &'a SelectJob<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &SelectJob<'_>) -> usize {
        if !PACKED {
            return SelectRows::<Exactly<BYTES>>::call(here, job);
        }
        let (step, row) = (BYTES as isize, BYTES);
        // The compiler knows the steps.
        let job = SelectJob { ends: Ends { data: step, out: step, ..job.ends }, row, ..*job };
        #[cfg(target_arch = "x86_64")]
        if BYTES < 16 {
            if let Some(level) = here.avx512() {
                return compress::<Avx512, BYTES>(level, &job);
            }
            if let Some(level) = here.avx2() {
                return compress::<Avx2, BYTES>(level, &job);
            }
        }
        SelectRows::<Exactly<BYTES>>::call(here, &job)
    }
}

/// Selects packed elements of `BYTES` bytes by vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compress<L: Lanes, const BYTES: usize>(level: L, job: &SelectJob<'_>) -> usize {
    let (mut words, mut ends, mut left) = (job.words, job.ends, job.most);
    while let Some(word) = words.next_whole() {
        let ones = word.count_ones();
        if ones <= L::few(BYTES) || left < WORD {
            // SAFETY: S1, for the rows of this word.
            unsafe { ends.copy_each(Exactly::<BYTES>, word) };
        } else {
            // SAFETY: S1: `WORD` elements may be read, and `left` elements may be written.
            unsafe { compress_word::<L, BYTES>(level, word, ends) };
        }
        (ends, left) = (ends.after(WORD, ones as usize), left - ones as usize);
    }
    while let Some((word, n)) = words.next_last() {
        let ones = word.count_ones() as usize;
        // SAFETY: S1: `n` elements may be read, and `left` elements may be written, at least one for each 1 bit.
        unsafe { compress_last::<L, BYTES>(level, (word, n), ends, left) };
        (ends, left) = (ends.after(n, ones), left - ones);
    }
    job.most - left
}

/// # Safety
/// [`WORD`] packed elements may be read, and [`WORD`] elements written; they do not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn compress_word<L: Lanes, const BYTES: usize>(level: L, word: u64, ends: Ends) {
    let lanes = L::lanes(BYTES);
    for lane in (0..WORD).step_by(lanes) {
        // Not a running sum: these counts do not wait for each other.
        let before = (word & first_bits(lane)).count_ones() as usize;
        let Ends { from, to, .. } = ends.after(lane, before);
        // SAFETY: by the caller's contract: `lane + lanes <= WORD`, and `before <= lane`.
        unsafe { level.compress::<BYTES>(word >> lane & first_bits(lanes), from, to) };
    }
}

/// # Safety
/// `n` packed elements may be read, and `left` written, at least one for each 1 bit; they do not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn compress_last<L: Lanes, const BYTES: usize>(level: L, (word, n): (u64, usize), ends: Ends, left: usize) {
    let lanes = L::lanes(BYTES);
    for lane in (0..n).step_by(lanes) {
        let (bits, before) = (word >> lane & first_bits(lanes), (word & first_bits(lane)).count_ones() as usize);
        let ends = ends.after(lane, before);
        if lane + lanes <= n && before + lanes <= left {
            // SAFETY: by the caller's contract: both vectors end inside the elements.
            unsafe { level.compress::<BYTES>(bits, ends.from, ends.to) };
        } else {
            // SAFETY: by the caller's contract: `n - lane` elements may be read, and an element written for each 1 bit.
            unsafe { level.compress_first::<BYTES>(bits, ends, lanes.min(n - lane)) };
        }
    }
}

/// A level with vectors whose elements are moved to the front.
#[cfg(target_arch = "x86_64")]
trait Lanes: Token {
    /// Elements of `bytes` bytes per step.
    fn lanes(bytes: usize) -> usize;

    /// The number of ones up to which a word is selected one by one (1 to 50 percent of ones, in a scratch benchmark).
    fn few(bytes: usize) -> u32;

    /// Moves the elements whose bit is 1, of the next `lanes`, to the front, and stores all lanes.
    ///
    /// # Safety
    /// `lanes` elements of `BYTES` bytes may be read and written.
    unsafe fn compress<const BYTES: usize>(self, bits: u64, from: *const u8, to: *mut u8);

    /// As [`Lanes::compress`] for the next `n <= lanes` elements. Stores only the elements whose bit is 1.
    ///
    /// # Safety
    /// `n` packed elements of `BYTES` bytes may be read, and an element written for each 1 bit.
    #[inline(always)]
    unsafe fn compress_first<const BYTES: usize>(self, bits: u64, ends: Ends, _n: usize) {
        // SAFETY: by the caller's contract.
        unsafe { ends.copy_each(Exactly::<BYTES>, bits) };
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx512 {
    #[inline(always)]
    fn lanes(bytes: usize) -> usize {
        __m512i::LEN / bytes
    }

    #[inline(always)]
    fn few(bytes: usize) -> u32 {
        bytes as u32 * 3 / 2
    }

    #[inline(always)]
    unsafe fn compress<const BYTES: usize>(self, bits: u64, from: *const u8, to: *mut u8) {
        // SAFETY: by the caller's contract, for a vector.
        let elements = unsafe { __m512i::load(self, from) };
        // SAFETY: by the caller's contract, for a vector.
        unsafe { self.compressed::<BYTES>(bits, elements).store(to) };
    }

    #[inline(always)]
    unsafe fn compress_first<const BYTES: usize>(self, bits: u64, Ends { from, to, .. }: Ends, n: usize) {
        // SAFETY: by the caller's contract, for `n` elements.
        let from = unsafe { core::slice::from_raw_parts(from, n * BYTES) };
        // SAFETY: by the caller's contract, for an element for each 1 bit.
        let to = unsafe { core::slice::from_raw_parts_mut(to.cast(), bits.count_ones() as usize * BYTES) };
        self.compressed::<BYTES>(bits, __m512i::load_first(self, from)).store_first(self, to);
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    fn lanes(bytes: usize) -> usize {
        if bytes == 8 { 4 } else { 8 }
    }

    #[inline(always)]
    fn few(_: usize) -> u32 {
        8
    }

    #[inline(always)]
    unsafe fn compress<const BYTES: usize>(self, bits: u64, from: *const u8, to: *mut u8) {
        /// The lanes of ones, of up to eight bits.
        static LANES: [u64; 256] = lanes_of_ones(1);
        /// The 32-bit lanes of ones, of up to four bits for lanes of 64 bits.
        static PAIRS: [u64; 16] = lanes_of_ones(2);
        macro_rules! moved {
            ($vector:ty, |$elements:ident| $moved:expr) => {{
                // SAFETY: by the caller's contract, for a vector of `lanes` elements.
                let $elements = unsafe { <$vector>::load(self, from) };
                // SAFETY: by the caller's contract, for a vector of `lanes` elements.
                unsafe { $moved.store(to) }
            }};
        }
        let bits = bits as usize;
        match BYTES {
            1 => {
                // SAFETY: by the caller's contract, for eight elements, at any alignment.
                let elements = x86::two_longs(unsafe { from.cast::<i64>().read_unaligned() }, 0);
                let [moved, _] = self.longs(self.look_up_16(elements, x86::two_longs(LANES[bits] as i64, 0)));
                // SAFETY: by the caller's contract, for eight elements, at any alignment.
                unsafe { to.cast::<i64>().write_unaligned(moved) };
            }
            2 => moved!(__m128i, |elements| self.look_up_16(elements, self.pairs8(LANES[bits]))),
            4 => moved!(__m256i, |elements| self.permuted32(elements, self.widened8(LANES[bits]))),
            _ => moved!(__m256i, |elements| self.permuted32(elements, self.widened8(PAIRS[bits]))),
        }
    }
}

/// For each pattern of bits: the number of each lane whose bit is 1, one byte each, from the first byte on. A lane has
/// `parts` parts with numbers of their own.
#[cfg(target_arch = "x86_64")]
const fn lanes_of_ones<const N: usize>(parts: usize) -> [u64; N] {
    let (mut table, mut bits) = ([0; N], 0);
    while bits < N {
        let (mut part, mut at) = (0, 0);
        while part < 8 {
            if bits >> (part / parts) & 1 == 1 {
                table[bits] |= (part as u64) << (8 * at);
                at += 1;
            }
            part += 1;
        }
        bits += 1;
    }
    table
}

//! Selecting rows by the bits of a mask: row `i` is copied if bit `i` is 1, behind the row copied before it.
//!
//! ```text
//! for each word of 64 bits:
//!     all ones:                                   one copy
//!     more than a few, of elements, with AVX2:    for each vector
//!                                                     load, move the elements of ones to the front, store
//!                                                     (the next store overwrites the other lanes)
//!     others:                                     copy row by row, by the number of trailing zeros
//! ```
//!
//! The instruction of AVX-512 that moves elements to the front would take 0.85 to 1 of the time for elements of 4 and
//! 8 bytes, which is too little for a second function.

use core::marker::PhantomData;

use crate::kernels::by_level::{by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
#[cfg(target_arch = "x86_64")]
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86::{self, __m128i, __m256i};
#[cfg(target_arch = "x86_64")]
use crate::tensor::bitmap::first_bits;
use crate::tensor::bitmap::{BitWords, Bitmap, WORD};
use crate::types::level::Available;

/// Lines of rows, and the bits that select some of them. Its invariant is G2, the contract of [`SelectJob::new`].
#[derive(Clone, Copy)]
pub(crate) struct SelectJob<'a> {
    bits: Bitmap<'a>,
    /// The first bit, and the bit after the last one.
    first: usize,
    end: usize,
    /// The number of rows of a line, and the step from a line to the next in data.
    n: usize,
    step: isize,
    ends: Ends,
    most: usize,
    row: usize,
}

/// A row of data, the row of the output for the next 1 bit, and the steps to the rows after them.
#[derive(Clone, Copy)]
struct Ends {
    from: *const u8,
    to: *mut u8,
    steps: [isize; 2],
}

level_pointers! {
    for<'a> fn(&'a SelectJob<'a>) -> usize;
}

impl<'a> SelectJob<'a> {
    /// The job to select among `lines` lines of `n` rows of `row` bytes, by a bit for each row, from bit `first` on.
    ///
    /// # Safety
    /// G2: for bit `first + l * n + i`, `i < n`, `row` bytes may be read at `from + l * step + i * steps[0]`. For
    /// `j < most`, `row` bytes may be written at `to + j * steps[1]`. No two of the latter share a byte with each
    /// other, or with data. At most `most` of the bits are 1.
    #[inline(always)]
    pub(crate) unsafe fn new(
        (bits, first): (Bitmap<'a>, usize),
        (n, lines, step): (usize, usize, isize),
        (from, to): (*const u8, *mut u8),
        steps: [isize; 2],
        (most, row): (usize, usize),
    ) -> Self {
        let end = first + lines * n;
        debug_assert!(n > 0 && end <= bits.len() && row > 0, "G2");
        SelectJob { bits, first, end, n, step, ends: Ends { from, to, steps }, most, row }
    }
}

impl Ends {
    /// The ends `n` rows of data and `ones` rows of the output later.
    #[inline(always)]
    fn after(self, n: usize, ones: usize) -> Self {
        let by = |end: usize, n: usize| self.steps[end].wrapping_mul(n as isize);
        Ends { from: self.from.wrapping_offset(by(0, n)), to: self.to.wrapping_offset(by(1, ones)), ..self }
    }

    /// Copies row `i` for each 1 bit `i` of a word.
    ///
    /// # Safety
    /// For each 1 bit, this row may be read, and a row may be written; they do not overlap. `copy` copies such rows.
    #[inline(always)]
    unsafe fn copy_each<C: CopyRow>(self, copy: C, mut word: u64) {
        let mut ends = self;
        while word != 0 {
            let from = self.after(word.trailing_zeros() as usize, 0).from;
            // SAFETY: by the caller's contract, for this 1 bit.
            unsafe { copy.copy(from, ends.to) };
            (word, ends) = (word & (word - 1), ends.after(0, 1));
        }
    }
}

/// The function that selects rows of `row` bytes and returns their number. Rows are `packed` if they are contiguous in
/// data and in the output.
#[inline]
pub(crate) fn select_fn(level: Available, row: usize, packed: bool) -> fn(&SelectJob<'_>) -> usize {
    macro_rules! rows {
        ($Way:ty) => {
            if packed { by_level!(fn Select<$Way, true>) } else { by_level!(fn Select<$Way, false>) }
        };
    }
    let of = match row {
        2 => rows!(Exactly<2>),
        4 => rows!(Exactly<4>),
        8 => rows!(Exactly<8>),
        16 => rows!(Exactly<16>),
        _ => by_size!(RowSize::of(row), |Way| rows!(Way)),
    };
    of.at(level)
}

/// [`select_fn`] for one way to copy rows, which are contiguous in data and in the output if `PACKED`.
struct Select<C, const PACKED: bool>(PhantomData<C>);

impl<C: CopyRow, const PACKED: bool> LevelFn for Select<C, PACKED> {
    type Args<'a> = &'a SelectJob<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &SelectJob<'_>) -> usize {
        let (copy, row) = (C::of(job.row), C::BYTES.unwrap_or(job.row));
        let (SelectJob { bits, mut first, end, n, step, mut ends, most, .. }, mut left) = (*job, job.most);
        if PACKED {
            // The compiler knows the steps of elements.
            ends.steps = [row as isize; 2];
        }
        // Not `step_by`, which divides.
        while first < end {
            let (mut words, next) = (BitWords::new(bits, first, n), ends.from.wrapping_offset(step));
            while let Some(word) = words.next_whole() {
                let ones = word.count_ones() as usize;
                if PACKED && ones == WORD {
                    // SAFETY: G2: `WORD` rows are selected, and contiguous in data and in the output.
                    unsafe { ends.to.copy_from_nonoverlapping(ends.from, WORD * row) };
                } else if !PACKED
                    || ones <= FEW
                    || left < WORD
                    // SAFETY: G2: `WORD` elements may be read, and `left` elements may be written.
                    || !unsafe { compress::<C>(here, word, ends) }
                {
                    // SAFETY: G2, for the rows of this word.
                    unsafe { ends.copy_each(copy, word) };
                }
                (ends, left) = (ends.after(WORD, ones), left - ones);
            }
            if let Some((word, n)) = words.next_last() {
                let ones = word.count_ones() as usize;
                // SAFETY: G2, for the rows of this word.
                unsafe { ends.copy_each(copy, word) };
                (ends, left) = (ends.after(n, ones), left - ones);
            }
            (first, ends.from) = (first + n, next);
        }
        most - left
    }
}

/// The number of ones in a word up to which its elements are copied one by one (1 to 50 percent of ones).
const FEW: usize = 8;

/// Selects packed elements of 1, 2, 4 or 8 bytes by vectors. Returns `false` for other rows, and without AVX2.
///
/// # Safety
/// [`WORD`] elements may be read, and [`WORD`] elements written; they do not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn compress<C: CopyRow>(here: impl Token, word: u64, ends: Ends) -> bool {
    /// The lanes of ones, of up to eight bits.
    static LANES: [u64; 256] = lanes_of_ones(1);
    /// The 32-bit lanes of ones, of up to four bits for lanes of 64 bits.
    static PAIRS: [u64; 16] = lanes_of_ones(2);
    let (Some(level), Some(1 | 2 | 4 | 8)) = (here.avx2(), C::BYTES) else { return false };
    let lanes = if C::MOST == 8 { 4 } else { 8 };
    for lane in (0..WORD).step_by(lanes) {
        // Not a running sum: these counts do not wait for each other.
        let before = (word & first_bits(lane)).count_ones() as usize;
        let (bits, Ends { from, to, .. }) = ((word >> lane & first_bits(lanes)) as usize, ends.after(lane, before));
        macro_rules! moved {
            ($vector:ty, |$elements:ident| $moved:expr) => {{
                // SAFETY: by the caller's contract, for `lanes` elements: `lane + lanes <= WORD`.
                let $elements = unsafe { <$vector>::load(level, from) };
                // SAFETY: by the caller's contract, for `lanes` elements: `before <= lane`.
                unsafe { $moved.store(to) }
            }};
        }
        match C::MOST {
            1 => {
                // SAFETY: by the caller's contract, for eight elements, at any alignment.
                let elements = x86::two_longs(unsafe { from.cast::<i64>().read_unaligned() }, 0);
                let [moved, _] = level.longs(level.look_up_16(elements, x86::two_longs(LANES[bits] as i64, 0)));
                // SAFETY: by the caller's contract, for eight elements, at any alignment.
                unsafe { to.cast::<i64>().write_unaligned(moved) };
            }
            2 => moved!(__m128i, |elements| level.look_up_16(elements, level.pairs8(LANES[bits]))),
            4 => moved!(__m256i, |elements| level.permuted32(elements, level.widened8(LANES[bits]))),
            _ => moved!(__m256i, |elements| level.permuted32(elements, level.widened8(PAIRS[bits]))),
        }
    }
    true
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn compress<C: CopyRow>(_: impl Token, _: u64, _: Ends) -> bool {
    false
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

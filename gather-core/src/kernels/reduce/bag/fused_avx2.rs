//! Sums of fused rows in registers: eight columns of codes at a time, which a vector of AVX2 decodes.
//!
//! A panel is a number of vectors of sums that the compiler knows, of which the last `ENDING` end with the last column:
//! where columns need fewer vectors, they share columns with those before them. Rows of more columns than a panel has
//! are taken `BLOCK` at a time, so that the lines of a row are prefetched and read while its page is at hand; between
//! blocks the sums of all panels are in memory.

use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::level_fn::Avx2;
use crate::kernels::prefetch::prefetch;
use crate::kernels::reduce::bag::fused::FusedBag;
use crate::kernels::reduce::bag::rows::{AddRows, BagRow};
use crate::kernels::reduce::bag::vectors::{SumVector, bf16_to_256};
use crate::kernels::reduce::bag::{BagRows, Begin, rows};
use crate::types::fused::{Codes, Coding, FusedRow, Half, Single, Upper};

/// Columns of a vector.
const EIGHT: usize = 8;
/// Vectors of the widest panel.
const MOST: usize = 8;
/// Rows that all panels take before the next ones.
const BLOCK: usize = 16;
/// Columns whose sums have room on the stack.
const ROOM: usize = 1024;

/// The AVX2 level of a sum, or of a mean.
#[target_feature(enable = "avx2,fma,f16c")]
pub(in crate::kernels::reduce) fn sums<C: Eight, const WEIGHTED: bool>(bag: &BagRows<'_>) {
    bag.debug_check(WEIGHTED);
    let (fused, first_column) = bag.fused();
    debug_assert!(first_column % EIGHT == 0 && first_column + bag.elements() <= fused.row.columns(), "B7");
    let mut room = MaybeUninit::<[f32; ROOM]>::uninit();
    let room: *mut f32 = room.as_mut_ptr().cast();
    for first in (0..bag.elements()).step_by(ROOM) {
        let columns = first..(first + ROOM).min(bag.elements());
        let before = first_column + first;
        let columns = FusedColumns::<C, WEIGHTED> {
            rows: bag.fused_columns(&columns),
            fused,
            columns: before..before + columns.len(),
            room,
            coding: PhantomData,
        };
        columns.reduce();
    }
}

/// Some columns of all rows.
struct FusedColumns<'a, C: Eight, const WEIGHTED: bool> {
    rows: rows::Columns<'a>,
    fused: &'a FusedBag,
    /// The columns in a row: from a multiple of those of a vector on.
    columns: Range<usize>,
    /// Room for the sums of these columns, at most `ROOM`, in whole vectors.
    room: *mut f32,
    coding: PhantomData<C>,
}

/// Where the sums of a panel are between blocks of rows, and where they go at the end.
///
/// - **F2** `to`, and `from` where it is not null, reach the sums of all these columns, rounded up to whole vectors:
///   `Columns::room` has them, and what is carried has `SPARE` (B4). Where `to` is the output, whose elements are `f32`
///   then, it has `lanes` of them (B2). The sums at `from` have been written.
#[derive(Clone, Copy)]
struct Sums {
    /// Those of the first column; null where they begin with 0.
    from: *const f32,
    to: *mut f32,
    /// Whether the sums become means, and of how many rows. The number is always there: the compiler may convert it
    /// before it asks whether it counts.
    divides: bool,
    count: usize,
    /// How many sums `to` has room for, where these are elements of the output and their last vector has fewer.
    lanes: usize,
}

impl<C: Eight, const WEIGHTED: bool> FusedColumns<'_, C, WEIGHTED> {
    /// Reduces the columns.
    #[target_feature(enable = "avx2,fma,f16c")]
    fn reduce(&self) {
        let FusedColumns { ref rows, fused, room, .. } = *self;
        let columns = self.columns.len();
        let vectors = columns.div_ceil(EIGHT);
        let block = if vectors <= MOST { usize::MAX } else { BLOCK };
        let (carried, divides): (*mut f32, _) = (rows.carried().cast(), rows.divides());
        let is_single = fused.size == size_of::<f32>();
        for mut bag in rows.bags() {
            let (Range { start, end: stop }, count) = (bag.rows(), bag.count());
            let from = match bag.begin() {
                Begin::Row => core::ptr::null(),
                Begin::Carried => carried.cast_const(),
            };
            let mut sums = match count {
                None => Sums { from, to: carried, divides: false, count: 0, lanes: usize::MAX },
                Some(count) if is_single => {
                    Sums { from, to: bag.output().start().cast(), divides, count, lanes: columns }
                }
                Some(count) => Sums { from, to: room, divides, count, lanes: usize::MAX },
            };
            let mut at = start;
            while stop - at > block {
                self.rows(at..at + block, vectors, Sums { to: room, divides: false, lanes: usize::MAX, ..sums });
                sums.from = room;
                at += block;
            }
            self.rows(at..stop, vectors, sums);
            if count.is_some() && !is_single {
                // SAFETY: `to` was the room: the sums of all columns have just been written there.
                let sums = unsafe { core::slice::from_raw_parts(room, columns) };
                (fused.end)((sums, bag.output()));
            }
        }
    }

    /// Adds rows of one bag, panel by panel.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn rows(&self, rows: Range<usize>, vectors: usize, sums: Sums) {
        for first in (0..vectors).step_by(MOST) {
            let vectors = (vectors - first).min(MOST);
            let begin = self.columns.start + first * EIGHT;
            let end = self.columns.end.min(begin + vectors * EIGHT);
            let sums = sums.after(first * EIGHT);
            macro_rules! panel {
                ($vectors:literal, $ending:literal) => {{
                    if end % EIGHT == 0 {
                        self.panel::<$vectors, $ending, false>(rows.clone(), begin..end, sums)
                    } else {
                        self.panel::<$vectors, $ending, true>(rows.clone(), begin..end, sums)
                    }
                }};
            }
            match vectors {
                1 => panel!(1, 1),
                2 => panel!(2, 1),
                3..=4 => panel!(4, 2),
                _ => panel!(8, 4),
            }
        }
    }

    /// Adds rows of one bag in the columns of a panel: those of more than `N - ENDING` vectors and of at least
    /// `ENDING`, at most of `N`. Where `TAIL`, they end inside the last vector, with the row.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn panel<const N: usize, const ENDING: usize, const TAIL: bool>(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        to: Sums,
    ) {
        let shape = &self.fused.row;
        let vectors = columns.len().div_ceil(EIGHT);
        debug_assert!(vectors > N - ENDING && vectors >= ENDING && vectors <= N);
        debug_assert!(columns.start.is_multiple_of(EIGHT) && TAIL != columns.end.is_multiple_of(EIGHT), "B7");
        debug_assert!(columns.end <= shape.columns() && (!TAIL || columns.end == shape.columns()), "B7");
        let codes_at = shape.codes_at() + C::bytes(columns.start);
        let mut by = InPanel::<C, WEIGHTED, TAIL, N, ENDING> {
            level: Avx2::here(),
            params_at: shape.params_at(),
            codes_at,
            ending: vectors - ENDING,
            tail: if TAIL { Tail::new(shape, C::bytes(columns.end / EIGHT * EIGHT)) } else { Tail::NONE },
            fetched: if columns.start == 0 { 0 } else { codes_at }..if columns.end == shape.columns() {
                shape.bytes()
            } else {
                shape.codes_at() + C::bytes(columns.end)
            },
            sums: [_mm256_setzero_ps(); N],
            coding: PhantomData,
        };
        by.start(to);
        self.rows.each(rows, &mut by);
        by.stop(to);
    }
}

/// The number of a vector of a panel among those of the columns, of which the last `ENDING` begin with `ending`.
#[inline(always)]
fn vector_at<const N: usize, const ENDING: usize>(vector: usize, ending: usize) -> usize {
    if vector < N - ENDING { vector } else { ending + vector - (N - ENDING) }
}

/// The sums of a panel, and where its columns are in a row.
struct InPanel<C, const WEIGHTED: bool, const TAIL: bool, const N: usize, const ENDING: usize> {
    level: Avx2,
    params_at: ParamsAt,
    /// The first byte of their codes.
    codes_at: usize,
    /// The first vector of those that end with the last column.
    ending: usize,
    tail: Tail,
    /// The bytes that are prefetched.
    fetched: Range<usize>,
    sums: [__m256; N],
    coding: PhantomData<C>,
}

impl<C: Eight, const WEIGHTED: bool, const TAIL: bool, const N: usize, const ENDING: usize> AddRows
    for InPanel<C, WEIGHTED, TAIL, N, ENDING>
{
    #[inline(always)]
    fn prefetch(&self, later: *const u8) {
        let fetched = &self.fetched;
        prefetch(later.wrapping_add(fetched.start), fetched.len());
        prefetch(later.wrapping_add(fetched.end - 1), 1);
    }

    #[inline(always)]
    fn add(&mut self, row: BagRow<'_>) {
        let InPanel { level, params_at, codes_at, ending, ref tail, .. } = *self;
        let bytes = row.bytes();
        let (scale, bias) = C::params(level, bytes, params_at);
        let weight = __m256::splat(level, if WEIGHTED { row.weight() } else { 0.0 });
        for (vector, sum) in self.sums.iter_mut().enumerate() {
            let codes = if TAIL && vector == N - 1 {
                C::last(level, bytes, tail)
            } else {
                let first = codes_at + C::bytes(vector_at::<N, ENDING>(vector, ending) * EIGHT);
                // SAFETY: eight of the row's columns (F1), as only the last vector of a tail has fewer.
                C::eight(level, unsafe { bytes.get_unchecked(first..first + C::bytes(EIGHT)) })
            };
            let values = C::values(level, codes, scale, bias);
            *sum = sum.plus(if WEIGHTED { values.times(weight) } else { values });
        }
    }
}

impl<C: Eight, const WEIGHTED: bool, const TAIL: bool, const N: usize, const ENDING: usize>
    InPanel<C, WEIGHTED, TAIL, N, ENDING>
{
    /// Begins sums with what is at `Sums::from`, or with 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn start(&mut self, to: Sums) {
        if !to.from.is_null() {
            for (vector, sum) in self.sums.iter_mut().enumerate() {
                let column = vector_at::<N, ENDING>(vector, self.ending) * EIGHT;
                // SAFETY: F2: a vector of those that the columns need.
                *sum = unsafe { _mm256_loadu_ps(to.from.wrapping_add(column)) };
            }
        }
    }

    /// Writes sums, or means.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn stop(&mut self, to: Sums) {
        if to.divides {
            for sum in &mut self.sums {
                *sum = _mm256_div_ps(*sum, _mm256_set1_ps(to.count as f32));
            }
        }
        for (vector, &sum) in self.sums.iter().enumerate() {
            let column = vector_at::<N, ENDING>(vector, self.ending) * EIGHT;
            let to_sums = to.to.wrapping_add(column);
            if TAIL && vector == N - 1 && to.lanes < column + EIGHT {
                let lanes = _mm256_set1_epi32((to.lanes - column) as i32);
                let lanes = _mm256_cmpgt_epi32(lanes, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                // SAFETY: F2: as many elements of the output as there are up to its last column.
                unsafe { _mm256_maskstore_ps(to_sums, lanes, sum) };
            } else {
                // SAFETY: F2: a vector of those that the columns need, or one that the output has all lanes of.
                unsafe { _mm256_storeu_ps(to_sums, sum) };
            }
        }
    }
}

impl Sums {
    /// Those from a column on.
    fn after(self, column: usize) -> Self {
        let from = if self.from.is_null() { self.from } else { self.from.wrapping_add(column) };
        let lanes = if self.lanes == usize::MAX { self.lanes } else { self.lanes - column };
        Sums { from, to: self.to.wrapping_add(column), lanes, ..self }
    }
}

/// The first byte of the scale and the bias of a row, and whether these are `f32`.
pub(crate) type ParamsAt = (usize, bool);

/// Eight columns of a row, as vectors of AVX2 hold them.
pub(crate) trait Eight: Coding {
    /// The columns before they are scaled.
    type Bits: Copy;

    /// The scale and the bias of a row, in every element; zeros, where there are none.
    #[inline(always)]
    fn params(level: Avx2, _: &[u8], _: ParamsAt) -> (__m256, __m256) {
        (__m256::splat(level, 0.0), __m256::splat(level, 0.0))
    }

    /// Reads eight columns, whose bytes these are.
    fn eight(level: Avx2, codes: &[u8]) -> Self::Bits;

    /// Reads the last columns of a row, which are fewer.
    fn last(level: Avx2, row: &[u8], tail: &Tail) -> Self::Bits;

    /// The values.
    fn values(level: Avx2, bits: Self::Bits, scale: __m256, bias: __m256) -> __m256;
}

impl<const PER: usize> Eight for Codes<PER> {
    type Bits = u64;

    #[inline(always)]
    fn params(level: Avx2, row: &[u8], at: ParamsAt) -> (__m256, __m256) {
        if PER == 1 { params::<true>(level, row, at) } else { params::<false>(level, row, at) }
    }

    #[inline(always)]
    fn eight(_: Avx2, codes: &[u8]) -> u64 {
        match PER {
            1 => u64::from_le_bytes(*codes.first_chunk().expect("eight bytes")),
            2 => u32::from_le_bytes(*codes.first_chunk().expect("four bytes")).into(),
            _ => u16::from_le_bytes(*codes.first_chunk().expect("two bytes")).into(),
        }
    }

    #[inline(always)]
    fn last(_: Avx2, row: &[u8], tail: &Tail) -> u64 {
        tail.read(row)
    }

    #[inline(always)]
    fn values(_: Avx2, codes: u64, scale: __m256, bias: __m256) -> __m256 {
        // SAFETY: the token shows the level, which has FMA.
        unsafe { decode::<PER>(codes, scale, bias) }
    }
}

macro_rules! plain {
    ($($coding:ident: $size:literal, |$at:ident| $vector:expr;)*) => {$(
        impl Eight for $coding {
            type Bits = __m256;

            #[inline(always)]
            fn eight(_: Avx2, values: &[u8]) -> __m256 {
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                fn vector(values: &[u8; EIGHT * $size]) -> __m256 {
                    let $at = values.as_ptr();
                    // SAFETY: as many bytes, at any alignment.
                    unsafe { $vector }
                }
                // SAFETY: the token shows the level.
                unsafe { vector(values.first_chunk().expect("eight values")) }
            }

            #[inline(always)]
            fn last(level: Avx2, row: &[u8], tail: &Tail) -> __m256 {
                Self::eight(level, &tail.columns(row))
            }

            #[inline(always)]
            fn values(_: Avx2, values: __m256, _: __m256, _: __m256) -> __m256 {
                values
            }
        }
    )*};
}

plain! {
    Single: 4, |at| _mm256_loadu_ps(at.cast());
    Half: 2, |at| _mm256_cvtph_ps(_mm_loadu_si128(at.cast()));
    Upper: 2, |at| bf16_to_256(_mm_loadu_si128(at.cast()));
}

/// The codes of fewer than eight columns, which are read with bytes of the row before or behind them.
///
/// - **F3** A row has `bytes` bytes, of which its last columns are `rest` from `first` on. Eight bytes from `at` on are
///   some of them, or the row has `few`, which are all.
pub(crate) struct Tail {
    bytes: usize,
    /// The first byte that is read, and by how many bits its codes are further up.
    at: usize,
    shift: usize,
    /// The bytes of a row that has fewer than are read.
    few: Option<usize>,
    /// The first byte of the columns, and how many bytes of the row there are from it on.
    first: usize,
    rest: usize,
}

impl Tail {
    const NONE: Tail = Tail { bytes: 0, at: 0, shift: 0, few: None, first: 0, rest: 0 };

    /// For the codes from byte `codes` of all codes on.
    #[inline(always)]
    pub(crate) fn new(row: &FusedRow, codes: usize) -> Self {
        let (bytes, codes, few) = (row.bytes(), row.codes_at() + codes, row.bytes() < EIGHT);
        let at = codes.min(bytes.saturating_sub(EIGHT));
        let (first, rest) = (codes, bytes - codes);
        Tail { bytes, at, shift: (codes - at) * 8 % 64, few: few.then_some(bytes), first, rest }
    }

    /// The columns of a row that ends with them, then zeros.
    #[inline(always)]
    fn columns(&self, row: &[u8]) -> [u8; 4 * EIGHT] {
        debug_assert_eq!(row.len(), self.bytes, "F3");
        let mut columns = [0; 4 * EIGHT];
        let bytes = self.rest.min(columns.len());
        // SAFETY: F3: the bytes are some of the row, and no more than there is room for.
        unsafe { row.as_ptr().wrapping_add(self.first).copy_to_nonoverlapping(columns.as_mut_ptr(), bytes) };
        columns
    }

    /// The codes in the low bits.
    #[inline(always)]
    fn read(&self, row: &[u8]) -> u64 {
        debug_assert_eq!(row.len(), self.bytes, "F3");
        let mut word = [0; EIGHT];
        let bytes = match self.few {
            Some(bytes) => bytes,
            None => EIGHT,
        };
        // SAFETY: F3: eight bytes that end with the row or before it, or all bytes of a shorter one.
        unsafe { row.as_ptr().wrapping_add(self.at).copy_to_nonoverlapping(word.as_mut_ptr(), bytes) };
        u64::from_le_bytes(word) >> self.shift
    }
}

/// The scale and the bias of a row of a format, in every element.
#[inline(always)]
fn params<const MAY_BE_SINGLE: bool>(level: Avx2, row: &[u8], (at, is_single): ParamsAt) -> (__m256, __m256) {
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    fn of_halves(both: i32) -> (__m256, __m256) {
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(both));
        (_mm256_broadcastss_ps(both), _mm256_broadcastss_ps(_mm_movehdup_ps(both)))
    }
    // Codes of few bits have halves in every format.
    let is_single = MAY_BE_SINGLE && is_single;
    debug_assert!(at + if is_single { 8 } else { 4 } <= row.len(), "F1");
    let params = row.as_ptr().wrapping_add(at);
    if is_single {
        // Each is read by itself, so that it can be broadcast from memory.
        // SAFETY: F1: the scale and the bias are two numbers of the row, at any alignment.
        let scale = unsafe { params.cast::<f32>().read_unaligned() };
        // SAFETY: as above.
        let bias = unsafe { params.cast::<f32>().wrapping_add(1).read_unaligned() };
        (__m256::splat(level, scale), __m256::splat(level, bias))
    } else {
        // SAFETY: F1: the scale and the bias are two halves of the row, at any alignment.
        let both = unsafe { params.cast::<i32>().read_unaligned() };
        // SAFETY: the token shows the level.
        unsafe { of_halves(both) }
    }
}

/// The values of eight codes. A product of a code of few bits with a scale of half precision is exact, so that it may
/// be fused with the sum.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn decode<const PER: usize>(codes: u64, scale: __m256, bias: __m256) -> __m256 {
    if PER == 1 {
        let codes = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(codes as i64)));
        return _mm256_add_ps(_mm256_mul_ps(codes, scale), bias);
    }
    let bits = (EIGHT / PER) as i32;
    let shifts = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(bits));
    let codes = _mm256_srlv_epi32(_mm256_set1_epi32(codes as i32), shifts);
    let codes = _mm256_and_si256(codes, _mm256_set1_epi32((1 << bits) - 1));
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(codes), scale, bias)
}

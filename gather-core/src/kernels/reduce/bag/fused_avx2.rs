//! Sums of fused rows in registers: eight columns of codes at a time, which a vector of AVX2 decodes.
//!
//! A panel is a number of vectors of sums that the compiler knows, of which the last `ENDING` end with the last column:
//! where columns need fewer vectors, they share columns with those before them. Rows of more columns than a panel has are
//! taken `BLOCK` at a time, so that the lines of a row are prefetched and read while its page is at hand; between blocks
//! the sums of all panels are in memory.

use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::reduce::bag::fused::FusedBag;
use crate::kernels::reduce::bag::vectors::bf16_to_256;
use crate::kernels::reduce::bag::{BagRows, Begin, LEFT_OUT};
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
///
/// # Safety
/// The contract of bags of fused rows, of the coding. K7: the machine has AVX2, FMA and F16C.
#[target_feature(enable = "avx2,fma,f16c")]
pub(in crate::kernels::reduce) unsafe fn sums<C: Eight, const WEIGHTED: bool>(bag: &BagRows<'_>) {
    bag.debug_check(WEIGHTED);
    let (fused, first_column) = bag.fused.expect("B7");
    debug_assert!(first_column % EIGHT == 0 && first_column + bag.elements <= fused.row.columns(), "B7");
    let mut room = MaybeUninit::<[f32; ROOM]>::uninit();
    let room: *mut f32 = room.as_mut_ptr().cast();
    for first in (0..bag.elements).step_by(ROOM) {
        let columns = first..(first + ROOM).min(bag.elements);
        let columns = Columns::<C, WEIGHTED> { bag, fused, first_column, columns, room, coding: PhantomData };
        // SAFETY: the caller's promise, for columns that there are, with room for their sums.
        unsafe { columns.reduce() };
    }
}

/// Some columns of all rows.
struct Columns<'a, C: Eight, const WEIGHTED: bool> {
    bag: &'a BagRows<'a>,
    fused: &'a FusedBag,
    /// The first of the bag's columns in a row: a multiple of those of a vector, as the first of these among them is.
    first_column: usize,
    columns: Range<usize>,
    /// Room for the sums of these columns, in whole vectors.
    room: *mut f32,
    coding: PhantomData<C>,
}

/// Where the sums of a panel are between blocks of rows, and where they go at the end.
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

impl<C: Eight, const WEIGHTED: bool> Columns<'_, C, WEIGHTED> {
    /// Reduces the columns.
    ///
    /// # Safety
    /// The contract of bags of fused rows. K7.
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn reduce(&self) {
        let Columns { bag, fused, room, .. } = *self;
        let (first, columns) = (self.columns.start, self.columns.len());
        let vectors = columns.div_ceil(EIGHT);
        let block = if vectors <= MOST { usize::MAX } else { BLOCK };
        let carried = bag.part.map_or(core::ptr::null_mut(), |part| part.carried.cast::<f32>().wrapping_add(first));
        let (mut stop, mut out) = (0, bag.out.wrapping_add(first * fused.size));
        for number in 0..bag.bags.bags() {
            let start = stop;
            stop = bag.bags.end(number);
            let count = bag.count(stop - start);
            let is_single = fused.size == size_of::<f32>();
            let (to, lanes): (*mut f32, _) = match count {
                None => (carried, usize::MAX),
                Some(_) if is_single => (out.cast(), columns),
                Some(_) => (room, usize::MAX),
            };
            let mut at = start;
            loop {
                let now = at..stop.min(at.saturating_add(block));
                let (begins, ends) = (at == start, now.end == stop);
                at = now.end;
                let from = match bag.begin() {
                    Begin::Row if begins => core::ptr::null(),
                    Begin::Carried if begins => carried.cast_const(),
                    _ => room.cast_const(),
                };
                let sums = if ends {
                    let divides = bag.divides && count.is_some();
                    Sums { from, to, divides, count: count.unwrap_or(0), lanes }
                } else {
                    Sums { from, to: room, divides: false, count: 0, lanes: usize::MAX }
                };
                // SAFETY: the caller's promise, for rows of this bag; B4 for what is carried.
                unsafe { self.rows(now, vectors, sums) };
                if ends {
                    break;
                }
            }
            if count.is_some() && !is_single {
                // SAFETY: the sums of all columns have just been written.
                let sums = unsafe { core::slice::from_raw_parts(room, columns) };
                (fused.end)((sums, out));
            }
            out = out.wrapping_offset(bag.out_stride);
        }
    }

    /// Adds rows of one bag, panel by panel.
    ///
    /// # Safety
    /// As for [`Columns::reduce`]; the rows are those of a bag, and `sums` has room for those of the columns.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn rows(&self, rows: Range<usize>, vectors: usize, sums: Sums) {
        for first in (0..vectors).step_by(MOST) {
            let vectors = (vectors - first).min(MOST);
            let before = self.first_column + self.columns.start;
            let begin = before + first * EIGHT;
            let end = (before + self.columns.len()).min(begin + vectors * EIGHT);
            let sums = sums.after(first * EIGHT);
            macro_rules! panel {
                ($vectors:literal, $ending:literal) => {{
                    if end % EIGHT == 0 {
                        // SAFETY: the caller's promise, for columns that there are, in whole vectors.
                        unsafe { self.panel::<$vectors, $ending, false>(rows.clone(), begin..end, sums) }
                    } else {
                        // SAFETY: as above, except that the last vector has fewer.
                        unsafe { self.panel::<$vectors, $ending, true>(rows.clone(), begin..end, sums) }
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

    /// Adds rows of one bag in the columns of a panel.
    ///
    /// # Safety
    /// As for [`Columns::rows`]; the columns are those of more than `N - ENDING` vectors and of at least `ENDING`, at
    /// most of `N`. Where `TAIL`, the last vector has columns that there are not.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn panel<const N: usize, const ENDING: usize, const TAIL: bool>(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        to: Sums,
    ) {
        let Columns { bag, fused: FusedBag { row: shape, .. }, .. } = *self;
        let vectors = columns.len().div_ceil(EIGHT);
        debug_assert!(vectors > N - ENDING && vectors >= ENDING && vectors <= N);
        // The first vector of those that end with the last column.
        let ending = vectors - ENDING;
        let at = |vector: usize| if vector < N - ENDING { vector } else { ending + vector - (N - ENDING) };
        let mut sums = [_mm256_setzero_ps(); N];
        if !to.from.is_null() {
            for (vector, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the caller's promise: sums of all columns, and of more to a whole vector.
                *sum = unsafe { _mm256_loadu_ps(to.from.wrapping_add(at(vector) * EIGHT)) };
            }
        }
        let codes_at = shape.codes_at() + C::bytes(columns.start);
        let tail = if TAIL { Tail::new(shape, C::bytes(columns.end / EIGHT * EIGHT)) } else { Tail::NONE };
        // The lines of these columns, and, with the first and the last ones, of what stands before and behind them.
        let fetched = if columns.start == 0 { 0 } else { codes_at }..if columns.end == shape.columns() {
            shape.bytes()
        } else {
            shape.codes_at() + C::bytes(columns.end)
        };
        for number in rows {
            if bag.distance > 0 {
                let later = bag.later_row(bag.positions[number + bag.distance]);
                prefetch(later.wrapping_add(fetched.start), fetched.len());
                prefetch(later.wrapping_add(fetched.end - 1), 1);
            }
            let position = bag.positions[number];
            if position == LEFT_OUT {
                continue;
            }
            let row = bag.row(position);
            let (mut scale, mut bias) = (_mm256_setzero_ps(), _mm256_setzero_ps());
            if C::SCALED {
                // SAFETY: B7: the scale and the bias of a row.
                (scale, bias) = unsafe { params(row, shape) };
            }
            let mut weight = _mm256_setzero_ps();
            if WEIGHTED {
                // SAFETY: B7, at any alignment.
                weight = _mm256_set1_ps(unsafe { bag.weight(number).cast::<f32>().read_unaligned() });
            }
            let codes = row.wrapping_add(codes_at);
            for (vector, sum) in sums.iter_mut().enumerate() {
                let codes = if TAIL && vector == N - 1 {
                    // SAFETY: B7: the bytes of a row.
                    unsafe { C::last(row, &tail) }
                } else {
                    // SAFETY: B7: eight columns of these.
                    unsafe { C::eight(codes.wrapping_add(C::bytes(at(vector) * EIGHT))) }
                };
                // SAFETY: K7.
                let values = unsafe { C::values(codes, scale, bias) };
                *sum = _mm256_add_ps(*sum, if WEIGHTED { _mm256_mul_ps(values, weight) } else { values });
            }
        }
        if to.divides {
            for sum in &mut sums {
                *sum = _mm256_div_ps(*sum, _mm256_set1_ps(to.count as f32));
            }
        }
        for (vector, &sum) in sums.iter().enumerate() {
            let (column, to_sums) = (at(vector) * EIGHT, to.to.wrapping_add(at(vector) * EIGHT));
            if TAIL && vector == N - 1 && to.lanes < column + EIGHT {
                let lanes = _mm256_set1_epi32((to.lanes - column) as i32);
                let lanes = _mm256_cmpgt_epi32(lanes, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                // SAFETY: B2: elements of as many columns as there are.
                unsafe { _mm256_maskstore_ps(to_sums, lanes, sum) };
            } else {
                // SAFETY: the caller's promise: room for a whole vector.
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

/// Eight columns of a row, as vectors of AVX2 hold them.
pub(in crate::kernels::reduce) trait Eight: Coding {
    /// Whether a row has a scale and a bias.
    const SCALED: bool;
    /// The columns before they are scaled.
    type Bits: Copy;

    /// Reads eight columns.
    ///
    /// # Safety
    /// They may be read, at any alignment. K7: the machine has AVX2, FMA and F16C.
    unsafe fn eight(codes: *const u8) -> Self::Bits;

    /// Reads the last columns of a row, which are fewer.
    ///
    /// # Safety
    /// All bytes of the row may be read, and the tail is that of its last columns. K7, as above.
    unsafe fn last(row: *const u8, tail: &Tail) -> Self::Bits;

    /// The values.
    ///
    /// # Safety
    /// K7, as above.
    unsafe fn values(bits: Self::Bits, scale: __m256, bias: __m256) -> __m256;
}

impl<const PER: usize> Eight for Codes<PER> {
    const SCALED: bool = true;
    type Bits = u64;

    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn eight(codes: *const u8) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { eight::<PER>(codes) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn last(row: *const u8, tail: &Tail) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { tail.read(row) }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn values(codes: u64, scale: __m256, bias: __m256) -> __m256 {
        decode::<PER>(codes, scale, bias)
    }
}

macro_rules! plain {
    ($($coding:ident: |$at:ident| $vector:expr;)*) => {$(
        impl Eight for $coding {
            const SCALED: bool = false;
            type Bits = __m256;

            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn eight($at: *const u8) -> __m256 {
                // SAFETY: the caller's promise, at any alignment.
                unsafe { $vector }
            }

            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn last(row: *const u8, tail: &Tail) -> __m256 {
                // SAFETY: the caller's promise.
                let columns = unsafe { tail.columns(row) };
                // SAFETY: eight columns.
                unsafe { Self::eight(columns.as_ptr()) }
            }

            #[inline]
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn values(values: __m256, _: __m256, _: __m256) -> __m256 {
                values
            }
        }
    )*};
}

plain! {
    Single: |at| _mm256_loadu_ps(at.cast());
    Half: |at| _mm256_cvtph_ps(_mm_loadu_si128(at.cast()));
    Upper: |at| bf16_to_256(_mm_loadu_si128(at.cast()));
}

/// The codes of fewer than eight columns, which are read with bytes of the row before or behind them.
pub(in crate::kernels::reduce) struct Tail {
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
    const NONE: Tail = Tail { at: 0, shift: 0, few: None, first: 0, rest: 0 };

    /// For the codes from byte `codes` of all codes on.
    #[inline(always)]
    fn new(row: &FusedRow, codes: usize) -> Self {
        let (codes, few) = (row.codes_at() + codes, row.bytes() < EIGHT);
        let at = codes.min(row.bytes().saturating_sub(EIGHT));
        let (first, rest) = (codes, row.bytes() - codes);
        Tail { at, shift: (codes - at) * 8 % 64, few: few.then_some(row.bytes()), first, rest }
    }

    /// The columns of a row that ends with them, then zeros.
    ///
    /// # Safety
    /// All bytes of the row may be read.
    #[inline(always)]
    unsafe fn columns(&self, row: *const u8) -> [u8; 4 * EIGHT] {
        let mut columns = [0; 4 * EIGHT];
        let bytes = self.rest.min(columns.len());
        // SAFETY: the caller's promise.
        unsafe { row.wrapping_add(self.first).copy_to_nonoverlapping(columns.as_mut_ptr(), bytes) };
        columns
    }

    /// The codes in the low bits.
    ///
    /// # Safety
    /// All bytes of the row may be read.
    #[inline(always)]
    unsafe fn read(&self, row: *const u8) -> u64 {
        let mut word = [0; EIGHT];
        let bytes = match self.few {
            Some(bytes) => bytes,
            None => EIGHT,
        };
        // SAFETY: the caller's promise: eight bytes that end with the row or before it, or all bytes of a shorter one.
        unsafe { row.wrapping_add(self.at).copy_to_nonoverlapping(word.as_mut_ptr(), bytes) };
        u64::from_le_bytes(word) >> self.shift
    }
}

/// Reads the codes of eight columns, of which a byte has `PER`.
///
/// # Safety
/// They may be read, at any alignment.
#[inline(always)]
unsafe fn eight<const PER: usize>(codes: *const u8) -> u64 {
    match PER {
        // SAFETY: the caller's promise.
        1 => unsafe { codes.cast::<u64>().read_unaligned() },
        // SAFETY: as above.
        2 => u64::from(unsafe { codes.cast::<u32>().read_unaligned() }),
        // SAFETY: as above.
        _ => u64::from(unsafe { codes.cast::<u16>().read_unaligned() }),
    }
}

/// The scale and the bias of a row, in every element.
///
/// # Safety
/// All bytes of the row may be read.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn params(row: *const u8, shape: &FusedRow) -> (__m256, __m256) {
    let (at, is_single) = shape.params_at();
    let params = row.wrapping_add(at);
    if is_single {
        // SAFETY: the caller's promise, at any alignment.
        let scale = unsafe { params.cast::<f32>().read_unaligned() };
        // SAFETY: as above: the bias follows the scale.
        let bias = unsafe { params.cast::<f32>().wrapping_add(1).read_unaligned() };
        (_mm256_set1_ps(scale), _mm256_set1_ps(bias))
    } else {
        // SAFETY: the caller's promise, at any alignment.
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(unsafe { params.cast::<i32>().read_unaligned() }));
        (_mm256_broadcastss_ps(both), _mm256_broadcastss_ps(_mm_movehdup_ps(both)))
    }
}

/// The values of eight codes. A product of a code of few bits with a scale of half precision is exact, so that it may be
/// fused with the sum.
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

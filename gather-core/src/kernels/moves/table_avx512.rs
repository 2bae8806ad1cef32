//! Register tables with AVX-512: one or two permutes look up a vector of elements.
//!
//! ```text
//! 8 bytes, <= 16 entries    vpermi2q        2 bytes, <= 64 entries     vpermi2w
//! 4 bytes, <= 32 entries    vpermi2d        1 byte,  <= 128 entries    vpermi2b
//!                                           1 byte,  <= 256 entries    two vpermi2b, blended by bit 7 of the index
//! ```
//!
//! Two registers are one table; bits of an index above the bits that select an entry are ignored. Tables and the last
//! elements, fewer than a vector, are loaded by a mask, which reads no byte past the end. One-byte indices are looked
//! up directly, checked 64 at a time; others are resolved to positions first.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::level_fn::{Avx512, LevelFn, Token};
use crate::kernels::moves::contiguous::{self, ByteBounds, Numbers, Places};
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::x86::{__m256i, __m512i, MaskedBytes};
use crate::types::index::Index;

const VECTOR: usize = 64;

/// Maximum entries for elements of `bytes` bytes; 0 if there is no lookup.
pub(crate) const fn entries(bytes: usize) -> usize {
    match bytes {
        1 => 256,
        2 => 64,
        4 => 32,
        8 => 16,
        _ => 0,
    }
}

/// A table in up to four vectors, zero beyond its entries.
#[derive(Clone, Copy)]
struct VectorTable<const VECTORS: usize>([__m512i; VECTORS]);

impl<const VECTORS: usize> VectorTable<VECTORS> {
    /// The vectors of a table's bytes.
    #[inline(always)]
    fn of(level: Avx512, table: contiguous::Table<'_>) -> Self {
        let bytes = table.bytes();
        debug_assert!(bytes.len() <= VECTORS * VECTOR, "K9: a table of {} bytes", bytes.len());
        let part = |at: usize| bytes.get(at * VECTOR..).unwrap_or_default();
        VectorTable(core::array::from_fn(|at| __m512i::load_first(level, part(at))))
    }
}

impl VectorTable<2> {
    /// The entries of `BYTES` bytes at a vector of positions of `BYTES` bytes.
    #[inline(always)]
    fn at<const BYTES: usize>(self, level: Avx512, positions: __m512i) -> __m512i {
        let [low, high] = self.0;
        level.permuted::<BYTES>(low, positions, high)
    }
}

impl VectorTable<4> {
    /// The bytes at 64 positions.
    #[inline(always)]
    fn at(self, level: Avx512, positions: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let [low, high] = [[a, b], [c, d]].map(|half| VectorTable(half).at::<1>(level, positions));
        level.select_64(level.negative_64(positions), high, low)
    }
}

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with AVX-512, for all elements.
pub(crate) struct LookUp<const BYTES: usize>;

impl<const BYTES: usize> LevelFn for LookUp<BYTES> {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &MoveJob<'_>) -> usize {
        let (table_entries, n) = (job.table_entries, job.n);
        debug_assert!(table_entries <= entries(BYTES), "K9: a table of {table_entries}");
        let Some(level) = here.avx512().filter(|_| entries(BYTES) != 0) else { return 0 };
        if BYTES == 1 && table_entries > 128 {
            let table = VectorTable::<4>::of(level, contiguous::Table::of(job, 1));
            each_vector::<1>(level, job, |positions| table.at(level, positions));
        } else {
            let table = VectorTable::<2>::of(level, contiguous::Table::of(job, BYTES));
            each_vector::<BYTES>(level, job, |positions| table.at::<BYTES>(level, positions));
        }
        n
    }
}

/// Writes `at(positions)` for each vector of positions.
#[inline(always)]
fn each_vector<const BYTES: usize>(level: Avx512, job: &MoveJob<'_>, at: impl Fn(__m512i) -> __m512i) {
    let (places, positions, lanes) = (Places::<BYTES>::of(job), Numbers::positions(job), VECTOR / BYTES);
    let done = places.each_step(lanes, |done| {
        places.store(done, at(load_positions::<BYTES>(level, positions, done, lanes)));
    });
    let left = places.n() - done;
    if left > 0 {
        places.store_rest(level, done, at(load_positions::<BYTES>(level, positions, done, left)));
    }
}

/// Positions `at..at + n` as a vector of numbers of `BYTES` bytes.
#[inline(always)]
fn load_positions<const BYTES: usize>(level: Avx512, positions: Numbers<'_, i32>, at: usize, n: usize) -> __m512i {
    let bytes = positions.bytes(at, n);
    let sixteen = |part: usize| __m512i::load_first(level, bytes.get(part * VECTOR..).unwrap_or_default());
    match BYTES {
        8 => level.widened_8(__m256i::load_first(level, bytes)),
        4 => sixteen(0),
        2 => level.narrowed_32(sixteen(0), sixteen(1)),
        _ => level.narrowed_64([sixteen(0), sixteen(1), sixteen(2), sixteen(3)]),
    }
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with AVX-512.
pub(crate) struct LookUpBytes<I>(PhantomData<I>);

impl<I: Index> LevelFn for LookUpBytes<I> {
    type Args<'a> = &'a Strip<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, strip: &Strip<'_>) -> usize {
        let Some(level) = here.avx512() else { return 0 };
        let table = contiguous::Table::of_bytes(strip);
        if strip.spec().table_entries > 128 {
            let table = VectorTable::<4>::of(level, table);
            straight::<I>(level, strip, |positions| table.at(level, positions))
        } else {
            let table = VectorTable::<2>::of(level, table);
            straight::<I>(level, strip, |positions| table.at::<1>(level, positions))
        }
    }
}

/// [`LookUpBytes`], where `at` returns the bytes at 64 positions.
#[inline(always)]
fn straight<I: Index>(level: Avx512, strip: &Strip<'_>, at: impl Fn(__m512i) -> __m512i) -> usize {
    let places = Places::<1>::along(strip);
    let (indices, ByteBounds { signed, from_end, add, last }) =
        (Numbers::<u8>::indices(strip), ByteBounds::of::<I>(strip));
    let (add, last) = (level.splat_64(add), level.splat_64(last));
    // The positions, and a mask of the positions in range.
    let resolve = |indices| {
        let negative = if signed { level.negative_64(indices) } else { 0 };
        let positions = level.plus_where_64(indices, negative, add);
        // Unless negative indices count from the end, they are out of range, whatever their bits.
        let refused = if from_end { 0 } else { negative };
        (positions, level.at_most_64(positions, last) & !refused)
    };
    let mut done = 0;
    while places.n() - done >= VECTOR {
        let (positions, inside) = resolve(indices.load(level, done));
        if inside != u64::MAX {
            return done;
        }
        places.store(done, at(positions));
        done += VECTOR;
    }
    let left = indices.bytes(done, places.n() - done);
    let (positions, inside) = resolve(__m512i::load_first(level, left));
    if inside.trailing_ones() < left.len() as u32 {
        return done;
    }
    places.store_rest(level, done, at(positions));
    places.n()
}

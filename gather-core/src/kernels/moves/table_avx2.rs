//! Register tables: if all of data fits in vector registers, elements are looked up by shuffles.
//!
//! ```text
//! 4 bytes, <= 8 entries    vpermd
//! 4 bytes, <= 16 entries   two vpermd, blended by bit 3 of the index
//! 8 bytes, <= 8 entries    two vpermd by pairs of 4-byte indices (2i, 2i + 1), blended by bit 3
//! 1 byte,  <= 256 entries  a chain of pshufb over tables T0, T1, .. of 16 entries
//! ```
//!
//! `pshufb` takes the low four bits of an index, and returns 0 where bit 7 is set. So with `x` the index and
//!
//! ```text
//! r  = T0[x];   x -= 16 (saturating);   r ^= (T1 ^ T0)[x];   x -= 16;   r ^= (T2 ^ T1)[x];   ..
//! ```
//!
//! the terms up to the index's own table telescope to that table's entry, and all later terms see a negative `x` and
//! add nothing. Eight tables exhaust the range of a signed byte; the upper 128 entries run a second chain on `x ^ 128`.
//!
//! One-byte indices are looked up directly, checked 32 at a time; others are resolved to positions first. The scalar
//! loop is bound by two loads and a store per element. Shuffles take about as long as copying the output. No read
//! passes the end of data: the table is copied to the stack first, padded with zeros.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::moves::contiguous::{ByteBounds, Numbers, Places, Table};
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::vector::Vector;
use crate::kernels::words::{Eight, Words};
use crate::kernels::x86::__m256i;
use crate::types::index::Index;

const VECTOR: usize = 32;

/// Maximum entries for elements of `bytes` bytes; 0 if there is no lookup.
pub(crate) const fn entries(bytes: usize) -> usize {
    match bytes {
        1 => 256,
        4 => 16,
        8 => 8,
        _ => 0,
    }
}

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with AVX2, for whole vectors of elements.
pub(crate) struct LookUp<const BYTES: usize>;

impl<const BYTES: usize> LevelFn for LookUp<BYTES> {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &MoveJob<'_>) -> usize {
        let (Some(level), table_entries) = (here.avx2(), job.table_entries) else { return 0 };
        debug_assert!(table_entries <= entries(BYTES), "K9: a table of {table_entries}");
        match (BYTES, table_entries) {
            (1, ..=16) => bytes::<1>(level, job),
            (1, ..=64) => bytes::<4>(level, job),
            (1, ..=128) => bytes::<8>(level, job),
            (1, _) => bytes::<16>(level, job),
            (4, _) => words(level, job),
            (8, _) => pairs(level, job),
            _ => 0,
        }
    }
}

/// Sixteen 4-byte entries in two vectors.
#[derive(Clone, Copy)]
struct WordTable {
    low: __m256i,
    high: __m256i,
}

impl WordTable {
    #[inline(always)]
    fn new(level: Avx2, table: &[u8; 64]) -> Self {
        let [low, high] = table.as_chunks::<VECTOR>().0 else { unreachable!("two vectors") };
        WordTable { low: Vector::of(level, low), high: Vector::of(level, high) }
    }

    /// The entries at eight indices below 16.
    #[inline(always)]
    fn at(self, level: Avx2, indices: __m256i) -> __m256i {
        let (low, high) = (Eight::permuted(self.low, indices), Eight::permuted(self.high, indices));
        // Bit 3, spread over the lane, selects the half.
        Eight::select(level.bit_three32(indices), high, low)
    }
}

/// Looks up elements of 4 bytes.
#[inline(always)]
fn words(level: Avx2, job: &MoveJob<'_>) -> usize {
    let (table, places) = (WordTable::new(level, &Table::of(job, 4).padded()), Places::<4>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(8, |at| places.store(at, table.at(level, positions.load(level, at))))
}

/// Looks up elements of 8 bytes.
#[inline(always)]
fn pairs(level: Avx2, job: &MoveJob<'_>) -> usize {
    let (table, places) = (WordTable::new(level, &Table::of(job, 8).padded()), Places::<8>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(4, |at| {
        places.store(at, table.at(level, level.numbers_of_pairs(positions.load(level, at))));
    })
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with AVX2.
pub(crate) struct LookUpBytes<I>(PhantomData<I>);

impl<I: Index> LevelFn for LookUpBytes<I> {
    type Args<'a> = &'a Strip<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, strip: &Strip<'_>) -> usize {
        let Some(level) = here.avx2() else { return 0 };
        match strip.spec().table_entries {
            0..=16 => straight::<I, 1>(level, strip),
            17..=64 => straight::<I, 4>(level, strip),
            65..=128 => straight::<I, 8>(level, strip),
            _ => straight::<I, 16>(level, strip),
        }
    }
}

/// [`LookUpBytes`] in a table of at most `16 * TABLES` entries.
#[inline(always)]
fn straight<I: Index, const TABLES: usize>(level: Avx2, strip: &Strip<'_>) -> usize {
    let (chain, places) = (chain::<TABLES>(level, &Table::of_bytes(strip).padded()), Places::<1>::along(strip));
    let (indices, bounds) = (Numbers::<u8>::indices(strip), ByteBounds::of::<I>(strip));
    let (add, last) = (level.splat8(bounds.add), level.splat8(bounds.last));
    let zero = level.zero();
    let done = places.n() - places.n() % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        let x: __m256i = indices.load(level, at);
        let negative = if bounds.signed { level.negative8(x) } else { zero };
        let x = level.plus8(x, level.and(negative, add));
        let inside = level.at_most8(x, last);
        // Unless negative indices count from the end, they are out of range, whatever their bits.
        let refused = if bounds.signed && !bounds.from_end { negative } else { zero };
        if !level.are_all8(level.and_not(inside, refused)) {
            return at;
        }
        places.store(at, follow(level, &chain, x));
    }
    done
}

/// Looks up elements of one byte in a table of at most `16 * TABLES` entries.
#[inline(always)]
fn bytes<const TABLES: usize>(level: Avx2, job: &MoveJob<'_>) -> usize {
    let (chain, places) = (chain::<TABLES>(level, &Table::of(job, 1).padded()), Places::<1>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(VECTOR, |at| places.store(at, follow(level, &chain, narrow(level, positions, at))))
}

/// The tables of 16 entries. Each table but the first of a chain is xored with the previous table.
#[inline(always)]
fn chain<const TABLES: usize>(level: Avx2, table: &[u8; 256]) -> [__m256i; TABLES] {
    let (mut chain, mut before) = ([level.zero(); TABLES], level.zero());
    for (k, link) in chain.iter_mut().enumerate() {
        let entries = level.twice(Vector::of(level, &table.as_chunks::<16>().0[k]));
        *link = if k % 8 == 0 { entries } else { level.xor(entries, before) };
        before = entries;
    }
    chain
}

/// The entries at 32 indices.
#[inline(always)]
fn follow<const TABLES: usize>(level: Avx2, chain: &[__m256i; TABLES], indices: __m256i) -> __m256i {
    let (sixteen, upper) = (level.splat8(16), level.splat8(128));
    let (mut found, mut x) = (level.zero(), indices);
    for (k, &link) in chain.iter().enumerate() {
        if k == 8 {
            x = level.xor(indices, upper);
        } else if k > 0 {
            x = level.minus8(x, sixteen);
        }
        found = level.xor(found, level.look_up_32(link, x));
    }
    found
}

/// Positions `at..at + 32`, all below 256, as bytes.
#[inline(always)]
fn narrow(level: Avx2, positions: Numbers<'_, i32>, at: usize) -> __m256i {
    let [a, b, c, d] = [0, 8, 16, 24].map(|eight| positions.load(level, at + eight));
    // Packing works on 128-bit halves: 4 bytes each of a b c d a b c d.
    let packed = level.packed8(level.packed16(a, b), level.packed16(c, d));
    Eight::permuted(packed, Vector::of(level, &[0i32, 4, 1, 5, 2, 6, 3, 7]))
}

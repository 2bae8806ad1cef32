//! Register tables: if all of data fits in vector registers, elements are looked up by shuffles.
//!
//! ```text
//! 1 byte,  <= 16 entries   one register
//! 1 byte,  <= 256 entries  one, two or four tables of 64 entries, four registers each
//! 2 bytes, <= 32 entries   a table of 64 bytes, looked up by the numbers of the bytes: 2i, 2i + 1
//! 4 bytes, <= 16 entries   a table of 64 bytes, looked up by 4i to 4i + 3
//! 8 bytes, <= 8 entries    a table of 64 bytes, looked up by 8i to 8i + 7
//! ```
//!
//! A lookup returns 0 for numbers past the table. Byte number `x` is looked up in table `k` of 64 entries by `x - 64k`,
//! which wraps around if `x` belongs to an earlier table. All results are combined by `or`. One-byte indices are looked
//! up directly, checked 16 at a time; others are resolved to positions first. No read passes the end of data: the table
//! is copied to the stack first.

#![forbid(unsafe_code)]

use super::{V128, VECTOR};
use crate::kernels::level_fn::Scalar;
use crate::kernels::moves::contiguous::{self, ByteBounds, Numbers, Places};
use crate::kernels::moves::table_entries;
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::types::index::Index;
use crate::types::level::Level;

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with vectors, for whole steps of elements.
#[inline(always)]
pub(super) fn look_up<const BYTES: usize>(job: &MoveJob<'_>) -> usize {
    let entries = job.table_entries;
    debug_assert!(entries <= table_entries(Level::Neon, BYTES), "K9: a table of {entries}");
    match (BYTES, entries) {
        (1, ..=16) => bytes::<1>(job),
        (1, ..=64) => bytes::<4>(job),
        (1, ..=128) => bytes::<8>(job),
        (1, _) => bytes::<16>(job),
        (2, _) => halves(job),
        (4, _) => words(job),
        (8, _) => pairs(job),
        _ => 0,
    }
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with vectors.
#[inline(always)]
pub(super) fn look_up_bytes<I: Index>(strip: &Strip<'_>) -> usize {
    match strip.spec().table_entries {
        0..=16 => straight::<I, 1>(strip),
        17..=64 => straight::<I, 4>(strip),
        65..=128 => straight::<I, 8>(strip),
        _ => straight::<I, 16>(strip),
    }
}

/// A table of bytes in `N` registers: one register, or groups of four.
#[derive(Clone, Copy)]
struct ByteTable<const N: usize>([V128; N]);

impl<const N: usize> ByteTable<N> {
    /// The first `16 * N` entries.
    #[inline(always)]
    fn new(entries: &[u8; 256]) -> Self {
        ByteTable(core::array::from_fn(|part| V128::of_bytes(entries.as_chunks().0[part])))
    }

    #[inline(always)]
    fn of(job: &MoveJob<'_>, size: usize) -> Self {
        ByteTable::new(&contiguous::Table::of(job, size).padded())
    }

    /// The bytes at 16 numbers within the table.
    #[inline(always)]
    fn at(&self, numbers: V128) -> V128 {
        if N == 1 {
            return V128::look_up_16(self.0[0], numbers);
        }
        let mut found = V128::zero();
        for (k, &table) in self.0.as_chunks::<4>().0.iter().enumerate() {
            let numbers = V128::add8(numbers, V128::bytes((k as u8 * 64).wrapping_neg()));
            found = V128::or(found, V128::look_up_64(table, numbers));
        }
        found
    }
}

/// Looks up elements of one byte.
#[inline(always)]
fn bytes<const N: usize>(job: &MoveJob<'_>) -> usize {
    let (table, positions, places) = (ByteTable::<N>::of(job, 1), Numbers::positions(job), Places::<1>::of(job));
    places.each_step(VECTOR, |at| places.store(at, table.at(narrow(positions, at))))
}

/// Positions `at..at + 16`, all below 256, as bytes.
#[inline(always)]
fn narrow(positions: Numbers<'_, i32>, at: usize) -> V128 {
    let [a, b, c, d] = [0, 4, 8, 12].map(|four| positions.load(Scalar, at + four));
    V128::even8(V128::even16(a, b), V128::even16(c, d))
}

/// Looks up elements of 2 bytes.
#[inline(always)]
fn halves(job: &MoveJob<'_>) -> usize {
    let (table, positions, places) = (ByteTable::<4>::of(job, 2), Numbers::positions(job), Places::<2>::of(job));
    places.each_step(VECTOR, |at| {
        let positions = narrow(positions, at);
        let even = V128::add8(positions, positions);
        let odd = V128::add8(even, V128::bytes(1));
        for (half, numbers) in V128::zip8(even, odd).into_iter().enumerate() {
            places.store(at + half * 8, table.at(numbers));
        }
    })
}

/// Looks up elements of 4 bytes.
#[inline(always)]
fn words(job: &MoveJob<'_>) -> usize {
    let (table, positions, places) = (ByteTable::<4>::of(job, 4), Numbers::positions(job), Places::<4>::of(job));
    let within = V128::of_bytes([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    places.each_step(4, |at| {
        let numbers = V128::add32(V128::mul32(positions.load(Scalar, at), V128::bytes(4)), within);
        places.store(at, table.at(numbers));
    })
}

/// Looks up elements of 8 bytes.
#[inline(always)]
fn pairs(job: &MoveJob<'_>) -> usize {
    let (table, positions, places) = (ByteTable::<4>::of(job, 8), Numbers::positions(job), Places::<8>::of(job));
    let within = V128::of_bytes([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    places.each_step(4, |at| {
        let positions: V128 = positions.load(Scalar, at);
        for (half, twice) in V128::zip32(positions, positions).into_iter().enumerate() {
            let numbers = V128::add32(V128::mul32(twice, V128::bytes(8)), within);
            places.store(at + half * 2, table.at(numbers));
        }
    })
}

/// Looks up bytes by one-byte indices.
#[inline(always)]
fn straight<I: Index, const N: usize>(strip: &Strip<'_>) -> usize {
    let (table, places) =
        (ByteTable::<N>::new(&contiguous::Table::of_bytes(strip).padded()), Places::<1>::along(strip));
    let (indices, bounds) = (Numbers::<u8>::indices(strip), ByteBounds::of::<I>(strip));
    let (add, last) = (V128::bytes(bounds.add), V128::bytes(bounds.last));
    let done = places.n() - places.n() % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        let x = indices.load(Scalar, at);
        let negative = if bounds.signed { V128::sign8(x) } else { V128::zero() };
        let x = V128::add8(x, V128::and(negative, add));
        let inside = V128::eq8(V128::min8(x, last), x);
        // Unless negative indices count from the end, they are out of range, whatever their bits.
        let refused = if bounds.from_end { V128::zero() } else { negative };
        if !V128::all_set8(V128::select(refused, V128::zero(), inside)) {
            return at;
        }
        places.store(at, table.at(x));
    }
    done
}

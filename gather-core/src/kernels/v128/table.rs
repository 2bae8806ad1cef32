//! Register tables: an axis so short that all of data fits in vector registers is looked up by shuffles.
//!
//! ```text
//! 1 byte,  <= 16 entries   one register
//! 1 byte,  <= 256 entries  one, two or four tables of 64 entries, four registers each
//! 2 bytes, <= 32 entries   a table of 64 bytes, looked up by the numbers of the bytes: 2i, 2i + 1
//! 4 bytes, <= 16 entries   the same with 4i to 4i + 3
//! 8 bytes, <= 8 entries    the same with 8i to 8i + 7
//! ```
//!
//! A lookup yields 0 where a number is greater than the table. So with `x` the number of a byte, table `k` of 64 is
//! looked up by `x - 64k`, which wraps around where `x` belongs to a table before it, and all results are put together
//! by `or`.
//!
//! Indices of one byte are looked up straight, checked 16 at a time; others are resolved to positions first. No read
//! goes past the end of data: the table is copied to the stack first.

use super::{V128, VECTOR};
use crate::kernels::moves::MoveJob;
use crate::kernels::resolve::ResolveJob;
use crate::kernels::table_entries;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with vectors: as many elements as make whole steps.
///
/// # Safety
/// As for [`LookUpFn`](crate::kernels::moves::LookUpFn).
#[inline(always)]
pub(super) unsafe fn look_up<const BYTES: usize>(job: &MoveJob) -> usize {
    debug_assert!(
        job.packed && job.table_entries <= table_entries(Level::Neon, BYTES),
        "K9: a table of {}",
        job.table_entries
    );
    match (BYTES, job.table_entries) {
        // SAFETY: the caller's promise.
        (1, ..=16) => unsafe { bytes::<Sixteen>(job) },
        // SAFETY: the caller's promise.
        (1, ..=64) => unsafe { bytes::<Sixties<1>>(job) },
        // SAFETY: the caller's promise.
        (1, ..=128) => unsafe { bytes::<Sixties<2>>(job) },
        // SAFETY: the caller's promise.
        (1, _) => unsafe { bytes::<Sixties<4>>(job) },
        // SAFETY: the caller's promise.
        (2, _) => unsafe { halves(job) },
        // SAFETY: the caller's promise.
        (4, _) => unsafe { words(job) },
        // SAFETY: the caller's promise.
        (8, _) => unsafe { pairs(job) },
        _ => 0,
    }
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with vectors.
///
/// # Safety
/// As for [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn).
#[inline(always)]
pub(super) unsafe fn look_up_bytes<I: Index>(job: &ResolveJob, moves: &MoveJob) -> usize {
    debug_assert!(moves.packed && moves.table_entries <= table_entries(Level::Neon, 1) && job.stride == 1, "K9");
    if size_of::<I>() != 1 {
        return 0;
    }
    match moves.table_entries {
        // SAFETY: the caller's promise.
        0..=16 => unsafe { straight::<I, Sixteen>(job, moves) },
        // SAFETY: the caller's promise.
        17..=64 => unsafe { straight::<I, Sixties<1>>(job, moves) },
        // SAFETY: the caller's promise.
        65..=128 => unsafe { straight::<I, Sixties<2>>(job, moves) },
        // SAFETY: the caller's promise.
        _ => unsafe { straight::<I, Sixties<4>>(job, moves) },
    }
}

/// A table of bytes in registers.
trait Table: Copy {
    /// The table; entries that it has no room for are left out.
    fn new(entries: &[u8; 256]) -> Self;

    /// The bytes at 16 numbers within the table.
    fn at(&self, numbers: V128) -> V128;
}

/// 16 bytes.
#[derive(Clone, Copy)]
struct Sixteen(V128);

impl Table for Sixteen {
    #[inline(always)]
    fn new(entries: &[u8; 256]) -> Self {
        Sixteen(sixteen(entries, 0))
    }

    #[inline(always)]
    fn at(&self, numbers: V128) -> V128 {
        V128::look_up_16(self.0, numbers)
    }
}

/// `N` times 64 bytes.
#[derive(Clone, Copy)]
struct Sixties<const N: usize>([[V128; 4]; N]);

impl<const N: usize> Table for Sixties<N> {
    #[inline(always)]
    fn new(entries: &[u8; 256]) -> Self {
        Sixties(core::array::from_fn(|table| [0, 1, 2, 3].map(|part| sixteen(entries, table * 4 + part))))
    }

    #[inline(always)]
    fn at(&self, numbers: V128) -> V128 {
        let mut found = V128::zero();
        for (k, &table) in self.0.iter().enumerate() {
            let numbers = V128::add8(numbers, V128::bytes((k as u8 * 64).wrapping_neg()));
            found = V128::or(found, V128::look_up_64(table, numbers));
        }
        found
    }
}

/// Bytes `16 part` to `16 part + 15`.
#[inline(always)]
fn sixteen(entries: &[u8; 256], part: usize) -> V128 {
    V128::of_bytes(entries.as_chunks().0[part])
}

/// The table of a job, zero beyond its entries.
///
/// # Safety
/// K9: the job's entries, of `size` bytes each, are contiguous and may be read. They have at most 256 bytes.
#[inline(always)]
unsafe fn table<T: Table>(moves: &MoveJob, size: usize) -> T {
    let (mut table, bytes) = ([0; 256], moves.table_entries * size);
    debug_assert!(bytes <= table.len());
    // SAFETY: the caller's promise; the array is ours.
    unsafe { table.as_mut_ptr().copy_from_nonoverlapping(moves.data, bytes) };
    T::new(&table)
}

/// Elements of one byte.
///
/// # Safety
/// As for [`look_up`]; the entries fit in the table.
#[inline(always)]
unsafe fn bytes<T: Table>(moves: &MoveJob) -> usize {
    // SAFETY: the caller's promise.
    let table: T = unsafe { table(moves, 1) };
    let done = moves.n - moves.n % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        // SAFETY: 16 of the `n` positions.
        let numbers = unsafe { narrow(moves.positions.wrapping_add(at)) };
        // SAFETY: K1: 16 moves.
        unsafe { table.at(numbers).store(moves.out.wrapping_add(at)) };
    }
    done
}

/// 16 positions below 256, as bytes.
///
/// # Safety
/// They may be read.
#[inline(always)]
unsafe fn narrow(positions: *const i32) -> V128 {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| {
        // SAFETY: four of the 16 positions.
        unsafe { V128::load(positions.wrapping_add(4 * k).cast()) }
    });
    V128::even8(V128::even16(a, b), V128::even16(c, d))
}

/// Elements of 2 bytes.
///
/// # Safety
/// As for [`look_up`].
#[inline(always)]
unsafe fn halves(moves: &MoveJob) -> usize {
    // SAFETY: K9, for entries of 2 bytes.
    let table: Sixties<1> = unsafe { table(moves, 2) };
    let done = moves.n - moves.n % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        // SAFETY: 16 of the `n` positions.
        let positions = unsafe { narrow(moves.positions.wrapping_add(at)) };
        let even = V128::add8(positions, positions);
        let odd = V128::add8(even, V128::bytes(1));
        for (half, numbers) in V128::zip8(even, odd).into_iter().enumerate() {
            // SAFETY: K1: eight of 16 moves.
            unsafe { table.at(numbers).store(moves.out.wrapping_add(at * 2 + half * VECTOR)) };
        }
    }
    done
}

/// Elements of 4 bytes.
///
/// # Safety
/// As for [`look_up`].
#[inline(always)]
unsafe fn words(moves: &MoveJob) -> usize {
    // SAFETY: K9, for entries of 4 bytes.
    let table: Sixties<1> = unsafe { table(moves, 4) };
    let done = moves.n - moves.n % 4;
    for at in (0..done).step_by(4) {
        // SAFETY: four of the `n` positions.
        let positions = unsafe { V128::load(moves.positions.wrapping_add(at).cast()) };
        let numbers = V128::add32(V128::mul32(positions, V128::words(0x0404_0404)), V128::words(0x0302_0100));
        // SAFETY: K1: four moves.
        unsafe { table.at(numbers).store(moves.out.wrapping_add(at * 4)) };
    }
    done
}

/// Elements of 8 bytes.
///
/// # Safety
/// As for [`look_up`].
#[inline(always)]
unsafe fn pairs(moves: &MoveJob) -> usize {
    // SAFETY: K9, for entries of 8 bytes.
    let table: Sixties<1> = unsafe { table(moves, 8) };
    let within = V128::of_words([0x0302_0100, 0x0706_0504, 0x0302_0100, 0x0706_0504]);
    let done = moves.n - moves.n % 4;
    for at in (0..done).step_by(4) {
        // SAFETY: four of the `n` positions.
        let positions = unsafe { V128::load(moves.positions.wrapping_add(at).cast()) };
        for (half, twice) in V128::zip32(positions, positions).into_iter().enumerate() {
            let numbers = V128::add32(V128::mul32(twice, V128::words(0x0808_0808)), within);
            // SAFETY: K1: two of four moves.
            unsafe { table.at(numbers).store(moves.out.wrapping_add(at * 8 + half * VECTOR)) };
        }
    }
    done
}

/// Bytes by indices of one byte.
///
/// # Safety
/// As for [`look_up_bytes`]; the entries fit in the table, and indices have one byte.
#[inline(always)]
unsafe fn straight<I: Index, T: Table>(job: &ResolveJob, moves: &MoveJob) -> usize {
    // SAFETY: the caller's promise.
    let table: T = unsafe { table(moves, 1) };
    let signed = I::TYPE.fixed_width() == IndexType::I8;
    let from_end =
        signed && (job.policy.negative == NegativeIndex::FromEnd || job.policy.out_of_bounds == OutOfBounds::Wrap);
    // Modulo 256: an axis of 256 adds nothing, and the bits of -1 are 255 already.
    let add = V128::bytes(if from_end { job.dim as u8 } else { 0 });
    let last = V128::bytes((job.dim - 1) as u8);
    let done = moves.n - moves.n % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        // SAFETY: K3: 16 of the `n` indices.
        let x = unsafe { V128::load(job.index.wrapping_add(at)) };
        let negative = if signed { V128::sign8(x) } else { V128::zero() };
        let x = V128::add8(x, V128::and(negative, add));
        let inside = V128::eq8(V128::min8(x, last), x);
        // Without counting from the end a negative index is out of range, whatever its bits.
        let refused = if from_end { V128::zero() } else { negative };
        if !V128::all_set8(V128::select(refused, V128::zero(), inside)) {
            return at;
        }
        // SAFETY: K1: 16 moves.
        unsafe { table.at(x).store(moves.out.wrapping_add(at)) };
    }
    done
}

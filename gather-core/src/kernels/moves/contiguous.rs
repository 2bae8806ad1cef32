//! Contiguous numbers and rows that vector jobs read and write, with debug checks of their bounds.

use core::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::Avx512;
use crate::kernels::moves::copy_fixed;
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::vector::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernels::words::{IndexWords, Words};
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86::MaskedBytes;
use crate::types::index::{Index, IndexType};

/// An array of numbers, at any alignment.
///
/// Invariant: `n` values of `T` may be read from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a, T> {
    first: *const T,
    n: usize,
    held: PhantomData<&'a ()>,
}

impl<'a> Numbers<'a, i32> {
    #[inline(always)]
    pub(crate) fn positions(job: &'a MoveJob<'_>) -> Self {
        Numbers { first: job.positions, n: job.n, held: PhantomData }
    }
}

impl<'a, I: Index> Numbers<'a, I> {
    /// The indices of the only component of a strip, which are contiguous (K3, K9).
    #[inline(always)]
    pub(crate) fn indices(strip: &'a Strip<'_>) -> Self {
        let indices = strip.indices(&strip.spec().components[0]);
        debug_assert!(indices.stride() == size_of::<I>() as isize || indices.n() == 1, "K9");
        Numbers { first: indices.at().cast(), n: indices.n(), held: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn get(self, at: usize) -> I {
        debug_assert!(at < self.n, "{at} of {}", self.n);
        // SAFETY: by the invariant of `Numbers`, and callers keep `at < n`.
        unsafe { self.first.wrapping_add(at).read_unaligned() }
    }

    /// A vector of numbers, starting at number `at`.
    #[inline(always)]
    pub(crate) fn load<V: Vector>(self, level: V::Level, at: usize) -> V {
        debug_assert!(at + V::LEN / size_of::<I>() <= self.n, "{at} of {}", self.n);
        // SAFETY: by the invariant of `Numbers`, and callers keep the vector within the `n` numbers.
        unsafe { V::load(level, self.first.wrapping_add(at).cast()) }
    }

    /// `W::N` indices, starting at number `at`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn load_words<W: Words>(self, like: W, at: usize) -> IndexWords<W> {
        debug_assert!(at + W::N <= self.n, "{at} of {}", self.n);
        // SAFETY: by the invariant of `Numbers`, and callers keep `at + N <= n`.
        unsafe { IndexWords::load(like, self.first.wrapping_add(at)) }
    }

    /// The address of number `at`, to prefetch; it may be past the end.
    #[inline(always)]
    pub(crate) fn later(self, at: usize) -> *const u8 {
        self.first.wrapping_add(at).cast()
    }

    /// The bytes of numbers `at..at + n`.
    #[inline(always)]
    pub(crate) fn bytes(self, at: usize, n: usize) -> &'a [u8] {
        debug_assert!(at <= self.n && n <= self.n - at, "{n} from {at} on, of {}", self.n);
        // SAFETY: by the invariant of `Numbers`, and callers keep `at + n <= self.n`.
        unsafe { core::slice::from_raw_parts(self.first.wrapping_add(at).cast(), n * size_of::<I>()) }
    }
}

/// Rows of `BYTES` bytes in the output.
///
/// Invariant: `n` rows may be written from `first` on, and overlap nothing that is read (K1, K4).
#[derive(Clone, Copy)]
pub(crate) struct Places<'a, const BYTES: usize> {
    first: *mut u8,
    n: usize,
    held: PhantomData<&'a ()>,
}

impl<'a, const BYTES: usize> Places<'a, BYTES> {
    /// The output rows of a job whose rows the plan found packed.
    #[inline(always)]
    pub(crate) fn of(job: &'a MoveJob<'_>) -> Self {
        debug_assert!(job.packed && job.row == BYTES, "K9: rows of {} bytes are elements of {BYTES}", job.row);
        Places { first: job.out, n: job.n, held: PhantomData }
    }

    /// The output rows of a strip (K9).
    #[inline(always)]
    pub(crate) fn along(strip: &'a Strip<'_>) -> Self {
        let rows = strip.outputs();
        debug_assert!(strip.spec().row == BYTES && (rows.step() == BYTES as isize || rows.n() == 1), "K9");
        Places { first: rows.at(), n: rows.n(), held: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn n(self) -> usize {
        self.n
    }

    /// Runs `write(at)` for `at = 0, step, ..`, once per whole step; returns the number of rows in whole steps.
    #[inline(always)]
    pub(crate) fn each_step(self, step: usize, mut write: impl FnMut(usize)) -> usize {
        let done = self.n - self.n % step;
        for at in (0..done).step_by(step) {
            write(at);
        }
        done
    }

    /// Writes a vector of rows, starting at row `at`.
    #[inline(always)]
    pub(crate) fn store<V: Vector>(self, at: usize, rows: V) {
        debug_assert!(at + V::LEN / BYTES <= self.n, "{at} of {}", self.n);
        // SAFETY: by the invariant of `Places`, and callers keep the vector within the `n` rows.
        unsafe { rows.store(self.first.wrapping_add(at * BYTES)) }
    }

    /// Copies `row` to row `at`.
    #[inline(always)]
    pub(crate) fn copy(self, at: usize, row: DataRow<BYTES>) {
        debug_assert!(at < self.n, "{at} of {}", self.n);
        // SAFETY: by the invariants of `row` and of `self`, and callers keep `at < n`.
        unsafe { copy_fixed::<BYTES>(row.0, self.first.wrapping_add(at * BYTES)) }
    }

    /// The address of row `at`, to prefetch; it may be past the end.
    #[inline(always)]
    pub(crate) fn later(self, at: usize) -> *mut u8 {
        self.first.wrapping_add(at * BYTES)
    }

    /// Writes the first `(n - at) * BYTES` bytes of a vector, fewer than all, to rows `at..n`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn store_rest<V: MaskedBytes>(self, level: Avx512, at: usize, rows: V) {
        debug_assert!(at <= self.n, "{at} of {}", self.n);
        // SAFETY: by the invariant of `Places`, for rows `at..n`, which nothing else uses while the slice lives.
        let rest = unsafe { core::slice::from_raw_parts_mut(self.later(at).cast(), (self.n - at) * BYTES) };
        rows.store_first(level, rest);
    }
}

/// A row of `BYTES` bytes to read, at any alignment.
///
/// Invariant: the row may be read, and does not overlap the output.
#[derive(Clone, Copy)]
pub(crate) struct DataRow<const BYTES: usize>(*const u8);

impl<const BYTES: usize> DataRow<BYTES> {
    /// # Safety
    /// `BYTES` bytes may be read at `at`, and none of them belongs to the output.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *const u8) -> Self {
        DataRow(at)
    }

    /// The first `size_of::<T>()` bytes of the row as a number.
    #[inline(always)]
    pub(crate) fn number<T: Index>(self) -> T {
        debug_assert!(size_of::<T>() <= BYTES);
        // SAFETY: by the invariant of `DataRow`, and `size_of::<T>() <= BYTES`.
        unsafe { self.0.cast::<T>().read_unaligned() }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ByteBounds {
    /// Whether indices may be negative.
    pub(crate) signed: bool,
    /// Whether negative indices count from the end.
    pub(crate) from_end: bool,
    /// The number added to negative indices, modulo 256: an axis of 256 adds 0, since the byte of -1 is already 255.
    pub(crate) add: u8,
    /// The last position.
    pub(crate) last: u8,
}

impl ByteBounds {
    #[inline(always)]
    pub(crate) fn of<I: Index>(strip: &Strip<'_>) -> Self {
        let (policy, dim) = (strip.spec().policy, strip.spec().components[0].dim);
        let signed = I::TYPE.fixed_width() == IndexType::I8;
        let from_end = signed && policy.from_end;
        ByteBounds { signed, from_end, add: if from_end { dim as u8 } else { 0 }, last: (dim - 1) as u8 }
    }
}

/// The elements a job looks up: contiguous from the first to the last that its indices reach.
///
/// Invariant: `bytes` bytes may be read from `data` on (K9).
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    data: *const u8,
    bytes: usize,
    held: PhantomData<&'a ()>,
}

impl<'a> Table<'a> {
    /// The table of a job with elements of `size` bytes.
    #[inline(always)]
    pub(crate) fn of(job: &'a MoveJob<'_>, size: usize) -> Self {
        debug_assert!(job.row == size, "K6: rows of {} bytes are elements of {size}", job.row);
        Table { data: job.data, bytes: job.table_entries * size, held: PhantomData }
    }

    /// The table of a strip of bytes.
    #[inline(always)]
    pub(crate) fn of_bytes(strip: &'a Strip<'_>) -> Self {
        debug_assert!(strip.spec().packed && strip.spec().row == 1, "K9");
        Table { data: strip.at().data, bytes: strip.spec().table_entries, held: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: by the invariant of `Table`.
        unsafe { core::slice::from_raw_parts(self.data, self.bytes) }
    }

    /// The elements, padded with zeros.
    ///
    /// # Panics
    /// If the elements have more than `N` bytes. A plan gives each level only tables that fit (K9).
    #[inline(always)]
    pub(crate) fn padded<const N: usize>(self) -> [u8; N] {
        let mut table = [0; N];
        table[..self.bytes].copy_from_slice(self.bytes());
        table
    }
}

//! Numbers and rows that are contiguous: what jobs by vectors read and write, with the checks of where they end.

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

/// Numbers, at any alignment.
///
/// Invariant: `n` values of `T` may be read from `first` on.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a, T> {
    first: *const T,
    n: usize,
    held: PhantomData<&'a ()>,
}

impl<'a> Numbers<'a, i32> {
    /// The positions of a job.
    #[inline(always)]
    pub(crate) fn positions(job: &'a MoveJob<'_>) -> Self {
        Numbers { first: job.positions, n: job.n, held: PhantomData }
    }
}

impl<'a, I: Index> Numbers<'a, I> {
    /// The indices of a strip, of the only component, which are contiguous (K3, K9).
    #[inline(always)]
    pub(crate) fn indices(strip: &'a Strip<'_>) -> Self {
        let indices = strip.indices(&strip.spec().components[0]);
        debug_assert!(indices.stride() == size_of::<I>() as isize || indices.n() == 1, "K9");
        Numbers { first: indices.at().cast(), n: indices.n(), held: PhantomData }
    }

    /// Number `at`.
    #[inline(always)]
    pub(crate) fn get(self, at: usize) -> I {
        debug_assert!(at < self.n, "{at} of {}", self.n);
        // SAFETY: one of the `n` numbers.
        unsafe { self.first.wrapping_add(at).read_unaligned() }
    }

    /// A vector of numbers, from number `at` on.
    #[inline(always)]
    pub(crate) fn load<V: Vector>(self, level: V::Level, at: usize) -> V {
        debug_assert!(at + V::LEN / size_of::<I>() <= self.n, "{at} of {}", self.n);
        // SAFETY: a vector of the `n` numbers.
        unsafe { V::load(level, self.first.wrapping_add(at).cast()) }
    }

    /// As many indices as a vector has lanes, from number `at` on.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn load_words<W: Words>(self, like: W, at: usize) -> IndexWords<W> {
        debug_assert!(at + W::N <= self.n, "{at} of {}", self.n);
        // SAFETY: `N` of the `n` numbers.
        unsafe { IndexWords::load(like, self.first.wrapping_add(at)) }
    }

    /// Where number `at` would lie, to be prefetched: it may stand past the end.
    #[inline(always)]
    pub(crate) fn later(self, at: usize) -> *const u8 {
        self.first.wrapping_add(at).cast()
    }

    /// The bytes of `n` numbers from number `at` on.
    #[inline(always)]
    pub(crate) fn bytes(self, at: usize, n: usize) -> &'a [u8] {
        debug_assert!(at <= self.n && n <= self.n - at, "{n} from {at} on, of {}", self.n);
        // SAFETY: bytes of the `n` numbers.
        unsafe { core::slice::from_raw_parts(self.first.wrapping_add(at).cast(), n * size_of::<I>()) }
    }
}

/// Rows of `BYTES` bytes of an output.
///
/// Invariant: `n` rows may be written from `first` on, apart from all that is read (K1, K4).
#[derive(Clone, Copy)]
pub(crate) struct Places<'a, const BYTES: usize> {
    first: *mut u8,
    n: usize,
    held: PhantomData<&'a ()>,
}

impl<'a, const BYTES: usize> Places<'a, BYTES> {
    /// Those of a job whose rows the plan found packed.
    #[inline(always)]
    pub(crate) fn of(job: &'a MoveJob<'_>) -> Self {
        debug_assert!(job.packed && job.row == BYTES, "K9: rows of {} bytes are elements of {BYTES}", job.row);
        Places { first: job.out, n: job.n, held: PhantomData }
    }

    /// Those of a strip (K9).
    #[inline(always)]
    pub(crate) fn along(strip: &'a Strip<'_>) -> Self {
        let rows = strip.outputs();
        debug_assert!(strip.spec().row == BYTES && (rows.step() == BYTES as isize || rows.n() == 1), "K9");
        Places { first: rows.at(), n: rows.n(), held: PhantomData }
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn n(self) -> usize {
        self.n
    }

    /// Runs `write` for the first of each `step` rows; returns how many rows these are.
    #[inline(always)]
    pub(crate) fn each_step(self, step: usize, mut write: impl FnMut(usize)) -> usize {
        let done = self.n - self.n % step;
        for at in (0..done).step_by(step) {
            write(at);
        }
        done
    }

    /// Writes a vector of rows, from row `at` on.
    #[inline(always)]
    pub(crate) fn store<V: Vector>(self, at: usize, rows: V) {
        debug_assert!(at + V::LEN / BYTES <= self.n, "{at} of {}", self.n);
        // SAFETY: a vector of the `n` rows.
        unsafe { rows.store(self.first.wrapping_add(at * BYTES)) }
    }

    /// Copies a row to place `at`.
    #[inline(always)]
    pub(crate) fn copy(self, at: usize, row: DataRow<BYTES>) {
        debug_assert!(at < self.n, "{at} of {}", self.n);
        // SAFETY: a row may be read there, and is apart from the output, of whose `n` rows this is one.
        unsafe { copy_fixed::<BYTES>(row.0, self.first.wrapping_add(at * BYTES)) }
    }

    /// Where row `at` would go, to be prefetched: it may stand past the end.
    #[inline(always)]
    pub(crate) fn later(self, at: usize) -> *mut u8 {
        self.first.wrapping_add(at * BYTES)
    }

    /// Writes the first bytes of a vector to the rows from row `at` on, fewer than fill it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn store_rest<V: MaskedBytes>(self, level: Avx512, at: usize, rows: V) {
        debug_assert!(at <= self.n, "{at} of {}", self.n);
        // SAFETY: bytes of the `n` rows, which are written through this value alone.
        let rest = unsafe { core::slice::from_raw_parts_mut(self.later(at).cast(), (self.n - at) * BYTES) };
        rows.store_first(level, rest);
    }
}

/// A row of `BYTES` bytes, at any alignment.
///
/// Invariant: it may be read, and is apart from the output.
#[derive(Clone, Copy)]
pub(crate) struct DataRow<const BYTES: usize>(*const u8);

impl<const BYTES: usize> DataRow<BYTES> {
    /// The row at an address.
    ///
    /// # Safety
    /// It may be read, and shares no byte with the output.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *const u8) -> Self {
        DataRow(at)
    }

    /// The row as a number of as many bytes.
    #[inline(always)]
    pub(crate) fn number<T: Index>(self) -> T {
        debug_assert!(size_of::<T>() <= BYTES);
        // SAFETY: bytes of the row.
        unsafe { self.0.cast::<T>().read_unaligned() }
    }
}

/// The bounds of indices of one byte.
#[derive(Clone, Copy)]
pub(crate) struct ByteBounds {
    /// Whether indices may be negative, and whether those count from the end.
    pub(crate) signed: bool,
    pub(crate) from_end: bool,
    /// The number that is added to negative indices. Modulo 256: an axis of 256 adds nothing, and the bits of -1 are
    /// 255 already.
    pub(crate) add: u8,
    /// The last position.
    pub(crate) last: u8,
}

impl ByteBounds {
    /// Those of a strip whose indices have type `I`.
    #[inline(always)]
    pub(crate) fn of<I: Index>(strip: &Strip<'_>) -> Self {
        let (policy, dim) = (strip.spec().policy, strip.spec().components[0].dim);
        let signed = I::TYPE.fixed_width() == IndexType::I8;
        let from_end = signed && policy.from_end;
        ByteBounds { signed, from_end, add: if from_end { dim as u8 } else { 0 }, last: (dim - 1) as u8 }
    }
}

/// The elements that a job looks up: all that its indices reach, contiguous from the first on.
///
/// Invariant: their `bytes` bytes may be read from `data` on (K9).
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    data: *const u8,
    bytes: usize,
    held: PhantomData<&'a ()>,
}

impl<'a> Table<'a> {
    /// That of a job of elements of `size` bytes.
    #[inline(always)]
    pub(crate) fn of(job: &'a MoveJob<'_>, size: usize) -> Self {
        debug_assert!(job.row == size, "K6: rows of {} bytes are elements of {size}", job.row);
        Table { data: job.data, bytes: job.table_entries * size, held: PhantomData }
    }

    /// That of a strip whose rows are bytes.
    #[inline(always)]
    pub(crate) fn of_bytes(strip: &'a Strip<'_>) -> Self {
        debug_assert!(strip.spec().packed && strip.spec().row == 1, "K9");
        Table { data: strip.at().data, bytes: strip.spec().table_entries, held: PhantomData }
    }

    /// The bytes of the elements.
    #[inline(always)]
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: the bytes may be read.
        unsafe { core::slice::from_raw_parts(self.data, self.bytes) }
    }

    /// The elements, and zeros behind them.
    ///
    /// # Panics
    /// When they have more than `N` bytes: a plan gives a level tables that fit (K9).
    #[inline(always)]
    pub(crate) fn padded<const N: usize>(self) -> [u8; N] {
        let mut table = [0; N];
        table[..self.bytes].copy_from_slice(self.bytes());
        table
    }
}

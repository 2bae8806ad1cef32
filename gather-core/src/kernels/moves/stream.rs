//! Rows written by non-temporal stores, for outputs that do not fit in the last-level cache next to the data.
//!
//! Only whole lines are written by non-temporal stores, each once: a line written both ways would be evicted in
//! between. A line that two rows share is assembled on the stack.
//!
//! Address and thread sanitizers do not see non-temporal stores, whose intrinsics are inline assembly. Valgrind does.

use core::mem::MaybeUninit;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::STREAMED_AT_ONCE;
use crate::kernels::moves::prefetching::{JobAndNext, sources};
use crate::kernels::prefetch::{LINE, prefetch, prefetch_row};
pub(crate) use crate::kernels::x86::fence;
use crate::kernels::x86::stream_line;

/// Moves the rows of a job by non-temporal stores of whole lines, and prefetches the rows of the next job. [`fence`]
/// precedes any other access to the output.
pub(crate) enum StreamRows {}

impl LevelFn for StreamRows {
    type Args<'a> = JobAndNext<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (job, ahead): JobAndNext<'_>) {
        let row = job.row;
        debug_assert!(row >= LINE, "K9: rows of {row} bytes are not streamed");
        let (mut from, mut next) = (sources::<false>(job, row), sources::<false>(ahead.unchecked_job(), row));
        let mut later = ahead.positions().iter();
        let mut rows = RowsToStream { step: job.out_step, left: job.n, is_begun: false, shared: SharedLine::new() };
        for (i, &position) in job.each_position().iter().enumerate() {
            let source = from(position);
            let later = later.next().map_or(source, |&position| next(position));
            // SAFETY: K1, K2 and K4 for row `i`: `row` bytes at both ends, which do not overlap.
            rows.stream(unsafe { StreamedRow::new(source, job.target(i), row) }, later);
        }
        for &position in later {
            prefetch_row(next(position), row);
        }
    }
}

/// Bytes of the vectors that store rows non-temporally without a conversion. Longer vectors take more time here
/// (workload `gather/embedding_50257x768_8k`), but less time in [`Pending`].
const ROW_VECTOR: usize = 16;

/// The source and the target of a row.
///
/// Invariant: `bytes >= LINE` bytes may be read at `from` and written at `to`, and do not overlap.
#[derive(Clone, Copy)]
struct StreamedRow {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

impl StreamedRow {
    /// # Safety
    /// `bytes >= LINE` bytes may be read at `from` and written at `to`, and do not overlap.
    #[inline(always)]
    unsafe fn new(from: *const u8, to: *mut u8, bytes: usize) -> Self {
        debug_assert!(bytes >= LINE);
        StreamedRow { from, to, bytes }
    }

    /// Copies bytes `at..at + n`.
    #[inline(always)]
    fn copy(self, at: usize, n: usize) {
        debug_assert!(at + n <= self.bytes);
        // SAFETY: by the invariant of `StreamedRow`, and callers keep `at + n <= bytes`.
        unsafe { self.to.wrapping_add(at).copy_from_nonoverlapping(self.from.wrapping_add(at), n) };
    }

    /// Copies the line at byte `at` by non-temporal stores. It is an aligned line of the output.
    #[inline(always)]
    fn stream(self, at: usize) {
        debug_assert!(at + LINE <= self.bytes);
        // SAFETY: callers pass a line of the row that is aligned in the output. The callers of `StreamRows` fence.
        unsafe { stream_line::<ROW_VECTOR>(self.from.wrapping_add(at), self.to.wrapping_add(at)) };
    }

    /// The line of bytes at byte `at`.
    #[inline(always)]
    fn line(self, at: usize) -> [u8; LINE] {
        debug_assert!(at + LINE <= self.bytes);
        // SAFETY: callers keep `at + LINE <= bytes`, the bytes of the row; an array of bytes has alignment 1.
        unsafe { self.from.wrapping_add(at).cast::<[u8; LINE]>().read() }
    }
}

/// The rows of a job that are not yet written.
struct RowsToStream {
    step: isize,
    left: usize,
    /// Whether the previous row has begun the line in which the next row begins.
    is_begun: bool,
    shared: SharedLine,
}

impl RowsToStream {
    /// Writes the next row, and prefetches the lines of a later row.
    #[inline(always)]
    fn stream(&mut self, row: StreamedRow, later: *const u8) {
        let StreamedRow { to, bytes, .. } = row;
        let mut at = to.addr().wrapping_neg() % LINE;
        if at > 0 || !bytes.is_multiple_of(LINE) || !later.addr().is_multiple_of(LINE) {
            prefetch(later, 1);
            prefetch(later.wrapping_add(bytes - 1), 1);
        }
        if self.is_begun {
            self.shared.put(2 * LINE - at, row.line(0));
            // SAFETY: the previous row ends where this row begins, inside this line; `shared` has the bytes of both.
            unsafe { stream_line::<ROW_VECTOR>(self.shared.line(), to.wrapping_sub(LINE - at)) };
        } else if at > 0 {
            row.copy(0, at);
        }
        while at + LINE <= bytes {
            prefetch(later.wrapping_add(at), 1);
            row.stream(at);
            at += LINE;
        }
        self.left -= 1;
        // Contiguous rows share lines.
        self.is_begun = at < bytes && self.step == bytes as isize && self.left > 0;
        if self.is_begun {
            self.shared.put(bytes - at, row.line(bytes - LINE));
        } else if at < bytes {
            row.copy(at, bytes - at);
        }
    }
}

/// Contiguous bytes of an output, collected until whole lines can be written by non-temporal stores. Its drop writes
/// the remaining bytes and fences, even if a map panics, so that no element is left half written.
#[repr(C, align(64))]
pub(crate) struct Pending<const VECTOR: usize> {
    buffer: [MaybeUninit<u8>; BUFFER],
    /// The target of byte 0 of the buffer: the start of a line.
    to: *mut u8,
    /// The start of the pending bytes `buffer[begin..end]`, below `LINE`.
    begin: usize,
    /// The end of the pending bytes.
    end: usize,
}

/// Bytes of a `take`, with a line for pending bytes before them, and a line after them, which `take` may copy.
const BUFFER: usize = STREAMED_AT_ONCE + 2 * LINE;

impl<const VECTOR: usize> Pending<VECTOR> {
    /// An empty buffer for the bytes at `to` and after it.
    ///
    /// # Safety
    /// All bytes taken may be written there, and nothing else uses that memory until the value is dropped. The machine
    /// has vectors of `VECTOR` bytes.
    #[inline(always)]
    pub(crate) unsafe fn new(to: *mut u8) -> Self {
        let begin = to.addr() % LINE;
        let buffer = [const { MaybeUninit::uninit() }; BUFFER];
        Pending { buffer, to: to.wrapping_sub(begin), begin, end: begin }
    }

    /// The buffer for the next bytes, at most [`STREAMED_AT_ONCE`], at the same offset in a line as in the output.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> *mut u8 {
        debug_assert!(self.end < LINE);
        self.buffer.as_mut_ptr().wrapping_add(self.end).cast()
    }

    /// Takes the next `bytes` bytes from [`Pending::next`], and writes all whole lines.
    ///
    /// # Safety
    /// `bytes` bytes have been written to [`Pending::next`].
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self, bytes: usize) {
        debug_assert!(bytes <= STREAMED_AT_ONCE);
        self.end += bytes;
        // Copies: the stores are inline assembly, after which fields would be loaded again.
        let (from, to, end) = (self.buffer.as_ptr().cast::<u8>(), self.to, self.end);
        let mut at = 0;
        if self.begin > 0 && end >= LINE {
            self.write(LINE);
            at = LINE;
        }
        while at + LINE <= end {
            // SAFETY: a line of pending bytes, which may be written to an aligned line of the output. `drop` fences. By
            // the contract of `new`, the machine has the vectors.
            unsafe { stream_line::<VECTOR>(from.wrapping_add(at), to.wrapping_add(at)) };
            at += LINE;
        }
        if at > 0 {
            self.buffer.copy_within(at..at + LINE, 0);
            (self.to, self.begin, self.end) = (to.wrapping_add(at), 0, end - at);
        }
    }

    /// Writes the pending bytes up to byte `end` of the buffer.
    #[inline(always)]
    fn write(&self, end: usize) {
        debug_assert!((self.begin..=self.end).contains(&end));
        let (from, to) = (self.buffer.as_ptr().wrapping_add(self.begin).cast(), self.to.wrapping_add(self.begin));
        // SAFETY: `take` has received these bytes, initialised; by the contract of `new` they may be written.
        unsafe { to.copy_from_nonoverlapping(from, end - self.begin) }
    }
}

impl<const VECTOR: usize> Drop for Pending<VECTOR> {
    #[inline(always)]
    fn drop(&mut self) {
        self.write(self.end);
        fence();
    }
}

/// A line that two rows share, with a line of padding on either side.
#[repr(C, align(64))]
struct SharedLine([MaybeUninit<u8>; 3 * LINE]);

impl SharedLine {
    #[inline(always)]
    fn new() -> Self {
        SharedLine([MaybeUninit::uninit(); 3 * LINE])
    }

    #[inline(always)]
    fn line(&self) -> *const u8 {
        self.0.as_ptr().wrapping_add(LINE).cast()
    }

    /// Writes a line of bytes at byte `at` of the three lines.
    #[inline(always)]
    fn put(&mut self, at: usize, bytes: [u8; LINE]) {
        debug_assert!(at <= 2 * LINE);
        // SAFETY: callers keep `at <= 2 * LINE`, so the bytes end in the buffer of `3 * LINE`.
        unsafe { self.0.as_mut_ptr().wrapping_add(at).cast::<[u8; LINE]>().write(bytes) };
    }
}

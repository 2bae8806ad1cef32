//! Rows that are written by non-temporal stores: outputs that the last-level cache cannot hold beside what they are
//! read from.
//!
//! Only whole lines are written by non-temporal stores, each once: a line that is written both ways would be evicted in
//! between. A line that two rows share is put together on the stack.
//!
//! Address and thread sanitizers do not see these stores, whose intrinsics are inline assembly. Valgrind does.

use core::mem::MaybeUninit;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::STREAMED_AT_ONCE;
use crate::kernels::moves::prefetching::{JobAndNext, sources};
use crate::kernels::prefetch::{LINE, prefetch, prefetch_row};
pub(crate) use crate::kernels::x86::fence;
use crate::kernels::x86::stream_line;

/// Moves the rows of a job, with non-temporal stores of whole lines of the output, and prefetches those of the job
/// after it. [`fence`] comes before any other access to what is written.
pub(crate) enum StreamRows {}

impl LevelFn for StreamRows {
    type Args<'a> = JobAndNext<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (job, ahead): JobAndNext<'_>) {
        let row = job.row;
        debug_assert!(row >= LINE, "K9: rows of {row} bytes are not streamed");
        let (mut from, mut next) = (sources::<false>(job, row), sources::<false>(ahead.addresses(), row));
        let mut later = ahead.positions().iter();
        let mut rows = RowsToStream { step: job.out_step, left: job.n, is_begun: false, shared: SharedLine::new() };
        for (i, &position) in job.each_position().iter().enumerate() {
            let source = from(position);
            let later = later.next().map_or(source, |&position| next(position));
            // SAFETY: K1, K2 and K4 for row `i`: `row` bytes at both ends, apart from each other.
            rows.stream(unsafe { StreamedRow::new(source, job.target(i), row) }, later);
        }
        for &position in later {
            prefetch_row(next(position), row);
        }
    }
}

/// Bytes of the vectors by which rows are stored non-temporally, where nothing converts them. Longer ones take more
/// time (workload `gather/embedding_50257x768_8k`), while they take less for lines of [`Pending`].
const ROW_VECTOR: usize = 16;

/// A row, where it comes from and where it goes.
///
/// Invariant: `bytes` bytes, a line or more, may be read at one end and written at the other, and are apart.
#[derive(Clone, Copy)]
struct StreamedRow {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

impl StreamedRow {
    /// A row between two ends.
    ///
    /// # Safety
    /// `bytes` bytes, a line or more, may be read at one end and written at the other, and are apart.
    #[inline(always)]
    unsafe fn new(from: *const u8, to: *mut u8, bytes: usize) -> Self {
        debug_assert!(bytes >= LINE);
        StreamedRow { from, to, bytes }
    }

    /// Copies `n` bytes from byte `at` on.
    #[inline(always)]
    fn copy(self, at: usize, n: usize) {
        debug_assert!(at + n <= self.bytes);
        // SAFETY: bytes of the row.
        unsafe { self.to.wrapping_add(at).copy_from_nonoverlapping(self.from.wrapping_add(at), n) };
    }

    /// Copies the line that begins with byte `at` by non-temporal stores. It is a line of the output.
    #[inline(always)]
    fn stream(self, at: usize) {
        debug_assert!(at + LINE <= self.bytes);
        // SAFETY: a line of the row, and of the output. `StreamRows` leaves the fence to its callers.
        unsafe { stream_line::<ROW_VECTOR>(self.from.wrapping_add(at), self.to.wrapping_add(at)) };
    }

    /// The bytes of a line, from byte `at` on.
    #[inline(always)]
    fn line(self, at: usize) -> [u8; LINE] {
        debug_assert!(at + LINE <= self.bytes);
        // SAFETY: bytes of the row; an array of bytes has no alignment.
        unsafe { self.from.wrapping_add(at).cast::<[u8; LINE]>().read() }
    }
}

/// Rows of an output.
struct RowsToStream {
    step: isize,
    /// How many there are still to come.
    left: usize,
    /// Whether the row before has begun the line that this one begins in.
    is_begun: bool,
    shared: SharedLine,
}

impl RowsToStream {
    /// Writes the next row, and prefetches the lines of a later one.
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
            // SAFETY: the row before ends where this one begins, inside this line, which is theirs: it has begun the
            // line, and this one has just ended it.
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
        // Where rows are contiguous, a line goes on from one to the next.
        self.is_begun = at < bytes && self.step == bytes as isize && self.left > 0;
        if self.is_begun {
            self.shared.put(bytes - at, row.line(bytes - LINE));
        } else if at < bytes {
            row.copy(at, bytes - at);
        }
    }
}

/// Neighbouring bytes of an output, put together here before whole lines of them are written by non-temporal stores.
/// Dropping it writes what is left, and fences, also when a map panics: so no element is left half written.
#[repr(C, align(64))]
pub(crate) struct Pending<const VECTOR: usize> {
    buffer: [MaybeUninit<u8>; BUFFER],
    /// Where byte 0 of the buffer goes: the start of a line.
    to: *mut u8,
    /// The pending bytes: `begin..end` of the buffer, and `begin < LINE`.
    begin: usize,
    end: usize,
}

/// With a line before what is added, where some may be pending, and one behind it, which is copied with it.
const BUFFER: usize = STREAMED_AT_ONCE + 2 * LINE;

impl<const VECTOR: usize> Pending<VECTOR> {
    /// Nothing yet, of what goes to `to` and behind it.
    ///
    /// # Safety
    /// All that is taken may be written there, and nothing else uses it until this is dropped. The machine has vectors
    /// of `VECTOR` bytes.
    #[inline(always)]
    pub(crate) unsafe fn new(to: *mut u8) -> Self {
        let begin = to.addr() % LINE;
        let buffer = [const { MaybeUninit::uninit() }; BUFFER];
        Pending { buffer, to: to.wrapping_sub(begin), begin, end: begin }
    }

    /// The buffer for the next bytes, up to [`STREAMED_AT_ONCE`] of them, as far after the start of a line as their
    /// place in the output.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> *mut u8 {
        debug_assert!(self.end < LINE);
        self.buffer.as_mut_ptr().wrapping_add(self.end).cast()
    }

    /// Takes the bytes that have been written to [`Pending::next`], and writes all whole lines.
    ///
    /// # Safety
    /// `bytes` bytes have been written there.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self, bytes: usize) {
        debug_assert!(bytes <= STREAMED_AT_ONCE);
        self.end += bytes;
        // Copies of them: after each store, which is inline assembly, fields would be loaded again.
        let (from, to, end) = (self.buffer.as_ptr().cast::<u8>(), self.to, self.end);
        let mut at = 0;
        if self.begin > 0 && end >= LINE {
            self.write(LINE);
            at = LINE;
        }
        while at + LINE <= end {
            // SAFETY: a line of the buffer, all of which is pending and may be written to the output, where it begins
            // with a line. The fence comes when this is dropped. `new` was told of the vectors.
            unsafe { stream_line::<VECTOR>(from.wrapping_add(at), to.wrapping_add(at)) };
            at += LINE;
        }
        if at > 0 {
            self.buffer.copy_within(at..at + LINE, 0);
            (self.to, self.begin, self.end) = (to.wrapping_add(at), 0, end - at);
        }
    }

    /// Writes what is pending up to byte `end` of the buffer.
    #[inline(always)]
    fn write(&self, end: usize) {
        debug_assert!((self.begin..=self.end).contains(&end));
        let (from, to) = (self.buffer.as_ptr().wrapping_add(self.begin).cast(), self.to.wrapping_add(self.begin));
        // SAFETY: these bytes have been taken: they are written in the buffer, and may be in the output.
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

/// A line that two rows share, with a line of buffer on either side.
#[repr(C, align(64))]
struct SharedLine([MaybeUninit<u8>; 3 * LINE]);

impl SharedLine {
    #[inline(always)]
    fn new() -> Self {
        SharedLine([MaybeUninit::uninit(); 3 * LINE])
    }

    /// The line itself.
    #[inline(always)]
    fn line(&self) -> *const u8 {
        self.0.as_ptr().wrapping_add(LINE).cast()
    }

    /// Writes a line of bytes from byte `at` on, counted from the buffer before the line: part of it falls into the
    /// line.
    #[inline(always)]
    fn put(&mut self, at: usize, bytes: [u8; LINE]) {
        debug_assert!(at <= 2 * LINE);
        // SAFETY: a line from the first, the second or the third line on, or between them.
        unsafe { self.0.as_mut_ptr().wrapping_add(at).cast::<[u8; LINE]>().write(bytes) };
    }
}

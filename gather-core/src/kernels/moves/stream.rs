//! Rows that are written by non-temporal stores: outputs that the last-level cache cannot hold beside what they are
//! read from.
//!
//! Only whole lines are written by non-temporal stores, each once: a line that is written both ways would be evicted in
//! between. A line that two rows share is put together on the stack.
//!
//! Address and thread sanitizers do not see these stores, whose intrinsics are inline assembly. Valgrind does.

use core::arch::x86_64::{
    _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm256_loadu_si256, _mm256_stream_si256, _mm512_loadu_si512,
    _mm512_stream_si512,
};
use core::mem::MaybeUninit;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::STREAMED_AT_ONCE;
use crate::kernels::moves::prefetch::{LINE, prefetch, prefetch_row};
use crate::kernels::moves::prefetching::{JobAndNext, Sources};

/// Moves the rows of a job, with non-temporal stores of whole lines of the output, and prefetches those of the job
/// after it. [`fence`] comes before any other access to what is written.
pub(crate) enum StreamRows {}

impl LevelFn for StreamRows {
    type Args<'a> = JobAndNext<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (job, ahead): JobAndNext<'_>) {
        let row = job.row();
        debug_assert!(row >= LINE, "K9: rows of {row} bytes are not streamed");
        let (mut from, mut next) = (Sources::<false>::of(job, row), Sources::<false>::ahead(ahead, row));
        let mut rows =
            Rows { out: job.out(), step: job.out_step(), row, left: job.n(), is_begun: false, shared: Shared::new() };
        for i in 0..job.n() {
            let source = from.next();
            let later = if i < ahead.n() { next.next() } else { source };
            // SAFETY: K1, K2 and K4 for the row: `row` bytes at both ends, apart from each other.
            unsafe { rows.stream(source, later) };
        }
        for _ in job.n()..ahead.n() {
            prefetch_row(next.next(), row);
        }
    }
}

/// Bytes of the vectors by which rows are stored non-temporally, where nothing converts them. Longer ones take more
/// time (workload `gather/embedding_50257x768_8k`), while they take less for lines of [`Pending`].
const ROW_VECTOR: usize = 16;

/// Rows of an output.
struct Rows {
    out: *mut u8,
    step: isize,
    row: usize,
    /// How many there are still to come.
    left: usize,
    /// Whether the row before has begun the line that this one begins in.
    is_begun: bool,
    shared: Shared,
}

impl Rows {
    /// Writes the next row, and prefetches the lines of a later one.
    ///
    /// # Safety
    /// There is one more, of `row` bytes as at `from`, apart from them.
    #[inline(always)]
    unsafe fn stream(&mut self, from: *const u8, later: *const u8) {
        let (to, row) = (self.out, self.row);
        let mut at = to.addr().wrapping_neg() % LINE;
        if at > 0 || !row.is_multiple_of(LINE) || !later.addr().is_multiple_of(LINE) {
            prefetch(later, 1);
            prefetch(later.wrapping_add(row - 1), 1);
        }
        if self.is_begun {
            // SAFETY: the row has a line or more.
            unsafe { self.shared.end_with(from, LINE - at) };
            // SAFETY: the row before ends where this one begins, inside this line, which is theirs.
            unsafe { self.shared.stream(to.wrapping_sub(LINE - at)) };
        } else if at > 0 {
            // SAFETY: `at < LINE <= row`.
            unsafe { to.copy_from_nonoverlapping(from, at) };
        }
        while at + LINE <= row {
            prefetch(later.wrapping_add(at), 1);
            // SAFETY: a line inside the row; `to + at` is a multiple of its length.
            unsafe { stream_line::<ROW_VECTOR>(from.wrapping_add(at), to.wrapping_add(at)) };
            at += LINE;
        }
        self.left -= 1;
        self.out = to.wrapping_offset(self.step);
        // Where rows are contiguous, a line goes on from one to the next.
        self.is_begun = at < row && self.step == row as isize && self.left > 0;
        if self.is_begun {
            // SAFETY: the row has a line or more.
            unsafe { self.shared.begin_with(from.wrapping_add(row), row - at) };
        } else if at < row {
            // SAFETY: what is left of the row.
            unsafe { to.wrapping_add(at).copy_from_nonoverlapping(from.wrapping_add(at), row - at) };
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
    #[inline(always)]
    pub(crate) fn new(to: *mut u8) -> Self {
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
    /// `bytes` bytes have been written there. They may be written to the output, where nothing else uses what was taken
    /// before, until this is dropped. K7: the level has vectors of `VECTOR` bytes.
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self, bytes: usize) {
        debug_assert!(bytes <= STREAMED_AT_ONCE);
        self.end += bytes;
        // Copies of them: after each store, which is inline assembly, fields would be loaded again.
        let (from, to, end) = (self.buffer.as_ptr().cast::<u8>(), self.to, self.end);
        let mut at = 0;
        if self.begin > 0 && end >= LINE {
            // SAFETY: the caller's promise: what the first line has of the output.
            unsafe { self.write(LINE) };
            at = LINE;
        }
        while at + LINE <= end {
            // SAFETY: a line of the buffer, all of which is pending; `to` is a multiple of its length.
            unsafe { stream_line::<VECTOR>(from.wrapping_add(at), to.wrapping_add(at)) };
            at += LINE;
        }
        if at > 0 {
            self.buffer.copy_within(at..at + LINE, 0);
            (self.to, self.begin, self.end) = (to.wrapping_add(at), 0, end - at);
        }
    }

    /// Writes what is pending up to byte `end` of the buffer.
    ///
    /// # Safety
    /// As for [`Pending::take`]; it is pending.
    #[inline(always)]
    unsafe fn write(&self, end: usize) {
        let (from, to) = (self.buffer.as_ptr().wrapping_add(self.begin).cast(), self.to.wrapping_add(self.begin));
        // SAFETY: the caller's promise.
        unsafe { to.copy_from_nonoverlapping(from, end - self.begin) }
    }
}

impl<const VECTOR: usize> Drop for Pending<VECTOR> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: what `take` was promised, which lasts until now.
        unsafe { self.write(self.end) };
        fence();
    }
}

/// Orders what was streamed before any access that follows, of this thread and of others.
#[inline(always)]
pub(crate) fn fence() {
    // SAFETY: every x86-64 machine has SSE.
    unsafe { _mm_sfence() };
}

/// A line that two rows share, with a line of buffer on either side.
#[repr(C, align(64))]
struct Shared([MaybeUninit<u8>; 3 * LINE]);

impl Shared {
    #[inline(always)]
    fn new() -> Self {
        Shared([MaybeUninit::uninit(); 3 * LINE])
    }

    #[inline(always)]
    fn line(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().wrapping_add(LINE).cast()
    }

    /// Begins the line with the last `n < LINE` bytes before `end`.
    ///
    /// # Safety
    /// There are a line of bytes before `end` that may be read.
    #[inline(always)]
    unsafe fn begin_with(&mut self, end: *const u8, n: usize) {
        debug_assert!(n < LINE);
        let to = self.line().wrapping_add(n).wrapping_sub(LINE);
        // SAFETY: a line of bytes before `end`; there is room for a line before the line.
        unsafe { copy_line(end.wrapping_sub(LINE), to) };
    }

    /// Ends the line, from byte `n < LINE` on.
    ///
    /// # Safety
    /// There are a line of bytes from `from` on that may be read.
    #[inline(always)]
    unsafe fn end_with(&mut self, from: *const u8, n: usize) {
        debug_assert!(n < LINE);
        // SAFETY: a line of bytes from `from` on; there is room for a line after the line.
        unsafe { copy_line(from, self.line().wrapping_add(n)) };
    }

    /// Writes the line by non-temporal stores.
    ///
    /// # Safety
    /// It has been begun and ended. A line may be written to `to`, which is a multiple of its length.
    #[inline(always)]
    unsafe fn stream(&mut self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { stream_line::<ROW_VECTOR>(self.line(), to) };
    }
}

/// Copies a line.
///
/// # Safety
/// Both ends reach `LINE` bytes and do not overlap.
#[inline(always)]
unsafe fn copy_line(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    let line = unsafe { from.cast::<[u8; LINE]>().read() };
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; LINE]>().write(line) };
}

/// Copies a line by non-temporal stores, by vectors of `VECTOR` bytes.
///
/// # Safety
/// Both ends reach `LINE` bytes and do not overlap; `to` is a multiple of `LINE`. A [`fence`] comes before any
/// other access to the line. K7: the level has such vectors; those of 16 bytes every machine has.
#[inline(always)]
unsafe fn stream_line<const VECTOR: usize>(from: *const u8, to: *mut u8) {
    const { assert!(matches!(VECTOR, 16 | 32 | 64)) };
    debug_assert!(to.addr().is_multiple_of(LINE));
    for at in (0..LINE).step_by(VECTOR) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        match VECTOR {
            64 => {
                // SAFETY: 64 bytes of the line, at any alignment.
                let part = unsafe { _mm512_loadu_si512(from.cast()) };
                // SAFETY: 64 bytes of the line, at a multiple of 64.
                unsafe { _mm512_stream_si512(to.cast(), part) };
            }
            32 => {
                // SAFETY: 32 bytes of the line, at any alignment.
                let part = unsafe { _mm256_loadu_si256(from.cast()) };
                // SAFETY: 32 bytes of the line, at a multiple of 32.
                unsafe { _mm256_stream_si256(to.cast(), part) };
            }
            _ => {
                // SAFETY: 16 bytes of the line, at any alignment.
                let part = unsafe { _mm_loadu_si128(from.cast()) };
                // SAFETY: 16 bytes of the line, at a multiple of 16.
                unsafe { _mm_stream_si128(to.cast(), part) };
            }
        }
    }
}

//! Converting rows, whole or chunk by chunk, without their types.
//!
//! ```text
//! for each row of a job:
//!     for each chunk of it:       the whole row if nothing is prefetched
//!         prefetch the same chunk of a later row
//!         convert it              by a function of the map and the level, compiled for its types
//! ```

use crate::kernels::convert::conversion;
use crate::kernels::convert::decode::ErasedParams;
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::{STREAMED_AT_ONCE, stream::Pending};
use crate::kernels::nest::args::{DecodeFn, EncodedRow, IndexArgs};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
use crate::types::method::Method;

/// Bytes of a row, or of its params, that are prefetched at once.
pub(super) const CHUNK_BYTES: usize = 256;

pub(super) struct RowChunks<'a> {
    pub(super) decode_fn: DecodeFn,
    pub(super) params: ErasedParams<'a>,
    /// Bytes of an output element.
    pub(super) size_out: usize,
    /// Whether a row is one chunk, whatever its length.
    pub(super) whole: bool,
}

macro_rules! levels {
    ($($(#[$level:meta])* $name:ident, $vector:literal;)*) => {$(
        /// [`RowChunks::convert`] at a level.
        $(#[$level])*
        pub(super) fn $name(chunks: &RowChunks<'_>, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
            chunks.convert::<$vector>(args, job);
        }
    )*};
}
levels! {
    chunks_scalar, 16;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2")]
    chunks_avx2, 32;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    chunks_avx512, 64;
}

/// A row to convert, and a later row to prefetch.
struct ConvertedRow {
    from: *const u8,
    row: usize,
    /// The number of the later row.
    later: Option<usize>,
}

impl RowChunks<'_> {
    /// Converts the rows of a job, at a level with vectors of `VECTOR` bytes.
    #[inline(always)]
    fn convert<const VECTOR: usize>(&self, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
        #[cfg(target_arch = "x86_64")]
        if args.spec().method == Method::Streamed {
            return self.stream::<VECTOR>(args, job);
        }
        let (elements, size) = self.sizes(args);
        let most = self.most(elements, (CHUNK_BYTES / size).max(1));
        for i in 0..job.n {
            let (row, to) = (Self::row(job, i), job.target(i));
            let Some(later) = row.later else {
                // SAFETY: K1, K2, K4 and K8 for all of row `i < n` of the job.
                unsafe { self.convert_chunk(&row, size, RowChunk { at: 0, len: elements }, to) };
                continue;
            };
            self.fetch_given(job, later, size, elements);
            let later = job.source(later);
            for chunk in chunks(elements, most) {
                prefetch(later.wrapping_add(chunk.at * size), chunk.len * size);
                let to = to.wrapping_add(chunk.at * self.size_out);
                // SAFETY: K1, K2, K4 and K8 for a chunk of row `i < n` of the job.
                unsafe { self.convert_chunk(&row, size, chunk, to) };
            }
        }
    }

    /// [`Self::convert`] with non-temporal stores of whole output lines. Rows are contiguous in the output, and their
    /// elements may be streamed (K9).
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn stream<const VECTOR: usize>(&self, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
        let (elements, size) = self.sizes(args);
        debug_assert!(self.size_out <= STREAMED_AT_ONCE, "K9: elements of {} bytes", self.size_out);
        debug_assert_eq!(job.out_step, job.row as isize, "K9: rows that are not contiguous");
        let most = self.most(elements, (CHUNK_BYTES / size).clamp(1, STREAMED_AT_ONCE / self.size_out));
        // SAFETY: K1, K4 and K9: the bytes taken are the rows of the output, contiguous. K7 for the vectors.
        let mut pending = unsafe { Pending::<VECTOR>::new(job.out) };
        for i in 0..job.n {
            let row = Self::row(job, i);
            if let Some(later) = row.later {
                self.fetch_given(job, later, size, elements);
            }
            for chunk in chunks(elements, most) {
                if let Some(later) = row.later {
                    let later = job.source(later);
                    prefetch(later.wrapping_add(chunk.at * size), chunk.len * size);
                }
                // SAFETY: K2 and K8 for a chunk of row `i < n`. K9: the buffer has space for the chunk, and the
                // output's alignment, which is at most a line.
                unsafe { self.convert_chunk(&row, size, chunk, pending.next()) };
                // SAFETY: K8: the chunk has just been written to the buffer.
                unsafe { pending.take(if self.whole { job.row } else { chunk.len * self.size_out }) };
            }
        }
    }

    /// Elements of a row of data, and bytes of an element.
    fn sizes(&self, args: &IndexArgs<'_>) -> (usize, usize) {
        let conversion = conversion(args);
        (conversion.elements, conversion.size_in)
    }

    /// Elements per chunk: at most `most`, unless rows are whole.
    #[inline(always)]
    fn most(&self, elements: usize, most: usize) -> usize {
        if self.whole { elements.max(1) } else { evened(elements, most) }
    }

    /// Row `i`, and the row to prefetch with it.
    #[inline(always)]
    fn row(job: &MoveJob<'_>, i: usize) -> ConvertedRow {
        let (ahead, later) = (job.prefetch_distance, || (i + job.prefetch_distance).min(job.n - 1));
        ConvertedRow { from: job.source(i), row: job.row_of_data(i), later: (ahead > 0).then(later) }
    }

    /// Prefetches the values of the elements of row `later`.
    #[inline(always)]
    fn fetch_given(&self, job: &MoveJob<'_>, later: usize, size: usize, elements: usize) {
        if let Some(ahead) = self.params.ahead.filter(|_| self.params.by_element) {
            ahead.prefetch(job.row_of_data(later), self.params.element(job.source(later), size), elements);
        }
    }

    /// Converts a chunk of a row to `to`.
    ///
    /// # Safety
    /// `chunk` is part of a row of a job. Its results may be written at `to`, aligned; nothing else uses that memory.
    #[inline(always)]
    unsafe fn convert_chunk(&self, row: &ConvertedRow, size: usize, chunk: RowChunk, to: *mut u8) {
        let row = EncodedRow { from: row.from.wrapping_add(chunk.at * size), to, row: row.row };
        // SAFETY: K2 and K8 for part of a row of a job, by the caller's contract; `params` belong to the function.
        unsafe { (self.decode_fn)(&[row], chunk.len, self.params.given) };
    }
}

/// Elements `at..at + len` of a row.
#[derive(Clone, Copy)]
struct RowChunk {
    at: usize,
    len: usize,
}

/// Elements per chunk, at most `most`, so that all chunks of a row have about the same length. If `most >= 64`, the
/// length is a multiple of 32 or `most`, so that no vector and no block of codes is cut.
fn evened(elements: usize, most: usize) -> usize {
    let evened = elements.div_ceil(elements.div_ceil(most).max(1)).max(1);
    if most < 64 { evened } else { evened.next_multiple_of(32).min(most) }
}

/// Splits a row into chunks of at most `most` elements.
#[inline(always)]
fn chunks(elements: usize, most: usize) -> impl Iterator<Item = RowChunk> {
    let mut next = 0;
    core::iter::from_fn(move || {
        let at = next;
        next += most;
        (at < elements).then(|| RowChunk { at, len: most.min(elements - at) })
    })
}

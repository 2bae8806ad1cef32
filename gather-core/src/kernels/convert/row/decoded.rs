//! Rows that are decoded before a row function reads them.
//!
//! ```text
//! for each chunk of rows of a job:         a part of the first-level cache
//!     prefetch later rows                  and their params for decoding
//!     decode the rows into the scratch     by the map or the format, which knows its types
//!     call the row function on them        which reads the scratch in place of data
//! ```
//!
//! The row function is compiled once, for decoded rows and for others: its job has the addresses of the rows.

use crate::kernels::convert::decode::ErasedParams;
use crate::kernels::convert::{ConversionArgs, conversion, conversion_args};
use crate::kernels::nest::args::{Conversion, DecodeFn, EncodedRow, IndexArgs};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::LINE;

/// The row function of a run and the decoder of its rows, at the plan's level, with the params of both.
#[derive(Clone, Copy)]
pub(crate) struct DecodedRowParams<'a> {
    pub(crate) rows: ConversionArgs,
    pub(crate) decode_fn: DecodeFn,
    pub(crate) decoder: ErasedParams<'a>,
}

/// Bytes of rows decoded at a time, so that short rows stay in L1: `(DECODED / stride).clamp(1, MOST_DECODED)` rows.
const DECODED: usize = 4 << 10;
const MOST_DECODED: usize = 16;

/// The layout of decoded rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeLayout {
    /// Numbers per row.
    pub(crate) numbers: usize,
    /// Maximum rows decoded at a time.
    pub(crate) rows: usize,
    /// Bytes between rows of the scratch, a multiple of `align`.
    pub(crate) stride: usize,
    /// The alignment of each row, at least `LINE`.
    align: usize,
}

impl DecodeLayout {
    /// The layout of rows of numbers of `size` bytes, aligned to `align`.
    pub(crate) fn new(numbers: usize, size: usize, align: usize) -> Self {
        let align = align.max(LINE);
        let stride = numbers.saturating_mul(size).div_ceil(align).saturating_mul(align);
        let rows = DECODED.checked_div(stride).unwrap_or(1).clamp(1, MOST_DECODED);
        DecodeLayout { numbers, rows, stride, align }
    }

    /// Bytes of the scratch, which is aligned to `LINE`: its first row is aligned to `align`.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.saturating_mul(self.stride).saturating_add(self.align - LINE)
    }
}

/// The params of a kernel that decodes rows, for one worker.
pub(crate) struct DecodingJob<'a> {
    given: DecodedRowParams<'a>,
    decoded: DecodeLayout,
    /// The scratch for decoded rows.
    scratch: *mut u8,
}

impl<'a> DecodingJob<'a> {
    /// The job of a worker for a part of a plan that decodes rows.
    ///
    /// # Safety
    /// K8: `args` are from the plan, with `DecodedRowParams` as params. `scratch` has the bytes of `decoded`, is
    /// aligned to a line, and nothing else uses it.
    #[inline(always)]
    pub(crate) unsafe fn new(args: &IndexArgs<'a>, decoded: DecodeLayout, scratch: *mut u8) -> Self {
        // SAFETY: K8: by the caller's contract, the params are `DecodedRowParams`.
        let given = unsafe { *conversion_args(args).given.cast::<DecodedRowParams<'a>>() };
        let skipped = scratch.addr().next_multiple_of(decoded.align) - scratch.addr();
        DecodingJob { given, decoded, scratch: scratch.wrapping_add(skipped) }
    }

    #[inline(always)]
    pub(crate) fn args(&self) -> ConversionArgs {
        ConversionArgs { rows: decode_first, given: (&raw const *self).cast() }
    }
}

impl ConversionArgs {
    /// The params of a run that decodes rows first, from which each worker makes a [`DecodingJob`].
    pub(crate) fn with_decoder(given: &DecodedRowParams<'_>) -> Self {
        ConversionArgs { rows: decode_first, given: (&raw const *given).cast() }
    }
}

/// Decodes the rows of a job, and calls the row function on them.
fn decode_first(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
    let Conversion { elements, size_in, .. } = conversion(args);
    // SAFETY: K8: a worker runs this function with its `DecodingJob`.
    let DecodingJob { given, decoded, scratch } = unsafe { &*conversion_args(args).given.cast::<DecodingJob<'_>>() };
    let (DecodedRowParams { rows, decode_fn, decoder }, DecodeLayout { rows: most, stride, .. }) = (given, *decoded);
    // SAFETY: K8: `rows` are the row function's own `ConversionArgs`.
    let args = unsafe { args.given((&raw const *rows).cast()) };
    // A copy: the compiler need not reload its fields after each store.
    let (job, distance) = (*job, job.prefetch_distance);
    let mut encoded = [EncodedRow { from: job.data, to: *scratch, row: 0 }; MOST_DECODED];
    for first in (0..job.n).step_by(most) {
        let chunk = job.skip(first).take(most.min(job.n - first));
        let later = (first + distance).min(job.n)..(first + chunk.n + distance).min(job.n);
        for later in if distance > 0 { later } else { 0..0 } {
            decoder.prefetch(job.source(later), size_in, job.row_of_data(later), elements.max(1));
        }
        let mut to = *scratch;
        for (i, encoded) in encoded[..chunk.n].iter_mut().enumerate() {
            *encoded = EncodedRow { from: chunk.source(i), to, row: chunk.row_of_data(i) };
            to = to.wrapping_add(stride);
        }
        if stride > 0 {
            // SAFETY: K2 and K8: the elements of rows of data, their params, and `rows` rows of `stride` bytes of the
            // scratch, aligned to lines, which nothing else uses. K7: the function has the plan's level.
            unsafe { decode_fn(&encoded[..chunk.n], elements, decoder.given) };
        }
        // SAFETY: K8: the numbers of the chunk have just been written to the scratch, `stride` bytes apart, and stay
        // there until the function returns.
        (rows.rows)(&args, &unsafe { chunk.read_at(*scratch, stride as isize) });
    }
}

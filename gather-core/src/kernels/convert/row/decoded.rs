//! Rows that are decoded before a row function reads them.
//!
//! ```text
//! for some rows of a job:                  as many as fit in a part of the first-level cache
//!     for each of them:
//!         prefetch a later row             and its parameters for decoding
//!     decode them into the buffer          by the map or the format, which knows its types
//!     call the row function on these       which reads the buffer in place of data
//! ```
//!
//! The row function is that of rows as they are: its job alone says where rows lie.

use crate::kernels::convert::decode::ErasedParams;
use crate::kernels::convert::row::MOST_AHEAD;
use crate::kernels::convert::{ConversionArgs, conversion, conversion_args};
use crate::kernels::nest::args::{Conversion, DecodeFn, EncodedRow, IndexArgs};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, prefetch};

/// The row function of a run and what decodes its rows, at the plan's level, with the parameters of both.
#[derive(Clone, Copy)]
pub(crate) struct DecodedRowParams<'a> {
    pub(crate) rows: ConversionArgs,
    pub(crate) decode_fn: DecodeFn,
    pub(crate) decoder: ErasedParams<'a>,
}

/// Bytes of rows that are decoded at a time: a part of the first-level cache; and the most rows.
const DECODED: usize = 4 << 10;
const MOST_DECODED: usize = 16;

/// Rows of data as a row function reads them: decoded, some at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodedRows {
    /// The numbers of a row.
    pub(crate) numbers: usize,
    /// The most rows that are decoded at a time, and bytes from one to the next: whole lines.
    pub(crate) rows: usize,
    pub(crate) stride: usize,
}

impl DecodedRows {
    /// Rows of numbers of `size` bytes.
    pub(crate) fn new(numbers: usize, size: usize) -> Self {
        let stride = numbers.saturating_mul(size).div_ceil(LINE).saturating_mul(LINE);
        let rows = DECODED.checked_div(stride).unwrap_or(1).clamp(1, MOST_DECODED);
        DecodedRows { numbers, rows, stride }
    }
}

/// The parameters of a kernel that decodes rows, which one worker has.
pub(crate) struct DecodingJob<'a> {
    given: DecodedRowParams<'a>,
    decoded: DecodedRows,
    /// Memory for the rows that are decoded at a time.
    room: *mut u8,
}

impl<'a> DecodingJob<'a> {
    /// The job of a worker for a part of a plan whose rows are decoded thus.
    ///
    /// # Safety
    /// K8: `args` are those of the plan, with a `DecodedRowParams` for what is given. The room has memory for `decoded`, is
    /// aligned to a line, and nothing else uses it.
    #[inline(always)]
    pub(crate) unsafe fn new(args: &IndexArgs<'a>, decoded: DecodedRows, room: *mut u8) -> Self {
        // SAFETY: K8: what is given where rows are decoded.
        let given = unsafe { *conversion_args(args).given.cast::<DecodedRowParams<'a>>() };
        DecodingJob { given, decoded, room }
    }

    /// The parameters of the kernel.
    #[inline(always)]
    pub(crate) fn args(&self) -> ConversionArgs {
        ConversionArgs { rows: decode_first, given: (&raw const *self).cast() }
    }
}

impl ConversionArgs {
    /// The parameters of a run whose rows are decoded first, of which each worker makes a [`DecodingJob`].
    pub(crate) fn decode_first(given: &DecodedRowParams<'_>) -> Self {
        ConversionArgs { rows: decode_first, given: (&raw const *given).cast() }
    }
}

/// Decodes the rows of a job, and calls the row function on them.
fn decode_first(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
    let Conversion { elements, size_in, .. } = conversion(args);
    // SAFETY: K8: the parameters where rows are decoded.
    let DecodingJob { given, decoded, room } = unsafe { &*conversion_args(args).given.cast::<DecodingJob<'_>>() };
    let (DecodedRowParams { rows, decode_fn, decoder }, DecodedRows { rows: most, stride, .. }) = (given, *decoded);
    // SAFETY: K8: the parameters of the row function.
    let args = unsafe { args.given((&raw const *rows).cast()) };
    for first in (0..job.n).step_by(most) {
        let some = job.from(first).first(most.min(job.n - first));
        let mut encoded = [EncodedRow { from: job.data, to: *room, row: 0 }; MOST_DECODED];
        for (i, encoded) in encoded[..some.n].iter_mut().enumerate() {
            let later = first + i + job.prefetch_distance;
            if later > first + i && later < job.n {
                let from = job.source(later);
                prefetch(from, elements.saturating_mul(size_in).min(MOST_AHEAD));
                if let Some(ahead) = decoder.ahead {
                    ahead.prefetch(job.row_of_data(later), decoder.element(from, size_in), elements);
                }
            }
            *encoded = EncodedRow { from: some.source(i), to: room.wrapping_add(i * stride), row: some.row_of_data(i) };
        }
        if stride > 0 {
            // SAFETY: K2 and K8: the elements of rows of data, their parameters, and `rows` rows of `stride` bytes of
            // the buffer, aligned to lines, which nothing else uses. K7: the function is that of the plan's level.
            unsafe { decode_fn(&encoded[..some.n], elements, decoder.given) };
        }
        // SAFETY: K8: the numbers of these rows have just been written to the buffer, `stride` bytes apart, and stay
        // there until the function returns.
        (rows.rows)(&args, &unsafe { some.read_at(*room, stride as isize) });
    }
}

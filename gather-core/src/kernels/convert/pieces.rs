//! Converting rows whole, or piece by piece, without their types.
//!
//! ```text
//! for each row of a job:
//!     for each piece of it:       the whole row, where nothing is prefetched
//!         prefetch the same piece of a later row
//!         convert it              by a function of the map and the level, which is compiled for its types
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

/// Bytes of a row, or of what is given for it, that are prefetched at once.
pub(super) const PIECE: usize = 256;

/// Converts rows.
pub(super) struct Pieces<'a> {
    pub(super) decode_fn: DecodeFn,
    pub(super) params: ErasedParams<'a>,
    /// Bytes of an element of the output.
    pub(super) size_out: usize,
    /// Whether a row is one piece, whatever its length.
    pub(super) whole: bool,
}

macro_rules! levels {
    ($($(#[$level:meta])* $name:ident, $vector:literal;)*) => {$(
        /// [`Pieces::convert`] at a level.
        $(#[$level])*
        pub(super) fn $name(pieces: &Pieces<'_>, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
            pieces.convert::<$vector>(args, job);
        }
    )*};
}
levels! {
    pieces_scalar, 16;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2")]
    pieces_avx2, 32;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pieces_avx512, 64;
}

/// A row that is converted, and a later one.
struct ConvertedRow {
    from: *const u8,
    row: usize,
    /// The number of the later one.
    later: Option<usize>,
}

impl Pieces<'_> {
    /// Converts the rows of a job, at a level with vectors of `VECTOR` bytes.
    #[inline(always)]
    fn convert<const VECTOR: usize>(&self, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
        #[cfg(target_arch = "x86_64")]
        if args.spec().method == Method::Streamed {
            return self.stream::<VECTOR>(args, job);
        }
        let (elements, size) = self.sizes(args);
        let most = self.most(elements, (PIECE / size).max(1));
        for i in 0..job.n {
            let (row, to) = (Self::row(job, i), job.target(i));
            let Some(later) = row.later else {
                // SAFETY: K1, K2, K4 and K8 for the row, whole.
                unsafe { self.convert_piece(&row, size, PieceOfRow { at: 0, len: elements }, to) };
                continue;
            };
            self.fetch_given(job, later, size, elements);
            let later = job.source(later);
            for piece in pieces(elements, most) {
                prefetch(later.wrapping_add(piece.at * size), piece.len * size);
                let to = to.wrapping_add(piece.at * self.size_out);
                // SAFETY: K1, K2, K4 and K8 for a piece of the row.
                unsafe { self.convert_piece(&row, size, piece, to) };
            }
        }
    }

    /// [`Self::convert`], with whole lines of the output written by non-temporal stores: rows that are contiguous
    /// there, of elements that may be streamed (K9).
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn stream<const VECTOR: usize>(&self, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
        let (elements, size) = self.sizes(args);
        debug_assert!(self.size_out <= STREAMED_AT_ONCE, "K9: elements of {} bytes", self.size_out);
        debug_assert_eq!(job.out_step, job.row as isize, "K9: rows that are not contiguous");
        let most = self.most(elements, (PIECE / size).clamp(1, STREAMED_AT_ONCE / self.size_out));
        // SAFETY: K1, K4 and K9: what is taken are the rows of the output, which are contiguous. K7 for the vectors.
        let mut pending = unsafe { Pending::<VECTOR>::new(job.out) };
        for i in 0..job.n {
            let row = Self::row(job, i);
            if let Some(later) = row.later {
                self.fetch_given(job, later, size, elements);
            }
            for piece in pieces(elements, most) {
                if let Some(later) = row.later {
                    let later = job.source(later);
                    prefetch(later.wrapping_add(piece.at * size), piece.len * size);
                }
                // SAFETY: K2 and K8 for a piece of the row; the buffer has room for its bytes, which are aligned as
                // they are in the output, since K9 takes no element that is aligned to more than a line.
                unsafe { self.convert_piece(&row, size, piece, pending.next()) };
                // SAFETY: K8: the piece has just been written to the buffer.
                unsafe { pending.take(if self.whole { job.row } else { piece.len * self.size_out }) };
            }
        }
    }

    /// Elements of a row, and bytes of one.
    fn sizes(&self, args: &IndexArgs<'_>) -> (usize, usize) {
        let conversion = conversion(args);
        (conversion.elements, conversion.size_in)
    }

    /// Elements of a piece: `most` or fewer, unless rows are whole.
    #[inline(always)]
    fn most(&self, elements: usize, most: usize) -> usize {
        if self.whole { elements.max(1) } else { evened(elements, most) }
    }

    /// Row `i`.
    #[inline(always)]
    fn row(job: &MoveJob<'_>, i: usize) -> ConvertedRow {
        let (ahead, later) = (job.prefetch_distance, || (i + job.prefetch_distance).min(job.n - 1));
        ConvertedRow { from: job.source(i), row: job.row_of_data(i), later: (ahead > 0).then(later) }
    }

    /// Prefetches the parameters of the elements of row `later`.
    #[inline(always)]
    fn fetch_given(&self, job: &MoveJob<'_>, later: usize, size: usize, elements: usize) {
        if let Some(ahead) = self.params.ahead.filter(|_| self.params.by_element) {
            ahead.prefetch(job.row_of_data(later), self.params.element(job.source(later), size), elements);
        }
    }

    /// Converts a piece of a row to `to`.
    ///
    /// # Safety
    /// `to` may be written for what the piece becomes, aligned for it, and nothing else uses it.
    #[inline(always)]
    unsafe fn convert_piece(&self, row: &ConvertedRow, size: usize, piece: PieceOfRow, to: *mut u8) {
        let row = EncodedRow { from: row.from.wrapping_add(piece.at * size), to, row: row.row };
        // SAFETY: K2 and K8 for a piece of a row of the job; the function and its parameters are of one map.
        unsafe { (self.decode_fn)(&[row], piece.len, self.params.given) };
    }
}

/// Elements of a row.
#[derive(Clone, Copy)]
struct PieceOfRow {
    at: usize,
    len: usize,
}

/// Elements of a piece, `most` or fewer, where all pieces of a row have about as many. Many small ones are a multiple
/// of 32, so that no vector and no block of codes is cut.
fn evened(elements: usize, most: usize) -> usize {
    let evened = elements.div_ceil(elements.div_ceil(most).max(1)).max(1);
    if most < 64 { evened } else { evened.next_multiple_of(32).min(most) }
}

/// A row in pieces of `most` elements or fewer.
#[inline(always)]
fn pieces(elements: usize, most: usize) -> impl Iterator<Item = PieceOfRow> {
    let mut next = 0;
    core::iter::from_fn(move || {
        let at = next;
        next += most;
        (at < elements).then(|| PieceOfRow { at, len: most.min(elements - at) })
    })
}

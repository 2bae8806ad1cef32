//! Copies of pieces of memory, one behind the other.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{by_level, level_pointers};
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::copy_fixed;
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::prefetch::{LINE, prefetch_row};
use crate::types::level::Available;

/// Bytes of a source to copy: the first `len` bytes of `tail`, which reaches to the end of the source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece<'a> {
    pub(crate) tail: &'a [u8],
    pub(crate) len: usize,
}

level_pointers! {
    for<'o> fn((I, bool, &'o mut [MaybeUninit<u8>])) -> usize, I: Iterator;
}

/// Copies pieces to the beginning of an output, one behind the other. Returns the number of bytes written. If `is_far`,
/// they are beyond the caches, in no order.
#[inline(always)]
pub(crate) fn copy_pieces<'a, I>(level: Available, pieces: I, is_far: bool, out: &mut [MaybeUninit<u8>]) -> usize
where
    I: Iterator<Item = Piece<'a>>,
{
    by_level!(fn CopyPieces<I>).at(level)((pieces, is_far, out))
}

/// Pieces that are prefetched before the first of them is copied.
const FETCHED: usize = 64;

/// [`copy_pieces`].
struct CopyPieces<I>(PhantomData<I>);

impl<'a, I: Iterator<Item = Piece<'a>>> LevelFn for CopyPieces<I> {
    type Args<'o> = (I, bool, &'o mut [MaybeUninit<u8>]);
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (mut pieces, is_far, out): Self::Args<'_>) -> usize {
        if !is_far {
            // Lengths of up to a line mispredict no branch.
            return pieces.fold(0, |at, piece| at + copy::<LINE>(piece, &mut out[at..]));
        }
        let (mut block, mut at) = ([Piece::default(); FETCHED], 0);
        loop {
            let mut n = 0;
            for (place, piece) in block.iter_mut().zip(&mut pieces) {
                prefetch_row(piece.tail.as_ptr(), piece.len.max(1));
                (*place, n) = (piece, n + 1);
            }
            if n == 0 {
                return at;
            }
            // Copies of a line would read one line more than most short pieces have.
            at = block[..n].iter().fold(at, |at, &piece| at + copy::<{ LINE / 2 }>(piece, &mut out[at..]));
        }
    }
}

/// Copies a piece to the beginning of an output. Returns its length. `AT_ONCE` bytes are copied of a shorter piece too,
/// if the source and the output have them: bytes behind the piece are overwritten by the next one.
#[inline(always)]
fn copy<const AT_ONCE: usize>(Piece { tail, len }: Piece<'_>, out: &mut [MaybeUninit<u8>]) -> usize {
    let (from, to) = (tail.as_ptr(), out.as_mut_ptr().cast::<u8>());
    if len <= AT_ONCE && AT_ONCE <= tail.len() && AT_ONCE <= out.len() {
        // SAFETY: the source and the output, which is borrowed mutably, have `AT_ONCE` bytes.
        unsafe { copy_fixed::<AT_ONCE>(from, to) };
    } else if len > 0 {
        assert!(len <= tail.len() && len <= out.len(), "{len} bytes of {} to {}", tail.len(), out.len());
        if len > LINE {
            // SAFETY: the source and the output, which is borrowed mutably, have `len` bytes.
            unsafe { to.copy_from_nonoverlapping(from, len) };
            return len;
        }
        // SAFETY: the source and the output, which is borrowed mutably, have `len >= 1` bytes.
        by_size!(RowSize::of(len), |Way| unsafe { Way::of(len).copy(from, to) });
    }
    len
}

//! Whole periods of contiguous streams, which vectors interleave or take apart.

use crate::kernels::space::args::{BlockLoop, SpaceCursor, WholeTensor};
use crate::kernels::vector::Vector;

/// Periods of a loop along which both tensors are contiguous: one is whole, the other consists of `block` streams.
///
/// Invariant: from `at` on, `n` periods of the output may be written and of data read, and do not overlap (K1, K4).
#[derive(Clone, Copy)]
pub struct Periods<'a> {
    along: &'a BlockLoop,
    at: SpaceCursor,
    n: usize,
}

impl<'a> Periods<'a> {
    /// `n` periods from a cursor on.
    ///
    /// # Safety
    /// The loop has `n` more periods from the cursor on, and is part of a loop nest given to a kernel.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn new(along: &'a BlockLoop, at: SpaceCursor, n: usize) -> Self {
        Periods { along, at, n }
    }

    #[inline(always)]
    pub(super) fn n(&self) -> usize {
        self.n
    }

    #[inline(always)]
    pub(super) fn block(&self) -> usize {
        self.along.block
    }

    /// Checks in debug builds that a vector at `byte` lies in the `n` elements of a stream, or in the whole tensor.
    #[inline(always)]
    fn check<V: Vector, const BYTES: usize>(&self, whole: WholeTensor, streams: usize, stream: usize, byte: usize) {
        debug_assert!(self.along.whole(BYTES as isize) == Some(whole), "streams of other elements");
        debug_assert!(stream < self.along.block && byte + V::LEN <= self.n * streams * BYTES, "{byte} of {}", self.n);
    }

    /// Reads a vector of a stream of data, starting at `byte`.
    #[inline(always)]
    pub(super) fn load_stream<V: Vector, const BYTES: usize>(&self, level: V::Level, stream: usize, byte: usize) -> V {
        self.check::<V, BYTES>(WholeTensor::Output, 1, stream, byte);
        let from = self.at.data().wrapping_offset(self.along.step.data.wrapping_mul(stream as isize));
        // SAFETY: callers keep the vector in the `n * BYTES` contiguous bytes of a stream in `n` periods.
        unsafe { V::load(level, from.wrapping_add(byte)) }
    }

    /// Writes a vector of the output, which is whole, starting at `byte`.
    #[inline(always)]
    pub(super) fn store_whole<V: Vector, const BYTES: usize>(&self, byte: usize, vector: V) {
        self.check::<V, BYTES>(WholeTensor::Output, self.along.block, 0, byte);
        // SAFETY: callers keep the vector in the `n * block * BYTES` contiguous bytes of the output in `n` periods.
        unsafe { vector.store(self.at.out().wrapping_add(byte)) }
    }

    /// Reads a vector of data, which is whole, starting at `byte`.
    #[inline(always)]
    pub(super) fn load_whole<V: Vector, const BYTES: usize>(&self, level: V::Level, byte: usize) -> V {
        self.check::<V, BYTES>(WholeTensor::Data, self.along.block, 0, byte);
        // SAFETY: callers keep the vector in the `n * block * BYTES` contiguous bytes of data in `n` periods.
        unsafe { V::load(level, self.at.data().wrapping_add(byte)) }
    }

    /// Writes a vector of a stream of the output, starting at `byte`.
    #[inline(always)]
    pub(super) fn store_stream<V: Vector, const BYTES: usize>(&self, stream: usize, byte: usize, vector: V) {
        self.check::<V, BYTES>(WholeTensor::Data, 1, stream, byte);
        let to = self.at.out().wrapping_offset(self.along.step.out.wrapping_mul(stream as isize));
        // SAFETY: callers keep the vector in the `n * BYTES` contiguous bytes of a stream in `n` periods.
        unsafe { vector.store(to.wrapping_add(byte)) }
    }
}

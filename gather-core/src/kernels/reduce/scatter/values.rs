//! Rows that may be read and written, as typed proofs of a job.
//!
//! Functions of a reduction get these values from a job, whose rows have the elements that they take (S3, S4, A1).

use crate::kernels::moves::placed::CopyRow;
use crate::kernels::prefetch::LINE;
use crate::types::element::Unaligned;

/// A readable and writable row of the destination, or a record. Nothing else uses it meanwhile.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct Values {
    first: *mut u8,
    elements: usize,
}

/// A readable row of updates, and the values that it is reduced into.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct RowPair {
    updates: *const u8,
    into: Values,
    /// Bytes of the row of updates, if known.
    #[cfg(debug_assertions)]
    bytes: Option<usize>,
}

/// `N` values at `column`, at any alignment.
#[inline(always)]
fn at<T: Copy, const N: usize>(first: *const u8, column: usize) -> *const [Unaligned<T>; N] {
    first.cast::<Unaligned<T>>().wrapping_add(column).cast()
}

impl Values {
    /// The values of a row or a record.
    ///
    /// # Safety
    /// `elements` values at `first`, at any alignment, may be read and written. So may the note of a record, after its
    /// sums. Nothing else uses them while this value is used. The code that gets this value reads and writes values of
    /// their type, and reads no sum of a record before it has begun.
    #[inline(always)]
    pub(in crate::kernels::reduce) unsafe fn new(first: *mut u8, elements: usize) -> Self {
        Values { first, elements }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn read<T: Copy, const N: usize>(self, column: usize) -> [Unaligned<T>; N] {
        debug_assert!(column + N <= self.elements, "S2, A1");
        // SAFETY: `Values::new`: the row may be read. Callers keep `column + N <= elements`.
        unsafe { at::<T, N>(self.first, column).read() }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn write<T: Copy, const N: usize>(self, column: usize, values: [Unaligned<T>; N]) {
        debug_assert!(column + N <= self.elements, "S2, A1");
        // SAFETY: `Values::new`: the row may be written. Callers keep `column + N <= elements`.
        unsafe { at::<T, N>(self.first, column).cast_mut().write(values) };
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn write_each<T: Copy, const N: usize>(
        self,
        column: usize,
        value: impl Fn(usize) -> T,
    ) {
        for k in 0..N {
            self.write(column + k, [Unaligned(value(k))]);
        }
    }

    #[inline(always)]
    pub(super) fn note<S: Copy>(self) -> u32 {
        // SAFETY: `Values::new`: a record has a note after its sums, which may be read at any alignment.
        unsafe { at::<S, 0>(self.first, self.elements).cast::<u32>().read_unaligned() }
    }

    #[inline(always)]
    pub(super) fn set_note<S: Copy>(self, note: u32) {
        // SAFETY: `Values::new`: a record has a note after its sums, which may be written at any alignment.
        unsafe { at::<S, 0>(self.first, self.elements).cast_mut().cast::<u32>().write_unaligned(note) };
    }

    /// Fills the row with repetitions of `line`.
    ///
    /// # Safety
    /// The row has `bytes` bytes, and elements of the line's type.
    pub(super) unsafe fn fill(self, line: &[u8; LINE], bytes: usize) {
        for done in (0..bytes).step_by(LINE) {
            let len = (bytes - done).min(LINE);
            // SAFETY: the row has `bytes` bytes, by the caller's contract, and shares none with `line`.
            unsafe { self.first.wrapping_add(done).copy_from_nonoverlapping(line.as_ptr(), len) };
        }
    }
}

impl RowPair {
    /// A row of updates and the values that it is reduced into.
    ///
    /// # Safety
    /// [`Values::new`] holds for `elements` values at `into`. `elements` values at `updates`, at any alignment, may be
    /// read and share no byte with `into`. The code that gets this value reads values of their type.
    #[inline(always)]
    pub(super) unsafe fn new(updates: *const u8, into: *mut u8, elements: usize) -> Self {
        RowPair {
            updates,
            into: Values { first: into, elements },
            #[cfg(debug_assertions)]
            bytes: None,
        }
    }

    /// The same pair with the known size of the row of updates, for debug assertions.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "there is nothing to compare with"))]
    pub(super) fn of_bytes(self, bytes: usize) -> Self {
        RowPair {
            #[cfg(debug_assertions)]
            bytes: Some(bytes),
            ..self
        }
    }

    #[inline(always)]
    pub(super) fn into(self) -> Values {
        self.into
    }

    #[inline(always)]
    pub(super) fn updates<T: Copy, const N: usize>(self, column: usize) -> [Unaligned<T>; N] {
        debug_assert!(column + N <= self.into.elements, "S1");
        #[cfg(debug_assertions)]
        debug_assert!(self.bytes.is_none_or(|bytes| bytes == self.into.elements * size_of::<T>()), "S1");
        // SAFETY: `RowPair::new`: the updates may be read. Callers keep `column + N <= elements`.
        unsafe { at::<T, N>(self.updates, column).read() }
    }

    /// Copies the row of updates into the destination.
    #[inline(always)]
    pub(super) fn copy(self, way: impl CopyRow) {
        // SAFETY: `RowPair::new`: the rows share no byte. They have the bytes that `way` copies (S3).
        unsafe { way.copy(self.updates, self.into.first) }
    }
}

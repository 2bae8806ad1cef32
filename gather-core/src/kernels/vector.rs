//! Vectors of bytes: loads and stores.

use crate::kernels::level_fn::Token;
use crate::types::index::Index;

/// Bytes in a register, of any lane type.
///
/// Constructors take the token of a level. A vector longer than 16 bytes exists only on a machine with its level, so
/// functions that take one may be safe. Every x86-64 machine has vectors of 16 bytes, so functions that take no longer
/// vector take the token, too.
pub(crate) trait Vector: Copy {
    /// The level that has the instructions of the vector.
    type Level: Token;

    /// Bytes per vector.
    const LEN: usize = size_of::<Self>();

    /// The token of `Level`, if `Here` includes that level.
    fn level<Here: Token>(here: Here) -> Option<Self::Level>;

    /// Loads `LEN` bytes.
    ///
    /// # Safety
    /// `LEN` bytes may be read.
    #[inline(always)]
    unsafe fn load(_level: Self::Level, from: *const u8) -> Self {
        // SAFETY: by the caller's contract, `LEN` bytes may be read. Any bytes are a vector, and the token proves that
        // the machine has it.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    /// Stores the vector.
    ///
    /// # Safety
    /// `LEN` bytes may be written.
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: by the caller's contract, `LEN` bytes may be written; at any alignment.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    /// The vector of the first `LEN` bytes of an array.
    #[inline(always)]
    fn of<T: Index, const N: usize>(level: Self::Level, numbers: &[T; N]) -> Self {
        const { assert!(Self::LEN <= size_of::<[T; N]>()) };
        // SAFETY: the array has `LEN` bytes or more, by the assertion above.
        unsafe { Self::load(level, numbers.as_ptr().cast()) }
    }
}

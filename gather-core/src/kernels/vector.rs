//! Vectors of bytes: loads and stores.

use crate::kernels::level_fn::Token;
use crate::types::index::Index;

/// Bytes in a register, of any lane type.
///
/// Constructors take the token of a level. Vectors longer than 16 bytes exist only on machines with the instructions of
/// their level, so functions of such a vector may be safe. A vector of 16 bytes proves nothing, since every x86-64
/// machine has it: functions of 16-byte vectors alone take the token, too.
pub(crate) trait Vector: Copy {
    /// The level that has its instructions.
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
        // SAFETY: `LEN` bytes may be read, any bytes are a vector, and the token proves that the machine has the
        // vector.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    /// Stores the vector.
    ///
    /// # Safety
    /// `LEN` bytes may be written.
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `LEN` bytes may be written, at any alignment.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    /// The vector of the first `LEN` bytes of an array.
    #[inline(always)]
    fn of<T: Index, const N: usize>(level: Self::Level, numbers: &[T; N]) -> Self {
        const { assert!(Self::LEN <= size_of::<[T; N]>()) };
        // SAFETY: the array has `LEN` bytes or more.
        unsafe { Self::load(level, numbers.as_ptr().cast()) }
    }
}

//! Vectors of bytes, as memory has them: where they come from and where they go.

use crate::kernels::level_fn::Token;
use crate::types::index::Index;

/// Bytes in a register, whatever they stand for.
///
/// What makes a vector out of nothing takes the token of a level. A longer vector exists only where the machine has the
/// instructions of its level, so that functions of it may be safe. One of 16 bytes shows nothing, since every machine
/// of x86-64 has it: functions that take no other take the token, too.
pub(crate) trait Vector: Copy {
    /// The level that has its instructions.
    type Level: Token;

    /// The number of its bytes.
    const LEN: usize = size_of::<Self>();

    /// The token, at that level and above.
    fn level<Here: Token>(here: Here) -> Option<Self::Level>;

    /// Reads the bytes at an address.
    ///
    /// # Safety
    /// `LEN` bytes may be read.
    #[inline(always)]
    unsafe fn load(_level: Self::Level, from: *const u8) -> Self {
        // SAFETY: `LEN` bytes may be read, and any are a vector, which the machine has, as the token shows.
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    /// Writes the bytes to an address.
    ///
    /// # Safety
    /// `LEN` bytes may be written.
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: `LEN` bytes may be written, at any alignment.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    /// The vector of an array's first numbers.
    #[inline(always)]
    fn of<T: Index, const N: usize>(level: Self::Level, numbers: &[T; N]) -> Self {
        const { assert!(Self::LEN <= size_of::<[T; N]>()) };
        // SAFETY: the array has `LEN` bytes or more.
        unsafe { Self::load(level, numbers.as_ptr().cast()) }
    }
}

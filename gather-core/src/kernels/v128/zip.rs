//! Streams are zipped by vectors of 16 bytes.

use super::{V128, VECTOR};
use crate::kernels::space::zip::{LooksUp, Vector, ZipsTwo};

impl Vector for V128 {
    const LEN: usize = VECTOR;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        unsafe { V128::load(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { V128::store(self, to) }
    }
}

impl LooksUp for V128 {
    #[inline(always)]
    fn look_up(self, at: Self) -> Self {
        V128::look_up_16(self, at)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        V128::or(self, other)
    }
}

impl ZipsTwo for V128 {
    #[inline(always)]
    fn zip<const BYTES: usize>(a: Self, b: Self) -> [Self; 2] {
        match BYTES {
            1 => V128::zip8(a, b),
            2 => V128::zip16(a, b),
            4 => V128::zip32(a, b),
            _ => V128::zip64(a, b),
        }
    }
}

//! Zipping streams by vectors of 16 bytes.

#![forbid(unsafe_code)]

use super::V128;
use crate::kernels::level_fn::{Scalar, Token};
use crate::kernels::space::zip::{LooksUp, ZipsTwo};
use crate::kernels::vector::Vector;

/// Every kernel of the target may use the vectors.
impl Vector for V128 {
    type Level = Scalar;

    #[inline(always)]
    fn level<Here: Token>(_: Here) -> Option<Scalar> {
        Some(Scalar)
    }
}

impl LooksUp for V128 {
    #[inline(always)]
    fn look_up(self, _: Scalar, at: Self) -> Self {
        V128::look_up_16(self, at)
    }

    #[inline(always)]
    fn or(_: Scalar, a: Self, b: Self) -> Self {
        V128::or(a, b)
    }
}

impl ZipsTwo for V128 {
    #[inline(always)]
    fn zip<const BYTES: usize>(_: Scalar, a: Self, b: Self) -> [Self; 2] {
        match BYTES {
            1 => V128::zip8(a, b),
            2 => V128::zip16(a, b),
            4 => V128::zip32(a, b),
            _ => V128::zip64(a, b),
        }
    }
}

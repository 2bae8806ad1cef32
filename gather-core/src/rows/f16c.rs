//! Widens `f16` by F16C, in safe functions for callers without target features, such as those of `rows::lanes::dot`.

use core::arch::x86_64::{_mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};

use half::f16;

use crate::rows::lanes::{BLOCK, Number, Step, Widen, fold_by, fold_three_by, widen_by};
use crate::types::level::Level;

/// Proof that the machine has AVX2 and F16C: made by [`F16c::find`] only.
#[derive(Clone, Copy)]
pub(super) struct F16c(());

/// Functions of [`lanes`](crate::rows::lanes), compiled for AVX2 and F16C. Kernels compiled for both inline them.
macro_rules! folds {
    ($($name:ident, $by:ident, $rows:literal;)*) => {$(
        #[inline(always)]
        pub(super) fn $name<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(
            self,
            rows: [&[A]; $rows],
            b: &[B],
        ) -> [A::Sum; $rows] {
            #[inline]
            #[target_feature(enable = "avx2,f16c")]
            fn run<A: Number, B: Number<Sum = A::Sum>, P: Step<A::Sum>>(
                rows: [&[A]; $rows],
                b: &[B],
                by: F16c,
            ) -> [A::Sum; $rows] {
                $by::<A, B, P, F16c>(rows, b, by)
            }
            // SAFETY: `self` proves AVX2 and F16C: `F16c::find` alone makes it, after `Level::has_avx2`.
            unsafe { run::<A, B, P>(rows, b, self) }
        }
    )*};
}

impl F16c {
    /// `None` if the preferred level is `Scalar`; the others need AVX2 and F16C ([`Level::is_available`]).
    #[inline(always)]
    pub(super) fn find() -> Option<Self> {
        Level::has_avx2().then_some(F16c(()))
    }

    folds! {
        fold, fold_by, 1;
        fold_three, fold_three_by, 3;
    }

    /// [`widen_by`], compiled for AVX2 and F16C.
    #[inline(always)]
    pub(super) fn widen<A: Number>(self, row: &[A], out: &mut [A::Sum]) {
        #[inline]
        #[target_feature(enable = "avx2,f16c")]
        fn run<A: Number>(row: &[A], out: &mut [A::Sum], by: F16c) {
            widen_by(row, out, by);
        }
        // SAFETY: `self` proves AVX2 and F16C: `F16c::find` alone makes it, after `Level::has_avx2`.
        unsafe { run(row, out, self) }
    }
}

impl Widen for F16c {
    #[inline(always)]
    fn f16(self, block: &[f16; BLOCK]) -> [f32; BLOCK] {
        #[inline]
        #[target_feature(enable = "avx2,f16c")]
        fn run(block: &[f16; BLOCK]) -> [f32; BLOCK] {
            // SAFETY: `block` is 16 bytes, `BLOCK` numbers, and the load takes any alignment.
            let wide = _mm256_cvtph_ps(unsafe { _mm_loadu_si128(block.as_ptr().cast()) });
            let mut widened = [0.0; BLOCK];
            // SAFETY: `widened` is 32 bytes, `BLOCK` numbers, and the store takes any alignment.
            unsafe { _mm256_storeu_ps(widened.as_mut_ptr(), wide) };
            widened
        }
        // SAFETY: `self` proves AVX2 and F16C: `F16c::find` alone makes it, after `Level::has_avx2`.
        unsafe { run(block) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::numbers::f16_to_f32;

    #[test]
    fn every_number_is_widened_as_integers_widen_it() {
        let Some(f16c) = F16c::find() else { return };
        for first in (0..=u16::MAX).step_by(BLOCK) {
            let block: [f16; BLOCK] = core::array::from_fn(|lane| f16::from_bits(first + lane as u16));
            let bits = f16c.f16(&block).map(f32::to_bits);
            assert_eq!(bits, block.map(|number| f16_to_f32(number.to_bits()).to_bits()), "from {first:#06x} on");
        }
    }
}

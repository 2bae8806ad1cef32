//! The operations on vectors of 16 bytes with the vector instructions of WebAssembly.

#![forbid(unsafe_code)]

use core::arch::wasm32::*;

/// 16 bytes in a register.
#[derive(Clone, Copy)]
pub(super) struct V128(v128);

/// Safe functions made of vector instructions, which the target has.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $($body:tt)* })*) => {
        impl V128 {$(
            $(#[$doc])*
            #[inline(always)]
            pub(super) fn $name($($arg: $ty),*) -> $out {
                $($body)*
            }
        )*}
    };
}

operations! {
    fn and(a: V128, b: V128) -> V128 { V128(v128_and(a.0, b.0)) }
    fn or(a: V128, b: V128) -> V128 { V128(v128_or(a.0, b.0)) }
    /// The bits of `yes` where the mask has ones, and of `no` where it has zeros.
    fn select(mask: V128, yes: V128, no: V128) -> V128 { V128(v128_bitselect(yes.0, no.0, mask.0)) }

    fn add8(a: V128, b: V128) -> V128 { V128(i8x16_add(a.0, b.0)) }
    /// All ones in equal bytes.
    fn eq8(a: V128, b: V128) -> V128 { V128(i8x16_eq(a.0, b.0)) }
    /// The lesser bytes, unsigned.
    fn min8(a: V128, b: V128) -> V128 { V128(u8x16_min(a.0, b.0)) }
    /// All ones in negative bytes.
    fn sign8(a: V128) -> V128 { V128(i8x16_shr(a.0, 7)) }
    /// Whether no byte is zero.
    fn all_set8(a: V128) -> bool { i8x16_all_true(a.0) }

    fn add32(a: V128, b: V128) -> V128 { V128(i32x4_add(a.0, b.0)) }
    fn mul32(a: V128, b: V128) -> V128 { V128(i32x4_mul(a.0, b.0)) }

    /// The even bytes of both vectors.
    fn even8(a: V128, b: V128) -> V128 {
        V128(i8x16_shuffle::<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(a.0, b.0))
    }
    /// The even lanes of 16 bits of both vectors.
    fn even16(a: V128, b: V128) -> V128 { V128(i16x8_shuffle::<0, 2, 4, 6, 8, 10, 12, 14>(a.0, b.0)) }

    /// The bytes of two vectors, alternating.
    fn zip8(a: V128, b: V128) -> [V128; 2] {
        [
            V128(i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a.0, b.0)),
            V128(i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a.0, b.0)),
        ]
    }
    /// The lanes of 16 bits of two vectors, alternating.
    fn zip16(a: V128, b: V128) -> [V128; 2] {
        [
            V128(i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a.0, b.0)),
            V128(i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a.0, b.0)),
        ]
    }
    /// The lanes of 32 bits of two vectors, alternating.
    fn zip32(a: V128, b: V128) -> [V128; 2] {
        [V128(i32x4_shuffle::<0, 4, 1, 5>(a.0, b.0)), V128(i32x4_shuffle::<2, 6, 3, 7>(a.0, b.0))]
    }
    /// The lanes of 64 bits of two vectors, alternating.
    fn zip64(a: V128, b: V128) -> [V128; 2] {
        [V128(i64x2_shuffle::<0, 2>(a.0, b.0)), V128(i64x2_shuffle::<1, 3>(a.0, b.0))]
    }

    /// The bytes of a table of 16 at the numbers in `at`; 0 for numbers past the table.
    fn look_up_16(table: V128, at: V128) -> V128 { V128(i8x16_swizzle(table.0, at.0)) }
    /// The bytes of a table of 64 at the numbers in `at`; 0 for numbers past the table.
    fn look_up_64(table: [V128; 4], at: V128) -> V128 {
        let part = |k: usize| {
            // A number below `16 * k` wraps around, past the end of the 16 entries.
            let at = i8x16_sub(at.0, i8x16_splat(16 * k as i8));
            i8x16_swizzle(table[k].0, at)
        };
        V128(v128_or(v128_or(part(0), part(1)), v128_or(part(2), part(3))))
    }
}

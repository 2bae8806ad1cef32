//! The operations on vectors of 16 bytes with NEON. Lanes count from the lowest address, as in little-endian memory.

use core::arch::aarch64::*;

/// 16 bytes in a register.
#[derive(Clone, Copy)]
pub(super) struct V128(uint8x16_t);

/// Safe functions made of NEON instructions.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $($body:tt)* })*) => {
        impl V128 {$(
            $(#[$doc])*
            #[inline(always)]
            pub(super) fn $name($($arg: $ty),*) -> $out {
                #[inline]
                #[target_feature(enable = "neon")]
                fn run($($arg: $ty),*) -> $out {
                    $($body)*
                }
                // SAFETY: the target has NEON: `v128/mod.rs` compiles this module for no other.
                unsafe { run($($arg),*) }
            }
        )*}
    };
}

operations! {
    fn and(a: V128, b: V128) -> V128 { V128(vandq_u8(a.0, b.0)) }
    fn or(a: V128, b: V128) -> V128 { V128(vorrq_u8(a.0, b.0)) }
    /// The bits of `yes` where the mask has ones, and of `no` where it has zeros.
    fn select(mask: V128, yes: V128, no: V128) -> V128 { V128(vbslq_u8(mask.0, yes.0, no.0)) }

    fn add8(a: V128, b: V128) -> V128 { V128(vaddq_u8(a.0, b.0)) }
    /// All ones in equal bytes.
    fn eq8(a: V128, b: V128) -> V128 { V128(vceqq_u8(a.0, b.0)) }
    /// The lesser bytes, unsigned.
    fn min8(a: V128, b: V128) -> V128 { V128(vminq_u8(a.0, b.0)) }
    /// All ones in negative bytes.
    fn sign8(a: V128) -> V128 { V128(vreinterpretq_u8_s8(vshrq_n_s8::<7>(vreinterpretq_s8_u8(a.0)))) }
    /// Whether no byte is zero.
    fn all_set8(a: V128) -> bool { vminvq_u8(a.0) != 0 }

    fn add32(a: V128, b: V128) -> V128 { of32(vaddq_u32(as32(a), as32(b))) }
    fn mul32(a: V128, b: V128) -> V128 { of32(vmulq_u32(as32(a), as32(b))) }

    /// The even bytes of both vectors.
    fn even8(a: V128, b: V128) -> V128 { V128(vuzp1q_u8(a.0, b.0)) }
    /// The even lanes of 16 bits of both vectors.
    fn even16(a: V128, b: V128) -> V128 { of16(vuzp1q_u16(as16(a), as16(b))) }

    /// The bytes of two vectors, alternating.
    fn zip8(a: V128, b: V128) -> [V128; 2] { [V128(vzip1q_u8(a.0, b.0)), V128(vzip2q_u8(a.0, b.0))] }
    /// The lanes of 16 bits of two vectors, alternating.
    fn zip16(a: V128, b: V128) -> [V128; 2] { [of16(vzip1q_u16(as16(a), as16(b))), of16(vzip2q_u16(as16(a), as16(b)))] }
    /// The lanes of 32 bits of two vectors, alternating.
    fn zip32(a: V128, b: V128) -> [V128; 2] { [of32(vzip1q_u32(as32(a), as32(b))), of32(vzip2q_u32(as32(a), as32(b)))] }
    /// The lanes of 64 bits of two vectors, alternating.
    fn zip64(a: V128, b: V128) -> [V128; 2] { [of64(vzip1q_u64(as64(a), as64(b))), of64(vzip2q_u64(as64(a), as64(b)))] }

    /// The bytes of a table of 16 at the numbers in `at`; 0 for numbers past the table.
    fn look_up_16(table: V128, at: V128) -> V128 { V128(vqtbl1q_u8(table.0, at.0)) }
    /// The bytes of a table of 64 at the numbers in `at`; 0 for numbers past the table.
    fn look_up_64(table: [V128; 4], at: V128) -> V128 {
        V128(vqtbl4q_u8(uint8x16x4_t(table[0].0, table[1].0, table[2].0, table[3].0), at.0))
    }
}

/// Reinterprets a vector as lanes of 16, 32 or 64 bits, and back.
macro_rules! lanes {
    ($($name:ident: $from:ty => $to:ty, $instruction:expr;)*) => {$(
        #[inline]
        #[target_feature(enable = "neon")]
        fn $name(lanes: $from) -> $to {
            $instruction(lanes)
        }
    )*};
}
lanes! {
    as16: V128 => uint16x8_t, |a: V128| vreinterpretq_u16_u8(a.0);
    as32: V128 => uint32x4_t, |a: V128| vreinterpretq_u32_u8(a.0);
    as64: V128 => uint64x2_t, |a: V128| vreinterpretq_u64_u8(a.0);
    of16: uint16x8_t => V128, |a| V128(vreinterpretq_u8_u16(a));
    of32: uint32x4_t => V128, |a| V128(vreinterpretq_u8_u32(a));
    of64: uint64x2_t => V128, |a| V128(vreinterpretq_u8_u64(a));
}

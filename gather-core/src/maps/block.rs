//! Blocks of quantised values in the GGUF layouts of ggml: bytes that encode a fixed number of values and scales.

use crate::maps::floats::{Convertible, converted, round};
use crate::maps::gguf;
use crate::types::codes::Float;
use crate::types::element::Element;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A block of quantised values, as an element: a table of `n` blocks in a row is a view of `[rows, n]`.
///
/// Sealed: implemented for the blocks of [`maps`](crate::maps). Your own block types are elements like any other;
/// [`map_kernels!`](crate::map_kernels!) makes maps of them.
///
/// ```
/// use gather_core::maps::{self, Block, Q8_0};
/// use gather_core::{Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // Two rows of one block: a scale of 0.5 or 2, and 32 numbers.
///     let mut bytes = vec![3u8; 2 * size_of::<Q8_0>()];
///     bytes[..2].copy_from_slice(&0x3800u16.to_le_bytes());
///     bytes[34..36].copy_from_slice(&0x4000u16.to_le_bytes());
///
///     let (blocks, remainder) = Q8_0::from_bytes(&bytes);
///     assert!(remainder.is_empty());
///     let table = View::new(blocks, &[2, 1])?;
///     let rows = Gather::new(0).run(&table.map(&maps::convert::<_, f32>(), ()), &View::new(&[1u32, 0], &[2])?)?;
///     assert_eq!(rows.as_slice(), [[6.0; 32], [1.5; 32]]);
///     Ok(())
/// }
/// ```
#[doc(alias("GGUF", "GGML", "llama.cpp"))]
pub trait Block: Element + Sealed {
    /// The values of a block, such as `[f32; 32]`.
    type Values: Element + AsRef<[f32]>;

    /// The number of values in a block.
    const LEN: usize = size_of::<Self::Values>() / size_of::<f32>();

    /// The values of this block.
    #[must_use]
    fn to_f32(self) -> Self::Values;

    /// Splits `bytes` into whole blocks and the remainder. Any bytes are valid, at any alignment.
    #[must_use]
    fn from_bytes(bytes: &[u8]) -> (&[Self], &[u8]);
}

/// Defines blocks of bytes, each a struct that is an element, with its decoder.
macro_rules! blocks {
    ($($(#[$doc:meta])* $name:ident: [u8; $bytes:literal] as [f32; $len:literal], $decode:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, crate::Element)]
        #[repr(C)]
        pub struct $name {
            bytes: [u8; $bytes],
        }

        impl Sealed for $name {}
        impl converted::Sealed for $name {}

        impl<U: Float> Convertible<U> for $name {
            type Floats = [U; $len];

            #[inline(always)]
            fn convert(self) -> [U; $len] {
                round($decode(&self.bytes))
            }
        }

        impl Block for $name {
            type Values = [f32; $len];

            #[inline(always)]
            fn to_f32(self) -> [f32; $len] {
                $decode(&self.bytes)
            }

            fn from_bytes(bytes: &[u8]) -> (&[Self], &[u8]) {
                let (blocks, remainder) = bytes.as_chunks::<$bytes>();
                // SAFETY: `Self` is `repr(C)` with one field, `[u8; $bytes]`: the same size and alignment, and any
                // bytes are valid. So the borrowed slice `blocks` is a slice of `Self` of the same length.
                let blocks = unsafe { core::slice::from_raw_parts(blocks.as_ptr().cast::<Self>(), blocks.len()) };
                (blocks, remainder)
            }
        }

        impl From<[u8; $bytes]> for $name {
            fn from(bytes: [u8; $bytes]) -> Self {
                $name { bytes }
            }
        }
    )*};
}

blocks! {
    /// 32 numbers of 8 bits with one scale: `d * q`. 34 bytes: `d` as `f16`, then 32 `i8`.
    /// ggml: [`block_q8_0`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q8_0: [u8; 34] as [f32; 32], gguf::q8_0;

    /// 32 numbers of 4 bits with one scale: `d * (q - 8)`. 18 bytes: `d` as `f16`, then 16 bytes, whose low halves are
    /// the first 16 numbers.
    /// ggml: [`block_q4_0`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q4_0: [u8; 18] as [f32; 32], gguf::q4_0;

    /// 32 numbers of 4 bits with a scale and a minimum: `d * q + m`. 20 bytes: `d` and `m` as `f16`, then 16 bytes,
    /// whose low halves are the first 16 numbers.
    /// ggml: [`block_q4_1`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q4_1: [u8; 20] as [f32; 32], gguf::q4_1;

    /// 32 numbers of 5 bits with one scale: `d * (q - 16)`. 22 bytes: `d` as `f16`, 4 bytes with the high bits, lowest
    /// first, then 16 bytes with the low 4 bits, whose low halves are the first 16 numbers.
    /// ggml: [`block_q5_0`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q5_0: [u8; 22] as [f32; 32], gguf::q5_0;

    /// 32 numbers of 5 bits with a scale and a minimum: `d * q + m`. 24 bytes: `d` and `m` as `f16`, then the high and
    /// the low bits in the order of [`Q5_0`].
    /// ggml: [`block_q5_1`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q5_1: [u8; 24] as [f32; 32], gguf::q5_1;

    /// 256 numbers of 2 bits in groups of 16, each with a scale and a minimum of 4 bits:
    /// `(d * scale) * q - (dmin * min)`. 84 bytes: 16 with a scale in the low half and a minimum in the high half; 64
    /// with 32 bytes for each 128 numbers, whose lowest 2 bits are the first 32; then `d` and `dmin` as `f16`.
    /// ggml: [`block_q2_K`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q2_K: [u8; 84] as [f32; 256], gguf::q2_k;

    /// 256 numbers of 3 bits in groups of 16, each with a scale of 6 bits: `(d * (scale - 32)) * (q - 4)`. 110 bytes:
    /// 32 with the high bits, 64 with the low 2 in the order of [`Q2_K`], 12 with the scales, then `d` as `f16`.
    /// ggml: [`block_q3_K`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q3_K: [u8; 110] as [f32; 256], gguf::q3_k;

    /// 256 numbers of 4 bits in groups of 32, each with a scale and a minimum of 6 bits:
    /// `(d * scale) * q - (dmin * min)`. 144 bytes: `d` and `dmin` as `f16`, 12 bytes of scales and minimums, then 32
    /// bytes for each pair of groups, whose low halves are the first group.
    /// ggml: [`block_q4_K`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q4_K: [u8; 144] as [f32; 256], gguf::q4_k;

    /// 256 numbers of 5 bits in groups of 32, with the scales and minimums of [`Q4_K`]. 176 bytes: `d` and `dmin` as
    /// `f16`, 12 bytes of scales and minimums, 32 with the high bits, then 128 with the low 4 bits in the order of
    /// [`Q4_K`].
    /// ggml: [`block_q5_K`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q5_K: [u8; 176] as [f32; 256], gguf::q5_k;

    /// 256 numbers of 6 bits in groups of 16, each with a scale of 8 bits: `(d * scale) * (q - 32)`. 210 bytes: 128
    /// with the low 4 bits, 64 with the high 2, 16 scales as `i8`, then `d` as `f16`.
    /// ggml: [`block_q6_K`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    Q6_K: [u8; 210] as [f32; 256], gguf::q6_k;

    /// 32 codes of 4 bits into a table of 8-bit values, with one scale: `d * values[q]`. 18 bytes, in the order of
    /// [`Q4_0`].
    /// ggml: [`block_iq4_nl`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    IQ4_NL: [u8; 18] as [f32; 32], gguf::iq4_nl;

    /// 256 codes of 4 bits into the values of [`IQ4_NL`], in groups of 32, each with a scale of 6 bits:
    /// `(d * (scale - 32)) * values[q]`. 136 bytes: `d` as `f16`, 2 bytes with the high 2 bits of the scales, 4 with
    /// the low 4, then 16 bytes for each group, whose low halves are its first 16 numbers.
    /// ggml: [`block_iq4_xs`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    IQ4_XS: [u8; 136] as [f32; 256], gguf::iq4_xs;

    /// 32 numbers of FP4 (E2M1) with a power of two as their scale. 17 bytes: the scale as E8M0, then 16 bytes, whose
    /// low halves are the first 16 numbers.
    ///
    /// As in ggml, -0.0 is read as 0.0 and the scale 255 as 2^128, where the [specification of microscaling
    /// formats](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf) has NaN. For
    /// tables of paired numbers with scales in a separate tensor, see [`mxfp4_pairs`](crate::maps::mxfp4_pairs).
    /// ggml: [`block_mxfp4`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    MXFP4: [u8; 17] as [f32; 32], gguf::mxfp4;

    /// 64 numbers of FP4 (E2M1) in groups of 16, each with a scale of 8 bits. 36 bytes: 4 scales, then 8 bytes for
    /// each group, whose low halves are its first 8 numbers.
    ///
    /// As in ggml, -0.0 is read as 0.0. Scales are E4M3 codes: their sign is ignored, and 0x7f is 0. The scale of the
    /// whole tensor is not part of the blocks.
    /// ggml: [`block_nvfp4`](https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
    NVFP4: [u8; 36] as [f32; 64], gguf::nvfp4;
}

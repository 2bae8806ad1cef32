//! Ready-made maps for [`View::map`](crate::View::map), for gathers and for [bags](crate::EmbeddingBag): tables are read
//! in another format than they are stored in.
//!
//! ```
//! use gather_core::{Gather, Given, View, maps};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     let (table, scales) = ([128u8, 130, 126, 255, 0, 128], [0.5f32, 0.25, 2.0]);
//!     let (table, ids) = (View::new(&table, &[3, 2])?, View::new(&[2i64, 0], &[2])?);
//!     let params = (Given::PerRow(&scales), Given::All(128));
//!     let rows = Gather::new(0).run(&table.map(&maps::DEQUANTIZE_U8, params), &ids)?;
//!     assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
//!     Ok(())
//! }
//! ```
//!
//! | stored as | maps |
//! |---|---|
//! | bytes with a scale and a zero point | [`DEQUANTIZE_U8`], [`DEQUANTIZE_I8`] |
//! | pairs of four bits with a scale and a zero point | [`U4_TO_F32`], [`I4_TO_F32`] |
//! | `f16`, with and without a scale | [`F16_TO_F32`], [`F16_SCALED_TO_F32`] |
//! | `bf16`, with and without a scale | [`BF16_TO_F32`], [`BF16_SCALED_TO_F32`] |
//! | FP8 | [`E4M3_TO_F32`], [`E5M2_TO_F32`] |
//! | FP8 with a scale | [`E4M3_SCALED_TO_F32`], [`E5M2_SCALED_TO_F32`] |
//! | powers of two | [`E8M0_TO_F32`] |
//! | MX blocks with scales of their own | [`MXFP8_E4M3_TO_F32`], [`MXFP8_E5M2_TO_F32`], [`MXFP4_PAIRS_TO_F32`] |
//! | NF4 blocks with scales of their own | [`NF4_TO_F32`] |
//! | [`Q8_0`], [`Q4_0`], [`Q4_1`], [`Q5_0`], [`Q5_1`] of GGUF | [`Q8_0_TO_F32`] and so on |
//! | [`Q2_K`], [`Q3_K`], [`Q4_K`], [`Q5_K`], [`Q6_K`] of GGUF | [`Q2_K_TO_F32`] and so on |
//! | [`IQ4_NL`], [`IQ4_XS`], [`MXFP4`], [`NVFP4`] of GGUF | [`IQ4_NL_TO_F32`] and so on |
//!
//! Those that end with `_TO_F32` also exist as `_TO_F16` and `_TO_BF16`, except for halves and powers of two. Results
//! in `f16` and `bf16` are those in `f32`, rounded once to the nearest, ties to even. The maps for them need the
//! feature `half`.
//!
//! The maps have no branches, so they are vectorised at every level, except for the look-ups of NF4. The functions that
//! they are made of, such as [`f16_to_f32`], are here for maps of your own. The guide has a chapter on [quantised
//! tables](crate::guide::tables).
//!
//! The conversions of `half` types give what those of the crate `half` give, to the bit, NaN payloads included.

/// Maps to `f32`, and the same to `f16` and `bf16`, of a closure whose result is `f32`, or `[f32; N]` where it is
/// written `[N]`.
macro_rules! maps_to_each {
    ($($(#[$doc:meta])* pub const $f32:ident, $f16:ident, $bf16:ident =
        |$($arg:ident: $ty:ty),*| -> $([$len:literal])? $body:block;)*) => {
        $(crate::maps::maps_to_each! { @one $(#[$doc])* $f32 $f16 $bf16 ($($arg: $ty),*) [$($len)?] $body })*
    };
    (@one $(#[$doc:meta])* $f32:ident $f16:ident $bf16:ident ($($arg:ident: $ty:ty),*) [] $body:block) => {
        crate::map_kernels! {
            $(#[$doc])*
            pub const $f32 = |$($arg: $ty),*| -> f32 { $body };

            #[doc = concat!("[`", stringify!($f32), "`], rounded to `f16`.")]
            #[cfg(feature = "half")]
            pub const $f16 = |$($arg: $ty),*| -> half::f16 { crate::maps::halves::to_f16([$body])[0] };

            #[doc = concat!("[`", stringify!($f32), "`], rounded to `bf16`.")]
            #[cfg(feature = "half")]
            pub const $bf16 = |$($arg: $ty),*| -> half::bf16 { crate::maps::halves::to_bf16([$body])[0] };
        }
    };
    (@one $(#[$doc:meta])* $f32:ident $f16:ident $bf16:ident ($($arg:ident: $ty:ty),*) [$len:literal] $body:block) => {
        crate::map_kernels! {
            $(#[$doc])*
            pub const $f32 = |$($arg: $ty),*| -> [f32; $len] { $body };

            #[doc = concat!("[`", stringify!($f32), "`], rounded to `f16`.")]
            #[cfg(feature = "half")]
            pub const $f16 = |$($arg: $ty),*| -> [half::f16; $len] { crate::maps::halves::to_f16($body) };

            #[doc = concat!("[`", stringify!($f32), "`], rounded to `bf16`.")]
            #[cfg(feature = "half")]
            pub const $bf16 = |$($arg: $ty),*| -> [half::bf16; $len] { crate::maps::halves::to_bf16($body) };
        }
    };
}
use maps_to_each;

mod affine;
mod block;
mod float8;
mod four_bits;
mod gguf;
mod halves;

pub use crate::types::numbers::{
    bf16_to_f32, e2m1_to_f32, e4m3_to_f32, e5m2_to_f32, e8m0_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16,
};
pub use affine::*;
pub use block::{Block, IQ4_NL, IQ4_XS, MXFP4, NVFP4, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};
pub use float8::*;
pub use four_bits::*;
pub use gguf::*;
#[cfg(feature = "half")]
pub use halves::*;

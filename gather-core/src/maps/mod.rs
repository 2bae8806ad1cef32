//! Ready-made maps for [`View::map`](crate::View::map), for gathers and for [bags](crate::EmbeddingBag): they convert
//! the stored format of a table while it is read.
//!
//! ```
//! use gather_core::{Gather, Given, View, maps};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     let (table, scales) = ([128u8, 130, 126, 255, 0, 128], [0.5f32, 0.25, 2.0]);
//!     let table = View::new(&table, &[3, 2])?;
//!     let params = (Given::PerRow(&scales), Given::All(128));
//!     let rows = Gather::new(0).run(&table.map(&maps::dequantize(), params), &[2i64, 0])?;
//!     assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
//!     Ok(())
//! }
//! ```
//!
//! The table determines the stored type. You name the result type, `f32` or, with the feature `half`, `f16` or `bf16`:
//! `maps::e4m3::<f32>()`, `maps::convert::<_, f32>()`. Results in `f16` and `bf16` are the `f32` results, rounded once
//! to the nearest, ties to even.
//!
//! | stored as | maps | parameters |
//! |---|---|---|
//! | `u8` or `i8` with a scale and a zero point | [`dequantize`], to `f32` | scale, zero point |
//! | pairs of four bits with a scale and a zero point, in bytes | [`u4`], [`i4`] | scale, zero point |
//! | `f32`, `f16`, `bf16` | [`convert`], and with a scale [`scaled`] | none; scale |
//! | [`Block`]s of GGUF: [`Q8_0`], [`Q4_K`], [`IQ4_NL`], [`NVFP4`] .. | [`convert`], to arrays of floats | none |
//! | FP8 in bytes | [`e4m3`], [`e5m2`], and with a scale [`e4m3_scaled`], [`e5m2_scaled`] | none; scale |
//! | powers of two in bytes | [`e8m0`], to `f32` | none |
//! | MX blocks with scales of their own | [`mxfp8_e4m3`], [`mxfp8_e5m2`], [`mxfp4_pairs`] | scale |
//! | NF4 blocks with scales of their own | [`nf4`] | greatest magnitude |
//!
//! The maps have no branches, so they are vectorised at every level, except for the look-ups of NF4. The functions
//! inside them, such as [`f16_to_f32`], are public for maps of your own. The conversions of `half` types equal the
//! conversions of the crate `half` to the bit, NaN payloads included. The guide has a chapter on [quantised
//! tables](crate::guide::tables).

/// Defines functions that make maps, for any types with bounds.
macro_rules! map_functions {
    ($($(#[$doc:meta])* pub fn $name:ident$(<$($T:ident: $Bound:path),+>)? =
        |$value:ident: $In:ty $(, $param:ident: $Param:ty)*| -> $Out:ty $body:block $(and $FACT:ident)?)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $name$(<$($T: $Bound),+>)?() -> $crate::Map<$In, $Out, ($($Param,)*)> {
            struct Function<T>(core::marker::PhantomData<T>);

            impl$(<$($T: $Bound),+>)? $crate::kernels::convert::map::Convert for Function<($($($T,)+)?)> {
                type In = $In;
                type Out = $Out;
                type Params = ($($Param,)*);
                const NAME: &'static str = stringify!($name);
                const PARAMS: &'static [&'static str] = &[$(stringify!($param)),*];
                $(const $FACT: bool = true;)?

                #[inline(always)]
                fn convert($value: $In, ($($param,)*): ($($Param,)*)) -> $Out $body
            }
            $crate::Map::new::<Function<($($($T,)+)?)>>()
        }
    )*};
}
use map_functions;

/// An array with `array[i] = value(i)`, in a loop of constant length.
macro_rules! array {
    ($zero:expr; $len:expr, |$i:ident| $value:expr) => {{
        let mut array = [$zero; $len];
        for $i in 0..$len {
            array[$i] = $value;
        }
        array
    }};
}

mod affine;
mod block;
mod float8;
mod floats;
mod four_bits;
mod gguf;

pub use crate::types::numbers::{
    bf16_to_f32, e2m1_to_f32, e4m3_to_f32, e5m2_to_f32, e8m0_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16,
};
pub use affine::{Byte, dequantize, i4, u4};
pub use block::{Block, IQ4_NL, IQ4_XS, MXFP4, NVFP4, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};
pub use float8::{e4m3, e4m3_scaled, e5m2, e5m2_scaled, e8m0, mxfp8_e4m3, mxfp8_e5m2};
pub use floats::{Convertible, convert, scaled};
pub use four_bits::{NF4, mxfp4_pairs, nf4};

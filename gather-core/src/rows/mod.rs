//! Row functions: what [`View::rows`](crate::View::rows) makes of each row while it is gathered.
//!
//! Ready-made ones are the constants of this module, for rows of `f32`, and with the feature `half` of `f16` and `bf16`:
//!
//! | row function | result | parameters |
//! |---|---|---|
//! | [`DOT`], [`L2_SQUARED`] | a value | a query |
//! | [`COSINE`] | a value | a query, the length of a row, the length of the query |
//! | [`RMS_NORM`] | a row | a row to add, gains, epsilon |
//! | [`LAYER_NORM`] | a row | a row to add, gains, biases, epsilon |
//! | [`L2_NORMALIZE`] | a row | a row to add, the least length |
//!
//! [`DOT_I8`], [`L2_SQUARED_I8`] and [`COSINE_I8`] take rows of 8 bits. Sums are in `f32`, and of `i8` in `i32`.
//! [`row_kernels!`](crate::row_kernels!) makes your own, of functions such as [`dot`], [`sum`], [`sum_of_squares`],
//! [`l2_squared`] and [`max`]. These vectorise sums of floats, which a loop of one sum does not, and give the same bits
//! at every [`Level`](crate::Level): element `i` is added to lane `i % 32`, and then lanes are added in halves.
//!
//! ```
//! use gather_core::{Gather, Given, View, rows};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     // Two tokens of a sequence, each with the embedding of its position.
//!     let (tokens, positions) = ([1.0f32, 2.0, 3.0, 5.0], [0.0, 0.0, 1.0, -1.0]);
//!     let (table, ids) = (View::new(&tokens, &[2, 2])?, View::new(&[0u32, 1], &[2])?);
//!     let (gains, biases) = ([1.0, 1.0], []);
//!     let params = (
//!         Given::PerIndex(&positions[..]),
//!         Given::All(&gains[..]),
//!         Given::All(&biases[..]),
//!         Given::All(0.0),
//!     );
//!     let normed = Gather::new(0).run(&table.rows(&rows::LAYER_NORM, params), &ids)?;
//!     assert_eq!(normed.as_slice()[..2], [-1.0, 1.0]);
//!     Ok(())
//! }
//! ```

#[cfg(all(feature = "half", target_arch = "x86_64"))]
mod f16c;
mod lanes;
mod norms;

pub use crate::kernels::convert::row::{AnySlice, OptionalSlice, Slice};
pub use crate::rows::lanes::{Number, dot, l2_squared, max, sum, sum_of_squares};
use crate::rows::norms::{l2_normalize, layer_norm, rms_norm};

/// The row functions of rows of a type.
macro_rules! of {
    (
        pub const $dot:ident, $l2:ident, $cosine:ident, $rms:ident, $layer:ident, $normalize:ident = $ty:ty
    ) => {
        crate::row_kernels! {
            /// The dot product of a row and a query.
            pub const $dot = |row: &[$ty], query: &[f32]| -> f32 { dot(row, query) };

            /// The square of the Euclidean distance of a row and a query.
            pub const $l2 = |row: &[$ty], query: &[f32]| -> f32 { l2_squared(row, query) };

            /// The cosine of the angle between a row and a query, by stored lengths: the dot product divided by the
            /// product of both.
            pub const $cosine = |row: &[$ty], query: &[f32], row_length: f32, query_length: f32| -> f32 {
                dot(row, query) / (row_length * query_length)
            };

            /// RMS norm: the row, plus another where there is one, divided by the root of the mean of its squares plus
            /// `eps`; times gains, where there are any.
            ///
            /// With `x` the sum of both rows, a result is `x * (1 / sqrt(sum_of_squares(x) / n + eps)) * gain`.
            pub const $rms = |
                row: &[$ty],
                out: &mut [f32],
                #[optional] added: &[f32],
                #[optional] gains: &[f32],
                eps: f32,
            | { rms_norm(row, out, added, gains, eps) };

            /// Layer norm: the row, plus another where there is one, less its mean, divided by the root of its variance
            /// plus `eps`; times gains, plus biases, where there are any.
            ///
            /// With `x` the sum of both rows less its mean, `sum / n`, a result is
            /// `x * (1 / sqrt(sum_of_squares(x) / n + eps)) * gain + bias`.
            pub const $layer = |
                row: &[$ty],
                out: &mut [f32],
                #[optional] added: &[f32],
                #[optional] gains: &[f32],
                #[optional] biases: &[f32],
                eps: f32,
            | { layer_norm(row, out, added, (gains, biases), eps) };

            /// The row, plus another where there is one, divided by its Euclidean length, or by `least` where that is
            /// less.
            ///
            /// With `x` the sum of both rows, a result is `x * (1 / max(sqrt(sum_of_squares(x)), least))`.
            pub const $normalize = |row: &[$ty], out: &mut [f32], #[optional] added: &[f32], least: f32| {
                l2_normalize(row, out, added, least)
            };
        }
    };
}
of!(pub const DOT, L2_SQUARED, COSINE, RMS_NORM, LAYER_NORM, L2_NORMALIZE = f32);

#[cfg(feature = "half")]
mod halves {
    use half::{bf16, f16};

    use crate::rows::{dot, l2_normalize, l2_squared, layer_norm, rms_norm};

    of!(pub const DOT_F16, L2_SQUARED_F16, COSINE_F16, RMS_NORM_F16, LAYER_NORM_F16, L2_NORMALIZE_F16 = f16);
    of!(pub const DOT_BF16, L2_SQUARED_BF16, COSINE_BF16, RMS_NORM_BF16, LAYER_NORM_BF16, L2_NORMALIZE_BF16 = bf16);
}
#[cfg(feature = "half")]
pub use halves::*;

crate::row_kernels! {
    /// The dot product of a row and a query, without overflow in rows of up to 131,071 elements.
    pub const DOT_I8 = |row: &[i8], query: &[i8]| -> i32 { dot(row, query) };

    /// The square of the Euclidean distance of a row and a query, without overflow in rows of up to 33,025 elements.
    pub const L2_SQUARED_I8 = |row: &[i8], query: &[i8]| -> i32 { l2_squared(row, query) };

    /// The cosine of the angle between a row and a query, by stored lengths: the dot product as an `f32`, divided by
    /// the product of both.
    pub const COSINE_I8 = |row: &[i8], query: &[i8], row_length: f32, query_length: f32| -> f32 {
        dot(row, query) as f32 / (row_length * query_length)
    };
}

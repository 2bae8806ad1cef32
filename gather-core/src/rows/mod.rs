//! Row functions, which [`View::rows`](crate::View::rows) applies to each row while it is gathered.
//!
//! The functions of this module return ready-made row functions; the type of rows is the table's:
//!
//! | row function | of rows of | result | parameters |
//! |---|---|---|---|
//! | [`dot`], [`l2_squared`] | `f32`, `f16`, `bf16`; `i8` | a value: `f32`; `i32` | a query |
//! | [`cosine`] | `f32`, `f16`, `bf16`; `i8` | a value: `f32` | a query, the length of a row, the length of the query |
//! | [`rms_norm`] | `f32`, `f16`, `bf16` | a row of `f32` | a row to add, gains, epsilon |
//! | [`layer_norm`] | `f32`, `f16`, `bf16` | a row of `f32` | a row to add, gains, biases, epsilon |
//! | [`l2_normalize`] | `f32`, `f16`, `bf16` | a row of `f32` | a row to add, the least length |
//!
//! Sums are in `f32`, and for `i8` in `i32`. An [`OptionalSlice`] parameter may be `Given::All(&[])`: nothing is then
//! added or multiplied. [`row_kernels!`](crate::row_kernels!) defines your own; [`lanes`] has sums for them.
//!
//! ```
//! use gather_core::{Gather, Given, View, rows};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     // Two tokens of a sequence, each with the embedding of its position.
//!     let (tokens, positions) = ([1.0f32, 2.0, 3.0, 5.0], [0.0, 0.0, 1.0, -1.0]);
//!     let table = View::new(&tokens, &[2, 2])?;
//!     let (gains, biases) = ([1.0, 1.0], []);
//!     let params = (
//!         Given::PerIndex(&positions[..]),
//!         Given::All(&gains[..]),
//!         Given::All(&biases[..]),
//!         Given::All(0.0),
//!     );
//!     let normed = Gather::new(0).run(&table.rows(&rows::layer_norm(), params), &[0u32, 1])?;
//!     assert_eq!(normed.as_slice()[..2], [-1.0, 1.0]);
//!     Ok(())
//! }
//! ```

#[cfg(all(feature = "half", target_arch = "x86_64"))]
mod f16c;
pub mod lanes;
mod norms;

use core::marker::PhantomData;

pub use crate::kernels::convert::row::{AnySlice, OptionalSlice, Slice};
use crate::kernels::convert::row::{RowFunction, RowParams, Rowwise};
use crate::rows::lanes::Number;
use crate::types::element::Element;

/// Elements of scored rows: `f32`, `f16` and `bf16` by queries of `f32`, and `i8` by queries of `i8`. Sealed.
#[diagnostic::on_unimplemented(
    message = "rows of `{Self}` have no ready-made scores",
    label = "not `f32`, `f16`, `bf16` or `i8`",
    note = "write a row function of your own for them: `row_kernels! {{ static DOT = |row: &[{Self}], query: &[f32]| -> \
            f32 {{ .. }}; }}`"
)]
pub trait Scored: Number<Sum: Element> + Element {
    /// The elements of a query.
    type Query: Number<Sum = Self::Sum> + Element;

    #[doc(hidden)]
    fn sum_to_f32(sum: Self::Sum) -> f32;
}

/// Elements of rows that a norm scales: `f32`, `f16` and `bf16`. Sealed.
#[diagnostic::on_unimplemented(
    message = "rows of `{Self}` have no ready-made norm",
    label = "not `f32`, `f16` or `bf16`",
    note = "write a row function of your own for them: `row_kernels! {{ static NORM = |row: &[{Self}], out: &mut [f32]| {{ \
            .. }}; }}`"
)]
pub trait Normed: Scored<Sum = f32, Query = f32> {}

macro_rules! scored {
    ($($ty:ty, $Query:ty, |$sum:ident| $f32:expr $(, $Normed:ident)?;)*) => {$(
        impl Scored for $ty {
            type Query = $Query;

            #[inline(always)]
            fn sum_to_f32($sum: Self::Sum) -> f32 {
                $f32
            }
        }

        $(impl $Normed for $ty {})?
    )*};
}
scored! {
    f32, f32, |sum| sum, Normed;
    i8, i8, |sum| sum as f32;
}
#[cfg(feature = "half")]
scored! {
    half::f16, f32, |sum| sum, Normed;
    half::bf16, f32, |sum| sum, Normed;
}

/// Minimum row size in bytes to score three rows at a time, as measured for `f32`. `usize::MAX` if sums are the same in
/// any order: compilers vectorise such sums anyway.
const fn three_from<T: Scored>(bytes: usize) -> usize {
    if <T::Sum as lanes::Sum>::ANY_ORDER { usize::MAX } else { bytes }
}

/// Defines functions that make row functions, for rows of any type with a bound.
macro_rules! row_functions {
    ($($(#[$doc:meta])* pub fn $name:ident<$T:ident: $Bound:ident> =
        |$row:ident $(, $param:ident: $Param:ty)*| -> $Out:ty $body:block
        $(of three from $from:expr, |$rows:ident, $args:pat_param| $three:block)?)*) => {$(
        row_functions! { @one $(#[$doc])* $name $T $Bound ($($param: $Param),*) $Out, true,
            #[inline(always)]
            fn value($row: &[$T], ($($param,)*): <($($Param,)*) as RowParams>::Args<'_>) -> $Out $body
            $(
                const THREE_FROM: usize = $from;

                #[inline(always)]
                fn three($rows: [&[$T]; 3], $args: <Self::Params as RowParams>::Args<'_>) -> [$Out; 3] $three
            )?
        }
    )*};
    ($($(#[$doc:meta])* pub fn $name:ident<$T:ident: $Bound:ident> =
        |$row:ident, $out:ident => [$Out:ty] $(, $param:ident: $Param:ty)*| $body:block)*) => {$(
        row_functions! { @one $(#[$doc])* $name $T $Bound ($($param: $Param),*) $Out, false,
            #[inline(always)]
            fn write($row: &[$T], $out: &mut [$Out], ($($param,)*): <($($Param,)*) as RowParams>::Args<'_>) $body }
    )*};
    (@one $(#[$doc:meta])* $name:ident $T:ident $Bound:ident ($($param:ident: $Param:ty),*) $Out:ty, $one:literal,
        $($function:item)*) => {
        $(#[$doc])*
        #[must_use]
        pub const fn $name<$T: $Bound>() -> RowFunction<$T, $Out, ($($Param,)*)> {
            struct Function<T>(PhantomData<T>);

            impl<$T: $Bound> Rowwise for Function<$T> {
                type In = $T;
                type Out = $Out;
                type Params = ($($Param,)*);
                const NAME: &'static str = stringify!($name);
                const PARAMS: &'static [&'static str] = &[$(stringify!($param)),*];
                const ONE: bool = $one;

                $($function)*
            }
            RowFunction::new::<Function<$T>>()
        }
    };
}
row_functions! {
    /// The dot product of a row and a `query`. No overflow of `i8` in rows of up to 131,071 elements.
    ///
    /// Parameters: `(query,)`.
    ///
    /// ```
    /// use gather_core::{Gather, Given, View, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, query) = (View::new(&[1i8, 0, 2, 3], &[2, 2])?, [10i8, 1]);
    ///     let scores = table.rows(&rows::dot(), (Given::All(&query[..]),));
    ///     assert_eq!(Gather::new(0).run(&scores, &[1u32, 0])?.as_slice(), [23, 10]);
    ///     Ok(())
    /// }
    /// ```
    pub fn dot<T: Scored> = |row, query: Slice<T::Query>| -> T::Sum { lanes::dot(row, query) }
        of three from three_from::<T>(1024), |rows, (query,)| { lanes::dot_three(rows, query) }

    /// The squared Euclidean distance of a row and a `query`. No overflow of `i8` in rows of up to 33,025 elements.
    ///
    /// Parameters: `(query,)`.
    pub fn l2_squared<T: Scored> = |row, query: Slice<T::Query>| -> T::Sum { lanes::l2_squared(row, query) }
        of three from three_from::<T>(512), |rows, (query,)| { lanes::l2_squared_three(rows, query) }

    /// The cosine of the angle between a row and a `query`, by stored lengths: `dot / (row_length * query_length)`.
    /// For `i8` the dot product is converted to `f32` first.
    ///
    /// Parameters: `(query, row_length, query_length)`.
    pub fn cosine<T: Scored> = |row, query: Slice<T::Query>, row_length: f32, query_length: f32| -> f32 {
        T::sum_to_f32(lanes::dot(row, query)) / (row_length * query_length)
    }
}
row_functions! {
    /// RMS norm: `x * (1 / sqrt(sum_of_squares(x) / n + eps)) * gain`, where `x = row + added`. `added` and `gains`
    /// are optional.
    ///
    /// Parameters: `(added, gains, eps)`, all in `f32`, for any type of rows.
    ///
    /// ```
    /// use gather_core::{Gather, Given, View, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // Two sequences of two tokens; each token with the embedding of its position.
    ///     let tokens = View::new(&[1.0f32, 7.0, 2.0, 2.0], &[2, 2])?;
    ///     let ids = View::new(&[0u32, 1, 1, 1], &[2, 2])?;
    ///     let (positions, gains) = ([2.0, -4.0, 0.0, 0.0], [1.0, 10.0]);
    ///     let params = (Given::PerIndex(&positions[..]), Given::All(&gains[..]), Given::All(0.0));
    ///     let normed = Gather::new(0).run(&tokens.rows(&rows::rms_norm(), params), &ids)?;
    ///     assert_eq!((normed.shape(), normed[[0, 0, 1]]), (&[2, 2, 2][..], 10.0));
    ///     Ok(())
    /// }
    /// ```
    pub fn rms_norm<T: Normed> =
        |row, out => [f32], added: OptionalSlice<f32>, gains: OptionalSlice<f32>, eps: f32| {
            norms::rms_norm(row, out, added, gains, eps);
        }

    /// Layer norm: `x * (1 / sqrt(sum_of_squares(x) / n + eps)) * gain + bias`, where `x` is `row + added` less its
    /// mean `sum / n`. `added`, `gains` and `biases` are optional.
    ///
    /// Parameters: `(added, gains, biases, eps)`, all in `f32`, for any type of rows.
    pub fn layer_norm<T: Normed> = |row,
                                   out => [f32],
                                   added: OptionalSlice<f32>,
                                   gains: OptionalSlice<f32>,
                                   biases: OptionalSlice<f32>,
                                   eps: f32| {
        norms::layer_norm(row, out, added, (gains, biases), eps);
    }

    /// L2 normalisation: `x * (1 / max(sqrt(sum_of_squares(x)), least))`, where `x = row + added`. `added` is
    /// optional.
    ///
    /// Parameters: `(added, least)`, both in `f32`, for any type of rows.
    pub fn l2_normalize<T: Normed> = |row, out => [f32], added: OptionalSlice<f32>, least: f32| {
        norms::l2_normalize(row, out, added, least);
    }
}

//! Reductions of scatters and bags, and the result types of maps for bags.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;
use crate::types::element::Element;

closed_set! {
/// The reduction of an element and its updates by a scatter, or of the rows of a bag.
///
/// Updates are applied in row-major order of the indices, to the bit as in a plain loop, for any number of threads.
///
/// Elements of several numbers (arrays, and types with `Element`'s `numbers = TYPE`) are reduced number by number.
///
/// Integers wrap. For `bool`, `Add` and `Max` are or, `Mul` and `Min` are and. Complex numbers have no order. `f16`
/// and `bf16` are added, subtracted and multiplied in `f32`, and rounded once for each element.
///
/// A NaN among floats makes the result NaN, also under `Min` and `Max`, which keep the bits of the last NaN. A NaN
/// made by arithmetic has unspecified bits. Of equal values, such as 0.0 and -0.0, `Min` and `Max` keep the earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The update replaces the element: the last one wins.
    #[default]
    None = "none",
    /// The sum. OpenVINO and PyTorch call it `sum`.
    Add = "add",
    /// The element minus all updates.
    Sub = "sub",
    /// The product. OpenVINO and PyTorch call it `prod`.
    Mul = "mul",
    /// The least.
    Min = "min",
    /// The greatest.
    Max = "max",
    /// The sum of the element and its updates, divided by the number of terms. Integers: the exact mean, rounded down.
    Mean = "mean",
}
/// Every reduction.
pub const ALL;
/// The name, in lower case.
pub const fn name;
}

mod sealed {
    pub trait Sealed {}
}

/// A number or an array of numbers: the result of a map for an [`EmbeddingBag`](crate::EmbeddingBag) to reduce.
/// Sealed.
///
/// Maps of blocks make arrays, whose numbers are reduced one by one.
#[diagnostic::on_unimplemented(
    message = "bags of `{Self}` cannot be reduced",
    label = "not a number",
    note = "maps of bags make built-in numbers, `bool`, or arrays of them"
)]
pub trait Reducible: Element + sealed::Sealed {}

macro_rules! reducible {
    ($($(#[$attr:meta])* $ty:ty;)*) => {$(
        $(#[$attr])*
        impl sealed::Sealed for $ty {}

        $(#[$attr])*
        impl Reducible for $ty {}
    )*};
}

reducible! {
    bool; i8; i16; i32; i64; isize; u8; u16; u32; u64; usize; f32; f64;
    #[cfg(feature = "half")] half::f16;
    #[cfg(feature = "half")] half::bf16;
    #[cfg(feature = "num-complex")] num_complex::Complex<f32>;
    #[cfg(feature = "num-complex")] num_complex::Complex<f64>;
}

impl<T: Reducible, const N: usize> sealed::Sealed for [T; N] {}

impl<T: Reducible, const N: usize> Reducible for [T; N] {}

//! The arguments for parameters of maps and row functions.

#![forbid(unsafe_code)]

/// The argument for a parameter of a [`Map`](crate::Map) or of a [`RowFunction`](crate::RowFunction).
///
/// A call takes a tuple with one `Given` for each parameter: `(Given::PerRow(&scales), Given::All(128))`. A tuple of
/// one ends with a comma: `(Given::All(2.0),)`. Without parameters the tuple is `()`.
///
/// `A` is the argument type of the map or the function: a value, or a slice for some parameters of row functions. `V`
/// is the type of one value. For `f32` values write `Given<'_, f32>`, for slices of `f32` `Given<'_, &[f32], f32>`.
///
/// The number of values that each variant takes:
///
/// | | a map | a row function, a value | a row function, a slice |
/// |---|---|---|---|
/// | `All` | 1 | 1 | `len` |
/// | `PerRow` | the size of the axis | the size of the axis | `len` for each position along the axis |
/// | `PerIndex` | unavailable | rows of the result | `len` for each row of the result |
/// | `PerIndexOf` | unavailable | rows of the result; its `len` is 1 | its `len` for each row of the result |
/// | `PerElement` | elements of data | unavailable | unavailable |
///
/// - The axis is the indexed axis: `PerRow` needs index tuples of length 1.
/// - The number of rows of the result is the product of its dimensions before a row. `PerIndex` also takes the product
///   of only the last of these dimensions: the values repeat along the dimensions before them. So embeddings of 512
///   positions serve any number of sequences of 512 tokens. For shorter sequences give `&positions[..len * dim]`.
/// - `len` is the length of a row of data. An `#[optional]` slice may also be empty in `All`.
/// - An `#[any_len]` slice has any length. Values of `PerRow` are shared evenly among rows. Values of `PerIndex` are,
///   too, if the result has at most one dimension before a row; with more dimensions `PerIndex` is an error, and
///   `PerIndexOf` states the length.
///
/// A call with another number of values is an error, before anything is written. A call with an unavailable variant is
/// an [`Error::ParameterUnavailable`](crate::Error::ParameterUnavailable).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Given<'a, A, V = A> {
    /// One value, or one slice, for the whole call. A reference to an array becomes a slice in the call itself; in a
    /// `let` before the call write `&query[..]`.
    All(A),
    /// A value, or a slice, for each position along the indexed axis. An element or a row at position `i` takes value
    /// `i` or slice `i`. Slices are contiguous.
    PerRow(&'a [V]),
    /// A value, or a slice, for each row of the result, in row-major order: one for each index, if no dimension of data
    /// precedes the axis. Or one for each coordinate of the last dimensions before a row, repeated along the dimensions
    /// before them. Slices of any length need a result with at most one dimension before a row.
    PerIndex(&'a [V]),
    /// As [`Given::PerIndex`], in `values.len() / len` slices, whose number says whether they are for all indices or
    /// for the last dimensions. For a slice as long as the row `len` is the length of the row, for a value 1.
    PerIndexOf {
        /// The length of a slice.
        len: usize,
        /// The slices, contiguous.
        values: &'a [V],
    },
    /// A value for each element of data, in row-major order, such as scales of blocks stored in a separate tensor. Data
    /// must be row-major.
    PerElement(&'a [V]),
}

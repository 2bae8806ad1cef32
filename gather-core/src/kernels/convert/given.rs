//! The arguments for parameters of maps and row functions.

#![forbid(unsafe_code)]

/// The argument for a parameter of a [`Map`](crate::Map) or of a [`RowFunction`](crate::RowFunction).
///
/// A call takes a tuple with one for each parameter: `(Given::PerRow(&scales), Given::All(128))`. A tuple of one ends
/// with a comma, `(Given::All(2.0),)`, and without parameters it is `()`.
///
/// `A` is what the map or the function takes: a value, or, for some parameters of row functions, a slice. `V` is one
/// value: `Given<'_, f32>` and `Given<'_, &[f32], f32>`.
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
/// - The axis is the one that indices name positions of: `PerRow` needs index tuples of length 1.
/// - The rows of the result are the product of its dimensions before a row. The product of the last of these is taken
///   too: its values repeat for the dimensions before. So embeddings of 512 positions serve any number of sequences of
///   512 tokens. For shorter sequences give as many of them: `&positions[..len * dim]`.
/// - `len` is the length of a row of data. An `#[optional]` slice may also be empty in `All`.
/// - An `#[any_len]` slice has any length. Rows share the values of `PerRow` evenly, and those of `PerIndex` where the
///   result has at most one dimension before a row. With more dimensions `PerIndexOf` states the length, and `PerIndex`
///   is an error.
///
/// A call with another number of values is an error before anything is written, and so is what is unavailable:
/// [`Error::ParameterUnavailable`](crate::Error::ParameterUnavailable).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Given<'a, A, V = A> {
    /// One value, or one slice, for the whole call. A reference to an array stands for a slice in the call itself; in a
    /// `let` before the call write `&query[..]`.
    All(A),
    /// A value, or a slice, for each row of data: for each position along the axis that indices name. An element or a
    /// row that comes from position `i` of the axis takes value `i` or slice `i`. Slices lie one after the other.
    PerRow(&'a [V]),
    /// A value, or a slice, for each row of the result, in row-major order, which is one for each index where no
    /// dimension of data stands before the axis; or for each coordinate of the last dimensions before a row, which the
    /// others repeat. For a slice of any length only where the result has at most one dimension before a row.
    PerIndex(&'a [V]),
    /// As [`Given::PerIndex`], in slices of a stated length. How many slices there are says whether they are for all
    /// indices or for those of the last dimensions. A slice that is as long as the row takes the length of a row, and a
    /// value takes the length 1.
    PerIndexOf {
        /// The length of a slice.
        len: usize,
        /// The slices, one after the other.
        values: &'a [V],
    },
    /// A value for each element of data, in row-major order, such as the scales of blocks that are stored in a tensor
    /// of their own. Data is row-major then.
    PerElement(&'a [V]),
}

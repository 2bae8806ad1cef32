//! The one error type: every variant carries the numbers that a caller needs to act on it.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use alloc::string::String;

use crate::types::codes::Codes;
use crate::types::element::DType;
use crate::types::fused::FusedFormat;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, Per};
use crate::types::reduction::Reduction;

#[cfg(test)]
mod tests;
mod text;

/// Why a call was refused.
///
/// Everything that follows from shapes and attributes is found before a single byte of the output is written; only
/// [`Error::IndexOutOfRange`] depends on the values of the indices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// `axis` lies outside `-rank..rank`.
    AxisOutOfRange {
        /// The operator.
        op: Op,
        /// The axis as given.
        axis: i64,
        /// The rank of data.
        rank: usize,
    },
    /// `batch_dims` lies outside its range.
    BatchDimsOutOfRange {
        /// The operator.
        op: Op,
        /// The value as given.
        batch_dims: i64,
        /// The least value allowed here.
        min: i64,
        /// The greatest value allowed here.
        max: i64,
    },
    /// A batch dimension has different sizes in data and indices.
    BatchMismatch {
        /// The operator.
        op: Op,
        /// Position of the dimension.
        dim: usize,
        /// Its size in data.
        data: usize,
        /// Its size in indices.
        indices: usize,
    },
    /// A tensor has a rank that the operator does not take.
    RankOutOfRange {
        /// The operator.
        op: Op,
        /// Which tensor.
        argument: Argument,
        /// The rank it has.
        rank: usize,
        /// The least rank allowed.
        min: usize,
        /// The greatest rank allowed; `usize::MAX` for no limit.
        max: usize,
    },
    /// GatherElements: indices do not fit data in a dimension other than the axis.
    IndicesShapeMismatch {
        /// The operator.
        op: Op,
        /// Position of the dimension.
        dim: usize,
        /// Its size in indices.
        indices: usize,
        /// Its size in data.
        data: usize,
    },
    /// GatherNd: an index tuple has more, or fewer, components than the operator takes.
    TupleLengthOutOfRange {
        /// The operator.
        op: Op,
        /// Components of a tuple: the last dimension of indices.
        len: usize,
        /// The fewest allowed.
        min: usize,
        /// The most allowed: rank of data minus `batch_dims`.
        max: usize,
    },
    /// An index does not name an element.
    IndexOutOfRange {
        /// The operator.
        op: Op,
        /// Position of the first such index in the row-major order of indices.
        position: usize,
        /// The index as given.
        index: i128,
        /// The axis of data that it indexes.
        axis: usize,
        /// The size of that axis.
        dim: usize,
        /// The meaning of negative indices in this call.
        negative: NegativeIndex,
    },
    /// A parameter list of BatchToSpace or SpaceToBatch has not one entry a dimension of data.
    ParameterLengthMismatch {
        /// The operator.
        op: Op,
        /// Which list.
        argument: Argument,
        /// The number of its entries.
        len: usize,
        /// The rank of data.
        rank: usize,
    },
    /// An entry of a parameter list of BatchToSpace or SpaceToBatch is out of range.
    ParameterOutOfRange {
        /// The operator.
        op: Op,
        /// Which list.
        argument: Argument,
        /// Position of the entry.
        dim: usize,
        /// The entry.
        value: i64,
        /// The least value allowed there.
        min: i64,
        /// The greatest value allowed there.
        max: i64,
    },
    /// BatchToSpace: the product of `block_shape` does not divide the batch.
    BatchNotDivisible {
        /// The size of data's first dimension.
        batch: usize,
        /// The product of `block_shape`; `None` when it exceeds `usize`.
        product: Option<usize>,
    },
    /// `block_size` of DepthToSpace or SpaceToDepth is below 1, or not a power of two from 16 on for quantised data.
    BlockSizeOutOfRange {
        /// The operator.
        op: Op,
        /// The value as given.
        block_size: i128,
    },
    /// DepthToSpace: the elements of a block do not divide the depth.
    DepthNotDivisible {
        /// The size of data's second dimension.
        depth: usize,
        /// `block_size` to the power of the spatial dimensions; `None` when it exceeds `usize`.
        product: Option<usize>,
    },
    /// SpaceToBatch and SpaceToDepth: blocks do not divide a dimension.
    SpaceNotDivisible {
        /// The operator.
        op: Op,
        /// Position of the dimension.
        dim: usize,
        /// Its size with what is padded; `None` when that exceeds `usize`.
        size: Option<usize>,
        /// The block there.
        block: i64,
    },
    /// A dimension of the result, the product of two numbers, exceeds `usize`.
    DimensionTooLarge {
        /// The operator.
        op: Op,
        /// Position of the dimension.
        dim: usize,
        /// Its size in data.
        size: usize,
        /// The factor that it is multiplied by; `None` when it exceeds `usize` itself.
        blocks: Option<usize>,
    },
    /// BatchToSpace: the crops of a dimension remove more than there is.
    CropsTooLarge {
        /// Position of the dimension.
        dim: usize,
        /// `crops_begin` there.
        begin: i64,
        /// `crops_end` there.
        end: i64,
        /// Block times dimension: what there is to crop; `None` when it exceeds `usize`.
        size: Option<usize>,
    },
    /// A shape has more elements than a tensor can have (`isize::MAX`), zero dimensions left aside.
    TooManyElements {
        /// The shape.
        shape: Box<[usize]>,
    },
    /// A tensor would take more bytes than a tensor can have (`isize::MAX`).
    TooManyBytes {
        /// The shape.
        shape: Box<[usize]>,
        /// The size of one element in bytes.
        element: usize,
    },
    /// A slice has not as many elements as its shape says.
    LengthMismatch {
        /// Elements (or bytes, for a view of bytes) given.
        len: usize,
        /// Elements (or bytes) that the shape takes.
        expected: usize,
        /// The shape.
        shape: Box<[usize]>,
    },
    /// A slice of a table is not made of whole rows.
    NotWholeRows {
        /// Elements given.
        len: usize,
        /// Elements of a row.
        columns: usize,
    },
    /// A tensor is to become an array of another rank.
    ArrayRankMismatch {
        /// The rank of the tensor.
        rank: usize,
        /// That of the array.
        expected: usize,
    },
    /// Strides are not one a dimension.
    StridesLengthMismatch {
        /// Number of strides given.
        strides: usize,
        /// Number of dimensions.
        rank: usize,
    },
    /// A strided view without elements begins outside its slice.
    OffsetOutOfBounds {
        /// The position of its first coordinate.
        offset: usize,
        /// The number of elements in the slice.
        len: usize,
    },
    /// A strided view reaches outside its slice.
    StridesOutOfBounds {
        /// The least element position reached; `None` when it is not representable.
        first: Option<isize>,
        /// The greatest element position reached; `None` when it is not representable.
        last: Option<isize>,
        /// The number of elements in the slice.
        len: usize,
    },
    /// The strides of an output let two coordinates share an element, or cannot be shown not to.
    StridesOverlap {
        /// Position of the dimension whose stride is too short.
        dim: usize,
        /// That stride in elements.
        stride: isize,
        /// The least absolute value of that stride that lets no two coordinates share an element.
        needed: usize,
        /// The strides of all dimensions.
        strides: Box<[isize]>,
    },
    /// A list of axes is no permutation of the dimensions.
    InvalidPermutation {
        /// Number of dimensions.
        rank: usize,
    },
    /// EmbeddingBag: an offset lies below the one before it, or beyond the indices; or the first one is not 0.
    BagOffsetOutOfRange {
        /// Position of the first such offset.
        position: usize,
        /// The offset as given.
        offset: i128,
        /// The least value allowed there: the offset before it.
        min: usize,
        /// The greatest value allowed there: the number of indices, or 0 for the first offset.
        max: usize,
    },
    /// EmbeddingBag: `include_last_offset` is set, and there are no offsets.
    NoOffsets,
    /// EmbeddingBag: `padding_index`, which may be negative, or `default_index` names no row.
    RowOutOfRange {
        /// Which of the two.
        argument: Argument,
        /// The index as given.
        index: i64,
        /// The number of rows.
        dim: usize,
    },
    /// EmbeddingBag: there are weights, and the reduction takes none.
    WeightsUnavailable {
        /// The name of the reduction.
        reduction: &'static str,
    },
    /// There is no such reduction of a data type.
    ReductionUnavailable {
        /// The operator.
        op: Op,
        /// The reduction.
        reduction: Reduction,
        /// The data type; `None` for types that can only be cloned.
        dtype: Option<DType>,
    },
    /// A tensor has another shape than the operator and the other tensors ask for.
    ShapeMismatch {
        /// The operator.
        op: Op,
        /// Which tensor: the output, weights, scales or zero points.
        argument: Argument,
        /// The shape asked for.
        expected: Box<[usize]>,
        /// The shape given.
        got: Box<[usize]>,
    },
    /// Updates have another shape than data and indices ask for.
    UpdatesShapeMismatch {
        /// The operator.
        op: Op,
        /// The shape of data.
        data: Box<[usize]>,
        /// The shape of indices.
        indices: Box<[usize]>,
        /// The shape asked for.
        expected: Box<[usize]>,
        /// The shape given.
        got: Box<[usize]>,
    },
    /// A planned call got a tensor with another shape or strides than the plan was made for.
    PlanMismatch {
        /// Which tensor.
        argument: Argument,
        /// The shape planned for.
        expected: Box<[usize]>,
        /// The shape given; equal to `expected` when only the strides differ.
        got: Box<[usize]>,
    },
    /// A plan of a map or row function ran with one that has other parameters.
    PlanParametersMismatch {
        /// The operator.
        op: Op,
        /// The map or row function that was given.
        function: &'static str,
        /// The parameters planned for.
        expected: &'static [&'static str],
        /// The parameters of the one given.
        got: &'static [&'static str],
    },
    /// A plan of block-quantised data ran with other codes or blocks.
    PlanBlocksMismatch {
        /// The operator.
        op: Op,
        /// The codes and the block size planned for.
        expected: (Codes, usize),
        /// Those given.
        got: (Codes, usize),
    },
    /// A type-erased tensor has another data type than asked for.
    DTypeMismatch {
        /// The data type asked for.
        expected: DType,
        /// The data type it has.
        got: DType,
    },
    /// The elements of a type-erased tensor do not lie at the alignment of their type.
    Misaligned {
        /// The data type.
        dtype: DType,
        /// Its alignment, in bytes.
        align: usize,
    },
    /// A type-erased tensor of indices has a data type that cannot index.
    NotAnIndexType {
        /// Its data type.
        dtype: DType,
    },
    /// Bytes are no values of a data type.
    InvalidBytes {
        /// The data type.
        dtype: DType,
        /// Position of the first byte that cannot be; `None` when it is not known which bytes can.
        position: Option<usize>,
    },
    /// A per-row parameter of a map has the wrong number of values, or index tuples do not have length 1.
    MapParameterLengthMismatch {
        /// The operator.
        op: Op,
        /// The map's name.
        map: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The axis of data that indices name rows of.
        axis: usize,
        /// The size of that axis.
        dim: usize,
    },
    /// A per-element parameter of a map has the wrong number of values, or data is not row-major.
    MapParameterPerElement {
        /// The operator.
        op: Op,
        /// The map's name.
        map: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The number of elements of data.
        elements: usize,
        /// Whether data is row-major.
        row_major: bool,
    },
    /// The argument for a parameter of a row function has the wrong number of values.
    RowParameterLengthMismatch {
        /// The operator.
        op: Op,
        /// The row function's name.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The unit that values are given for.
        per: Per,
        /// The number of values given.
        len: usize,
        /// The number of values that fit: for the call, for all indices, for all rows of data, or in a slice.
        expected: usize,
    },
    /// The argument for a parameter of a row function that is a slice of any length has values per index, and the
    /// result has several dimensions before a row: the values could be shorter slices for all indices, or longer ones
    /// for those of the last dimensions. [`Given::PerIndexOf`](crate::Given::PerIndexOf) states the length of a
    /// slice.
    RowParameterLengthUnstated {
        /// The operator.
        op: Op,
        /// The row function's name.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The dimensions of the result before a row.
        indices: Box<[usize]>,
    },
    /// The argument for a parameter has values for a unit that maps, or row functions, have no values for:
    /// [`Per::Index`] for a map, [`Per::Element`] for a row function.
    ParameterUnavailable {
        /// The operator.
        op: Op,
        /// The name of the map or the row function.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The unit that values are given for.
        per: Per,
    },
    /// The elements of a row that a row function reads or writes are not contiguous; or what indices have of their own
    /// is given, and the rows of the output do not follow one another at one distance.
    RowsNotContiguous {
        /// The operator.
        op: Op,
        /// Which tensor.
        argument: Argument,
    },
    /// The gathered axis of block-quantised data is the last one, which blocks run along.
    QuantizedAxis {
        /// The operator.
        op: Op,
        /// The axis.
        axis: usize,
    },
    /// Fused rows have another number of bytes than their format and number of columns ask for.
    FusedRowMismatch {
        /// The format.
        format: FusedFormat,
        /// The number of columns.
        columns: usize,
        /// The bytes of such a row; `None` when they exceed `isize::MAX`.
        expected: Option<usize>,
        /// The bytes of a row that were given.
        got: usize,
    },
    /// A planned call got fused rows of another format than the plan was made for.
    FusedFormatMismatch {
        /// The format planned for.
        expected: FusedFormat,
        /// The format given.
        got: FusedFormat,
    },
    /// A call over several tables found something wrong with one of them.
    InTable {
        /// The number of the table, from 0 on.
        table: usize,
        /// The error.
        error: Box<Error>,
    },
    /// A table of a call over several has another number of bags than the first.
    BagsMismatch {
        /// The number of bags of the first table.
        expected: usize,
        /// The number of bags of this one.
        got: usize,
    },
    /// A list of tables is empty.
    NoTables,
    /// There is another number of bags than of tables, or of tables than a plan was made for.
    TablesMismatch {
        /// Which list has another length: [`Argument::Data`] is the tables, [`Argument::Indices`] their bags.
        argument: Argument,
        /// The number of tables, or that planned for.
        expected: usize,
        /// The number given.
        got: usize,
    },
    /// A tensor that is taken in row-major order only has other strides.
    NotRowMajor {
        /// The operator.
        op: Op,
        /// Which tensor.
        argument: Argument,
    },
    /// A bitmap has fewer bytes than its bits take.
    BitmapTooShort {
        /// The number of bytes given.
        bytes: usize,
        /// The position of the first bit in them.
        offset: usize,
        /// The number of bits.
        len: usize,
    },
    /// A bitmap of nulls has not one bit for each index, or for each row or element of data.
    BitmapLengthMismatch {
        /// The operator.
        op: Op,
        /// Which tensor the bitmap is of: indices or data.
        argument: Argument,
        /// The number of its bits.
        len: usize,
        /// Bits that it may have: the number of indices (of tuples, in GatherNd), or of rows of data.
        rows: usize,
        /// Other bits that it may have: the number of elements of data, or of rows or indices once more.
        elements: usize,
    },
    /// A bitmap of nulls has a bit for each element of data, of which whole rows are read: by a row function, or as
    /// fused rows or blocks.
    BitmapPerElement {
        /// The operator.
        op: Op,
        /// The number of rows, which is that of the bits that it may have.
        rows: usize,
        /// The number of elements.
        elements: usize,
    },
    /// The registry has no kernels for a data type.
    UnknownDType {
        /// The operator.
        op: Op,
        /// The data type.
        dtype: DType,
    },
    /// Types are known at run time, and the library was built without the feature `registry`: it does not hold the
    /// kernels for them, nor does a set of the caller's.
    KernelsNotCompiled {
        /// The operator.
        op: Op,
        /// The data type.
        dtype: DType,
        /// The index type; `None` for operators without indices, and for reductions, which do not depend on it.
        index: Option<IndexType>,
    },
    /// A string names no reduction, mode or policy.
    UnknownName {
        /// The kind of thing that it was to name.
        what: &'static str,
        /// The string; of a long one the first 64 characters, and `..`.
        name: Box<str>,
        /// The strings that name one.
        known: &'static [&'static str],
    },
    /// The environment variable `GATHER_LEVEL` names no level.
    UnknownLevel {
        /// The variable's value; of a long one the first 64 characters, and `..`.
        name: Box<str>,
    },
    /// The level forced on a call, or by `GATHER_LEVEL` on all, is not available on this machine.
    LevelUnavailable {
        /// The level.
        level: Level,
    },
    /// The method forced on a call does not take its shapes and types.
    MethodUnavailable {
        /// The operator.
        op: Op,
        /// The method.
        method: Method,
    },
    /// A plan for any count of indices was asked for where their first dimension is tied to data, is not the first of
    /// the result, is repeated, or is that of tuples without components; with nulls also of several.
    FixedCount {
        /// The operator.
        op: Op,
    },
    /// The allocator refused the memory for the output, or for a scratch.
    AllocationFailed {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The system has no huge pages for memory that is in use, or moved none of it there.
    HugePagesUnavailable {
        /// Bytes of the memory.
        bytes: usize,
        /// The system's number of its error; `None` where it has no such pages at all.
        code: Option<i32>,
    },
}

/// A string as an error holds it: what is longer than a person reads is cut.
pub(crate) fn echoed(name: &str) -> Box<str> {
    const MOST: usize = 64;
    match name.char_indices().nth(MOST) {
        None => name.into(),
        Some((end, _)) => {
            let mut cut = String::from(&name[..end]);
            cut.push_str("..");
            cut.into()
        }
    }
}

//! The error type: every variant has the numbers that a caller needs to act on the error.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::types::codes::Codes;
use crate::types::element::{DType, Element};
use crate::types::fused::FusedFormat;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, Per};
use crate::types::reduction::Reduction;

#[cfg(test)]
mod tests;

/// Declares the error type: a row for each variant, its fields and its message. A message names the operator, the
/// argument, the value and the allowed values, in lower case. It is a text, a text with arguments in parentheses, or a
/// `match` of texts by fields, which are references.
macro_rules! errors {
    (text $f:ident $text:literal) => { write!($f, $text) };
    (text $f:ident ($($text:tt)+)) => { write!($f, $($text)+) };
    ($(#[$all:meta])* pub enum Error; $(
        $(#[$doc:meta])*
        $variant:ident $({ $($op:ident $(,)?)? $($(#[$of:meta])+ $field:ident: $type:ty,)* })?
        $(=> $text:tt)? $(match $on:tt { $($pattern:pat $(if $guard:expr)? => $case:tt,)+ })?,
    )+) => {
        $(#[$all])*
        pub enum Error {$(
            $(#[$doc])*
            $variant $({
                $(
                    /// The operator.
                    $op: Op,
                )?
                $($(#[$of])+ $field: $type,)*
            })?,
        )+}

        impl fmt::Display for Error {
            #[cold]
            #[allow(unused_variables, reason = "a message may leave out fields")]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {$(
                    Error::$variant $({ $($op,)? $($field),* })? => {
                        $(errors!(text f $text))?
                        $(match $on { $($pattern $(if $guard)? => errors!(text f $case),)+ })?
                    }
                )+}
            }
        }
    };
}

errors! {
    /// The error of a refused call.
    ///
    /// Every error that follows from shapes and attributes is found before a byte of the output is written; only
    /// [`Error::IndexOutOfRange`] depends on the values of the indices.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Error;
    /// `axis` lies outside `-rank..rank`.
    AxisOutOfRange { op,
        /// The axis as given.
        axis: i64,
        /// The rank of data.
        rank: usize,
    } match rank {
        0 => "{op}: axis {axis} on data of rank 0, which has no axis",
        _ => ("{op}: axis {axis} is out of range; data of rank {rank} allows -{rank}..={}", rank - 1),
    },
    /// `batch_dims` lies outside its range.
    BatchDimsOutOfRange { op,
        /// The value as given.
        batch_dims: i64,
        /// The least value allowed.
        min: i64,
        /// The greatest value allowed.
        max: i64,
    } => "{op}: batch_dims {batch_dims} is out of range; allowed here is {min}..={max}",
    /// A batch dimension has different sizes in data and indices.
    BatchMismatch { op,
        /// The position of the dimension.
        dim: usize,
        /// Its size in data.
        data: usize,
        /// Its size in indices.
        indices: usize,
    } => "{op}: batch dimension {dim} is {data} in data and {indices} in indices; they must be equal",
    /// A tensor has a rank that the operator does not take.
    RankOutOfRange { op,
        /// The tensor.
        argument: Argument,
        /// The rank of the tensor.
        rank: usize,
        /// The least rank allowed.
        min: usize,
        /// The greatest rank allowed; `usize::MAX` for no limit.
        max: usize,
    } match max {
        max if min == max => "{op}: {argument} has rank {rank}; allowed is {min}",
        &usize::MAX => "{op}: {argument} has rank {rank}; allowed is {min} or more",
        max => "{op}: {argument} has rank {rank}; allowed is {min}..={max}",
    },
    /// GatherElements: indices do not fit data in a dimension other than the axis.
    IndicesShapeMismatch { op,
        /// The position of the dimension.
        dim: usize,
        /// Its size in indices.
        indices: usize,
        /// Its size in data.
        data: usize,
    } => "{op}: dimension {dim} of indices is {indices}, which does not fit {data} in data",
    /// GatherNd: an index tuple has more, or fewer, components than the operator takes.
    TupleLengthOutOfRange { op,
        /// The number of components of a tuple: the last dimension of indices.
        len: usize,
        /// The least number allowed.
        min: usize,
        /// The greatest number allowed: rank of data minus `batch_dims`.
        max: usize,
    } match max {
        // Often a list of indices meant as tuples of one component.
        1.. if len > max => "{op}: index tuples have {len} components; allowed here is {min}..={max}; n indices of one \
            component have the shape [n, 1]",
        _ => "{op}: index tuples have {len} components; allowed here is {min}..={max}",
    },
    /// An index does not name an element.
    IndexOutOfRange { op,
        /// The position of the first such index in the row-major order of indices.
        position: usize,
        /// The index as given.
        index: i128,
        /// The axis of data that it indexes.
        axis: usize,
        /// The size of the axis.
        dim: usize,
        /// The meaning of negative indices in this call.
        negative: NegativeIndex,
    } match negative {
        NegativeIndex::Reject if *index < 0 => "{op}: index {index} at position {position} is out of range for axis \
            {axis} of size {dim}; negative indices are refused",
        _ => "{op}: index {index} at position {position} is out of range for axis {axis} of size {dim}",
    },
    /// A parameter list of BatchToSpace or SpaceToBatch does not have one entry per dimension of data.
    ArgumentLengthMismatch { op,
        /// The list.
        argument: Argument,
        /// The number of its entries.
        len: usize,
        /// The rank of data.
        rank: usize,
    } => "{op}: {argument} has {len} entries; data of rank {rank} takes {rank}",
    /// An entry of a parameter list of BatchToSpace or SpaceToBatch is out of range.
    ArgumentOutOfRange { op,
        /// The list.
        argument: Argument,
        /// The position of the entry.
        dim: usize,
        /// The entry.
        value: i64,
        /// The least value allowed.
        min: i64,
        /// The greatest value allowed.
        max: i64,
    } match max {
        max if min == max => "{op}: {argument}[{dim}] is {value}; allowed there is {min}",
        &i64::MAX => "{op}: {argument}[{dim}] is {value}; allowed there is {min} or more",
        max => "{op}: {argument}[{dim}] is {value}; allowed there is {min}..={max}",
    },
    /// BatchToSpace: the product of `block_shape` does not divide the batch.
    BatchNotDivisible {
        /// The size of data's first dimension.
        batch: usize,
        /// The product of `block_shape`; `None` if it exceeds `usize`.
        product: Option<usize>,
    } match product {
        Some(product) => "batch_to_space: batch {batch} is not divisible by {product}, the product of block_shape",
        None => "batch_to_space: batch {batch} is not divisible by the product of block_shape, which overflows",
    },
    /// `block_size` of DepthToSpace or SpaceToDepth is below 1, or not a power of two from 16 on for quantised data.
    BlockSizeOutOfRange { op,
        /// The value as given.
        block_size: i128,
    } match op {
        Op::DepthToSpace | Op::SpaceToDepth => "{op}: block_size is {block_size}; allowed is 1 or more",
        _ => "{op}: block_size is {block_size}; allowed is a power of two from 16 on",
    },
    /// DepthToSpace: the elements of a block do not divide the depth.
    DepthNotDivisible {
        /// The size of data's second dimension.
        depth: usize,
        /// `block_size` to the power of the spatial dimensions; `None` if it exceeds `usize`.
        product: Option<usize>,
    } match product {
        Some(product) => "depth_to_space: depth {depth} is not divisible by {product}, the elements of a block",
        None => "depth_to_space: depth {depth} is not divisible by the elements of a block, which overflow",
    },
    /// SpaceToBatch and SpaceToDepth: blocks do not divide a dimension.
    SpaceNotDivisible { op,
        /// The position of the dimension.
        dim: usize,
        /// The padded size; `None` if it exceeds `usize`.
        size: Option<usize>,
        /// The size of a block along the dimension.
        block: i64,
    } match (op, size) {
        (Op::SpaceToBatch, Some(size)) => "{op}: dimension {dim} has {size} elements after padding, which is not \
            divisible by its block {block}",
        (_, Some(size)) => "{op}: dimension {dim} has {size} elements, which is not divisible by its block {block}",
        (_, None) => "{op}: the elements of dimension {dim} after padding overflow",
    },
    /// A dimension of the result, the product of two numbers, exceeds `usize`.
    DimensionTooLarge { op,
        /// The position of the dimension.
        dim: usize,
        /// Its size in data.
        size: usize,
        /// The factor; `None` if it exceeds `usize` itself.
        blocks: Option<usize>,
    } match blocks {
        Some(blocks) => "{op}: dimension {dim} of {size} elements, {blocks} times, overflows",
        None => "{op}: dimension {dim} of {size} elements times the elements of a block overflows",
    },
    /// BatchToSpace: the crops of a dimension exceed its size.
    CropsTooLarge {
        /// The position of the dimension.
        dim: usize,
        /// `crops_begin` of the dimension.
        begin: i64,
        /// `crops_end` of the dimension.
        end: i64,
        /// The size before cropping, block times dimension; `None` if it exceeds `usize`.
        size: Option<usize>,
    } match size {
        Some(size) => "batch_to_space: crops {begin} and {end} of dimension {dim} exceed its {size} elements",
        None => "batch_to_space: dimension {dim} times its block overflows",
    },
    /// A shape has more elements than a tensor can have (`isize::MAX`), if a dimension of 0 counts as 1.
    TooManyElements {
        /// The shape.
        shape: Box<[usize]>,
    } => ("shape {shape:?} has more than {} elements", isize::MAX),
    /// A tensor would take more bytes than a tensor can have (`isize::MAX`).
    TooManyBytes {
        /// The shape.
        shape: Box<[usize]>,
        /// The size of one element in bytes.
        element: usize,
    } => ("shape {shape:?} of {element}-byte elements takes more than {} bytes", isize::MAX),
    /// The length of a slice or a mask differs from its shape's number of elements.
    LengthMismatch {
        /// The number of elements (or bytes, for a view of bytes; or bits, of a mask) given.
        len: usize,
        /// The number of elements (or bytes) of the shape.
        expected: usize,
        /// The shape.
        shape: Box<[usize]>,
    } => "the length is {len}; shape {shape:?} takes {expected}",
    /// A slice of a table does not consist of whole rows.
    NotWholeRows {
        /// The number of elements given.
        len: usize,
        /// The number of elements of a row.
        columns: usize,
    } => "the table has {len} elements, which are no whole number of rows of {columns}",
    /// A tensor cannot become an array of another rank.
    ArrayRankMismatch {
        /// The rank of the tensor.
        rank: usize,
        /// The rank of the array.
        expected: usize,
    } => "the tensor has rank {rank}, and the array rank {expected}",
    /// The number of strides differs from the rank.
    StridesLengthMismatch {
        /// The number of strides given.
        strides: usize,
        /// The number of dimensions.
        rank: usize,
    } => "{strides} strides for {rank} dimensions",
    /// A strided view without elements begins outside its slice.
    OffsetOutOfBounds {
        /// The position of its first coordinate.
        offset: usize,
        /// The number of elements in the slice.
        len: usize,
    } => "the strided view begins at position {offset} of a slice of {len} elements",
    /// A strided view reaches outside its slice.
    StridesOutOfBounds {
        /// The least element position reached; `None` if it is not representable.
        first: Option<isize>,
        /// The greatest element position reached; `None` if it is not representable.
        last: Option<isize>,
        /// The number of elements in the slice.
        len: usize,
    } match (first, last) {
        (Some(first), Some(last)) => "the strided view reaches positions {first}..={last} of a slice of {len} elements",
        _ => "the strides of the view overflow, far outside its slice of {len} elements",
    },
    /// The strides of an output let two coordinates share an element, or cannot be shown not to.
    StridesOverlap {
        /// The position of the dimension whose stride is too short.
        dim: usize,
        /// Its stride in elements.
        stride: isize,
        /// The least absolute value of the stride with which no two coordinates share an element.
        needed: usize,
        /// The strides of all dimensions.
        strides: Box<[isize]>,
    } => "the output's strides {strides:?} may overlap: dimension {dim} has stride {stride}, and needs at least \
        {needed} in absolute value",
    /// A list of axes is no permutation of the dimensions.
    InvalidPermutation {
        /// The number of dimensions.
        rank: usize,
    } => "the axes are no permutation of 0..{rank}",
    /// A view has no such axis, or a range descends or ends beyond its axis.
    RangeOutOfBounds {
        /// The axis.
        axis: usize,
        /// The first coordinate along the axis.
        start: usize,
        /// The end of the range.
        end: usize,
        /// The shape of the view.
        shape: Box<[usize]>,
    } => "{start}..{end} is no range of axis {axis} of a view of shape {shape:?}",
    /// EmbeddingBag: an offset is less than the previous one or exceeds the number of indices, or the first is not 0.
    BagOffsetOutOfRange {
        /// The position of the first such offset.
        position: usize,
        /// The offset as given.
        offset: i128,
        /// The least value allowed: the previous offset.
        min: usize,
        /// The greatest value allowed: the number of indices, or 0 for the first offset.
        max: usize,
    } match (position, max) {
        (0, 0) => "embedding_bag: the first offset is {offset}; it must be 0, where the first bag begins",
        _ => "embedding_bag: offset {offset} at position {position} is out of range; allowed there is {min}..={max}",
    },
    /// Offsets are empty: of [`Ragged`](crate::Ragged) rows, or of EmbeddingBag if `include_last_offset` is set.
    NoOffsets => "there are no offsets; one is needed, where the last bag or row ends",
    /// The offsets of a row of [`Ragged`](crate::Ragged) descend, are negative, or exceed the values.
    RowOffsets {
        /// The number of the row.
        row: usize,
        /// The offset where the row begins.
        from: i128,
        /// The offset where it ends.
        to: i128,
        /// The number of values.
        len: usize,
    } => "ragged: row {row} has offsets {from} and {to}; offsets must ascend in 0..={len}",
    /// The offsets of a result of [`Ragged`](crate::Ragged) rows exceed their type.
    OffsetsTooLong {
        /// The last offset.
        end: i128,
        /// The type of offsets.
        index: IndexType,
    } => ("ragged: the rows end at offset {end}; offsets of type {index} allow at most {}", index.bounds().1),
    /// The last offset of [`Ragged`](crate::Ragged) rows to append to is not the number of their values.
    LastOffsetMismatch {
        /// The offset.
        last: i128,
        /// The number of values.
        values: usize,
    } => "ragged: the last offset is {last}, and there are {values} values to append to",
    /// EmbeddingBag: `padding_index`, which may be negative, or `default_index` names no row.
    RowOutOfRange {
        /// The attribute.
        argument: Argument,
        /// The index as given.
        index: i64,
        /// The number of rows.
        dim: usize,
    } match (dim, argument) {
        (0, _) => "embedding_bag: {argument} is {index}; data has no rows",
        (_, Argument::PaddingIndex) => ("embedding_bag: {argument} is {index}; {dim} rows allow -{dim}..={}", dim - 1),
        _ => ("embedding_bag: {argument} is {index}; {dim} rows allow 0..={}", dim - 1),
    },
    /// EmbeddingBag: weights are given, and the reduction takes none.
    WeightsUnavailable {
        /// The name of the reduction.
        reduction: &'static str,
    } => "embedding_bag: the reduction {reduction} takes no weights",
    /// A data type does not support the reduction.
    ReductionUnavailable { op,
        /// The reduction.
        reduction: Reduction,
        /// The data type; `None` for types that can only be cloned.
        dtype: Option<DType>,
    } match dtype {
        Some(dtype) => "{op}: there is no reduction {reduction} of {dtype}",
        None => "{op}: there is no reduction {reduction} of values that are only cloned",
    },
    /// A tensor has another shape than required by the operator and the other tensors.
    ShapeMismatch { op,
        /// The tensor: the output, a chunk of data, a mask, weights, scales or zero points.
        argument: Argument,
        /// The required shape.
        expected: Box<[usize]>,
        /// The shape given.
        got: Box<[usize]>,
    } match argument {
        Argument::Weights => "{op}: weights have shape {got:?}; indices have {expected:?}",
        Argument::Output => "{op}: the output has shape {got:?}; the result has {expected:?}",
        Argument::Mask => "{op}: the mask has shape {got:?}; data has {expected:?} from the axis on",
        Argument::Data => "{op}: data has shape {got:?}; rows of the first chunk ask for {expected:?}",
        _ => "{op}: {argument} have shape {got:?}; data and block_size ask for {expected:?}",
    },
    /// Updates have another shape than required by data and indices.
    UpdatesShapeMismatch { op,
        /// The shape of data.
        data: Box<[usize]>,
        /// The shape of indices.
        indices: Box<[usize]>,
        /// The required shape.
        expected: Box<[usize]>,
        /// The shape given.
        got: Box<[usize]>,
    } match (op, indices.last()) {
        (Op::ScatterNd | Op::GatherNd, Some(len)) => "{op}: updates have shape {got:?}; data of shape {data:?} and \
            indices of shape {indices:?}, tuples of {len}, ask for {expected:?}",
        _ => "{op}: updates have shape {got:?}; data of shape {data:?} and indices of shape {indices:?} ask for \
            {expected:?}",
    },
    /// A tensor of a planned call has another shape or other strides than planned.
    PlanMismatch {
        /// The tensor.
        argument: Argument,
        /// The shape planned for.
        expected: Box<[usize]>,
        /// The shape given; equal to `expected` if only the strides differ.
        got: Box<[usize]>,
    } match got {
        got if got == expected => "the plan was made for other strides of {argument}, of shape {expected:?}",
        got => "the plan was made for {argument} of shape {expected:?}, not {got:?}",
    },
    /// The map or row function of a planned call has other parameters than planned.
    PlanParametersMismatch { op,
        /// The map or row function given.
        function: &'static str,
        /// The parameters planned for.
        expected: &'static [&'static str],
        /// The parameters given.
        got: &'static [&'static str],
    } => ("{op}: the plan was made for parameters ({}), and {function} has ({})", expected.join(", "), got.join(", ")),
    /// Block-quantised data of a planned call has other codes or blocks than planned.
    PlanBlocksMismatch { op,
        /// The codes and the block size planned for.
        expected: (Codes, usize),
        /// The codes and the block size given.
        got: (Codes, usize),
    } match (expected, got) {
        ((codes, size), (other, others)) => "{op}: the plan was made for codes {codes:?} in blocks of {size}, not \
            {other:?} in {others}",
    },
    /// A type-erased tensor has another data type than required.
    DTypeMismatch {
        /// The required data type.
        expected: DType,
        /// The data type of the tensor.
        got: DType,
    } => "expected data type {expected}, got {got}",
    /// The elements of a type-erased tensor are not aligned for their type.
    Misaligned {
        /// The data type.
        dtype: DType,
        /// Its alignment, in bytes.
        align: usize,
    } => "elements {dtype} lie at no multiple of {align} bytes: copy them into aligned memory",
    /// A type-erased tensor of indices has a data type that cannot index.
    NotAnIndexType {
        /// Its data type.
        dtype: DType,
    } match dtype {
        dtype if *dtype == bool::DTYPE => "{dtype} cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, \
            isize, usize; of a mask take the positions that are true",
        dtype => "{dtype} cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, isize, usize",
    },
    /// A tensor of a type known at run time has elements that are neither true nor false.
    NotAMask {
        /// Its data type.
        dtype: DType,
    } => "{dtype} is no mask; use bool, or u8, where 0 is false",
    /// Bytes are no values of a data type.
    InvalidBytes {
        /// The data type.
        dtype: DType,
        /// The position of the first invalid byte; `None` if the valid bytes are not known.
        position: Option<usize>,
    } match position {
        Some(position) => "the byte at position {position} is no value of {dtype}",
        None => "bytes cannot be checked to be values of {dtype}; see `DynView::from_bytes_unchecked`",
    },
    /// A per-row parameter of a map has the wrong number of values, or index tuples do not have length 1.
    MapParameterLengthMismatch { op,
        /// The map's name.
        map: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The axis of data whose rows are named by indices.
        axis: usize,
        /// The size of the axis.
        dim: usize,
    } => "{op}: parameter {parameter} of {map} has {len} values; per row it takes {dim}, the size of axis {axis}",
    /// A per-element parameter of a map has the wrong number of values, or data is not row-major.
    MapParameterPerElement { op,
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
    } match row_major {
        false => "{op}: parameter {parameter} of {map} is given per element, which takes row-major data",
        true => "{op}: parameter {parameter} of {map} has {len} values; per element it takes {elements}, one for each \
            of data",
    },
    /// The argument for a parameter of a row function has the wrong number of values.
    RowParameterLengthMismatch { op,
        /// The row function's name.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The unit of the values.
        per: Per,
        /// The number of values given.
        len: usize,
        /// The number of values required: for the call, for all indices, for all rows of data, or in a slice.
        expected: usize,
    } match per {
        Per::Slice => "{op}: parameter {parameter} of {function} has slices of {len} values; it takes slices of \
            {expected}",
        Per::Index => "{op}: parameter {parameter} of {function} has {len} values; {per} it takes {expected}, or those \
            of its last dimensions",
        _ => "{op}: parameter {parameter} of {function} has {len} values; {per} it takes {expected}",
    },
    /// A row function's parameter is a slice of any length with values per index, and the result has several
    /// dimensions before a row. The values could be shorter slices for all indices, or longer slices for the indices
    /// of the last dimensions. [`Given::PerIndexOf`](crate::Given::PerIndexOf) states the length of a slice.
    RowParameterLengthUnstated { op,
        /// The row function's name.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The dimensions of the result before a row.
        indices: Box<[usize]>,
    } => "{op}: parameter {parameter} of {function} has {len} values for indices of shape {indices:?}, all or those \
        of the last dimensions; state the length of a slice by Given::PerIndexOf",
    /// The unit of a parameter's values is not supported: [`Per::Index`] by maps, [`Per::Element`] by row functions.
    ParameterUnavailable { op,
        /// The name of the map or the row function.
        function: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The unit of the values.
        per: Per,
    } match per {
        Per::Index => "{op}: parameter {parameter} of {function} is given {per}; a map takes values for the call, per \
            row of data or per element",
        _ => "{op}: parameter {parameter} of {function} is given {per}; a row function takes values for the call, per \
            row of data or per index",
    },
    /// The elements of a row that a row function reads or writes are not contiguous; or there are values per index,
    /// and the rows of the output are not evenly spaced.
    RowsNotContiguous { op,
        /// The tensor.
        argument: Argument,
    } match argument {
        Argument::Output => "{op}: the rows of {argument} must be contiguous and, with values per index, evenly spaced",
        _ => "{op}: the rows of {argument} must be contiguous",
    },
    /// The gathered axis of block-quantised data is the last one, along which blocks run.
    QuantizedAxis { op,
        /// The axis.
        axis: usize,
    } => "{op}: axis {axis} is the last one of block-quantised data, which blocks run along",
    /// Fused rows have another number of bytes than required by their format and number of columns.
    FusedRowMismatch {
        /// The format.
        format: FusedFormat,
        /// The number of columns.
        columns: usize,
        /// The bytes of a row of this format; `None` if they exceed `isize::MAX`.
        expected: Option<usize>,
        /// The bytes of a row given.
        got: usize,
    } match expected {
        Some(expected) => "rows of {got} bytes: {columns} columns of the format {format:?} take {expected}",
        None => "rows of {got} bytes: {columns} columns of the format {format:?} are more than a row can have",
    },
    /// Fused rows of a planned call have another format than planned.
    FusedFormatMismatch {
        /// The format planned for.
        expected: FusedFormat,
        /// The format given.
        got: FusedFormat,
    } => "the rows have the format {got:?}; the plan was made for {expected:?}",
    /// A list of chunks is empty.
    NoChunks => "chunks: there are 0 chunks; a table has 1 or more",
    /// An error of one chunk of a table.
    InChunk {
        /// The number of the chunk, from 0 on.
        chunk: usize,
        /// The error.
        error: Box<Error>,
    } => "chunk {chunk}: {error}",
    /// The gathered axis of chunks is not axis 0, which chunks divide.
    ChunkedAxis { op,
        /// The axis.
        axis: usize,
    } => "{op}: the axis of chunks is {axis}; chunks are gathered along axis 0",
    /// A plan for one chunk with rows runs on several, or a plan for several on one.
    PlanChunksMismatch { op,
        /// The number of chunks with rows planned for.
        expected: usize,
        /// The number of chunks with rows given.
        got: usize,
    } => "{op}: {got} chunks have rows; the plan was made for {expected}",
    /// [`Checked`](crate::Checked) positions of an axis of another size than the axis of the call.
    CheckedAxisMismatch { op,
        /// The size of the axis of the call.
        expected: usize,
        /// The size that the positions were checked for.
        got: usize,
    } => "{op}: the axis has size {expected}; the positions were checked for {got}",
    /// [`Checked`](crate::Checked) positions as tuples of indices.
    CheckedTuples { op } =>
        "{op}: checked positions are of one axis; the operator takes tuples of indices",
    /// A result has another rank, or other rows, than the tensor that it is [appended](crate::Append) to.
    AppendMismatch {
        /// The shape of the tensor.
        expected: Box<[usize]>,
        /// The shape of the result.
        got: Box<[usize]>,
    } => "a result of shape {got:?} cannot follow the rows of a tensor of shape {expected:?}",
    /// Lists of sources and rows of [`pairs`](crate::ChunksView::pairs) have other lengths.
    PairsMismatch {
        /// The number of sources.
        sources: usize,
        /// The number of rows.
        rows: usize,
    } => "pairs: {sources} sources and {rows} rows",
    /// A pair of a source and a row names no row of [chunks](crate::chunks()).
    PairOutOfRange {
        /// The position of the pair.
        position: usize,
        /// The source of the pair.
        source: i128,
        /// The row of the pair.
        row: i128,
        /// The number of chunks.
        chunks: usize,
        /// The number of rows of the source; `None` if there is no such source.
        rows: Option<usize>,
    } match rows {
        Some(rows) => "pairs: pair {position} is row {row} of source {source}, which has {rows} rows",
        None => "pairs: pair {position} is of source {source}; there are {chunks} sources",
    },
    /// An axis is longer than the positions of [`Checked`](crate::Checked) indices count.
    CheckedAxisTooLong {
        /// The size of the axis.
        n: usize,
        /// The type of positions.
        index: IndexType,
    } => ("an axis of size {n}; positions of type {index} allow at most {}", index.bounds().1),
    /// An error of one table in a call over several.
    InTable {
        /// The number of the table, from 0 on.
        table: usize,
        /// The error.
        error: Box<Error>,
    } => "table {table}: {error}",
    /// A table of a call over several has another number of bags than the first.
    BagsMismatch {
        /// The number of bags of the first table.
        expected: usize,
        /// The number of bags of this one.
        got: usize,
    } => "embedding_bag: there are {got} bags; the first table has {expected}",
    /// A list of tables is empty.
    NoTables => "embedding_bag: there are 0 tables; a call takes 1 or more",
    /// The number of bags differs from the number of tables, or the number of tables from a plan's.
    TablesMismatch {
        /// The list: [`Argument::Data`] is the tables, [`Argument::Indices`] their bags.
        argument: Argument,
        /// The number of tables, or the number planned for.
        expected: usize,
        /// The number given.
        got: usize,
    } match argument {
        Argument::Data => "embedding_bag: there are {got} tables; the plan was made for {expected}",
        _ => "embedding_bag: there are {got} bags in the list; there are {expected} tables, with bags each",
    },
    /// A tensor that must be row-major has other strides.
    NotRowMajor { op,
        /// The tensor.
        argument: Argument,
    } => "{op}: {argument} must be row-major here",
    /// A bitmap has too few bytes for its bits.
    BitmapTooShort {
        /// The number of bytes given.
        bytes: usize,
        /// The position of the first bit in them.
        offset: usize,
        /// The number of bits.
        len: usize,
    } match (offset, offset.checked_add(*len)) {
        (0, _) => ("a bitmap of {len} bits has {bytes} bytes; it takes {}", len.div_ceil(8)),
        (_, Some(end)) => (
            "a bitmap of {len} bits from bit {offset} on has {bytes} bytes; it takes {}",
            end.div_ceil(8)
        ),
        (_, None) => "a bitmap of {len} bits from bit {offset} on has {bytes} bytes; it takes more than there are",
    },
    /// A bitmap of nulls does not have one bit for each index or element of a mask, or for each row or element of data.
    BitmapLengthMismatch { op,
        /// The tensor of the bitmap: indices, data or a mask.
        argument: Argument,
        /// The number of its bits.
        len: usize,
        /// An allowed number of bits: the number of indices (of tuples, in GatherNd), or of rows of data.
        rows: usize,
        /// Another allowed number: the number of elements of data, or `rows` again.
        elements: usize,
    } match argument {
        Argument::Data if rows != elements => "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for \
            each row, or {elements}, one for each element",
        Argument::Data => "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for each row",
        Argument::Mask => "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for each element",
        _ => "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for each index",
    },
    /// A bitmap of nulls has a bit per element of data, but a row function, fused rows or blocks read whole rows.
    BitmapPerElement { op,
        /// The number of rows, and of bits required.
        rows: usize,
        /// The number of elements.
        elements: usize,
    } => "{op}: the bitmap of data has a bit for each of {elements} elements, and whole rows are read: it takes \
        {rows}, one for each row",
    /// The registry has no kernels for a data type.
    UnknownDType { op,
        /// The data type.
        dtype: DType,
    } => "{op}: the registry has no kernels for the data type {dtype}; add them by `Registry::with`",
    /// Types are known at run time, and the feature `registry` is disabled. Neither the library nor a set of the
    /// caller's has kernels for them.
    KernelsNotCompiled { op,
        /// The data type.
        dtype: DType,
        /// The index type; `None` for operators without indices, and for reductions, which do not depend on it.
        index: Option<IndexType>,
    } => (
        "{op}: the kernels for {dtype}{}{} are not compiled, and the types are known at run time only: switch on the \
            feature `registry` of gather-core, or list the types in `kernels!` and add the set by `Registry::with`",
        index.map_or("", |_| " by indices "),
        index.map_or("", |index| index.dtype().name())
    ),
    /// A string names no reduction, mode or policy.
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The string; if it is longer than 64 characters, the first 64 and `..`.
        name: Box<str>,
        /// The known strings.
        known: &'static [&'static str],
    } => ("{name:?} names no {what}; there are {}", List(known)),
    /// The environment variable `GATHER_LEVEL` names no level.
    UnknownLevel {
        /// The variable's value; if it is longer than 64 characters, the first 64 and `..`.
        name: Box<str>,
    } => ("GATHER_LEVEL is {name:?}, which names no level; there are {}", List(Level::ALL)),
    /// The level forced on a call, or by `GATHER_LEVEL` on all calls, is not available on this machine.
    LevelUnavailable {
        /// The level.
        level: Level,
    } => "the level {level} is not available on this machine",
    /// The method forced on a call does not take its shapes and types.
    MethodUnavailable { op,
        /// The method.
        method: Method,
    } => "{op}: the method {method} does not take these shapes and types at this level",
    /// A plan for any count of indices is not available. Their first dimension is also one of data, is not the first of
    /// the result, is repeated, or belongs to tuples without components, or with nulls to tuples of several.
    AnyCountUnavailable { op } =>
        "{op}: plans for any count take indices whose first dimension is the first of the result, not \
        tied to one of data, and neither repeated nor of tuples without components; with nulls, tuples have one \
        component",
    /// The allocator refused the memory of the output or of a scratch.
    AllocationFailed {
        /// The number of bytes requested.
        bytes: usize,
    } => "the allocator refused {bytes} bytes",
    /// The system has no huge pages for memory in use, or moved none of the memory to huge pages.
    HugePagesUnavailable {
        /// Bytes of the memory.
        bytes: usize,
        /// The system's error number; `None` if it has no huge pages at all.
        code: Option<i32>,
    } match code {
        None => "the system has no huge pages for {bytes} bytes that are in use",
        Some(code) => "the system moved none of {bytes} bytes to huge pages: error {code}",
    },
}

/// A string for an error message, cut after 64 characters.
pub(crate) fn echoed(name: &str) -> Box<str> {
    const MAX_CHARS: usize = 64;
    match name.char_indices().nth(MAX_CHARS) {
        None => name.into(),
        Some((end, _)) => {
            let mut cut = String::from(&name[..end]);
            cut.push_str("..");
            cut.into()
        }
    }
}

/// Displays all items of a list: `a, b and c`.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, one) in self.0.iter().enumerate() {
            f.write_str(match self.0.len() - at {
                _ if at == 0 => "",
                1 => " and ",
                _ => ", ",
            })?;
            write!(f, "{one}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {}

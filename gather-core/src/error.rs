//! The one error type: every variant carries the numbers that a caller needs to act on it.

use alloc::boxed::Box;
use core::fmt;

use crate::element::DType;
use crate::level::Level;
use crate::plan::Strategy;

/// Which operator an error, a plan or a kernel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Op {
    /// OpenVINO Gather-8, ONNX Gather, `tf.gather`.
    Gather,
    /// ONNX GatherElements, `torch.gather`.
    GatherElements,
    /// ONNX GatherND, `tf.gather_nd`.
    GatherNd,
    /// OpenVINO BatchToSpace-2.
    BatchToSpace,
}

impl Op {
    /// The operator's name in lower case, as kernels, benchmarks and errors spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Gather => "gather",
            Op::GatherElements => "gather_elements",
            Op::GatherNd => "gather_nd",
            Op::BatchToSpace => "batch_to_space",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which argument an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Argument {
    /// The tensor that is read.
    Data,
    /// The tensor of indices.
    Indices,
    /// The tensor that is written.
    Output,
    /// `block_shape` of BatchToSpace.
    BlockShape,
    /// `crops_begin` of BatchToSpace.
    CropsBegin,
    /// `crops_end` of BatchToSpace.
    CropsEnd,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Argument::Data => "data",
            Argument::Indices => "indices",
            Argument::Output => "output",
            Argument::BlockShape => "block_shape",
            Argument::CropsBegin => "crops_begin",
            Argument::CropsEnd => "crops_end",
        })
    }
}

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
    Rank {
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
    IndicesShape {
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
    TupleLength {
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
    },
    /// A parameter list of BatchToSpace has not one entry a dimension of data.
    ParameterLength {
        /// Which list.
        argument: Argument,
        /// The number of its entries.
        len: usize,
        /// The rank of data.
        rank: usize,
    },
    /// An entry of a parameter list of BatchToSpace is out of range.
    Parameter {
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
    /// The product of `block_shape` does not divide the batch.
    BatchNotDivisible {
        /// The size of data's first dimension.
        batch: usize,
        /// The product of `block_shape`; `None` when it exceeds `usize`.
        product: Option<usize>,
    },
    /// The crops of a dimension remove more than there is.
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
    Length {
        /// Elements (or bytes, for a view from bytes) given.
        len: usize,
        /// Elements (or bytes) that the shape takes.
        expected: usize,
    },
    /// Strides are not one a dimension.
    StridesLength {
        /// Number of strides given.
        strides: usize,
        /// Number of dimensions.
        rank: usize,
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
    Overlap {
        /// Position of the dimension whose stride is too short.
        dim: usize,
        /// That stride in elements.
        stride: isize,
        /// The least length of stride that keeps its steps apart, in elements.
        needed: usize,
    },
    /// A list of axes is no permutation of the dimensions.
    Permutation {
        /// Number of dimensions.
        rank: usize,
    },
    /// The output has another shape than the result.
    OutputShape {
        /// The operator.
        op: Op,
        /// The shape of the result.
        expected: Box<[usize]>,
        /// The shape of the output given.
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
    /// A type-erased tensor has another data type than asked for.
    DTypeMismatch {
        /// The data type asked for.
        expected: DType,
        /// The data type it has.
        got: DType,
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
    /// A parameter of a map is given per row of the table, but not for each.
    MapParameterLength {
        /// The operator.
        op: Op,
        /// The map's name.
        map: &'static str,
        /// The parameter's name.
        parameter: &'static str,
        /// The number of values given.
        len: usize,
        /// The axis of data that is gathered along.
        axis: usize,
        /// The size of that axis.
        dim: usize,
    },
    /// The registry has no kernels for a data type.
    UnknownDType {
        /// The operator.
        op: Op,
        /// The data type.
        dtype: DType,
    },
    /// The level forced on a call is not available on this machine.
    LevelUnavailable {
        /// The level.
        level: Level,
    },
    /// The strategy forced on a call does not take its shapes and types.
    StrategyUnavailable {
        /// The operator.
        op: Op,
        /// The strategy.
        strategy: Strategy,
    },
    /// The allocator refused the memory for the output, or for a scratch.
    Allocation {
        /// Bytes asked for.
        bytes: usize,
    },
}

impl fmt::Display for Error {
    #[cold]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::AxisOutOfRange { op, axis, rank: 0 } => {
                write!(f, "{op}: axis {axis} on data of rank 0, which has no axis")
            }
            Error::AxisOutOfRange { op, axis, rank } => {
                write!(f, "{op}: axis {axis} is out of range; data of rank {rank} allows -{rank}..={}", rank - 1)
            }
            Error::BatchDimsOutOfRange { op, batch_dims, min, max } => {
                write!(f, "{op}: batch_dims {batch_dims} is out of range; allowed here is {min}..={max}")
            }
            Error::BatchMismatch { op, dim, data, indices } => {
                write!(f, "{op}: batch dimension {dim} is {data} in data and {indices} in indices; they must be equal")
            }
            Error::Rank { op, argument, rank, min, max } => {
                write!(f, "{op}: {argument} has rank {rank}; allowed is ")?;
                match (*min, *max) {
                    (min, max) if min == max => write!(f, "{min}"),
                    (min, usize::MAX) => write!(f, "{min} or more"),
                    (min, max) => write!(f, "{min}..={max}"),
                }
            }
            Error::IndicesShape { op, dim, indices, data } => {
                write!(f, "{op}: dimension {dim} of indices is {indices}, which does not fit {data} in data")
            }
            Error::TupleLength { op, len, min, max } => {
                write!(f, "{op}: index tuples have {len} components; allowed here is {min}..={max}")
            }
            Error::IndexOutOfRange { op, position, index, axis, dim } => {
                write!(f, "{op}: index {index} at position {position} is out of range for axis {axis} of size {dim}")
            }
            Error::ParameterLength { argument, len, rank } => {
                write!(f, "batch_to_space: {argument} has {len} entries; data of rank {rank} takes {rank}")
            }
            Error::Parameter { argument, dim, value, min, max } => {
                write!(f, "batch_to_space: {argument}[{dim}] is {value}; allowed there is ")?;
                match (*min, *max) {
                    (min, max) if min == max => write!(f, "{min}"),
                    (min, i64::MAX) => write!(f, "{min} or more"),
                    (min, max) => write!(f, "{min}..={max}"),
                }
            }
            Error::BatchNotDivisible { batch, product: Some(product) } => {
                write!(f, "batch_to_space: batch {batch} is not divisible by {product}, the product of block_shape")
            }
            Error::BatchNotDivisible { batch, product: None } => {
                write!(
                    f,
                    "batch_to_space: batch {batch} is not divisible by the product of block_shape, which overflows"
                )
            }
            Error::CropsTooLarge { dim, begin, end, size: Some(size) } => {
                write!(f, "batch_to_space: crops {begin} and {end} of dimension {dim} exceed its {size} elements")
            }
            Error::CropsTooLarge { dim, size: None, .. } => {
                write!(f, "batch_to_space: dimension {dim} times its block overflows")
            }
            Error::TooManyElements { shape } => {
                write!(f, "shape {shape:?} has more than {} elements", isize::MAX)
            }
            Error::TooManyBytes { shape, element } => {
                write!(f, "shape {shape:?} of {element}-byte elements takes more than {} bytes", isize::MAX)
            }
            Error::Length { len, expected } => {
                write!(f, "the slice has length {len}; the shape takes {expected}")
            }
            Error::StridesLength { strides, rank } => {
                write!(f, "{strides} strides for {rank} dimensions")
            }
            Error::StridesOutOfBounds { first: Some(first), last: Some(last), len } => {
                write!(f, "the strided view reaches positions {first}..={last} of a slice of {len} elements")
            }
            Error::StridesOutOfBounds { len, .. } => {
                write!(f, "the strides of the view overflow, far outside its slice of {len} elements")
            }
            Error::Overlap { dim, stride, needed } => {
                write!(
                    f,
                    "output dimension {dim} has stride {stride}, but a length of {needed} or more keeps its steps apart"
                )
            }
            Error::Permutation { rank } => {
                write!(f, "the axes are no permutation of 0..{rank}")
            }
            Error::OutputShape { op, expected, got } => {
                write!(f, "{op}: the output has shape {got:?}; the result has {expected:?}")
            }
            Error::PlanMismatch { argument, expected, got } if expected == got => {
                write!(f, "the plan was made for other strides of {argument}, of shape {expected:?}")
            }
            Error::PlanMismatch { argument, expected, got } => {
                write!(f, "the plan was made for {argument} of shape {expected:?}, not {got:?}")
            }
            Error::DTypeMismatch { expected, got } => {
                write!(f, "the data type is {got}, not {expected}")
            }
            Error::NotAnIndexType { dtype } => {
                write!(f, "{dtype} cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, isize, usize")
            }
            Error::InvalidBytes { dtype, position: Some(position) } => {
                write!(f, "the byte at position {position} is no value of {dtype}")
            }
            Error::InvalidBytes { dtype, position: None } => {
                write!(f, "bytes cannot be checked to be values of {dtype}")
            }
            Error::MapParameterLength { op, map, parameter, len, axis, dim } => {
                write!(
                    f,
                    "{op}: parameter {parameter} of {map} has {len} values; per row it takes {dim}, the size of axis {axis}"
                )
            }
            Error::UnknownDType { op, dtype } => {
                write!(f, "{op}: the registry has no kernels for the data type {dtype}")
            }
            Error::LevelUnavailable { level } => {
                write!(f, "the level {level} is not available on this machine")
            }
            Error::StrategyUnavailable { op, strategy } => {
                write!(f, "{op}: the strategy {strategy} does not take these shapes and types at this level")
            }
            Error::Allocation { bytes } => {
                write!(f, "the allocator refused {bytes} bytes")
            }
        }
    }
}

impl core::error::Error for Error {}

//! What errors say: lower case, naming operator, argument, value and what is allowed.

use core::fmt;

use crate::error::Error;

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

//! The text of errors: lower case, naming operator, argument, value and what is allowed.

use core::fmt;

use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, Per};

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
            Error::RankOutOfRange { op, argument, rank, min, max } => {
                write!(f, "{op}: {argument} has rank {rank}; allowed is ")?;
                match (*min, *max) {
                    (min, max) if min == max => write!(f, "{min}"),
                    (min, usize::MAX) => write!(f, "{min} or more"),
                    (min, max) => write!(f, "{min}..={max}"),
                }
            }
            Error::IndicesShapeMismatch { op, dim, indices, data } => {
                write!(f, "{op}: dimension {dim} of indices is {indices}, which does not fit {data} in data")
            }
            Error::TupleLengthOutOfRange { op, len, min, max } => {
                write!(f, "{op}: index tuples have {len} components; allowed here is {min}..={max}")?;
                // Often a list of indices that was meant as tuples of one component.
                let is_list = len > max && *max > 0;
                if is_list { f.write_str("; n indices of one component have the shape [n, 1]") } else { Ok(()) }
            }
            Error::IndexOutOfRange { op, position, index, axis, dim, negative } => {
                write!(f, "{op}: index {index} at position {position} is out of range for axis {axis} of size {dim}")?;
                match negative {
                    NegativeIndex::Reject if *index < 0 => write!(f, "; negative indices are refused"),
                    _ => Ok(()),
                }
            }
            Error::ParameterLengthMismatch { op, argument, len, rank } => {
                write!(f, "{op}: {argument} has {len} entries; data of rank {rank} takes {rank}")
            }
            Error::ParameterOutOfRange { op, argument, dim, value, min, max } => {
                write!(f, "{op}: {argument}[{dim}] is {value}; allowed there is ")?;
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
            Error::BlockSizeOutOfRange { op: op @ (Op::DepthToSpace | Op::SpaceToDepth), block_size } => {
                write!(f, "{op}: block_size is {block_size}; allowed is 1 or more")
            }
            Error::DepthNotDivisible { depth, product: Some(product) } => {
                write!(f, "depth_to_space: depth {depth} is not divisible by {product}, the elements of a block")
            }
            Error::DepthNotDivisible { depth, product: None } => {
                write!(f, "depth_to_space: depth {depth} is not divisible by the elements of a block, which overflow")
            }
            Error::SpaceNotDivisible { op, dim, size: Some(size), block } => {
                let padded = if *op == Op::SpaceToBatch { " after padding" } else { "" };
                write!(
                    f,
                    "{op}: dimension {dim} has {size} elements{padded}, which is not divisible by its block {block}"
                )
            }
            Error::SpaceNotDivisible { op, dim, size: None, .. } => {
                write!(f, "{op}: the elements of dimension {dim} after padding overflow")
            }
            Error::DimensionTooLarge { op, dim, size, blocks: Some(blocks) } => {
                write!(f, "{op}: dimension {dim} of {size} elements, {blocks} times, overflows")
            }
            Error::DimensionTooLarge { op, dim, size, blocks: None } => {
                write!(f, "{op}: dimension {dim} of {size} elements times the elements of a block overflows")
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
            Error::LengthMismatch { len, expected, shape } => {
                write!(f, "the slice has length {len}; shape {shape:?} takes {expected}")
            }
            Error::ArrayRankMismatch { rank, expected } => {
                write!(f, "the tensor has rank {rank}, and the array rank {expected}")
            }
            Error::StridesLengthMismatch { strides, rank } => {
                write!(f, "{strides} strides for {rank} dimensions")
            }
            Error::OffsetOutOfBounds { offset, len } => {
                write!(f, "the strided view begins at position {offset} of a slice of {len} elements")
            }
            Error::StridesOutOfBounds { first: Some(first), last: Some(last), len } => {
                write!(f, "the strided view reaches positions {first}..={last} of a slice of {len} elements")
            }
            Error::StridesOutOfBounds { len, .. } => {
                write!(f, "the strides of the view overflow, far outside its slice of {len} elements")
            }
            Error::StridesOverlap { dim, stride, needed, strides } => {
                write!(
                    f,
                    "the output's strides {strides:?} may overlap: dimension {dim} has stride {stride}, and needs at \
                     least {needed} in absolute value"
                )
            }
            Error::InvalidPermutation { rank } => {
                write!(f, "the axes are no permutation of 0..{rank}")
            }
            Error::UpdatesShapeMismatch { op, data, indices, expected, got } => {
                write!(f, "{op}: updates have shape {got:?}; data of shape {data:?} and indices of shape {indices:?}")?;
                if let (Op::ScatterNd | Op::GatherNd, Some(len)) = (op, indices.last()) {
                    write!(f, ", tuples of {len},")?;
                }
                write!(f, " ask for {expected:?}")
            }
            Error::NotWholeRows { len, columns } => {
                write!(f, "the table has {len} elements, which are no whole number of rows of {columns}")
            }
            Error::BagOffsetOutOfRange { position: 0, offset, max: 0, .. } => {
                write!(f, "embedding_bag: the first offset is {offset}; it must be 0, where the first bag begins")
            }
            Error::BagOffsetOutOfRange { position, offset, min, max } => {
                let allowed = format_args!("allowed there is {min}..={max}");
                write!(f, "embedding_bag: offset {offset} at position {position} is out of range; {allowed}")
            }
            Error::NoOffsets => {
                f.write_str("embedding_bag: there are no offsets; one is needed, where the last bag ends")
            }
            Error::RowOutOfRange { argument, index, dim: 0 } => {
                write!(f, "embedding_bag: {argument} is {index}; data has no rows")
            }
            Error::RowOutOfRange { argument, index, dim } => {
                write!(f, "embedding_bag: {argument} is {index}; {dim} rows allow ")?;
                match argument {
                    Argument::PaddingIndex => write!(f, "-{dim}..={}", dim - 1),
                    _ => write!(f, "0..={}", dim - 1),
                }
            }
            Error::ShapeMismatch { op, argument: Argument::Weights, expected, got } => {
                write!(f, "{op}: weights have shape {got:?}; indices have {expected:?}")
            }
            Error::WeightsUnavailable { reduction } => {
                write!(f, "embedding_bag: the reduction {reduction} takes no weights")
            }
            Error::ReductionUnavailable { op, reduction, dtype: Some(dtype) } => {
                write!(f, "{op}: there is no reduction {reduction} of {dtype}")
            }
            Error::ReductionUnavailable { op, reduction, dtype: None } => {
                write!(f, "{op}: there is no reduction {reduction} of values that are only cloned")
            }
            Error::ShapeMismatch { op, argument: Argument::Output, expected, got } => {
                write!(f, "{op}: the output has shape {got:?}; the result has {expected:?}")
            }
            Error::PlanMismatch { argument, expected, got } if expected == got => {
                write!(f, "the plan was made for other strides of {argument}, of shape {expected:?}")
            }
            Error::PlanMismatch { argument, expected, got } => {
                write!(f, "the plan was made for {argument} of shape {expected:?}, not {got:?}")
            }
            Error::PlanParametersMismatch { op, function, expected, got } => {
                let (expected, got) = (expected.join(", "), got.join(", "));
                write!(f, "{op}: the plan was made for parameters ({expected}), and {function} has ({got})")
            }
            Error::PlanBlocksMismatch { op, expected: (codes, size), got: (other, others) } => {
                write!(f, "{op}: the plan was made for codes {codes:?} in blocks of {size}, not {other:?} in {others}")
            }
            Error::DTypeMismatch { expected, got } => {
                write!(f, "expected data type {expected}, got {got}")
            }
            Error::Misaligned { dtype, align } => {
                write!(f, "elements {dtype} lie at no multiple of {align} bytes: copy them into aligned memory")
            }
            Error::NotAnIndexType { dtype } => {
                write!(f, "{dtype} cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, isize, usize")?;
                if *dtype == bool::DTYPE { f.write_str("; of a mask take the positions that are true") } else { Ok(()) }
            }
            Error::InvalidBytes { dtype, position: Some(position) } => {
                write!(f, "the byte at position {position} is no value of {dtype}")
            }
            Error::InvalidBytes { dtype, position: None } => {
                write!(f, "bytes cannot be checked to be values of {dtype}; see `DynView::from_bytes_unchecked`")
            }
            Error::MapParameterLengthMismatch { op, map, parameter, len, axis, dim } => {
                write!(
                    f,
                    "{op}: parameter {parameter} of {map} has {len} values; per row it takes {dim}, the size of axis \
                     {axis}"
                )
            }
            Error::MapParameterPerElement { op, map, parameter, row_major: false, .. } => {
                write!(f, "{op}: parameter {parameter} of {map} is given per element, which takes row-major data")
            }
            Error::MapParameterPerElement { op, map, parameter, len, elements, .. } => {
                write!(
                    f,
                    "{op}: parameter {parameter} of {map} has {len} values; per element it takes {elements}, one for \
                     each of data"
                )
            }
            Error::RowParameterLengthMismatch { op, function, parameter, per: Per::Slice, len, expected } => {
                write!(f, "{op}: parameter {parameter} of {function} has slices of {len} values; it takes slices of ")?;
                write!(f, "{expected}")
            }
            Error::RowParameterLengthUnstated { op, function, parameter, len, indices } => {
                write!(f, "{op}: parameter {parameter} of {function} has {len} values for indices of shape ")?;
                write!(f, "{indices:?}, all or those of the last dimensions; state the length of a slice by ")?;
                f.write_str("Given::PerIndexOf")
            }
            Error::RowParameterLengthMismatch { op, function, parameter, per, len, expected } => {
                write!(f, "{op}: parameter {parameter} of {function} has {len} values; {per} it takes {expected}")?;
                if *per == Per::Index { f.write_str(", or those of its last dimensions") } else { Ok(()) }
            }
            Error::ParameterUnavailable { op, function, parameter, per } => {
                let (kind, units) = match per {
                    Per::Index => ("map", "for the call, per row of data or per element"),
                    _ => ("row function", "for the call, per row of data or per index"),
                };
                write!(f, "{op}: parameter {parameter} of {function} is given {per}; a {kind} takes values {units}")
            }
            Error::RowsNotContiguous { op, argument: argument @ Argument::Output } => {
                write!(f, "{op}: the rows of {argument} must be contiguous and, with values per index, evenly spaced")
            }
            Error::RowsNotContiguous { op, argument } => {
                write!(f, "{op}: the rows of {argument} must be contiguous")
            }
            Error::BlockSizeOutOfRange { op, block_size } => {
                write!(f, "{op}: block_size is {block_size}; allowed is a power of two from 16 on")
            }
            Error::QuantizedAxis { op, axis } => {
                write!(f, "{op}: axis {axis} is the last one of block-quantised data, which blocks run along")
            }
            Error::ShapeMismatch { op, argument, expected, got } => {
                write!(f, "{op}: {argument} have shape {got:?}; data and block_size ask for {expected:?}")
            }
            Error::FusedRowMismatch { format, columns, expected: Some(expected), got } => {
                write!(f, "rows of {got} bytes: {columns} columns of the format {format:?} take {expected}")
            }
            Error::FusedRowMismatch { format, columns, expected: None, got } => {
                write!(
                    f,
                    "rows of {got} bytes: {columns} columns of the format {format:?} are more than a row can have"
                )
            }
            Error::FusedFormatMismatch { expected, got } => {
                write!(f, "the rows have the format {got:?}; the plan was made for {expected:?}")
            }
            Error::InTable { table, error } => {
                write!(f, "table {table}: {error}")
            }
            Error::BagsMismatch { expected, got } => {
                write!(f, "embedding_bag: there are {got} bags; the first table has {expected}")
            }
            Error::NoTables => write!(f, "embedding_bag: there are 0 tables; a call takes 1 or more"),
            Error::TablesMismatch { argument: Argument::Data, expected, got } => {
                write!(f, "embedding_bag: there are {got} tables; the plan was made for {expected}")
            }
            Error::TablesMismatch { expected, got, .. } => {
                write!(
                    f,
                    "embedding_bag: there are {got} bags in the list; there are {expected} tables, with bags each"
                )
            }
            Error::NotRowMajor { op, argument } => {
                write!(f, "{op}: {argument} must be row-major here")
            }
            Error::BitmapTooShort { bytes, offset: 0, len } => {
                write!(f, "a bitmap of {len} bits has {bytes} bytes; it takes {}", len.div_ceil(8))
            }
            Error::BitmapTooShort { bytes, offset, len } => {
                write!(f, "a bitmap of {len} bits from bit {offset} on has {bytes} bytes; it takes ")?;
                match offset.checked_add(*len) {
                    Some(end) => write!(f, "{}", end.div_ceil(8)),
                    None => f.write_str("more than there are"),
                }
            }
            Error::BitmapLengthMismatch { op, argument: argument @ Argument::Data, len, rows, elements } => {
                write!(f, "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for each row")?;
                if rows == elements { Ok(()) } else { write!(f, ", or {elements}, one for each element") }
            }
            Error::BitmapPerElement { op, rows, elements } => {
                let data = Argument::Data;
                write!(f, "{op}: the bitmap of {data} has a bit for each of {elements} elements, and whole rows are ")?;
                write!(f, "read: it takes {rows}, one for each row")
            }
            Error::BitmapLengthMismatch { op, argument, len, rows, .. } => {
                write!(f, "{op}: the bitmap of {argument} has {len} bits; it takes {rows}, one for each index")
            }
            Error::UnknownDType { op, dtype } => {
                write!(f, "{op}: the registry has no kernels for the data type {dtype}; add them by `Registry::with`")
            }
            Error::KernelsNotCompiled { op, dtype, index } => {
                write!(f, "{op}: the kernels for {dtype}")?;
                if let Some(index) = index {
                    write!(f, " by indices {index}")?;
                }
                f.write_str(" are not compiled, and the types are known at run time only: switch on the feature ")?;
                f.write_str("`registry` of gather-core, or list the types in `kernels!` and add the set by ")?;
                f.write_str("`Registry::with`")
            }
            Error::UnknownName { what, name, known } => {
                write!(f, "{name:?} names no {what}; there are ")?;
                list(f, known)
            }
            Error::UnknownLevel { name } => {
                write!(f, "GATHER_LEVEL is {name:?}, which names no level; there are ")?;
                list(f, Level::ALL)
            }
            Error::LevelUnavailable { level } => {
                write!(f, "the level {level} is not available on this machine")
            }
            Error::MethodUnavailable { op, method } => {
                write!(f, "{op}: the method {method} does not take these shapes and types at this level")
            }
            Error::FixedCount { op } => {
                write!(f, "{op}: plans for any count take indices whose first dimension is the first of the result, ")?;
                f.write_str("not tied to one of data, and neither repeated nor of tuples without components; with ")?;
                f.write_str("nulls, tuples have one component")
            }
            Error::AllocationFailed { bytes } => {
                write!(f, "the allocator refused {bytes} bytes")
            }
            Error::HugePagesUnavailable { bytes, code: None } => {
                write!(f, "the system has no huge pages for {bytes} bytes that are in use")
            }
            Error::HugePagesUnavailable { bytes, code: Some(code) } => {
                write!(f, "the system moved none of {bytes} bytes to huge pages: error {code}")
            }
        }
    }
}

/// Writes all of a list: `a, b and c`.
fn list(f: &mut fmt::Formatter<'_>, all: &[impl fmt::Display]) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        f.write_str(match all.len() - at {
            _ if at == 0 => "",
            1 => " and ",
            _ => ", ",
        })?;
        write!(f, "{one}")?;
    }
    Ok(())
}

impl core::error::Error for Error {}

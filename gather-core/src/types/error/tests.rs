//! Every message.

use super::Error;
use crate::types::element::Element;
use crate::types::fused::FusedFormat;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, Per};
use crate::types::reduction::Reduction;

fn messages() -> Vec<(Error, &'static str)> {
    let (op, dtype) = (Op::Gather, <[u8; 34]>::DTYPE);
    let rank = |rank, min, max| Error::RankOutOfRange { op: Op::GatherNd, argument: Argument::Indices, rank, min, max };
    let parameter = |min, max| {
        let (op, argument) = (Op::BatchToSpace, Argument::CropsEnd);
        Error::ArgumentOutOfRange { op, argument, dim: 2, value: -4, min, max }
    };
    let index = |index, negative| Error::IndexOutOfRange { op, position: 3, index, axis: 1, dim: 5, negative };
    let plan =
        |got: &[usize]| Error::PlanMismatch { argument: Argument::Data, expected: [2, 3].into(), got: got.into() };
    let within = |first, last| Error::StridesOutOfBounds { first, last, len: 6 };
    let per_element = |len, row_major| {
        let (map, parameter) = ("mxfp4_pairs", "scale");
        Error::MapParameterPerElement { op, map, parameter, len, elements: 6, row_major }
    };
    let bitmap = |argument, elements| Error::BitmapLengthMismatch { op, argument, len: 5, rows: 6, elements };
    let row = |argument, dim| Error::RowOutOfRange { argument, index: -7, dim };
    vec![
        (
            Error::BlockSizeOutOfRange { op, block_size: 24 },
            "gather: block_size is 24; allowed is a power of two from 16 on",
        ),
        (
            Error::QuantizedAxis { op, axis: 1 },
            "gather: axis 1 is the last one of block-quantised data, which blocks run along",
        ),
        (
            Error::ShapeMismatch { op, argument: Argument::ZeroPoints, expected: [3, 1].into(), got: [3, 2].into() },
            "gather: zero_points have shape [3, 2]; data and block_size ask for [3, 1]",
        ),
        (
            Error::ShapeMismatch { op, argument: Argument::Mask, expected: [3].into(), got: [2].into() },
            "gather: the mask has shape [2]; data has [3] from the axis on",
        ),
        (Error::NotAMask { dtype: f32::DTYPE }, "f32 is no mask; use bool, or u8, where 0 is false"),
        (
            Error::RowParameterLengthUnstated {
                op,
                function: "HEAD",
                parameter: "weights",
                len: 12,
                indices: [2, 2].into(),
            },
            concat!(
                "gather: parameter weights of HEAD has 12 values for indices of shape [2, 2], all or those of the last ",
                "dimensions; state the length of a slice by Given::PerIndexOf",
            ),
        ),
        (
            Error::ParameterUnavailable { op, function: "dequantize", parameter: "scale", per: Per::Index },
            concat!(
                "gather: parameter scale of dequantize is given per index; a map takes values for the call, per row ",
                "of data or per element",
            ),
        ),
        (
            Error::ParameterUnavailable { op, function: "DOT", parameter: "query", per: Per::Element },
            concat!(
                "gather: parameter query of DOT is given per element; a row function takes values for the call, per ",
                "row of data or per index",
            ),
        ),
        (Error::BitmapTooShort { bytes: 2, offset: 0, len: 17 }, "a bitmap of 17 bits has 2 bytes; it takes 3"),
        (
            Error::BitmapTooShort { bytes: 2, offset: 7, len: 10 },
            "a bitmap of 10 bits from bit 7 on has 2 bytes; it takes 3",
        ),
        (
            bitmap(Argument::Data, 12),
            "gather: the bitmap of data has 5 bits; it takes 6, one for each row, or 12, one for each element",
        ),
        (bitmap(Argument::Data, 6), "gather: the bitmap of data has 5 bits; it takes 6, one for each row"),
        (bitmap(Argument::Indices, 6), "gather: the bitmap of indices has 5 bits; it takes 6, one for each index"),
        (
            Error::FusedRowMismatch { format: FusedFormat::Torch8, columns: 64, expected: Some(72), got: 68 },
            "rows of 68 bytes: 64 columns of the format Torch8 take 72",
        ),
        (
            Error::FusedRowMismatch { format: FusedFormat::Torch8, columns: 1 << 31, expected: None, got: 8 },
            concat!("rows of 8 bytes: 2147483648 columns of the format Torch8 are more than a row can ", "have",),
        ),
        (
            Error::FusedFormatMismatch { expected: FusedFormat::Torch4, got: FusedFormat::Fbgemm4 },
            "the rows have the format Fbgemm4; the plan was made for Torch4",
        ),
        (Error::NotRowMajor { op, argument: Argument::Scales }, "gather: scales must be row-major here"),
        (
            Error::AxisOutOfRange { op, axis: -3, rank: 2 },
            "gather: axis -3 is out of range; data of rank 2 allows -2..=1",
        ),
        (Error::AxisOutOfRange { op, axis: 0, rank: 0 }, "gather: axis 0 on data of rank 0, which has no axis"),
        (
            Error::BatchDimsOutOfRange { op, batch_dims: 2, min: -1, max: 1 },
            "gather: batch_dims 2 is out of range; allowed here is -1..=1",
        ),
        (
            Error::BatchMismatch { op, dim: 0, data: 3, indices: 2 },
            "gather: batch dimension 0 is 3 in data and 2 in indices; they must be equal",
        ),
        (rank(0, 1, usize::MAX), "gather_nd: indices has rank 0; allowed is 1 or more"),
        (rank(0, 1, 1), "gather_nd: indices has rank 0; allowed is 1"),
        (rank(0, 1, 4), "gather_nd: indices has rank 0; allowed is 1..=4"),
        (
            Error::IndicesShapeMismatch { op: Op::GatherElements, dim: 1, indices: 4, data: 3 },
            "gather_elements: dimension 1 of indices is 4, which does not fit 3 in data",
        ),
        (
            Error::TupleLengthOutOfRange { op: Op::GatherNd, len: 3, min: 0, max: 2 },
            "gather_nd: index tuples have 3 components; allowed here is 0..=2; n indices of one component have the shape [n, 1]",
        ),
        (index(5, NegativeIndex::Reject), "gather: index 5 at position 3 is out of range for axis 1 of size 5"),
        (index(-6, NegativeIndex::FromEnd), "gather: index -6 at position 3 is out of range for axis 1 of size 5"),
        (
            index(-1, NegativeIndex::Reject),
            "gather: index -1 at position 3 is out of range for axis 1 of size 5; negative indices are refused",
        ),
        (
            Error::ArgumentLengthMismatch { op: Op::SpaceToBatch, argument: Argument::PadsBegin, len: 2, rank: 4 },
            "space_to_batch: pads_begin has 2 entries; data of rank 4 takes 4",
        ),
        (parameter(0, 0), "batch_to_space: crops_end[2] is -4; allowed there is 0"),
        (parameter(0, i64::MAX), "batch_to_space: crops_end[2] is -4; allowed there is 0 or more"),
        (parameter(0, 7), "batch_to_space: crops_end[2] is -4; allowed there is 0..=7"),
        (
            Error::BatchNotDivisible { batch: 7, product: Some(4) },
            "batch_to_space: batch 7 is not divisible by 4, the product of block_shape",
        ),
        (
            Error::BatchNotDivisible { batch: 7, product: None },
            "batch_to_space: batch 7 is not divisible by the product of block_shape, which overflows",
        ),
        (
            Error::CropsTooLarge { dim: 1, begin: 3, end: 2, size: Some(4) },
            "batch_to_space: crops 3 and 2 of dimension 1 exceed its 4 elements",
        ),
        (
            Error::CropsTooLarge { dim: 1, begin: 3, end: 2, size: None },
            "batch_to_space: dimension 1 times its block overflows",
        ),
        (
            Error::BlockSizeOutOfRange { op: Op::DepthToSpace, block_size: 0 },
            "depth_to_space: block_size is 0; allowed is 1 or more",
        ),
        (
            Error::DepthNotDivisible { depth: 7, product: Some(4) },
            "depth_to_space: depth 7 is not divisible by 4, the elements of a block",
        ),
        (
            Error::DepthNotDivisible { depth: 7, product: None },
            "depth_to_space: depth 7 is not divisible by the elements of a block, which overflow",
        ),
        (
            Error::SpaceNotDivisible { op: Op::SpaceToDepth, dim: 2, size: Some(7), block: 4 },
            "space_to_depth: dimension 2 has 7 elements, which is not divisible by its block 4",
        ),
        (
            Error::SpaceNotDivisible { op: Op::SpaceToBatch, dim: 2, size: Some(7), block: 4 },
            "space_to_batch: dimension 2 has 7 elements after padding, which is not divisible by its block 4",
        ),
        (
            Error::SpaceNotDivisible { op: Op::SpaceToBatch, dim: 2, size: None, block: 4 },
            "space_to_batch: the elements of dimension 2 after padding overflow",
        ),
        (
            Error::DimensionTooLarge { op: Op::SpaceToBatch, dim: 0, size: 5, blocks: Some(9) },
            "space_to_batch: dimension 0 of 5 elements, 9 times, overflows",
        ),
        (
            Error::DimensionTooLarge { op: Op::SpaceToDepth, dim: 1, size: 5, blocks: None },
            "space_to_depth: dimension 1 of 5 elements times the elements of a block overflows",
        ),
        (
            Error::UpdatesShapeMismatch {
                op: Op::ScatterNd,
                data: [4, 2].into(),
                indices: [2].into(),
                expected: [].into(),
                got: [3, 2].into(),
            },
            "scatter_nd: updates have shape [3, 2]; data of shape [4, 2] and indices of shape [2], tuples of 2, ask \
             for []",
        ),
        (
            Error::UpdatesShapeMismatch {
                op: Op::ScatterElements,
                data: [4].into(),
                indices: [2].into(),
                expected: [2].into(),
                got: [3].into(),
            },
            "scatter_elements: updates have shape [3]; data of shape [4] and indices of shape [2] ask for [2]",
        ),
        (
            Error::ReductionUnavailable {
                op: Op::ScatterElements,
                reduction: Reduction::Sub,
                dtype: Some(bool::DTYPE),
            },
            "scatter_elements: there is no reduction sub of bool",
        ),
        (
            Error::ReductionUnavailable { op: Op::ScatterNd, reduction: Reduction::Add, dtype: None },
            "scatter_nd: there is no reduction add of values that are only cloned",
        ),
        (
            Error::LengthMismatch { len: 10, expected: 12, shape: [3, 4].into() },
            "the length is 10; shape [3, 4] takes 12",
        ),
        (
            Error::NotWholeRows { len: 6, columns: 4 },
            "the table has 6 elements, which are no whole number of rows of 4",
        ),
        (Error::ArrayRankMismatch { rank: 3, expected: 2 }, "the tensor has rank 3, and the array rank 2"),
        (Error::StridesLengthMismatch { strides: 1, rank: 2 }, "1 strides for 2 dimensions"),
        (
            Error::OffsetOutOfBounds { offset: 7, len: 6 },
            "the strided view begins at position 7 of a slice of 6 elements",
        ),
        (within(Some(-1), Some(9)), "the strided view reaches positions -1..=9 of a slice of 6 elements"),
        (within(None, Some(9)), "the strides of the view overflow, far outside its slice of 6 elements"),
        (
            Error::StridesOverlap { dim: 0, stride: -2, needed: 4, strides: [-2, 1].into() },
            "the output's strides [-2, 1] may overlap: dimension 0 has stride -2, and needs at least 4 in absolute \
             value",
        ),
        (Error::InvalidPermutation { rank: 3 }, "the axes are no permutation of 0..3"),
        (
            Error::RangeOutOfBounds { axis: 1, start: 2, end: 5, shape: [3, 4].into() },
            "2..5 is no range of axis 1 of a view of shape [3, 4]",
        ),
        (
            Error::ShapeMismatch { op, argument: Argument::Output, expected: [1, 3].into(), got: [2, 3].into() },
            "gather: the output has shape [2, 3]; the result has [1, 3]",
        ),
        (plan(&[2, 3]), "the plan was made for other strides of data, of shape [2, 3]"),
        (plan(&[3, 2]), "the plan was made for data of shape [2, 3], not [3, 2]"),
        (Error::DTypeMismatch { expected: dtype, got: f32::DTYPE }, "expected data type [u8; 34], got f32"),
        (
            Error::Misaligned { dtype: f32::DTYPE, align: 4 },
            "elements f32 lie at no multiple of 4 bytes: copy them into aligned memory",
        ),
        (
            Error::NotAnIndexType { dtype: bool::DTYPE },
            concat!(
                "bool cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, isize, usize; of a mask take the ",
                "positions that are true",
            ),
        ),
        (
            Error::NotAnIndexType { dtype },
            "[u8; 34] cannot index; use one of i8, i16, i32, i64, u8, u16, u32, u64, isize, usize",
        ),
        (
            Error::InvalidBytes { dtype: <[bool; 2]>::DTYPE, position: Some(5) },
            "the byte at position 5 is no value of [bool; 2]",
        ),
        (
            Error::InvalidBytes { dtype, position: None },
            "bytes cannot be checked to be values of [u8; 34]; see `DynView::from_bytes_unchecked`",
        ),
        (
            per_element(5, true),
            "gather: parameter scale of mxfp4_pairs has 5 values; per element it takes 6, one for each of data",
        ),
        (
            per_element(6, false),
            "gather: parameter scale of mxfp4_pairs is given per element, which takes row-major data",
        ),
        (
            Error::MapParameterLengthMismatch { op, map: "dequantize", parameter: "scale", len: 2, axis: 0, dim: 3 },
            "gather: parameter scale of dequantize has 2 values; per row it takes 3, the size of axis 0",
        ),
        (
            Error::UnknownDType { op, dtype },
            "gather: the registry has no kernels for the data type [u8; 34]; add them by `Registry::with`",
        ),
        (
            Error::KernelsNotCompiled { op, dtype: f32::DTYPE, index: Some(IndexType::U8) },
            concat!(
                "gather: the kernels for f32 by indices u8 are not compiled, and the types are known at run time only: ",
                "switch on the feature `registry` of gather-core, or list the types in `kernels!` and add the set by ",
                "`Registry::with`",
            ),
        ),
        (
            Error::KernelsNotCompiled { op: Op::DepthToSpace, dtype: f32::DTYPE, index: None },
            concat!(
                "depth_to_space: the kernels for f32 are not compiled, and the types are known at run time only: ",
                "switch on the feature `registry` of gather-core, or list the types in `kernels!` and add the set by ",
                "`Registry::with`",
            ),
        ),
        (
            Error::UnknownName { what: "mode", name: "rcd".into(), known: &["dcr", "crd"] },
            "\"rcd\" names no mode; there are dcr and crd",
        ),
        (
            Error::UnknownLevel { name: "sse9".into() },
            "GATHER_LEVEL is \"sse9\", which names no level; there are scalar, avx2, avx512, neon and simd128",
        ),
        (Error::LevelUnavailable { level: Level::Avx2 }, "the level avx2 is not available on this machine"),
        (
            Error::MethodUnavailable { op, method: Method::Table },
            "gather: the method table does not take these shapes and types at this level",
        ),
        (
            Error::BagOffsetOutOfRange { position: 2, offset: -4, min: 3, max: 9 },
            "embedding_bag: offset -4 at position 2 is out of range; allowed there is 3..=9",
        ),
        (
            Error::BagOffsetOutOfRange { position: 0, offset: 1, min: 0, max: 0 },
            "embedding_bag: the first offset is 1; it must be 0, where the first bag begins",
        ),
        (Error::NoOffsets, "there are no offsets; one is needed, where the last bag or row ends"),
        (row(Argument::PaddingIndex, 5), "embedding_bag: padding_index is -7; 5 rows allow -5..=4"),
        (row(Argument::DefaultIndex, 5), "embedding_bag: default_index is -7; 5 rows allow 0..=4"),
        (row(Argument::DefaultIndex, 0), "embedding_bag: default_index is -7; data has no rows"),
        (
            Error::ShapeMismatch {
                op: Op::EmbeddingBag,
                argument: Argument::Weights,
                expected: [2].into(),
                got: [3, 1].into(),
            },
            "embedding_bag: weights have shape [3, 1]; indices have [2]",
        ),
        (
            Error::InTable { table: 3, error: Error::BagsMismatch { expected: 8, got: 7 }.into() },
            "table 3: embedding_bag: there are 7 bags; the first table has 8",
        ),
        (Error::NoTables, "embedding_bag: there are 0 tables; a call takes 1 or more"),
        (
            Error::TablesMismatch { argument: Argument::Data, expected: 2, got: 3 },
            "embedding_bag: there are 3 tables; the plan was made for 2",
        ),
        (
            Error::TablesMismatch { argument: Argument::Indices, expected: 2, got: 3 },
            "embedding_bag: there are 3 bags in the list; there are 2 tables, with bags each",
        ),
        (Error::WeightsUnavailable { reduction: "mean" }, "embedding_bag: the reduction mean takes no weights"),
        (Error::AllocationFailed { bytes: 1 << 30 }, "the allocator refused 1073741824 bytes"),
        (
            Error::HugePagesUnavailable { bytes: 64, code: None },
            "the system has no huge pages for 64 bytes that are in use",
        ),
        (
            Error::HugePagesUnavailable { bytes: 64, code: Some(22) },
            "the system moved none of 64 bytes to huge pages: error 22",
        ),
    ]
}

#[test]
fn every_error_says_what_is_wrong() {
    for (error, expected) in messages() {
        assert_eq!(error.to_string(), expected);
    }
    let limits = [
        (
            Error::BitmapTooShort { bytes: 2, offset: 7, len: usize::MAX },
            format!("a bitmap of {} bits from bit 7 on has 2 bytes; it takes more than there are", usize::MAX),
        ),
        (
            Error::TooManyElements { shape: [usize::MAX, 2].into() },
            format!("shape [{}, 2] has more than {} elements", usize::MAX, isize::MAX),
        ),
        (
            Error::TooManyBytes { shape: [2, 3].into(), element: 8 },
            format!("shape [2, 3] of 8-byte elements takes more than {} bytes", isize::MAX),
        ),
    ];
    for (error, expected) in limits {
        assert_eq!(error.to_string(), expected);
    }
}

/// An error is returned by value from every call.
#[test]
fn errors_are_small() {
    assert!(size_of::<Error>() <= 80, "{}", size_of::<Error>());
}

//! Gathers of chunks: the decoder of each chunk, and of the whole table.

#![forbid(unsafe_code)]

use crate::call::gather::converted::Decoder;
use crate::call::gather::kinds::{GatherKind, GatheredBy};
use crate::call::gather::maps;
use crate::call::gather::rows::RowAttributes;
use crate::call::source::block_shapes::BlockShapes;
use crate::call::source::kind::{Blocks, ChunkKind, Chunks, Fused, Mapped};
use crate::call::source::reader::{Format, Reader};
use crate::kernels::convert::chunks::{CHUNKED, ChunkDecoder, ChunkParams};
use crate::kernels::convert::{ErasedParams, fused as decode_fused};
use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Dyn;
use crate::types::codes::Float;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

const OP: Op = Op::Gather;

impl<A: RowAttributes, K: ChunkKind + GatherKind> GatheredBy<A> for Chunks<K> {}

macro_rules! chunk_kinds {
    ($([$($generics:tt)*] $Kind:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> ChunkKind for $Kind {
            fn decoder<'a>(first: &Reader<'a>, chunk: &Reader<'a>) -> Result<ChunkDecoder<'a>, Error> {
                check_format(first, chunk)?;
                of_chunk(<$Kind as GatherKind>::decoder(chunk)?, chunk)
            }
        }
    )*};
}
chunk_kinds! {
    [T: Element] T;
    [] Dyn;
    [T: Element, U: Element] Mapped<T, U>;
    [U: Float] Fused<U>;
    [] Fused<Dyn>;
    [U: Float] Blocks<U>;
}

/// Compares the format of a chunk with the first one.
///
/// # Errors
/// [`Error::BlockSizeOutOfRange`], [`Error::FusedFormatMismatch`], [`Error::ShapeMismatch`] for another number of
/// columns, [`Error::PlanBlocksMismatch`].
fn check_format(first: &Reader<'_>, chunk: &Reader<'_>) -> Result<(), Error> {
    match (first.format, chunk.format) {
        (Format::Fused(first), Format::Fused(table)) if first.format() != table.format() => {
            Err(Error::FusedFormatMismatch { expected: first.format(), got: table.format() })
        }
        (Format::Fused(first), Format::Fused(table)) if first.columns() != table.columns() => {
            let [expected, got] = [first, table].map(|of| [table.rows(), of.columns()].into());
            Err(Error::ShapeMismatch { op: OP, argument: Argument::Data, expected, got })
        }
        (Format::Blocks(first, _), Format::Blocks(format, _)) => {
            format.check(OP)?;
            let [expected, got] = [first, format].map(|format| (format.codes, format.block_size));
            if expected == got { Ok(()) } else { Err(Error::PlanBlocksMismatch { op: OP, expected, got }) }
        }
        _ => Ok(()),
    }
}

/// The decoder of a chunk with its params, which have values for each of its rows and elements.
///
/// # Errors
/// [`Error::RowsNotContiguous`], then errors of params, scales and zero points.
fn of_chunk<'a>(decoder: Option<Decoder>, chunk: &Reader<'a>) -> Result<ChunkDecoder<'a>, Error> {
    let Reader { start, layout, dtype, format, .. } = *chunk;
    let (shape, strides) = (layout.shape(), layout.strides());
    if !layout.is_empty() && !Layout::strided(&shape[1..], &strides[1..])?.is_contiguous() {
        return Err(Error::RowsNotContiguous { op: OP, argument: Argument::Data });
    }
    let axes = [Axis { axis: 0, dim: shape[0], data: strides[0], index: 0 }];
    let Some(Decoder { fns, size_in, .. }) = decoder else {
        let params = ChunkParams::Lent(ErasedParams::NONE);
        return Ok(ChunkDecoder { fns: None, size_in: dtype.size(), params });
    };
    let params = match format {
        Format::Mapped(map, Some(args)) => ChunkParams::Lent(maps::given(OP, (map, args), &axes, layout)?),
        Format::Fused(table) => ChunkParams::Lent(decode_fused::erased(table.row())),
        Format::Blocks(format, Some(args)) => {
            let blocks = BlockShapes::new((OP, &axes), layout, format, None)?;
            ChunkParams::Owned(args.owned(&blocks, OP, (start.addr(), shape))?)
        }
        _ => unreachable!("a chunk of a call, with a decoder"),
    };
    Ok(ChunkDecoder { fns: Some(fns.each), size_in, params })
}

/// The decoder of a table of chunks, from the decoder of its chunks; of one chunk, its own.
pub(super) fn decoder(decoder: Option<Decoder>, reader: &Reader<'_>) -> Option<Decoder> {
    let Some(chunks) = reader.chunks else { return decoder };
    let dtype = chunks.dtype;
    let moved = Decoder { fns: &CHUNKED, size_in: dtype.size(), size: dtype.size(), numbers: 1, made: dtype };
    Some(decoder.map_or(moved, |decoder| Decoder { fns: &CHUNKED, made: dtype, ..decoder }))
}

/// Checks that the operator gathers along axis 0, which chunks divide.
///
/// # Errors
/// [`Error::ChunkedAxis`].
pub(super) fn check_axis(dims_before_row: usize) -> Result<(), Error> {
    match dims_before_row {
        1 => Ok(()),
        dims => Err(Error::ChunkedAxis { op: OP, axis: dims - 1 }),
    }
}

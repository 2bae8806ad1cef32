//! Readers: sources without types, as gathers, nulls and bags read them.
//!
//! ```text
//! elements at `start`, along `layout`  ->  `format` decodes them  ->  `function` computes each row  ->  `dtype`
//! ```

#![forbid(unsafe_code)]

use crate::call::source::Source;
use crate::call::source::blocks::{BlockArgs, BlockFormat};
use crate::call::source::checked::CheckedAxis;
use crate::call::source::chunks::Chunked;
use crate::call::source::map::MapArgs;
use crate::call::source::rows::RowArgs;
use crate::kernels::convert::map::ErasedMap;
use crate::kernels::convert::row::Function;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::op::Op;

/// A reader of an operand, without its type: its start and layout, and how its elements become results.
/// [`Source::reader`] makes one for a call, [`Describe::reader`](super::Describe::reader) one for a plan.
#[derive(Clone, Copy)]
pub struct Reader<'s> {
    /// The address of the element at coordinate 0; null for a [`Spec`](crate::Spec), which has no elements, and for
    /// several chunks, which have addresses of their own.
    pub(in crate::call) start: *const u8,
    pub(in crate::call) layout: &'s Layout,
    /// The data type of results.
    pub(in crate::call) dtype: DType,
    /// The format of elements; of chunks, the format of the first one.
    pub(in crate::call) format: Format<'s>,
    /// The chunks of a table with two or more.
    pub(in crate::call) chunks: Option<Chunked<'s>>,
    /// The row function, with its arguments in a call.
    pub(in crate::call) function: Option<(Function<'s>, Option<&'s dyn RowArgs>)>,
}

/// The format of elements, with the arguments of its parameters in a call.
#[derive(Clone, Copy)]
pub(in crate::call) enum Format<'s> {
    /// Elements that are not decoded.
    Plain,
    Mapped(&'static ErasedMap, Option<&'s dyn MapArgs>),
    /// Rows with their own scales.
    Fused(&'s FusedRows<'s>),
    /// Codes with a scale for each block.
    Blocks(BlockFormat, Option<&'s dyn BlockArgs>),
    /// Fused rows of several tables, each with its own layout.
    Tables(&'s [&'s FusedRows<'s>]),
    /// Checked indices.
    Checked(CheckedAxis),
}

impl<'s> Reader<'s> {
    /// The reader of a source without a row function, along the source's layout.
    #[inline(always)]
    pub(super) fn new<S: Source + ?Sized>(source: &S, layout: &'s Layout, format: Format<'s>) -> Self {
        Reader { start: source.start(), ..Reader::from_layout(layout, source.dtype(), format) }
    }

    /// The reader of a layout without elements, to plan ahead.
    #[inline(always)]
    pub(super) fn from_layout(layout: &'s Layout, dtype: DType, format: Format<'s>) -> Self {
        Reader { start: core::ptr::null(), layout, dtype, format, chunks: None, function: None }
    }

    /// The same data with a row function, which makes elements of data type `dtype`.
    #[inline(always)]
    pub(super) fn with_function(self, dtype: DType, function: Function<'s>, args: Option<&'s dyn RowArgs>) -> Self {
        Reader { dtype, function: Some((function, args)), ..self }
    }

    #[inline(always)]
    pub(in crate::call) fn parts(&self) -> (*const u8, &'s Layout) {
        (self.start, self.layout)
    }

    /// The number of chunks with rows; 1 for data that is not divided.
    #[inline(always)]
    pub(in crate::call) fn chunk_count(&self) -> usize {
        self.chunks.map_or(1, |chunks| chunks.count)
    }

    /// Checks that data has one chunk if a plan was made for one, and several if it was made for several.
    ///
    /// # Errors
    /// [`Error::PlanChunksMismatch`].
    #[inline(always)]
    pub(in crate::call) fn check_chunks(&self, op: Op, expected: usize) -> Result<(), Error> {
        let got = self.chunk_count();
        if (expected == 1) == (got == 1) { Ok(()) } else { Err(Error::PlanChunksMismatch { op, expected, got }) }
    }

    /// Whether rows are read whole: a bitmap then has a bit for each row.
    pub(in crate::call) fn reads_rows(&self) -> bool {
        self.function.is_some() || self.chunks.is_some() || !matches!(self.format, Format::Plain | Format::Mapped(..))
    }
}

//! Chunks: row ranges of several sources as one table.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::call::source::checked::{Checked, Position, check_fits};
use crate::call::source::kind::{ChunkKind, RowKind};
use crate::call::source::reader::{Format, Reader};
use crate::call::source::rows::{RowFunctionOf, RowsSpec, RowsView};
use crate::call::source::{Describe, Source};
use crate::kernels::convert::chunks::ChunkTable;
use crate::kernels::convert::row::RowParams;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::types::declare::{accessors, debug_by};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

/// Chunks of a table, each of kind `K`: the result of [`chunks`].
pub struct ChunksView<'a, K> {
    /// The layout of the whole table; if one chunk has all rows, of this chunk.
    pub(super) layout: Layout,
    /// The chunk that has all rows, or the first one.
    pub(super) one: Reader<'a>,
    /// The chunks with rows, if there are two or more.
    table: Option<ChunkTable<'a>>,
    /// The first row of each chunk, and the number of all rows.
    starts: Vec<usize>,
    kind: PhantomData<fn() -> K>,
}

// SAFETY: elements and the arguments of maps and blocks are only read, and are `Sync`: bounds of `Element`, `MapArgs`
// and `BlockArgs`. Fused rows are `Sync`. A chunk has no row function, whose arguments need not be.
unsafe impl<K> Send for ChunksView<'_, K> {}

// SAFETY: as above.
unsafe impl<K> Sync for ChunksView<'_, K> {}

/// How the rows of a reader are divided: their data type without a row function, and in a call the table.
#[derive(Clone, Copy)]
pub(in crate::call) struct Chunked<'s> {
    pub(in crate::call) dtype: DType,
    /// The number of chunks that have rows.
    pub(in crate::call) count: usize,
    pub(in crate::call) table: Option<&'s ChunkTable<'s>>,
}

/// Row ranges of several sources as one table along axis 0: the shards of a model's embedding, the batches of a column.
/// Chunk 0 has rows `0..parts[0].shape()[0]` of the table, chunk 1 the next rows, and so on.
///
/// Chunks are sources of one type: [`View`](crate::View)s, [`DynView`](crate::DynView)s, maps with parameters of their
/// own ([`View::map`](crate::View::map)), blocks with scales of their own ([`View::blocks`](crate::View::blocks)), or
/// [fused rows](crate::FusedRows::to). Rows have one shape and are contiguous; chunks have any number of rows, also 0,
/// and any row stride; blocks are row-major. `Given::PerRow` has a value for each row of its chunk.
///
/// [`Gather`](crate::Gather) along axis 0 reads chunks, also [with nulls](crate::GatherOperator::nullable) and by
/// [row functions](ChunksView::rows), and [`EmbeddingBag`](crate::EmbeddingBag) reads chunks of elements and of maps.
/// Results equal the call on one tensor that has all rows, to the bit. A plan runs on chunks of other lengths too, if
/// their sum is the planned one; a plan for one chunk with rows runs on one.
///
/// Cost: `chunks` allocates four lists of a few entries per chunk, and the scales of each chunk of blocks, and compares
/// layouts and parameters once for all calls. A call finds the chunk of each index in constant time if chunks have
/// equal lengths, else in a search of few of them; with one chunk, it is the call on the chunk itself.
///
/// # Errors
/// [`Error::NoChunks`]. Then for the first chunk that does not fit [`Error::InChunk`] with its number and
/// [`Error::DTypeMismatch`], [`Error::RankOutOfRange`], [`Error::ShapeMismatch`] for another row shape, for fused rows
/// in bytes, [`Error::FusedFormatMismatch`], [`Error::BlockSizeOutOfRange`], [`Error::PlanBlocksMismatch`],
/// [`Error::RowsNotContiguous`], or the errors of [`View::map`](crate::View::map) and
/// [`View::blocks`](crate::View::blocks) for its data and parameters. [`Error::TooManyElements`] for the rows of the
/// chunks so far.
///
/// A call on several chunks returns [`Error::ChunkedAxis`] for another axis than 0, [`Error::RowsNotContiguous`] for an
/// output whose rows are not contiguous, [`Error::Misaligned`] for an output of a type known at run time, and
/// [`Error::MethodUnavailable`] for any method but `Direct`, `Blocks` and `Streamed`. A plan returns
/// [`Error::PlanChunksMismatch`] for one chunk in place of several.
///
/// # Examples
/// Three shards, one of them empty, and the ids of the whole table:
/// ```
/// use gather_core::{Gather, View, chunks};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (a, b) = ([1.0f32, 1.5, 2.0, 2.5], [3.0f32, 3.5]);
///     let shards = [View::new(&a, &[2, 2])?, View::new(&[], &[0, 2])?, View::new(&b, &[1, 2])?];
///     let table = chunks(&shards)?;
///     let rows = Gather::new(0).run(&table, &[2i64, 0, -1])?;
///     assert_eq!((rows.shape(), rows.as_slice()), (&[3, 2][..], &[3.0, 3.5, 1.0, 1.5, 3.0, 3.5][..]));
///     Ok(())
/// }
/// ```
/// Shards of bytes with a scale per row, each shard with its own scales:
/// ```
/// use gather_core::{Gather, Given, View, chunks, maps};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (codes, scales) = ([[129u8, 130], [126, 128]], [[0.5f32], [2.0]]);
///     let codes = [View::new(&codes[0], &[1, 2])?, View::new(&codes[1], &[1, 2])?];
///     let shards = [0, 1].map(|i| codes[i].map(&maps::dequantize(), (Given::PerRow(&scales[i]), Given::All(128))));
///     let rows = Gather::new(0).run(&chunks(&shards)?, &[1u32, 0])?;
///     assert_eq!(rows.as_slice(), [-4.0, 0.0, 0.5, 1.0]);
///     Ok(())
/// }
/// ```
#[doc(alias("ChunkedArray", "shards", "interleave", "ConcatDataset", "safetensors"))]
pub fn chunks<'a, S>(parts: &'a [S]) -> Result<ChunksView<'a, S::Kind>, Error>
where
    S: Source<Kind: ChunkKind, Held<'a> = &'a Layout>,
{
    let reader = |part: &'a S| Source::reader(part, Source::held(part));
    let first = reader(parts.first().ok_or(Error::NoChunks)?);
    let has_rows = |part: &&'a S| Source::held(*part).shape().first().is_some_and(|&rows| rows > 0);
    let count = parts.iter().filter(has_rows).count();
    let is_uniform = matches!(first.format, Format::Plain | Format::Fused(_));
    let mut table = ChunkTable::with_capacity(if count > 1 { count } else { 0 }, is_uniform);
    let (mut size_in, mut starts) = (0, alloc::vec![0usize; parts.len() + 1]);
    for (chunk, part) in parts.iter().enumerate() {
        let reader = reader(part);
        let decoder = check_same(&first, &reader).and_then(|()| S::Kind::decoder(&first, &reader));
        let decoder = decoder.map_err(|error| Error::InChunk { chunk, error: Box::new(error) })?;
        size_in = decoder.size_in;
        let (rows, stride) = (reader.layout.shape()[0], reader.layout.strides()[0].wrapping_mul(size_in as isize));
        let end = starts[chunk].checked_add(rows);
        starts[chunk + 1] =
            end.ok_or_else(|| Error::TooManyElements { shape: whole(usize::MAX, &first)[..].into() })?;
        if rows > 0 && count > 1 {
            // SAFETY: V1 and V3 of the part, which is borrowed for `'a`: rows of its layout, contiguous, as `decoder`
            // has checked with its params (K8).
            unsafe { table.push(reader.start, stride, rows, decoder) };
        }
    }
    if count <= 1 {
        let one = parts.iter().find(has_rows).map_or(first, reader);
        return Ok(ChunksView { layout: one.layout.clone(), one, table: None, starts, kind: PhantomData });
    }
    let layout = Layout::contiguous(&whole(table.rows(), &first))?;
    table.finish((layout.strides()[0] as usize).wrapping_mul(size_in));
    Ok(ChunksView { layout, one: first, table: Some(table), starts, kind: PhantomData })
}

/// The shape of `rows` rows of a chunk.
fn whole(rows: usize, chunk: &Reader<'_>) -> Shape {
    [rows].into_iter().chain(chunk.layout.shape().iter().skip(1).copied()).collect()
}

/// Compares the data type, the rank and the row shape of a chunk with the first one.
fn check_same(first: &Reader<'_>, chunk: &Reader<'_>) -> Result<(), Error> {
    let (op, argument, got) = (Op::Gather, Argument::Data, chunk.layout.shape());
    if chunk.dtype != first.dtype {
        return Err(Error::DTypeMismatch { expected: first.dtype, got: chunk.dtype });
    }
    let &[rows, ..] = got else {
        return Err(Error::RankOutOfRange { op, argument, rank: 0, min: 1, max: usize::MAX });
    };
    let of_first = first.layout.shape();
    if got.len() == of_first.len() && got[1..] == of_first[1..] {
        return Ok(());
    }
    let expected = whole(rows, first);
    Err(Error::ShapeMismatch { op, argument, expected: expected[..].into(), got: got.into() })
}

impl<K> ChunksView<'_, K> {
    /// The reader of the table along its layout.
    #[inline(always)]
    pub(super) fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s> {
        let Reader { dtype, .. } = self.one;
        let chunked = |table: &'s ChunkTable<'_>| Chunked { dtype, count: table.count(), table: Some(table) };
        Reader { start: self.start(), layout, chunks: self.table.as_ref().map(chunked), ..self.one }
    }

    /// The address of the only chunk with rows; null for several.
    #[inline(always)]
    pub(super) fn start(&self) -> *const u8 {
        if self.table.is_some() { core::ptr::null() } else { self.one.start }
    }

    accessors! { self:
        /// The shape of the whole table: the rows of all chunks, then the shape of a row of data.
        pub fn shape() -> &[usize] => self.layout.shape();
    }
}

debug_by!(self: [K] ChunksView<'_, K> { dtype: self.one.dtype, shape: self.layout.shape() });

impl<K> ChunksView<'_, K> {
    /// The rows `rows[i]` of the chunks `sources[i]`, as [`Checked`] positions of the whole table: the `interleave` of
    /// Arrow. Chunks without rows count too, and a negative number names no row. The positions fit every other column
    /// whose batches have the same lengths in the same order: calls compare only the number of all rows.
    ///
    /// Cost: one pass over both lists, and one allocation.
    ///
    /// ```
    /// use gather_core::{Checked, Gather, View, chunks};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let batches = [View::new(&[10, 11], &[2])?, View::new(&[20, 21, 22], &[3])?];
    ///     let column = chunks(&batches)?;
    ///     let pairs: Checked<i32> = column.pairs(&[1u8, 0, 1], &[2u32, 0, 0])?;
    ///     assert_eq!(Gather::new(0).run(&column, &pairs)?.as_slice(), [22, 10, 20]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::PairsMismatch`], [`Error::CheckedAxisTooLong`] if the number of all rows exceeds the greatest `I`,
    /// [`Error::AllocationFailed`], then [`Error::PairOutOfRange`] for the first pair that names no row, or has a
    /// negative number.
    #[doc(alias("interleave", "take"))]
    pub fn pairs<I: Position, S: Index, R: Index>(
        &self,
        sources: &[S],
        rows: &[R],
    ) -> Result<Checked<'static, I>, Error> {
        let (starts, chunks) = (&self.starts[..], self.starts.len() - 1);
        let pairs = each_pair(sources, rows, chunks, |source| starts[source + 1] - starts[source])?;
        check_fits::<I>(starts[chunks])?;
        let mut positions = memory::reserve(rows.len())?;
        for pair in pairs {
            let (source, row) = pair?;
            positions.push(I::truncated((starts[source] + row) as i64));
        }
        Ok(Checked::from_positions(positions, starts[chunks]))
    }
}

/// The source and the row of each pair, of `chunks` sources with `count(source)` rows each.
///
/// # Errors
/// [`Error::PairsMismatch`]; in place of a pair that names no row, [`Error::PairOutOfRange`].
pub(crate) fn each_pair<'p, S: Index, R: Index>(
    sources: &'p [S],
    rows: &'p [R],
    chunks: usize,
    count: impl Fn(usize) -> usize + 'p,
) -> Result<impl Iterator<Item = Result<(usize, usize), Error>> + 'p, Error> {
    if sources.len() != rows.len() {
        return Err(Error::PairsMismatch { sources: sources.len(), rows: rows.len() });
    }
    Ok(sources.iter().zip(rows).enumerate().map(move |(position, (&source, &row))| {
        let is_source = source.bits() < chunks as u64;
        let n = if is_source { count(source.bits() as usize) } else { 0 };
        if row.bits() >= n as u64 {
            let (source, row, rows) = (source.exact(), row.exact(), is_source.then_some(n));
            return Err(Error::PairOutOfRange { position, source, row, chunks, rows });
        }
        Ok((source.bits() as usize, row.bits() as usize))
    }))
}

impl<K: ChunkKind + RowKind> ChunksView<'_, K> {
    /// Computes a [`RowFunction`](crate::RowFunction) of each row that [`Gather`](crate::Gather) names, as
    /// [`View::rows`](crate::View::rows) does on one table. `Given::PerRow` has a value for each row of all chunks.
    /// Takes the table: [`chunks`] makes another for other calls.
    ///
    /// Cost: as [`View::rows`](crate::View::rows), plus copying or converting each row into a buffer in the first-level
    /// cache. A call allocates a buffer per thread: at most 4 KiB, or a longer row.
    ///
    /// # Errors
    /// The errors of [`View::rows`](crate::View::rows) and of [`chunks`], then [`Error::AllocationFailed`] for the
    /// buffers.
    ///
    /// # Panics
    /// As for [`View::rows`](crate::View::rows).
    ///
    /// ```
    /// use gather_core::{Gather, Given, View, chunks, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let shards = [View::new(&[1.0f32, 2.0], &[1, 2])?, View::new(&[3.0, 4.0], &[1, 2])?];
    ///     let scores = chunks(&shards)?.rows(&rows::dot(), (Given::All(&[1.0, 10.0]),));
    ///     assert_eq!(Gather::new(0).run(&scores, &[1u8, 0])?.as_slice(), [43.0, 21.0]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn rows<'r, F: RowFunctionOf<K::Number>>(
        self,
        function: &F,
        params: <F::Params as RowParams>::Given<'r>,
    ) -> RowsView<'r, Self, K::Number, F::Out, F::Params> {
        RowsView::new(self, function, params)
    }
}

/// A [`Spec`](crate::Spec) `D` divided into chunks: the result of [`Spec::chunks`](crate::Spec::chunks) and of the same
/// method of other specs.
#[derive(Clone, Debug)]
pub struct ChunksSpec<D> {
    pub(super) data: D,
    /// The number of chunks that have rows.
    count: usize,
}

impl<D: Describe<Kind: ChunkKind>> ChunksSpec<D> {
    pub(super) fn new(data: D, count: usize) -> Self {
        ChunksSpec { data, count }
    }

    #[inline(always)]
    pub(super) fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s> {
        let (reader, count) = (self.data.reader(layout), self.count);
        let chunks = (count > 1).then_some(Chunked { dtype: reader.dtype, count, table: None });
        Reader { chunks, ..reader }
    }

    /// As [`ChunksView::rows`], without parameters: to plan ahead.
    #[must_use]
    pub fn rows<F>(self, function: &F) -> RowsSpec<Self, <D::Kind as RowKind>::Number, F::Out, F::Params>
    where
        D::Kind: RowKind,
        F: RowFunctionOf<<D::Kind as RowKind>::Number>,
    {
        RowsSpec { data: self, function: function.function() }
    }
}

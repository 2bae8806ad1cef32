//! Chunks: row ranges of several sources as one table. A row is decoded from the chunk that holds it.
//!
//! ```text
//! gathers of elements:                           for each group of rows of a job:
//!     locate the rows of the next group
//!     move rows of this group                    each with a prefetch of a row of the next group
//! gathers that convert:                          for each group of rows of a job:
//!     locate the rows of the next group          `guide[row >> shift]`, then the ends of a few chunks
//!     for each few rows:
//!         prefetch rows of the next group        and their params
//!         decode rows of this group              one call for adjacent rows of one chunk
//! row functions, bags:                           a `DecodeFn`, which locates each row
//! ```
//!
//! The positions of a job are rows of the whole table. Its data has no address: `job.data` is null.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::convert::decode::{DecodeFns, ErasedParams, PrefetchGiven};
use crate::kernels::convert::{conversion, conversion_args};
use crate::kernels::level_fn::{Compiled, LevelFn, Token};
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::moves::{RowLoop, Rows, Width};
use crate::kernels::nest::args::{DecodeFn, EncodedRow, IndexArgs};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::prefetch_row;
use crate::types::level::Available;

/// The functions that decode rows of a [`ChunkTable`]. Their params are [`ChunkedParams`].
pub(crate) static CHUNKED: DecodeFns = DecodeFns {
    // SAFETY: E1: a safe function, for all levels.
    rows: unsafe { by_level!(decode_job, decode_job) },
    // SAFETY: E1: a `DecodeFn` is not a `LevelPointer`.
    each: unsafe { by_level!(decode_each, decode_each) },
};

/// Params that own the values of a chunk.
pub(crate) trait OwnedParams {
    fn erased(&self) -> ErasedParams<'_>;
}

/// The decoder of a chunk and its params.
pub struct ChunkDecoder<'a> {
    /// `None` for elements that are moved unchanged.
    pub(crate) fns: Option<ByLevel<DecodeFn>>,
    /// Bytes of an element of data.
    pub(crate) size_in: usize,
    pub(crate) params: ChunkParams<'a>,
}

pub(crate) enum ChunkParams<'a> {
    Lent(ErasedParams<'a>),
    Owned(Box<dyn OwnedParams + 'a>),
}

impl ChunkParams<'_> {
    #[inline(always)]
    fn erased(&self) -> ErasedParams<'_> {
        match self {
            ChunkParams::Lent(params) => *params,
            ChunkParams::Owned(params) => params.erased(),
        }
    }
}

/// The rows of a chunk.
#[derive(Clone, Copy)]
struct Chunk {
    /// The address of row 0 of the table, if it were a row of the chunk, and bytes to the next row.
    origin: *const u8,
    stride: isize,
    /// Rows of the table before the chunk, and up to its end.
    first: usize,
    end: usize,
}

/// The chunks of a table that have rows, in the order of their rows.
///
/// Invariant: for each row `first <= row < end` of a chunk, a row of elements may be read at
/// `origin + row * stride` during `'a`, aligned for the chunk's decoder, whose params fit it (K8).
pub(crate) struct ChunkTable<'a> {
    chunks: Vec<Chunk>,
    decoders: Vec<ChunkDecoder<'a>>,
    /// `guide[g]` is the chunk of row `g << shift`, or the last chunk.
    guide: Vec<usize>,
    shift: u32,
    /// Whether each chunk begins at a multiple of `1 << shift`: `guide` leads to the chunk itself.
    is_exact: bool,
    /// Bytes of a row in the layout of the whole table.
    row_bytes: usize,
    /// Whether one decoder with its params decodes rows of every chunk.
    is_uniform: bool,
}

// SAFETY: the rows and their params are only read, and both may be shared between threads: elements are `Sync`, and so
// are the values of params (K8).
unsafe impl Send for ChunkTable<'_> {}

// SAFETY: as above.
unsafe impl Sync for ChunkTable<'_> {}

/// Chunks that `guide` has entries for, per chunk: most entries then lead to the chunk itself or to the next.
const GUIDED: usize = 4;

impl<'a> ChunkTable<'a> {
    /// A table without chunks, with memory for `count` of them.
    pub(crate) fn with_capacity(count: usize, is_uniform: bool) -> Self {
        let (chunks, decoders, guide) = (Vec::with_capacity(count), Vec::with_capacity(count), Vec::new());
        ChunkTable { chunks, decoders, guide, shift: 0, is_exact: false, row_bytes: 0, is_uniform }
    }

    /// Appends a chunk of `rows` rows, at least one.
    ///
    /// # Safety
    /// The invariant of the type for the chunk's rows: at `start + row * stride` for `row < rows`.
    pub(crate) unsafe fn push(&mut self, start: *const u8, stride: isize, rows: usize, decoder: ChunkDecoder<'a>) {
        let first = self.rows();
        let origin = start.wrapping_offset(stride.wrapping_mul(first as isize).wrapping_neg());
        self.chunks.push(Chunk { origin, stride, first, end: first + rows });
        self.decoders.push(decoder);
    }

    /// Completes the table, for rows of `row_bytes` bytes in its layout.
    pub(crate) fn finish(&mut self, row_bytes: usize) {
        self.row_bytes = row_bytes;
        let (rows, most) = (self.rows(), self.chunks.len().saturating_mul(GUIDED));
        self.shift = (0..usize::BITS - 1).find(|&shift| rows >> shift <= most).unwrap_or(usize::BITS - 1);
        self.is_exact = self.chunks.iter().all(|chunk| chunk.first.trailing_zeros() >= self.shift);
        let last = self.chunks.len().saturating_sub(1);
        let mut chunk = 0;
        self.guide.extend((0..(rows >> self.shift) + 2).map(|entry| {
            while chunk < last && self.chunks[chunk].end <= entry << self.shift {
                chunk += 1;
            }
            chunk
        }));
    }

    /// The number of chunks with rows.
    pub(crate) fn count(&self) -> usize {
        self.chunks.len()
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.end)
    }

    #[inline(always)]
    fn locator(&self) -> Locator<'_> {
        Locator { chunks: &self.chunks, guide: &self.guide, shift: self.shift, is_exact: self.is_exact }
    }

    /// [`Locator::locate`].
    #[inline(always)]
    fn locate(&self, row: usize, offset: usize, to: *mut u8) -> (usize, EncodedRow) {
        self.locator().locate(row, offset, to)
    }

    /// Prefetches `elements` elements of a located row, and their params.
    #[inline(always)]
    fn prefetch(&self, (chunk, row): (usize, EncodedRow), elements: usize) {
        let decoder = &self.decoders[chunk];
        let bytes = elements.saturating_mul(decoder.size_in);
        prefetch_row(row.from, bytes.max(1));
        if !self.is_uniform {
            let params = decoder.params.erased();
            if let Some(ahead) = params.ahead {
                ahead.prefetch(row.row, params.element(row.from, decoder.size_in), elements);
            }
        }
    }
}

/// The part of a table that locates rows. A loop has a copy, whose fields are not loaded again after each store.
#[derive(Clone, Copy)]
struct Locator<'a> {
    chunks: &'a [Chunk],
    guide: &'a [usize],
    shift: u32,
    is_exact: bool,
}

impl Locator<'_> {
    /// The number of the chunk that holds a row, which the table has.
    #[inline(always)]
    fn chunk_of(self, row: usize) -> usize {
        let Locator { chunks, guide, shift, is_exact } = self;
        let first = guide[row >> shift];
        if is_exact {
            return first;
        }
        let chunk = first + usize::from(chunks[first].end <= row);
        // Mostly false, so that the processor need not wait for the comparison.
        if chunks[chunk].end <= row { search(chunks, chunk, guide[(row >> shift) + 1], row) } else { chunk }
    }

    /// The address of a row in chunk `number`.
    #[inline(always)]
    fn address(self, number: usize, row: usize) -> *const u8 {
        let Chunk { origin, stride, .. } = self.chunks[number];
        origin.wrapping_offset(stride.wrapping_mul(row as isize))
    }

    /// The number of the chunk that holds a row, and the row in it, `offset` bytes from its first byte.
    #[inline(always)]
    fn locate(self, row: usize, offset: usize, to: *mut u8) -> (usize, EncodedRow) {
        let number = self.chunk_of(row);
        let from = self.address(number, row).wrapping_add(offset);
        (number, EncodedRow { from, to, row: row - self.chunks[number].first })
    }
}

/// The number of the chunk that holds a row, which is in `from..=last`.
#[cold]
fn search(chunks: &[Chunk], from: usize, last: usize, row: usize) -> usize {
    from + chunks[from..last].partition_point(|chunk| chunk.end <= row)
}

/// A table of a call, and the plan's level.
#[derive(Clone, Copy)]
pub(crate) struct ChunkedParams<'a> {
    pub(crate) table: &'a ChunkTable<'a>,
    pub(crate) level: Available,
}

impl ChunkedParams<'_> {
    /// Decodes `elements` elements of rows of a chunk, or of any chunk if the table is uniform.
    ///
    /// # Safety
    /// As for [`DecodeFn`], for the located rows and their results.
    #[inline(always)]
    unsafe fn decode(&self, chunk: usize, rows: &[EncodedRow], elements: usize) {
        let ChunkDecoder { fns, size_in, params } = &self.table.decoders[chunk];
        let Some(fns) = fns else {
            for row in rows {
                // SAFETY: the invariant of the table for the row, and the caller's promise for its result.
                unsafe { row.to.copy_from_nonoverlapping(row.from, elements * size_in) };
            }
            return;
        };
        // SAFETY: the invariant of the table for rows of this chunk, with its params; the caller's promise for their
        // results. K7: the plan's level.
        unsafe { (fns.get(*self.level))(rows, elements, params.erased().given) };
    }

    /// Element `element` of the table, in its row; `None` beyond the last row.
    #[inline(always)]
    fn row(&self, row: usize, element: usize) -> Option<(usize, EncodedRow)> {
        let (table, size_in) = (self.table, self.table.decoders.first()?.size_in);
        let offset = element.wrapping_mul(size_in).wrapping_sub(row.wrapping_mul(table.row_bytes));
        (row < table.rows()).then(|| table.locate(row, offset, core::ptr::null_mut()))
    }

    /// The params of [`CHUNKED`]. The element of a row at `from` is `from / size`: the layout begins at address 0.
    pub(crate) fn erased(&self) -> ErasedParams<'_> {
        ErasedParams { given: (&raw const *self).cast(), data: 0, by_element: true, locates: true, ahead: Some(self) }
    }
}

impl PrefetchGiven for ChunkedParams<'_> {
    fn ranges(&self, row: usize, element: usize, elements: usize, each: &mut dyn FnMut(usize, usize)) {
        if let Some((chunk, row)) = self.row(row, element) {
            let decoder = &self.table.decoders[chunk];
            decoder.params.erased().ranges((row.from, decoder.size_in), row.row, elements, each);
        }
    }

    fn prefetch(&self, row: usize, element: usize, elements: usize) {
        if let Some(row) = self.row(row, element) {
            self.table.prefetch(row, elements);
        }
    }
}

/// Maximum rows of a group.
const GROUP: usize = 64;

/// Located rows, and the chunk of each.
struct Group {
    rows: [EncodedRow; GROUP],
    chunks: [usize; GROUP],
    n: usize,
}

impl Group {
    const EMPTY: Self = {
        let row = EncodedRow { from: core::ptr::null(), to: core::ptr::null_mut(), row: 0 };
        Group { rows: [row; GROUP], chunks: [0; GROUP], n: 0 }
    };

    /// Replaces the rows by `n` rows, at most [`GROUP`].
    #[inline(always)]
    fn fill(&mut self, n: usize, locate: impl Fn(usize) -> (usize, EncodedRow)) {
        for (i, (row, chunk)) in self.rows.iter_mut().zip(&mut self.chunks).take(n).enumerate() {
            (*chunk, *row) = locate(i);
        }
        self.n = n;
    }

    /// Decodes `elements` elements of each row of a range.
    ///
    /// # Safety
    /// As for [`DecodeFn`], for the located rows and their results.
    #[inline(always)]
    unsafe fn decode(&self, rows: Range<usize>, params: &ChunkedParams<'_>, elements: usize) {
        let (Some(rows), Some(chunks)) = (self.rows.get(rows.clone()), self.chunks.get(rows)) else { return };
        if params.table.is_uniform {
            // SAFETY: the caller's promise.
            return unsafe { params.decode(0, rows, elements) };
        }
        let mut first = 0;
        for same in chunks.chunk_by(|a, b| a == b) {
            // SAFETY: the caller's promise.
            unsafe { params.decode(same[0], &rows[first..first + same.len()], elements) };
            first += same.len();
        }
    }
}

/// Jobs of fewer rows are decoded row by row.
const FEW: usize = 4;
/// Rows that are prefetched between rows that are decoded: more would wait for each other.
const STEP: usize = 4;

/// Decodes the rows of a job, a group at a time. The next group is located and prefetched before a group is decoded.
fn decode_job(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
    // SAFETY: K8: the params of `CHUNKED`.
    let params = unsafe { &*conversion_args(args).given.cast::<ChunkedParams<'_>>() };
    let (table, elements) = (params.table, conversion(args).elements);
    let locate = |i: usize| table.locate(job.row_of_data(i), 0, job.target(i));
    if let Some(ChunkDecoder { fns: None, size_in, .. }) = table.decoders.first() {
        return MOVES.at(params.level)(MovedRows { table, job, bytes: elements * size_in });
    }
    if job.n < FEW {
        for i in 0..job.n {
            let (chunk, row) = locate(i);
            // SAFETY: K1, K2, K4: the position is a row of the table, and row `i` of the output may be written.
            unsafe { params.decode(chunk, &[row], elements) };
        }
        return;
    }
    let (far, most) = match job.prefetch_distance {
        0 => (false, GROUP),
        distance => (true, distance.clamp(FEW, GROUP)),
    };
    let mut groups = [Group::EMPTY, Group::EMPTY];
    let [group, next] = &mut groups;
    let (mut group, mut next) = (group, next);
    let mut done = 0;
    loop {
        let end = job.n.min(done + most);
        next.fill(end - done, |i| locate(done + i));
        for at in (0..group.n.max(next.n)).step_by(STEP) {
            for i in at..if far { next.n.min(at + STEP) } else { at } {
                table.prefetch((next.chunks[i], next.rows[i]), elements);
            }
            // SAFETY: K1, K2, K4: every position of the job is a row of the table, and row `i` of the output may be
            // written, by K8 for its elements.
            unsafe { group.decode(at..group.n.min(at + STEP), params, elements) };
        }
        if done == end {
            return;
        }
        done = end;
        (group, next) = (next, group);
    }
}

/// The rows of a job, each moved unchanged from the chunk that holds it.
///
/// Invariant: every position of the job is a row of the table, and each row of the job has `bytes` bytes.
struct MovedRows<'a> {
    table: &'a ChunkTable<'a>,
    job: &'a MoveJob<'a>,
    bytes: usize,
}

/// Moves rows a group at a time; the next group is located before, and prefetched meanwhile.
enum MoveFromChunks {}

level_pointers! { for<'a> fn(MovedRows<'a>); }

const MOVES: ByLevel<Compiled<MoveFromChunks>> = by_level!(fn MoveFromChunks);

impl LevelFn for MoveFromChunks {
    type Args<'a> = MovedRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<L: Token>(level: L, rows: MovedRows<'_>) {
        if rows.bytes > 0 {
            Rows::by_way::<MoveFromChunks>(level, rows.bytes)(rows);
        }
    }
}

impl RowLoop for MoveFromChunks {
    type Args<'a> = MovedRows<'a>;

    #[inline(always)]
    fn run<C: CopyRow>(MovedRows { table, job, bytes }: MovedRows<'_>) {
        // A copy: the compiler need not reload its fields after each store.
        let (job, copy, locator) = (*job, C::of(bytes), table.locator());
        let source = |i: usize| {
            let row = job.row_of_data(i);
            locator.address(locator.chunk_of(row), row)
        };
        let far = job.prefetch_distance > 0;
        let mut groups = [[core::ptr::null(); GROUP]; 2];
        let [mut group, mut next] = groups.each_mut();
        let (mut done, mut n) = (0, 0);
        loop {
            let first = done + n;
            let ahead = GROUP.min(job.n - first);
            for (i, from) in next[..ahead].iter_mut().enumerate() {
                *from = source(first + i);
            }
            let both = if far { n.min(ahead) } else { 0 };
            for (i, (&from, &later)) in group[..both].iter().zip(&next[..both]).enumerate() {
                // SAFETY: the invariant of the table and of `MovedRows`: a row, apart from its row of the output.
                unsafe { copy.copy_fetching(from, job.target(done + i), bytes, later) };
            }
            for (i, &from) in group[both..n].iter().enumerate() {
                // SAFETY: as above.
                unsafe { copy.copy(from, job.target(done + both + i)) };
            }
            if far {
                next[both..ahead].iter().for_each(|&later| C::fetch(later, bytes));
            }
            if ahead == 0 {
                return;
            }
            (done, n) = (first, ahead);
            (group, next) = (next, group);
        }
    }
}

/// The [`DecodeFn`] of chunks. `from` of a row counts from address 0, in the layout of the whole table.
///
/// # Safety
/// As for [`DecodeFn`], with [`ChunkedParams`] as params. The rows are rows of the table.
unsafe fn decode_each(rows: &[EncodedRow], elements: usize, params: *const ()) {
    // SAFETY: the caller's promise.
    let params = unsafe { &*params.cast::<ChunkedParams<'_>>() };
    let mut group = Group::EMPTY;
    for rows in rows.chunks(GROUP) {
        group.fill(rows.len(), |i| {
            let EncodedRow { from, to, row } = rows[i];
            let offset = from.addr().wrapping_sub(row.wrapping_mul(params.table.row_bytes));
            params.table.locate(row, offset, to)
        });
        // SAFETY: the caller's promise: rows of the table, from `offset` on, and their results.
        unsafe { group.decode(0..group.n, params, elements) };
    }
}

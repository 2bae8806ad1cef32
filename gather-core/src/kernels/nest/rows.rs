//! Rows of a strip with resolved indices, and rows to move.

use core::marker::PhantomData;
use core::ops::Deref;

use crate::kernels::nest::plane::{OutputRows, Strip};
use crate::kernels::nest::positions::{Block, Positions};
use crate::kernels::prefetch::{NextSlice, STEP};

/// Rows to move: from `data + i · data_step + stride · positions[i]` to `out + i · out_step`, for `i < n`. Every
/// position is in range: each row of data may be read (K2), and each row of the output written (K1, K4).
///
/// The positions are borrowed for `'p`: nothing overwrites them. [`Deref`] gives the fields, to read only.
#[derive(Clone, Copy)]
pub struct MoveJob<'p> {
    fields: MoveFields,
    held: PhantomData<&'p [i32]>,
}

/// The fields of a [`MoveJob`]. By themselves they prove nothing.
#[derive(Clone, Copy)]
pub struct MoveFields {
    pub(crate) out: *mut u8,
    pub(crate) out_step: isize,
    pub(crate) data: *const u8,
    pub(crate) data_step: isize,
    pub(crate) positions: *const i32,
    /// The position of `data` along the axis, to which positions are added.
    first_position: usize,
    pub(crate) stride: isize,
    pub(crate) n: usize,
    pub(crate) row: usize,
    /// Prefetch distance in rows; 0 for none.
    pub(crate) prefetch_distance: usize,
    /// Whether output rows and elements of data are contiguous, by the plan.
    pub(crate) packed: bool,
    /// Elements of data that the indices reach under `Method::Table`; else 0.
    pub(crate) table_entries: usize,
    /// Data of the next outer coordinate, to prefetch while the rows are moved.
    pub(crate) next: NextSlice,
    block: Block,
}

impl Deref for MoveJob<'_> {
    type Target = MoveFields;

    #[inline(always)]
    fn deref(&self) -> &MoveFields {
        &self.fields
    }
}

impl<'p> MoveJob<'p> {
    /// One row, with its position already added to its address.
    ///
    /// # Safety
    /// `position` is in range for the first iteration of the strip; `*zero == 0`.
    #[inline(always)]
    pub(crate) unsafe fn of_one(strip: &Strip<'_>, position: i64, zero: &'p i32) -> Self {
        debug_assert!(*zero == 0 && strip.n() > 0);
        let data = strip.at().data.wrapping_offset(strip.args().stride().wrapping_mul(position as isize));
        // SAFETY: the only position is `*zero`, which is in range of every axis (K5) and borrowed for `'p`.
        let rows = unsafe { ResolvedRows::new(&strip.take(1), zero, NextSlice::NONE, Block::new()) };
        rows.0.with(MoveFields { data, first_position: position as usize, ..*rows.0 })
    }

    #[inline(always)]
    fn with(self, fields: MoveFields) -> Self {
        MoveJob { fields, ..self }
    }

    #[inline(always)]
    pub(crate) fn each_position(&self) -> &[i32] {
        if self.n == 0 {
            return &[];
        }
        // SAFETY: by `ResolvedRows::new`, `n` positions have been written and stay for `'p`.
        unsafe { core::slice::from_raw_parts(self.positions, self.n) }
    }

    #[inline(always)]
    pub(crate) fn position(&self, i: usize) -> i32 {
        debug_assert!(i < self.n);
        // SAFETY: callers keep `i < n`, and `n` positions have been written (`ResolvedRows::new`).
        unsafe { self.positions.wrapping_add(i).read() }
    }

    /// The position along the axis of the source of row `i`.
    #[inline(always)]
    pub(crate) fn row_of_data(&self, i: usize) -> usize {
        self.first_position + self.position(i) as usize
    }

    #[inline(always)]
    pub(crate) fn source(&self, i: usize) -> *const u8 {
        let position = self.position(i);
        self.data
            .wrapping_offset(self.data_step.wrapping_mul(i as isize))
            .wrapping_offset(self.stride.wrapping_mul(position as isize))
    }

    #[inline(always)]
    pub(crate) fn target(&self, i: usize) -> *mut u8 {
        self.out.wrapping_offset(self.out_step.wrapping_mul(i as isize))
    }

    /// The rows from `first <= n` on.
    #[inline(always)]
    pub(crate) fn skip(&self, first: usize) -> MoveJob<'p> {
        debug_assert!(first <= self.n);
        let by = first as isize;
        self.with(MoveFields {
            out: self.target(first),
            data: self.data.wrapping_offset(self.data_step.wrapping_mul(by)),
            positions: self.positions.wrapping_add(first),
            n: self.n - first,
            next: self.next.skip(first / STEP),
            ..**self
        })
    }

    /// The same rows as [`ResolvedRows`], all in range.
    #[inline(always)]
    pub(crate) fn resolved(self) -> ResolvedRows<'p> {
        ResolvedRows(self)
    }

    /// The rows from `prefetch_distance` on, to prefetch while the job is moved; no rows if the distance is 0.
    #[inline(always)]
    pub(crate) fn later(&self) -> ResolvedRows<'p> {
        let distance = if self.prefetch_distance == 0 { self.n } else { self.prefetch_distance.min(self.n) };
        ResolvedRows(self.skip(distance))
    }

    /// The same rows without other memory to prefetch.
    #[inline(always)]
    pub(crate) fn without_next(self) -> MoveJob<'p> {
        self.with(MoveFields { next: NextSlice::NONE, ..*self })
    }

    /// The same rows, read from `data` on, `step` bytes apart, without prefetching.
    ///
    /// # Safety
    /// K2 and K4 for each row: it may be read there, and does not overlap the output.
    #[inline(always)]
    pub(crate) unsafe fn read_at(self, data: *const u8, step: isize) -> Self {
        let fields = *self;
        self.with(MoveFields {
            data,
            data_step: step,
            stride: 0,
            prefetch_distance: 0,
            next: NextSlice::NONE,
            ..fields
        })
    }

    #[inline(always)]
    pub(crate) fn take(&self, n: usize) -> MoveJob<'p> {
        debug_assert!(n <= self.n);
        self.with(MoveFields { n, ..**self })
    }
}

/// Rows whose indices have been resolved. If [`Block::has_bad`], rows may be out of range: [`Block::is_bad`] holds for
/// their positions, and they must not be read.
#[derive(Clone, Copy)]
pub(crate) struct ResolvedRows<'p>(MoveJob<'p>);

impl<'p> ResolvedRows<'p> {
    /// The rows of a strip with resolved positions.
    ///
    /// # Safety
    /// A position has been written at `positions` for every iteration of the strip, and stays for `'p`. Each position
    /// is in range, or `block` marks it as out of range.
    #[inline(always)]
    pub(crate) unsafe fn new(strip: &Strip<'_>, positions: *const i32, next: NextSlice, block: Block) -> Self {
        let (args, at) = (strip.args(), strip.at());
        let (inner, spec) = (args.inner(), args.spec());
        let fields = MoveFields {
            out: at.out,
            out_step: inner.out,
            data: at.data,
            data_step: inner.data,
            positions,
            first_position: 0,
            stride: args.stride(),
            n: strip.n(),
            row: spec.row,
            prefetch_distance: spec.prefetch_distance,
            packed: spec.packed,
            table_entries: spec.table_entries,
            next,
            block,
        };
        ResolvedRows(MoveJob { fields, held: PhantomData })
    }

    #[inline(always)]
    pub(crate) fn none(strip: &Strip<'_>) -> Self {
        // SAFETY: the strip has no iterations, so no position is read.
        unsafe { ResolvedRows::new(&strip.take(0), core::ptr::null(), NextSlice::NONE, Block::new()) }
    }

    /// All rows, if every index is in range.
    #[inline(always)]
    pub(crate) fn in_range(&self) -> Option<&MoveJob<'p>> {
        if self.0.block.has_bad() { None } else { Some(&self.0) }
    }

    #[inline(always)]
    pub(crate) fn block(&self) -> Block {
        self.0.block
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.0.n
    }

    #[inline(always)]
    pub(crate) fn row(&self) -> usize {
        self.0.row
    }

    /// An empty job: nothing is moved.
    #[inline(always)]
    pub(crate) fn nothing(&self) -> MoveJob<'p> {
        self.0.take(0)
    }

    /// No rows: nothing is prefetched.
    #[inline(always)]
    pub(crate) fn without_rows(&self) -> ResolvedRows<'p> {
        ResolvedRows(self.0.take(0))
    }

    #[inline(always)]
    pub(crate) fn positions(&self) -> &[i32] {
        self.0.each_position()
    }

    /// All rows as a job, including rows out of range, which must not be read. For functions that compare positions
    /// with [`Block::is_bad`], or only prefetch.
    #[inline(always)]
    pub(in crate::kernels) fn unchecked_job(&self) -> &MoveJob<'p> {
        &self.0
    }

    /// The source of row `i`, whether or not it may be read.
    #[inline(always)]
    pub(crate) fn source(&self, i: usize) -> *const u8 {
        self.0.source(i)
    }

    #[inline(always)]
    pub(crate) fn outputs(&self) -> OutputRows {
        let MoveFields { out, out_step, n, .. } = *self.0;
        // SAFETY: K1: these are the output rows of the strip given to `ResolvedRows::new`, or a part of them.
        unsafe { OutputRows::new(out, out_step, n) }
    }

    /// Rows `first..first + n`, whose indices are in range.
    #[inline(always)]
    pub(crate) fn run(&self, first: usize, n: usize) -> MoveJob<'p> {
        let run = self.0.skip(first).take(n);
        debug_assert!((0..n).all(|i| !self.0.block.is_bad(run.position(i))));
        run
    }

    /// All rows, with rows out of range at position 0. The positions go to `buffer`.
    #[inline(always)]
    pub(crate) fn with_zeros<'r>(&self, buffer: &'r mut Positions) -> MoveJob<'r>
    where
        'p: 'r,
    {
        let block = self.0.block;
        buffer.write(self.positions().iter().map(|&position| if block.is_bad(position) { 0 } else { position }));
        MoveJob { fields: MoveFields { positions: buffer.as_ptr(), ..*self.0 }, held: PhantomData }
    }

    /// The empty rows before the first chunk of a strip, whose chunks are resolved into the buffer at `positions`.
    #[inline(always)]
    pub(crate) fn before(strip: &Strip<'_>, positions: *const i32, next: NextSlice) -> Self {
        // SAFETY: the strip has no iterations, so no position is read.
        unsafe { ResolvedRows::new(&strip.take(0), positions, next, Block::new()) }
    }

    /// Advances to the next `n` rows, resolved into the same buffer; the previous rows are not used any more. Fields
    /// are written one by one: a copy of all fields would wait for these stores.
    ///
    /// # Safety
    /// As for [`ResolvedRows::new`], for the `n` iterations after these rows in their strip.
    #[inline(always)]
    pub(crate) unsafe fn advance(&mut self, n: usize, block: Block) {
        let MoveFields { out, out_step, data, data_step, next, n: done, block: blocks, .. } = &mut self.0.fields;
        let by = *done as isize;
        *out = out.wrapping_offset(out_step.wrapping_mul(by));
        *data = data.wrapping_offset(data_step.wrapping_mul(by));
        *next = next.skip(*done / STEP);
        (*done, *blocks) = (n, block);
    }
}

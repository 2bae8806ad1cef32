//! Execution of bags.
//!
//! ```text
//! for each window of bags:                  (or a chunk of one bag, if it is long or has padding)
//!     resolve indices, ahead of their use   (`window`)
//!     reduce rows, all columns              (`kernels/reduce/bag`; with a map, `converted`)
//! ```
//!
//! Threads share chunks of bags with about equal numbers of indices. If one bag exceeds a thread's share and rows are
//! long, threads share ranges of columns instead. One thread computes each sum, and adds its terms in order.

mod converted;
mod scratch;
mod several;
mod short;
mod window;

pub(crate) use several::run_all;

use core::mem::MaybeUninit;
use core::ops::Range;

use smallvec::SmallVec;

use crate::exec::bag::converted::Converted;
use crate::exec::bag::scratch::{Scratch, sums_of_run};
use crate::exec::bag::short::Short;
use crate::exec::bag::window::{AHEAD, PART, PositionBuffer, Window};
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::exec::threads::{CHUNKS_PER_THREAD, pool_threads};
use crate::kernels::convert::{EncodedRow, ErasedParams};
use crate::kernels::reduce::bag::{
    BagArgs, BagFn, BagIndices, BagLengths, BagRows, IndexRuns, PartialBag, SKIP, Start,
};
use crate::kernels::{LINE, Outcome, start_of_part};
use crate::plan::{Action, Axis, BagConversion, BagReducePlan, PreparedBags, index_runs};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;

/// A call: a plan, its bags, and its tensors at coordinate 0. Invariant: the contract of [`BagCall::new`].
#[derive(Clone, Copy)]
pub(crate) struct BagCall<'a> {
    plan: &'a BagReducePlan,
    bags: &'a PreparedBags,
    data: *const u8,
    index: *const u8,
    indices: &'a Layout,
    /// The weights and their layout, which has the shape of the indices.
    weights: Option<(*const u8, &'a Layout)>,
    map: Option<&'a BagMap<'a>>,
    out: *mut u8,
}

pub(crate) struct BagMap<'a> {
    pub(crate) conversion: BagConversion,
    pub(crate) params: ErasedParams<'a>,
}

impl<'a> BagCall<'a> {
    /// Creates the call. `weights` is `None` if the reduction takes no weights.
    ///
    /// # Safety
    /// X1, during the lifetime of the value: the tensors have the plan's layouts and types, and weights have the
    /// reduced type. P2: `bags` was prepared for the layout `indices`, and has one bag per row of the output. `map` is
    /// `Some` iff the plan has a map, and has its types; K8 holds for data, output and `params` of the map.
    #[inline(always)]
    pub(crate) unsafe fn new(
        (plan, bags): (&'a BagReducePlan, &'a PreparedBags),
        data: *const u8,
        (index, indices): (*const u8, &'a Layout),
        weights: Option<(*const u8, &'a Layout)>,
        map: Option<&'a BagMap<'a>>,
        out: *mut u8,
    ) -> Self {
        BagCall { plan, bags, data, index, indices, weights, map, out }
    }

    #[inline(always)]
    fn reduce_fn(&self) -> BagFn {
        match self.weights {
            None => self.plan.plain,
            Some(_) => self.plan.weighted.expect("weights are refused where the reduction takes none"),
        }
    }

    #[inline(always)]
    fn weights(&self) -> Option<(*const u8, IndexRuns)> {
        self.weights.map(|(weights, layout)| (weights, index_runs(layout, self.plan.weight_size())))
    }

    fn action(&self) -> Action {
        self.plan.action(&self.bags.bounds)
    }

    /// Whether [`Short`] runs the call.
    #[inline(always)]
    fn is_short(&self) -> bool {
        self.bags.is_short && self.even_weights()
    }

    /// Checks the indices of all bags.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    #[cold]
    fn check(&self) -> Result<(), Error> {
        let plan = self.plan;
        let axes = [Axis { axis: 0, dim: plan.rule.dim as usize, data: plan.stride, index: 0 }];
        let (op, policy, skips_negative) = (Op::EmbeddingBag, plan.rule.policy, plan.rule.skips_negative);
        let checked = IndexCheck { op, axes: &axes, policy, index: plan.index, skips_negative };
        let layout = self.indices;
        let used = match (layout.shape(), layout.strides()) {
            ([_], &[stride]) => Layout::strided(&[self.bags.rows], &[stride])?,
            _ => layout.clone(),
        };
        // SAFETY: X1: the indices may be read along their layout, and `used` reaches a subset (B5).
        unsafe { first_bad_index::check(&checked, self.index, &used) }
    }

    /// The error of the first index out of range, after a run has met one.
    #[cold]
    fn error(self) -> Error {
        self.check().expect_err("the indices have changed while they were read")
    }

    /// Runs on this thread, window by window.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], before anything is written.
    fn in_windows(&self) -> Result<Outcome, Error> {
        let near = scratch::near();
        let scratch = Scratch::new(self, &BagPartition::ONE, 1, &near)?;
        // SAFETY: the ranges are all bags and columns of the call, and this thread is its only worker.
        Ok(unsafe { Chunk::new(self, &scratch, 0..self.bags.bounds.bags(), 0..self.plan.elements, 0) }.run())
    }

    /// The arguments for all columns of a run of rows: `data` is the address of position 0, `out` the output of the
    /// first bag. With a map, `elements` counts elements before conversion.
    #[inline(always)]
    fn args<'p>(&'p self, stretch: &BagRun<'p>, data: *const u8, out: *mut u8) -> BagArgs<'p> {
        let plan = self.plan;
        let (weights, weight_step) = match self.weights() {
            None => (core::ptr::null(), 0),
            Some((weights, runs)) => (runs.at(weights, stretch.at).0, runs.step),
        };
        BagArgs {
            data,
            stride: plan.stride,
            positions: stretch.positions,
            bags: stretch.lengths,
            distance: plan.prefetch_distance,
            weights,
            weight_step,
            out,
            out_stride: plan.out_stride,
            elements: plan.elements,
            divides: plan.fns.divides,
            zeros: plan.zeros.as_ref().map(|zeros| zeros.as_ptr()),
            part: stretch.part,
            fused: plan.fused.as_ref().map(|(fused, _)| (fused, 0)),
        }
    }

    /// Whether all weights have one stride, or there are no weights.
    #[inline(always)]
    fn even_weights(&self) -> bool {
        self.weights().is_none_or(|(_, runs)| runs.run >= self.bags.rows)
    }

    #[inline(always)]
    fn indices(&self) -> BagIndices<'_> {
        // SAFETY: X1: indices of the plan's type may be read along their layout, which the runs describe.
        unsafe { BagIndices::new(self.index, &self.bags.indices, &self.plan.rule) }
    }

    /// Maximum rows per reduction.
    fn part(&self) -> usize {
        self.map.map_or(PART, |map| map.conversion.rows.min(PART))
    }

    /// Calls `run(number, data, out)` for each contiguous run of columns. `data` is the address of the run at position
    /// 0, and `out` its address in the output of `bag`.
    fn each_run(&self, bag: usize, mut run: impl FnMut(usize, *const u8, *mut u8)) {
        let BagCall { plan, mut data, mut out, .. } = *self;
        out = out.wrapping_offset(plan.out_stride.wrapping_mul(bag as isize));
        if plan.loops.is_empty() {
            return run(0, data, out);
        }
        let mut at = SmallVec::<[usize; 6]>::from_elem(0, plan.loops.len());
        for number in 0..plan.runs {
            run(number, data, out);
            for (at, along) in at.iter_mut().zip(&plan.loops).rev() {
                *at += 1;
                (data, out) = (data.wrapping_offset(along.data), out.wrapping_offset(along.out));
                if *at < along.n {
                    break;
                }
                let back = -(along.n as isize);
                data = data.wrapping_offset(along.data.wrapping_mul(back));
                out = out.wrapping_offset(along.out.wrapping_mul(back));
                *at = 0;
            }
        }
    }
}

/// Runs a call.
///
/// # Errors
/// [`Error::AllocationFailed`] for a scratch, before anything is written, then [`Error::IndexOutOfRange`] for the
/// first index of a bag out of range in row-major order. X3: `Ok` means that every element of the output is written.
#[inline(always)]
pub(crate) fn run(call: BagCall<'_>) -> Result<(), Error> {
    // `call` is passed by value, so that short calls stay in registers.
    if !call.is_short() {
        return run_one(call);
    }
    let mut short = Short::new();
    let outcome = short.begin(&call, false);
    if outcome.is_complete() {
        short.finish(&call);
        return Ok(());
    }
    Err(call.error())
}

/// Calls `visit` with each row that the bags reduce, in order. The axis has one position or more.
///
/// # Safety
/// X1: `bags` was prepared for the plan, and for indices of its type from `index` on.
pub(crate) unsafe fn each_row(
    plan: &BagReducePlan,
    bags: &PreparedBags,
    index: *const u8,
    visit: &mut dyn FnMut(usize),
) {
    // SAFETY: X1: the indices may be read along the runs of the bags.
    let indices = unsafe { BagIndices::new(index, &bags.indices, &plan.rule) };
    let mut positions = [0; PART].map(MaybeUninit::new);
    for first in (0..bags.rows).step_by(PART) {
        let part = &mut positions[..PART.min(bags.rows - first)];
        (bags.positions)((indices, first, part));
        for position in part {
            // SAFETY: all positions were initialised when the array was made.
            usize::try_from(unsafe { position.assume_init() }).into_iter().for_each(&mut *visit);
        }
    }
}

#[inline(never)]
fn run_one(call: BagCall<'_>) -> Result<(), Error> {
    let runs_alone = call.action() == Action::Run && call.plan.tasks(&call.bags.bounds, pool_threads) == 1;
    if !runs_alone {
        // SAFETY: there is one call, so no two outputs overlap; the closure returns equal calls.
        return unsafe { run_all(1, &|_| call, call.plan.par) }.map_err(|(_, error)| error);
    }
    if call.in_windows()?.is_complete() { Ok(()) } else { Err(call.error()) }
}

/// Caps `tasks` at `pool_threads() + 1`.
fn at_most_the_pool(tasks: usize) -> usize {
    if tasks == 1 { 1 } else { tasks.min(pool_threads().saturating_add(1)) }
}

/// Minimum consecutive empty bags to fill in one step. Fewer are reduced with others, if they give zeros.
const MANY_EMPTY: usize = 8;

/// Maximum bags per reduction of compacted rows (skipped rows removed).
const SHORT_BAGS: usize = 64;

/// Partition of the work between threads: a number of chunks of bags, or of ranges of columns.
enum BagPartition {
    Bags(usize),
    Columns(usize),
}

impl BagPartition {
    const ONE: BagPartition = BagPartition::Bags(1);

    fn new(call: &BagCall<'_>, tasks: usize) -> Self {
        let (plan, bounds, elements) = (call.plan, &call.bags.bounds, call.plan.elements);
        if tasks == 1 {
            return BagPartition::Bags(1);
        }
        let uneven = bounds.longest() > bounds.used() / tasks;
        let wide = elements >= tasks && elements.saturating_mul(plan.size) / tasks >= 2 * LINE;
        if uneven && wide && plan.runs == 1 {
            return BagPartition::Columns(tasks);
        }
        BagPartition::Bags(tasks.saturating_mul(CHUNKS_PER_THREAD).min(bounds.bags()).max(1))
    }

    fn chunks(&self) -> usize {
        match *self {
            BagPartition::Bags(parts) | BagPartition::Columns(parts) => parts,
        }
    }

    /// Columns of a cache line: the granularity of ranges of columns.
    fn unit(plan: &BagReducePlan) -> usize {
        (LINE / plan.size).max(1)
    }

    fn chunk(&self, call: &BagCall<'_>, chunk: usize) -> (Range<usize>, Range<usize>) {
        let (bounds, bags, columns) = (&call.bags.bounds, call.bags.bounds.bags(), call.plan.elements);
        match *self {
            BagPartition::Bags(1) => (0..bags, 0..columns),
            BagPartition::Bags(parts) => (bounds.part(chunk, parts)..bounds.part(chunk + 1, parts), 0..columns),
            BagPartition::Columns(parts) => {
                let unit = BagPartition::unit(call.plan);
                let end = |part: usize| {
                    if part == parts { columns } else { start_of_part(columns, part, parts) / unit * unit }
                };
                (0..bags, end(chunk)..end(chunk + 1))
            }
        }
    }
}

/// A run of contiguous rows: the rows of whole bags from `bag` on, none of them skipped, or a chunk of `bag`.
struct BagRun<'p> {
    bag: usize,
    /// The index of the first row.
    at: usize,
    rows: usize,
    /// Positions of the rows, then of rows to prefetch.
    positions: &'p [i64],
    lengths: BagLengths<'p>,
    part: Option<PartialBag>,
}

// SAFETY: X2: threads run disjoint chunks, which write disjoint elements of the output. All other memory is only read;
// elements and the params of a map (K8) are `Sync`.
unsafe impl Sync for BagCall<'_> {}

/// Bags and columns of a call that one worker owns.
struct Chunk<'a> {
    call: &'a BagCall<'a>,
    scratch: &'a Scratch<'a>,
    bags: Range<usize>,
    columns: Range<usize>,
    worker: usize,
    converted: Option<Converted<'a>>,
}

impl<'a> Chunk<'a> {
    /// A chunk of `call`.
    ///
    /// # Safety
    /// `scratch` was made for `call`. The bags and columns are in range of the plan. No other thread has these bags and
    /// columns, or the number `worker`, during the lifetime of the chunk.
    unsafe fn new(
        call: &'a BagCall<'a>,
        scratch: &'a Scratch<'a>,
        bags: Range<usize>,
        columns: Range<usize>,
        worker: usize,
    ) -> Self {
        // SAFETY: by the caller's contract, no other thread has the number `worker`.
        let converted = call.map.map(|map| unsafe { Converted::new(call, map, scratch, worker) });
        Chunk { call, scratch, bags, columns, worker, converted }
    }

    fn run(mut self) -> Outcome {
        let (call, bags, part) = (self.call, self.bags.clone(), self.call.part());
        let (plan, bounds, ahead) = (call.plan, &call.bags.bounds, call.plan.prefetch_distance);
        let mut buffer = PositionBuffer::new();
        let mut window = Window::new(&mut buffer, call.bags.positions, call.indices(), bounds.start(bags.end), ahead);
        let (all_count, even_weights, may_be_empty) = (plan.rule.all_count, call.even_weights(), plan.fills_zeros);
        // None of the rows `start..counted` is skipped.
        let mut counted = 0;
        let mut bag = bags.start;
        while bag < bags.end {
            let (Range { start, end }, mut done) = (bounds.of(bag), 0);
            if start == end {
                let empty = (bag + 1..bags.end).take_while(|&bag| bounds.of(bag).is_empty()).count() + 1;
                if !may_be_empty || empty >= MANY_EMPTY {
                    done = empty;
                    self.fill(bag..bag + done);
                }
            }
            if done == 0 && end - start <= part {
                let positions = window.rows(start, end - start);
                let last = if even_weights { bags.end } else { bag + 1 };
                let most = positions.len() - ahead;
                let most = if self.converted.is_some() { most.min(part) } else { most };
                counted = counted.max(if all_count { start + most } else { start });
                if let Some(more) = positions[..most].get(counted - start..) {
                    counted += more.iter().position(|&row| row == SKIP).unwrap_or(more.len());
                }
                if counted >= end {
                    let lengths = bounds.first_of(bag..last, most.min(counted - start), may_be_empty);
                    done = lengths.bags();
                    let rows = bounds.start(bag + done) - start;
                    // No row of these bags is skipped.
                    self.reduce(&BagRun { bag, at: start, rows, positions, lengths, part: None });
                }
            }
            if done == 0 {
                done = self.compact_skipped(bag, &mut window);
            }
            if done == 0 {
                self.one(bag, &mut window);
                done = 1;
            }
            bag += done;
        }
        Outcome::complete_if(!window.is_bad())
    }

    /// Removes the skipped rows of bags from `bag` on, and reduces these bags. Returns the number of bags: 0 if the
    /// first bag is long, or if there are weights or a map. A bag without remaining rows ends the run, unless it gives
    /// zeros.
    fn compact_skipped(&mut self, bag: usize, window: &mut Window<'_>) -> usize {
        let (call, last) = (self.call, self.bags.end.min(bag + SHORT_BAGS));
        let (bounds, distance) = (&call.bags.bounds, call.plan.prefetch_distance);
        if call.weights.is_some() || self.converted.is_some() || bounds.of(bag).len() > PART {
            return 0;
        }
        let start = bounds.start(bag);
        let mut positions = [0; PART + AHEAD];
        let mut ends = [0; SHORT_BAGS + 1];
        let (mut done, mut counted) = (0, 0);
        for bag in bag..last {
            let Range { start: first, end } = bounds.of(bag);
            if end - start > PART {
                break;
            }
            let before = counted;
            for &row in &window.rows(first, end - first)[..end - first] {
                // Written unconditionally; overwritten by the next row if skipped.
                positions[counted] = row;
                counted += usize::from(row != SKIP);
            }
            if counted == before && !call.plan.fills_zeros {
                break;
            }
            done += 1;
            ends[done] = counted;
        }
        counted = ends[done];
        if done > 0 {
            positions[counted..counted + distance].fill(0);
            let (positions, lengths) = (&positions[..counted + distance], BagLengths::Between(&ends[..=done]));
            // No row of these bags is skipped.
            self.reduce(&BagRun { bag, at: start, rows: counted, positions, lengths, part: None });
        }
        done
    }

    /// Reduces a bag of the chunk, up to `part` rows at a time.
    fn one(&mut self, bag: usize, window: &mut Window<'_>) {
        let (call, part) = (self.call, self.call.part());
        let Range { start, end } = call.bags.bounds.of(bag);
        let (mut at, mut counted) = (start, 0);
        loop {
            let n = (end - at).min(part);
            let positions = window.rows(at, n);
            let count = positions[..n].iter().filter(|&&row| row != SKIP).count();
            let (begin, ends) = (if counted == 0 { Start::Row } else { Start::Carried }, at + n == end);
            counted += count;
            if counted == 0 {
                if ends {
                    self.fill(bag..bag + 1);
                }
            } else if count > 0 || ends {
                // `Start::Row` needs at least one row that is not skipped.
                let part = PartialBag { counted, begin, ends, carried: self.scratch.sums(self.worker) };
                let lengths = BagLengths::Every { len: n, bags: 1 };
                self.reduce(&BagRun { bag, at, rows: n, positions, lengths, part: Some(part) });
            }
            at += n;
            if at == end {
                break;
            }
        }
    }

    /// Reduces a run of rows, which are converted first if there is a map. Either no row is skipped, or the run is a
    /// chunk of one bag; with `Start::Row` at least one row is not skipped.
    fn reduce(&mut self, stretch: &BagRun<'_>) {
        let Chunk { call, columns, bags, converted, .. } = self;
        debug_assert!(bags.contains(&stretch.bag) && stretch.bag + stretch.lengths.bags() <= bags.end, "X2");
        let plan = call.plan;
        // If sums are carried, `Scratch::new` has allocated this many bytes, so the product does not overflow.
        let sums = sums_of_run(call, columns.len()).wrapping_mul(plan.fns.sum);
        call.each_run(stretch.bag, |run, data, out| {
            let after = |carried: *mut u8| {
                if carried.is_null() { carried } else { carried.wrapping_add(run.wrapping_mul(sums)) }
            };
            let args = call.args(stretch, data, out.wrapping_add(columns.start * plan.size));
            let part = stretch.part.map(|part| PartialBag { carried: after(part.carried), ..part });
            let args = BagArgs { elements: columns.len(), part, ..args };
            let args = match args.fused {
                // The kernel adds the first column to the row's address.
                Some((fused, _)) => BagArgs { fused: Some((fused, columns.start)), ..args },
                None => BagArgs {
                    data: data.wrapping_add(columns.start.wrapping_mul(plan.size_in)),
                    zeros: args.zeros.map(|zeros| zeros.wrapping_add(columns.start * plan.size)),
                    ..args
                },
            };
            // SAFETY: X1 gives the contract of bags. B1, B2 and B7 by P1: positions are in range, and no other thread
            // has the bags and columns of the chunk. B3 by the shape of weights. B4: a bag has a row that counts or
            // gives zeros; no other thread has the worker's sums (R1). B6 by the window. The function is the plan's.
            let rows = |elements| unsafe { BagRows::new(BagArgs { elements, ..args }) };
            match converted {
                None => (call.reduce_fn())(&rows(columns.len() * plan.values)),
                // With a map, `elements` counts elements before conversion.
                Some(converted) => converted.reduce(call.reduce_fn(), &rows(columns.len()), stretch.rows),
            }
        });
    }

    /// Writes the result of empty bags of the chunk.
    fn fill(&mut self, bags: Range<usize>) {
        debug_assert!(bags.start >= self.bags.start && bags.end <= self.bags.end, "X2");
        let plan = self.call.plan;
        let bytes = self.columns.len() * plan.size;
        // With one bag `out_stride` may be any number, even the bytes of a chunk of columns.
        let is_whole = self.columns.len() == plan.elements && plan.loops.is_empty();
        if plan.fills_zeros && is_whole && plan.out_stride == bytes as isize {
            let out = self.call.out.wrapping_add(bags.start * bytes);
            // SAFETY: P1: contiguous rows of the chunk's bags in the output (X2); by `fills_zeros`, zero is all zero
            // bytes.
            return unsafe { out.write_bytes(0, bags.len() * bytes) };
        }
        bags.for_each(|bag| self.fill_one(bag));
    }

    fn fill_one(&mut self, bag: usize) {
        let Chunk { call, columns, converted, .. } = self;
        let (plan, size) = (call.plan, call.plan.size);
        let (start, bytes) = (columns.start * size, columns.len() * size);
        call.each_run(bag, |_, data, out| {
            let out = out.wrapping_add(start);
            if let (Some(row), Some((fused, as_it_is))) = (plan.default, &plan.fused) {
                let (positions, lengths) = ([row as i64], BagLengths::Every { len: 1, bags: 1 });
                let stretch = BagRun { bag, at: 0, rows: 1, positions: &positions, lengths, part: None };
                let (weights, fused) = (core::ptr::null(), Some((fused, columns.start)));
                let (elements, distance, divides, zeros) = (columns.len(), 0, false, None);
                let args = call.args(&stretch, data, out);
                let args = BagArgs { weights, fused, elements, distance, divides, zeros, ..args };
                // SAFETY: B2 and B7 by X1 and P1, for the default row, which is in range of the axis (P3); B4 and B6:
                // a bag of one row that is not skipped.
                return as_it_is(&unsafe { BagRows::new(args) });
            }
            if let Some(row) = plan.default {
                let data = data.wrapping_offset(plan.stride.wrapping_mul(row as isize));
                let data = data.wrapping_add(columns.start.wrapping_mul(plan.size_in));
                return match converted {
                    // SAFETY: P1 and P3: `bytes` bytes of data and of the output, which do not overlap (X1).
                    None => unsafe { out.copy_from_nonoverlapping(data, bytes) },
                    // SAFETY: P1 and P3: elements of data and of the output, and K8: the map is the call's.
                    Some(converted) => unsafe {
                        converted.decode(&[EncodedRow { from: data, to: out, row }], columns.len())
                    },
                };
            }
            if plan.fills_zeros {
                // SAFETY: P1: `bytes` bytes of the output; `fills_zeros`: zero is all zero bytes.
                return unsafe { out.write_bytes(0, bytes) };
            }
            for at in (0..bytes).step_by(size) {
                // SAFETY: P1: an element of the output; `zero` has its size.
                unsafe { out.wrapping_add(at).copy_from_nonoverlapping(plan.zero.as_ptr(), size) };
            }
        });
    }
}

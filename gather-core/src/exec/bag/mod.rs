//! Running bags.
//!
//! ```text
//! for bags of a piece, as many as a window has rows of:    (or a part of one bag, where it is long or has padding)
//!     resolve their indices, and some further on           (`window`)
//!     reduce their rows, all columns                       (`kernels/reduce/bag`; with a map, `converted`)
//! ```
//!
//! Threads take pieces of the bags that have as many indices. Where one bag has more than its share, they take columns
//! of all bags in its place. Either way a sum belongs to one thread, which adds its terms in their order.

mod converted;
mod scratch;
mod several;
mod short;
mod window;

pub(crate) use several::{BagJob, run_all};

use core::ops::Range;

use smallvec::SmallVec;

use crate::exec::bag::converted::Converted;
use crate::exec::bag::scratch::{Scratch, sums_of_run};
use crate::exec::bag::short::Begun;
use crate::exec::bag::window::{AHEAD, PART, Room, Window};
use crate::exec::cuts::share;
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::convert::ErasedParams;
use crate::kernels::reduce::bag::{
    BagArgs, BagFn, BagIndices, BagRows, BagRule, Begin, IndexRuns, LEFT_OUT, Lengths, Part,
};
use crate::kernels::{LINE, Outcome, start_of_part};
use crate::plan::{Action, Axis, BagCall};
use crate::tensor::layout::Layout;
use crate::types::error::Error;

/// The tensors of a call, at coordinate 0.
#[derive(Clone, Copy)]
pub(crate) struct BagOperands<'a> {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
    pub(crate) indices: &'a Layout,
    /// Of the shape of indices.
    pub(crate) weights: Option<(*const u8, &'a Layout)>,
    /// The values of a map's parameters.
    pub(crate) params: ErasedParams<'a>,
}

/// Runs a plan.
///
/// # Errors
/// [`Error::AllocationFailed`] for a scratch, before anything is written, then [`Error::IndexOutOfRange`] for the first
/// such index of a bag in row-major order.
///
/// # Safety
/// X1: the operands are of the plan's layouts and types, with weights of the type that is reduced; `reduce` is one of
/// the plan's functions, with weights where there are any. Of a map, K8 holds for data, output and `params`. X3: a run
/// that returns `Ok` has written every element of the output.
pub(crate) unsafe fn run(plan: &BagCall<'_>, reduce: BagFn, operands: BagOperands<'_>) -> Result<(), Error> {
    // SAFETY: X1, which the caller says.
    let proven = unsafe { Proven::new(*plan, reduce, operands) };
    match plan.action() {
        Action::Nothing => return Ok(()),
        Action::Check => return proven.check(),
        Action::Run => {}
    }
    let tasks = tasks(plan.tasks(pool_threads));
    let outcome = if tasks == 1 { proven.alone()? } else { proven.together(tasks)? };
    if outcome.is_complete() {
        return Ok(());
    }
    proven.find()
}

/// No more threads help than the pool has, however many tasks there are to be.
fn tasks(tasks: usize) -> usize {
    if tasks == 1 { 1 } else { tasks.min(pool_threads().saturating_add(1)) }
}

/// The rule that indices are compared with.
fn checked<'a>(plan: &BagCall<'_>, axes: &'a [Axis; 1]) -> IndexCheck<'a> {
    let (policy, skips_negative) = (plan.request().policy, plan.request().skips_negative);
    IndexCheck { op: plan.op(), axes, policy, index: plan.index(), skips_negative }
}

/// The operands of a plan, and one of its functions. X1 holds for them.
#[derive(Clone, Copy)]
struct Proven<'a> {
    plan: BagCall<'a>,
    reduce: BagFn,
    operands: BagOperands<'a>,
}

impl<'a> Proven<'a> {
    /// # Safety
    /// X1, as for [`run`], as long as there is the value.
    unsafe fn new(plan: BagCall<'a>, reduce: BagFn, operands: BagOperands<'a>) -> Self {
        Proven { plan, reduce, operands }
    }

    /// Checks all indices that are in bags.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    fn check(&self) -> Result<(), Error> {
        let (plan, operands) = (&self.plan, &self.operands);
        let (axes, used) = ([plan.axis()], used(plan, operands.indices)?);
        // SAFETY: X1: the indices may be read along their layout, and these are some of them.
        unsafe { first_bad_index::check(&checked(plan, &axes), operands.index, &used) }
    }

    /// Runs on this thread.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], before anything is written.
    fn alone(&self) -> Result<Outcome, Error> {
        let mut begun = Begun::new();
        begun.begin(*self, false);
        begun.finish()
    }

    /// Runs on this thread, window by window.
    ///
    /// # Errors
    /// As for [`Proven::alone`].
    fn in_windows(&self) -> Result<Outcome, Error> {
        let (plan, near) = (&self.plan, scratch::near());
        let scratch = Scratch::new(plan, &BagCut::ONE, 1, &near)?;
        let call = Call::new(*self, &scratch);
        // SAFETY: all bags and columns of the call, and its one worker.
        Ok(unsafe { Piece::new(&call, 0..plan.bounds().bags(), 0..plan.elements(), 0) }.run())
    }

    /// Runs in some tasks, which threads share.
    ///
    /// # Errors
    /// As for [`Proven::alone`].
    fn together(&self, tasks: usize) -> Result<Outcome, Error> {
        let plan = &self.plan;
        let cut = BagCut::new(plan, tasks);
        let scratch = Scratch::new(plan, &cut, tasks.min(cut.pieces()), &[])?;
        let call = Call::new(*self, &scratch);
        let run = |piece, worker| {
            let (bags, columns) = cut.piece(plan, piece);
            // SAFETY: pieces are bags or columns of their own (X2), and workers have numbers of their own.
            unsafe { Piece::new(&call, bags, columns, worker) }.run()
        };
        Ok(share(tasks, cut.pieces(), run))
    }

    /// The rows of a stretch, some columns of them, whose number may be one of elements of a map: where position 0 of
    /// data has the run that they belong to, and the output of the first bag.
    fn args<'p>(&'p self, stretch: &Stretch<'p>, columns: &Range<usize>, data: *const u8, out: *mut u8) -> BagArgs<'p> {
        let plan = &self.plan;
        let (fused, (weights, weight_step)) =
            (plan.fused().map(|(fused, _)| (fused, columns.start)), self.weights(stretch.at));
        // Of fused rows, the first column is found in the row.
        let (in_data, in_zeros) = match fused {
            Some(_) => (0, 0),
            None => (columns.start.wrapping_mul(plan.size_in()), columns.start * plan.size()),
        };
        BagArgs {
            data: data.wrapping_add(in_data),
            stride: plan.stride(),
            positions: stretch.positions,
            bags: stretch.lengths,
            distance: plan.prefetch_distance(),
            weights,
            weight_step,
            out: out.wrapping_add(columns.start * plan.size()),
            out_stride: plan.out_stride(),
            elements: columns.len(),
            divides: plan.request().fns.divides,
            zeros: plan.zeros().map(|zeros| zeros[in_zeros..].as_ptr()),
            part: stretch.part,
            fused,
        }
    }

    /// Whether weights are an even step apart, those of the next bag too.
    fn even_weights(&self) -> bool {
        self.operands.weights.is_none_or(|(_, layout)| walk(layout).0 >= self.plan.bounds().used())
    }

    /// The weight of an index, and bytes from one to the next of its bag; null without weights.
    fn weights(&self, at: usize) -> (*const u8, isize) {
        let Some((weights, layout)) = self.operands.weights else { return (core::ptr::null(), 0) };
        let size = self.plan.weight_size() as isize;
        let (run, step, outer) = walk(layout);
        let (step, outer) = (step.wrapping_mul(size), outer.wrapping_mul(size));
        let first = weights.wrapping_offset(outer.wrapping_mul((at / run) as isize));
        (first.wrapping_offset(step.wrapping_mul((at % run) as isize)), step)
    }

    /// The error of the first index out of range, where there is one.
    fn find(&self) -> Result<(), Error> {
        let (plan, operands) = (&self.plan, &self.operands);
        let (axes, used) = ([plan.axis()], used(plan, operands.indices)?);
        // SAFETY: X1: the indices may be read along their layout, and these are some of them.
        Err(unsafe { first_bad_index::find(&checked(plan, &axes), operands.index, &used) })
    }

    /// The indices of all bags.
    fn indices(&self) -> BagIndices {
        let (plan, operands) = (&self.plan, &self.operands);
        let (request, size) = (plan.request(), plan.index().size() as isize);
        let (run, step, outer) = walk(operands.indices);
        let (step, outer) = (step.wrapping_mul(size), outer.wrapping_mul(size));
        let runs = IndexRuns { index: operands.index, run, step, outer };
        let rule = BagRule {
            dim: plan.axis().dim as i64,
            policy: request.policy,
            padding: request.padding.map(|row| row as i64),
            skips_negative: request.skips_negative,
        };
        // SAFETY: X1: indices of the plan's type may be read along their layout, which the runs go through (`walk`).
        unsafe { BagIndices::new(runs, operands.indices.len(), rule) }
    }
}

/// The layout of the indices that are in bags.
fn used(plan: &BagCall<'_>, indices: &Layout) -> Result<Layout, Error> {
    match (indices.shape(), indices.strides()) {
        ([_], &[stride]) => Layout::strided(&[plan.bounds().used()], &[stride]),
        _ => Ok(indices.clone()),
    }
}

/// How a tensor of the shape of indices is walked through: indices of a run, elements from one to the next, and from a
/// run to the next.
fn walk(layout: &Layout) -> (usize, isize, isize) {
    match (layout.shape(), layout.strides()) {
        (&[bags, run], &[outer, step]) if bags > 1 && outer != step.wrapping_mul(run as isize) => {
            (run.max(1), step, outer)
        }
        (_, &[.., step]) => (layout.len().max(1), step, 0),
        _ => (1, 0, 0),
    }
}

/// The most bags that are reduced together without the rows that are left out.
const SHORT_BAGS: usize = 64;

/// How the work is cut for threads.
enum BagCut {
    /// Into parts of the bags, this number of them.
    Bags(usize),
    /// Into ranges of columns, this number of them.
    Columns(usize),
}

impl BagCut {
    /// All bags.
    const ONE: BagCut = BagCut::Bags(1);

    fn new(plan: &BagCall<'_>, tasks: usize) -> Self {
        let (bounds, elements) = (plan.bounds(), plan.elements());
        if tasks == 1 {
            return BagCut::Bags(1);
        }
        let uneven = bounds.longest() > bounds.used() / tasks;
        let wide = elements >= tasks && elements.saturating_mul(plan.size()) / tasks >= 2 * LINE;
        if uneven && wide && plan.runs() == 1 {
            return BagCut::Columns(tasks);
        }
        BagCut::Bags(tasks.saturating_mul(PIECES).min(bounds.bags()).max(1))
    }

    fn pieces(&self) -> usize {
        match *self {
            BagCut::Bags(parts) | BagCut::Columns(parts) => parts,
        }
    }

    /// Columns that are not taken apart: a line of them.
    fn unit(plan: &BagCall<'_>) -> usize {
        (LINE / plan.size()).max(1)
    }

    /// The bags and the columns of a piece.
    fn piece(&self, plan: &BagCall<'_>, piece: usize) -> (Range<usize>, Range<usize>) {
        let (bags, columns) = (plan.bounds().bags(), plan.elements());
        match *self {
            BagCut::Bags(1) => (0..bags, 0..columns),
            BagCut::Bags(parts) => (plan.bounds().part(piece, parts)..plan.bounds().part(piece + 1, parts), 0..columns),
            BagCut::Columns(parts) => {
                let unit = BagCut::unit(plan);
                let end = |part: usize| {
                    if part == parts { columns } else { start_of_part(columns, part, parts) / unit * unit }
                };
                (0..bags, end(piece)..end(piece + 1))
            }
        }
    }
}

/// The most rows that are reduced at a time.
fn part(plan: &BagCall<'_>) -> usize {
    plan.conversion().map_or(PART, |conversion| conversion.rows.min(PART))
}

/// A call, which threads share. X1 holds for it.
#[derive(Clone, Copy)]
struct Call<'a> {
    proven: Proven<'a>,
    /// Whether weights are an even step apart, those of the next bag too.
    even_weights: bool,
    indices: BagIndices,
    /// The most rows that are reduced at a time.
    part: usize,
    scratch: &'a Scratch<'a>,
}

/// Rows that follow one another: those of whole bags from `bag` on, which all count, or a part of that bag.
struct Stretch<'p> {
    bag: usize,
    /// The index of the first row.
    at: usize,
    rows: usize,
    /// Those of the rows, then of others.
    positions: &'p [i64],
    lengths: Lengths<'p>,
    part: Option<Part>,
}

// SAFETY: threads run different pieces, which write different elements of the output (X2), and have numbers of their
// own, and so different parts of the scratch (R1). They read shared memory whose elements are `Sync`, and so do maps of
// their parameters (K8).
unsafe impl Sync for Call<'_> {}

/// Bags and columns of a call, which one worker has to itself.
struct Piece<'a> {
    call: &'a Call<'a>,
    bags: Range<usize>,
    columns: Range<usize>,
    worker: usize,
    /// The worker's rows, where there is a map.
    converted: Option<Converted<'a>>,
}

impl<'a> Piece<'a> {
    /// A piece of a call.
    ///
    /// # Safety
    /// These are bags and columns of the plan. No other thread has them, or the number of the worker, while there is
    /// the piece.
    unsafe fn new(call: &'a Call<'a>, bags: Range<usize>, columns: Range<usize>, worker: usize) -> Self {
        // SAFETY: K8 for data by X1, which holds for the call; the caller says that no other thread has the number.
        let converted = || unsafe { Converted::new(&call.proven.plan, &call.proven.operands, call.scratch, worker) };
        let converted = call.proven.plan.conversion().map(|_| converted());
        Piece { call, bags, columns, worker, converted }
    }

    /// Reduces the bags, the columns of the piece.
    fn run(mut self) -> Outcome {
        let (call, bags) = (self.call, self.bags.clone());
        let (plan, bounds, ahead) =
            (&call.proven.plan, call.proven.plan.bounds(), call.proven.plan.prefetch_distance());
        let mut room = Room::new();
        let mut window = Window::new(&mut room, plan.positions(), &call.indices, bounds.start(bags.end), ahead);
        let all_count = plan.request().padding.is_none() && !plan.request().skips_negative && plan.axis().dim > 0;
        // All rows from the bag's first one up to the one of this index count.
        let mut counted = 0;
        let mut bag = bags.start;
        while bag < bags.end {
            let (Range { start, end }, mut done) = (bounds.of(bag), 0);
            if start == end {
                done = (bag + 1..bags.end).take_while(|&bag| bounds.of(bag).is_empty()).count() + 1;
                self.fill(bag..bag + done);
            } else if end - start <= call.part {
                let positions = window.rows(start, end - start);
                let last = if call.even_weights { bags.end } else { bag + 1 };
                let most = positions.len() - ahead;
                let most = if self.converted.is_some() { most.min(call.part) } else { most };
                counted = counted.max(if all_count { start + most } else { start });
                if let Some(more) = positions[..most].get(counted - start..) {
                    counted += more.iter().position(|&row| row == LEFT_OUT).unwrap_or(more.len());
                }
                if counted >= end {
                    let lengths = bounds.full(bag..last, most.min(counted - start));
                    done = lengths.bags();
                    let rows = bounds.start(bag + done) - start;
                    // All rows of bags that have any count.
                    self.reduce(&Stretch { bag, at: start, rows, positions, lengths, part: None });
                }
            }
            if done == 0 {
                done = self.without_left_out(bag, &mut window);
            }
            if done == 0 {
                self.one(bag, &mut window);
                done = 1;
            }
            bag += done;
        }
        Outcome::complete_if(!window.is_bad())
    }

    /// Reduces bags of the piece from one on without the rows that are left out, so that no loop over rows meets any;
    /// returns how many: up to one in which nothing counts, and none where a bag is long, or rows have weights or a map.
    fn without_left_out(&mut self, bag: usize, window: &mut Window<'_>) -> usize {
        let (call, last) = (self.call, self.bags.end.min(bag + SHORT_BAGS));
        let (bounds, distance) = (call.proven.plan.bounds(), call.proven.plan.prefetch_distance());
        if call.proven.operands.weights.is_some() || self.converted.is_some() || bounds.of(bag).len() > PART {
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
                // Written in any case, and kept if it counts.
                positions[counted] = row;
                counted += usize::from(row != LEFT_OUT);
            }
            if counted == before {
                break;
            }
            done += 1;
            ends[done] = counted;
        }
        counted = ends[done];
        if done > 0 {
            positions[counted..counted + distance].fill(0);
            let (positions, lengths) = (&positions[..counted + distance], Lengths::Between(&ends[..=done]));
            // All rows of bags that have any count.
            self.reduce(&Stretch { bag, at: start, rows: counted, positions, lengths, part: None });
        }
        done
    }

    /// Reduces a bag of the piece, part by part.
    fn one(&mut self, bag: usize, window: &mut Window<'_>) {
        let call = self.call;
        let Range { start, end } = call.proven.plan.bounds().of(bag);
        let (mut at, mut counted) = (start, 0);
        loop {
            let n = (end - at).min(call.part);
            let positions = window.rows(at, n);
            let count = positions[..n].iter().filter(|&&row| row != LEFT_OUT).count();
            let (begin, ends) = (if counted == 0 { Begin::Row } else { Begin::Carried }, at + n == end);
            counted += count;
            if counted == 0 {
                if ends {
                    self.fill(bag..bag + 1);
                }
            } else if count > 0 || ends {
                // A part that begins has a row that counts.
                let part = Part { counted, begin, ends, carried: call.scratch.sums(self.worker) };
                let lengths = Lengths::Every { len: n, bags: 1 };
                self.reduce(&Stretch { bag, at, rows: n, positions, lengths, part: Some(part) });
            }
            at += n;
            if at == end {
                break;
            }
        }
    }

    /// Reduces rows of bags of the piece, which are converted first where there is a map. All rows count, or there is a
    /// part of one bag; if that begins, one of its rows counts.
    fn reduce(&mut self, stretch: &Stretch<'_>) {
        let Piece { call, columns, bags, converted, .. } = self;
        debug_assert!(bags.contains(&stretch.bag) && stretch.bag + stretch.lengths.bags() <= bags.end, "X2");
        let plan = &call.proven.plan;
        // Too many to count are only where nothing is carried.
        let sums = sums_of_run(plan, columns.len()).wrapping_mul(plan.request().fns.sum);
        call.each_run(stretch.bag, |run, data, out| {
            let after = |carried: *mut u8| {
                if carried.is_null() { carried } else { carried.wrapping_add(run.wrapping_mul(sums)) }
            };
            let part = stretch.part.map(|part| Part { carried: after(part.carried), ..part });
            let args = |elements| BagArgs { elements, part, ..call.proven.args(stretch, columns, data, out) };
            // SAFETY: X1 gives the contract of bags. B1, B2 and B7 by P1, for positions of the axis and bags and
            // columns of the piece, which no other thread has; B3 by the shape of weights; B4 by R1, as rows count and
            // no other thread has the worker's sums; B6 by the window. The call's function is one of the plan's.
            let rows = |elements| unsafe { BagRows::new(args(elements)) };
            match converted {
                None => (call.proven.reduce)(&rows(columns.len() * plan.values())),
                // A map is given elements.
                Some(converted) => converted.reduce(call.proven.reduce, &rows(columns.len()), stretch.rows),
            }
        });
    }

    /// Writes what stands for bags of the piece in which nothing counts.
    fn fill(&mut self, bags: Range<usize>) {
        debug_assert!(bags.start >= self.bags.start && bags.end <= self.bags.end, "X2");
        let plan = &self.call.proven.plan;
        let bytes = self.columns.len() * plan.size();
        let are_zeros = plan.request().default.is_none() && plan.zero().iter().all(|&byte| byte == 0);
        // A result of one bag has any stride, that of a piece of its columns too.
        let is_whole = self.columns.len() == plan.elements() && plan.loops().is_empty();
        if are_zeros && is_whole && plan.out_stride() == bytes as isize {
            let out = self.call.proven.operands.out.wrapping_add(bags.start * bytes);
            // SAFETY: P1: rows of the output without gaps, all of their columns, of bags of the piece (X2); zeros are
            // what the type's zero is made of.
            return unsafe { out.write_bytes(0, bags.len() * bytes) };
        }
        bags.for_each(|bag| self.fill_one(bag));
    }

    /// Writes what stands for a bag of the piece in which nothing counts.
    fn fill_one(&mut self, bag: usize) {
        let Piece { call, columns, converted, .. } = self;
        let (plan, size) = (&call.proven.plan, call.proven.plan.size());
        let (start, bytes) = (columns.start * size, columns.len() * size);
        call.each_run(bag, |_, data, out| {
            let out = out.wrapping_add(start);
            if let (Some(row), Some((fused, as_it_is))) = (plan.request().default, plan.fused()) {
                let positions = [row as i64];
                // SAFETY: B2 and B7 by X1 and P1, for the default row, which is one of the axis (P3); B4 and B6: a bag
                // of one row that counts.
                let rows = unsafe {
                    BagRows::new(BagArgs {
                        data,
                        stride: plan.stride(),
                        positions: &positions,
                        bags: Lengths::Every { len: 1, bags: 1 },
                        distance: 0,
                        weights: core::ptr::null(),
                        weight_step: 0,
                        out,
                        out_stride: 0,
                        elements: columns.len(),
                        divides: false,
                        zeros: None,
                        part: None,
                        fused: Some((fused, columns.start)),
                    })
                };
                return as_it_is(&rows);
            }
            if let Some(row) = plan.request().default {
                let data = data.wrapping_offset(plan.stride().wrapping_mul(row as isize));
                let data = data.wrapping_add(columns.start.wrapping_mul(plan.size_in()));
                return match converted {
                    // SAFETY: P1 and P3: both ends reach as many bytes, of data and of the output, which are apart.
                    None => unsafe { out.copy_from_nonoverlapping(data, bytes) },
                    // SAFETY: P1 and P3, for elements of data and of the output; the map is that of both (K8).
                    Some(converted) => unsafe { converted.row(data, row, out, columns.len()) },
                };
            }
            if plan.zero().iter().all(|&byte| byte == 0) {
                // SAFETY: P1: as many bytes of the output; zeros are what the type's zero is made of.
                return unsafe { out.write_bytes(0, bytes) };
            }
            for at in (0..bytes).step_by(size) {
                // SAFETY: P1: an element of the output; zeros are of its size.
                unsafe { out.wrapping_add(at).copy_from_nonoverlapping(plan.zero().as_ptr(), size) };
            }
        });
    }
}

impl<'a> Call<'a> {
    /// A call, with a scratch that was made for its plan.
    fn new(proven: Proven<'a>, scratch: &'a Scratch<'a>) -> Self {
        let (even_weights, indices) = (proven.even_weights(), proven.indices());
        Call { proven, even_weights, indices, part: part(&proven.plan), scratch }
    }

    /// Calls `run` with each run of contiguous columns of a row: its number, where position 0 of data has it, and where
    /// the output of a bag has it.
    fn each_run(&self, bag: usize, mut run: impl FnMut(usize, *const u8, *mut u8)) {
        let Proven { plan, operands: BagOperands { data, out, .. }, .. } = &self.proven;
        let (data, out) = (*data, *out);
        let out = out.wrapping_offset(plan.out_stride().wrapping_mul(bag as isize));
        if plan.loops().is_empty() {
            return run(0, data, out);
        }
        let mut at = SmallVec::<[usize; 6]>::from_elem(0, plan.loops().len());
        let (mut data, mut out) = (data, out);
        for number in 0..plan.runs() {
            run(number, data, out);
            for (at, along) in at.iter_mut().zip(plan.loops()).rev() {
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

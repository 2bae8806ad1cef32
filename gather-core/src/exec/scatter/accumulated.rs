//! Scatters into accumulators beside the destination.
//!
//! ```text
//! for each piece of the free loops:
//!     make a record for every row of the destination that the piece may change
//!     run the loop nest over the piece, with the records for the destination
//!     write the rows whose records updates have met
//! ```
//!
//! Records stand in the order of the destination. Where destinations are dealt out among threads, all of them share the
//! records of the one piece.

use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;

use smallvec::SmallVec;

use crate::exec::scatter::{Cut, Part, rows_of_a_piece};
use crate::exec::threads::{self, PIECES, pool_threads};
use crate::kernels::reduce::{AccumulatorFns, RowsFn, RowsJob, Take};
use crate::kernels::{Component, Cursor, KernelSpec, LINE, Loop, Outcome, start_of_part};
use crate::plan::{Accumulators, ReducePlan, is_free};
use crate::types::error::Error;
use crate::types::order::sort_by_key;

/// Bytes of the records of a piece, where there may be fewer: in the second-level cache.
const WINDOW: usize = 256 << 10;

/// How a plan is cut, and memory for the records of the pieces that are worked on at a time.
pub(super) struct Scratch {
    memory: Vec<MaybeUninit<u8>>,
    /// Bytes of a piece.
    bytes: usize,
    tasks: usize,
    cut: Cut,
}

impl Scratch {
    /// The memory that `tasks` tasks need for a plan.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(plan: &ReducePlan, accumulators: &Accumulators, tasks: usize) -> Result<Self, Error> {
        let pieces = (accumulators.bytes / WINDOW).max(if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
        let cut = Cut::new(plan, tasks, pieces);
        let axes =
            plan.spec().components.iter().fold(1, |n: usize, component| n.saturating_mul(component.dim as usize));
        let free = rows_of_a_piece(plan, &cut)
            / plan.loops().iter().filter(|along| !is_free(along)).map(|along| along.n).product::<usize>();
        let tasks = tasks.min(cut.pieces()).min(pool_threads().saturating_add(1));
        let (elements, places) = match cut {
            Cut::Free(_) => (plan.elements(), tasks),
            Cut::Columns(tasks) => ((plan.elements().div_ceil(tasks) + LINE).min(plan.elements()), tasks),
            Cut::Owners(_) => (plan.elements(), 1),
        };
        let bytes = axes.saturating_mul(free).saturating_mul(accumulators.fns.record(elements));
        let (mut memory, total) = (Vec::new(), bytes.saturating_mul(places));
        memory.try_reserve_exact(total).map_err(|_| Error::AllocationFailed { bytes: total })?;
        // SAFETY: the capacity is `total` or more; these elements need not be initialised.
        unsafe { memory.set_len(total) };
        Ok(Scratch { memory, bytes, tasks, cut })
    }

    /// Whether all indices are looked at before anything is written.
    pub(super) fn writes_last(&self) -> bool {
        matches!(self.cut, Cut::Owners(_)) || self.cut.pieces() == 1
    }
}

/// The scratches of all tasks, each of which uses its own; or of one piece, of whose records each uses its own.
struct Places(*mut u8, usize);

// SAFETY: tasks have numbers of their own, and each uses the scratch of its number, or its own records.
unsafe impl Sync for Places {}

/// Runs a plan. Where indices out of range are `errors`, no row is written of a piece that has one.
///
/// # Safety
/// The promise of [`super::run`]; the scratch is that of the plan and its accumulators.
pub(super) unsafe fn run(whole: Part<'_>, accumulators: &Accumulators, mut scratch: Scratch, errors: bool) -> Outcome {
    let (bytes, tasks) = (scratch.bytes, scratch.tasks);
    let places = Places(scratch.memory.as_mut_ptr().cast(), scratch.memory.len());
    let place = |number: usize| {
        let Places(first, len) = &places;
        debug_assert!((number + 1) * bytes <= *len, "a task without a scratch");
        first.wrapping_add(number * bytes)
    };
    let fns = &accumulators.fns;
    if let Cut::Owners(_) = scratch.cut {
        let records = Records::new(&whole, fns);
        let parts = records.outer().min(tasks.saturating_mul(PIECES));
        let all = |run: &(dyn Fn(Range<usize>) + Sync)| {
            let begin = |part| start_of_part(records.outer(), part, parts);
            threads::share(tasks, parts, |pieces| pieces.for_each(|part| run(begin(part)..begin(part + 1))));
        };
        // SAFETY: the caller's promise; this thread alone has taken these records.
        all(&|rows| unsafe { records.begin(&whole, fns, place(0), rows) });
        let outcome = whole.share(&scratch.cut, tasks, |part, _| {
            // SAFETY: the caller's promise: every record has one owner.
            unsafe { records.take(part, fns, place(0)) }
        });
        if !(errors && outcome.out_of_range) {
            // SAFETY: as above.
            all(&|rows| unsafe { records.end(&whole, fns, place(0), rows) });
        }
        return outcome;
    }
    whole.share(&scratch.cut, tasks, |part, worker| {
        let (records, at) = (Records::new(part, fns), place(worker));
        debug_assert!(records.rows * records.record <= bytes, "records of a piece");
        // SAFETY: the caller's promise, for a piece and a scratch that this thread alone has taken.
        unsafe { records.begin(part, fns, at, 0..records.outer()) };
        // SAFETY: as above.
        let outcome = unsafe { records.take(part, fns, at) };
        if !(errors && outcome.out_of_range) {
            // SAFETY: as above.
            unsafe { records.end(part, fns, at, 0..records.outer()) };
        }
        outcome
    })
}

/// The records of a part, in the order of the destination's rows.
struct Records {
    /// From the rows farthest apart to the nearest; one or more.
    dims: SmallVec<[Dim; 6]>,
    /// How the part's loop nest runs over them.
    loops: SmallVec<[Loop; 6]>,
    components: SmallVec<[Component; 3]>,
    stride: isize,
    /// Bytes of a record.
    record: usize,
    rows: usize,
}

/// Rows an even step apart.
#[derive(Clone, Copy)]
struct Dim {
    n: usize,
    /// Bytes of the destination.
    step: isize,
    /// Bytes of records.
    records: usize,
}

impl Records {
    fn new(part: &Part<'_>, fns: &AccumulatorFns) -> Self {
        let record = fns.record(part.elements);
        let (mut loops, mut components) = (SmallVec::<[Loop; 6]>::from_slice(part.loops), part.spec.components.clone());
        // What moves the destination: loops, then components.
        let mut moving = SmallVec::<[(usize, Dim); 6]>::new();
        for (k, along) in loops.iter().enumerate().filter(|(_, along)| is_free(along)) {
            moving.push((k, Dim { n: along.n, step: along.data, records: 0 }));
        }
        for (k, component) in components.iter().enumerate() {
            let step = part.plan.stride().wrapping_mul(component.scale as isize);
            moving.push((loops.len() + k, Dim { n: component.dim as usize, step, records: 0 }));
        }
        // The longest step first.
        sort_by_key(&mut moving, |(_, dim)| !dim.step.unsigned_abs());
        let mut rows = 1;
        for (_, dim) in moving.iter_mut().rev() {
            dim.records = rows * record;
            rows *= dim.n;
        }
        let (alone, mut stride) = (components.len() == 1, record as isize);
        for &(k, dim) in &moving {
            match k.checked_sub(loops.len()) {
                None => loops[k].data = dim.records as isize,
                Some(k) if alone => (components[k].scale, stride) = (1, dim.records as isize),
                Some(k) => components[k].scale = (dim.records / record.max(1)) as i64,
            }
        }
        let mut dims = SmallVec::<[Dim; 6]>::new();
        for (_, dim) in moving.into_iter().filter(|(_, dim)| dim.n > 1) {
            match dims.last_mut() {
                Some(last) if last.step == dim.step.wrapping_mul(dim.n as isize) => {
                    *last = Dim { n: last.n * dim.n, ..dim };
                }
                _ => dims.push(dim),
            }
        }
        if dims.is_empty() {
            dims.push(Dim { n: 1, step: 0, records: record });
        }
        Records { dims, loops, components, stride, record, rows }
    }

    /// How many rows, or groups of rows, there are that lie farthest apart.
    fn outer(&self) -> usize {
        self.dims[0].n
    }

    /// Makes records of some of the outer rows.
    ///
    /// # Safety
    /// The promise of [`run`] for the part, whose records these are. No other thread has these.
    unsafe fn begin(&self, part: &Part<'_>, fns: &AccumulatorFns, records: *mut u8, outer: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.each(part, fns.begin, records, outer) }
    }

    /// Reduces the rows of a part into the records.
    ///
    /// # Safety
    /// As for [`Records::begin`], for records that have begun. Those of an owner are no other thread's.
    unsafe fn take(&self, part: &Part<'_>, fns: &AccumulatorFns, records: *mut u8) -> Outcome {
        let spec = KernelSpec { components: self.components.clone(), ..part.spec.clone() };
        let origin = Cursor { data: records, ..part.origin };
        let on = Part { origin, spec: &spec, loops: &self.loops, stride: self.stride, ..*part };
        // SAFETY: the caller's promise: the loops and components reach a record where they reached a row of the
        // destination, which is as large as the function expects.
        unsafe { on.call(Take::Reduce(fns.take.at(spec.level), self.record, part.plan.by_index())) }
    }

    /// Writes the rows whose records updates have met.
    ///
    /// # Safety
    /// As for [`Records::take`].
    unsafe fn end(&self, part: &Part<'_>, fns: &AccumulatorFns, records: *mut u8, outer: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.each(part, fns.end, records, outer) }
    }

    /// Calls a function for some of the outer rows and their records.
    ///
    /// # Safety
    /// As for [`Records::begin`]; the function is that of the reduction.
    unsafe fn each(&self, part: &Part<'_>, run: RowsFn, records: *mut u8, outer: Range<usize>) {
        let [first, others @ ..] = self.dims.as_slice() else { unreachable!("there is one dimension or more") };
        let destination = part.origin.data.cast_mut().wrapping_offset(first.step.wrapping_mul(outer.start as isize));
        let records = records.wrapping_add(first.records * outer.start);
        let job = RowsJob {
            n: 1,
            records,
            destination,
            step: 0,
            elements: part.elements,
            include_self: part.plan.includes_self(),
        };
        // SAFETY: the caller's promise, for these rows.
        unsafe { each_of(run, job, Dim { n: outer.len(), ..*first }, others) };
    }
}

/// Calls a function for rows along some dimensions.
///
/// # Safety
/// A1 for every run along the last dimension, from the ends of `job` on.
unsafe fn each_of(run: RowsFn, job: RowsJob, dim: Dim, others: &[Dim]) {
    let [next, others @ ..] = others else {
        // SAFETY: the caller's promise.
        return unsafe { run(&RowsJob { n: dim.n, step: dim.step, ..job }) };
    };
    for i in 0..dim.n {
        let destination = job.destination.wrapping_offset(dim.step.wrapping_mul(i as isize));
        let job = RowsJob { destination, records: job.records.wrapping_add(dim.records * i), ..job };
        // SAFETY: the caller's promise, for one of the rows.
        unsafe { each_of(run, job, *next, others) };
    }
}

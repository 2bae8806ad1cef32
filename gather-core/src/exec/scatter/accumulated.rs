//! Scatters into accumulators beside the destination.
//!
//! ```text
//! for each piece of the free loops:
//!     make a record for every row of the destination that the piece may change
//!     run the loop nest over the piece, with the records for the destination
//!     write the rows whose records updates have met
//! ```
//!
//! Records stand in the order of the destination. Where they are counts, rows are reduced where they lie:
//!
//! ```text
//! for each piece of the free loops:
//!     count the updates of every row                            (all indices are checked)
//!     rows with updates that do not count themselves = the identity
//!     run the loop nest over the piece, row by row
//!     divide the rows with updates by their counts              (means)
//! ```

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::exec::scatter::{Cut, Part, rows_of_a_piece};
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::reduce::scatter::{
    AccumulatorFns, COUNT, Elements, RecordedRows, RowsJob, ScatterFns, Take, Updates, begin_rows, count,
};
use crate::kernels::{Component, Cursor, KernelSpec, LINE, Loop, Outcome};
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
        let elements = match cut {
            Cut::Free(_) => plan.elements(),
            Cut::Columns(tasks) => (plan.elements().div_ceil(tasks) + LINE).min(plan.elements()),
        };
        let bytes = axes.saturating_mul(free).saturating_mul(bytes_of(accumulators.records, elements));
        let (mut memory, total) = (Vec::new(), bytes.saturating_mul(tasks));
        memory.try_reserve_exact(total).map_err(|_| Error::AllocationFailed { bytes: total })?;
        // SAFETY: the capacity is `total` or more; these elements need not be initialised.
        unsafe { memory.set_len(total) };
        Ok(Scratch { memory, bytes, tasks, cut })
    }

    /// Whether all indices are looked at before anything is written.
    pub(super) fn writes_last(&self) -> bool {
        self.cut.pieces() == 1
    }
}

/// Bytes of a record, or of a count where there are no records.
fn bytes_of(records: Option<&AccumulatorFns>, elements: usize) -> usize {
    records.map_or(COUNT, |fns| fns.record(elements))
}

/// The scratches of all tasks, each of which uses its own.
struct Places(*mut u8, usize);

// SAFETY: tasks have numbers of their own, and each uses the scratch of its number.
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
    whole.share(&scratch.cut, tasks, |part, worker| {
        let records = Records::new(part, bytes_of(accumulators.records, part.elements), place(worker));
        debug_assert!(records.rows * records.record <= bytes, "records of a piece");
        match accumulators.records {
            // SAFETY: the caller's promise, for a piece and a scratch that this thread alone has taken.
            Some(fns) => unsafe { records.take(part, fns, errors) },
            // SAFETY: as above.
            None => unsafe { records.count(part, errors) },
        }
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
    first: *mut u8,
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
    fn new(part: &Part<'_>, record: usize, first: *mut u8) -> Self {
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
        Records { dims, loops, components, stride, first, record, rows }
    }

    /// Reduces the rows of a part into records, and makes rows of them.
    ///
    /// # Safety
    /// The promise of [`run`] for the part, whose records these are. No other thread has these.
    unsafe fn take(&self, part: &Part<'_>, fns: &AccumulatorFns, errors: bool) -> Outcome {
        let level = part.spec.level;
        self.each(part, |job| fns.begin.at(level)(job));
        let take = Take::Reduce(fns.take.at(level), self.record, part.plan.by_index());
        // SAFETY: the caller's promise; a record is as large as the function expects.
        let outcome = self.with(part, |on| unsafe { on.call(take) });
        if !(errors && outcome.out_of_range) {
            self.each(part, |job| fns.end.at(level)(job));
        }
        outcome
    }

    /// Counts the updates of the rows of a part, and reduces them where they lie.
    ///
    /// # Safety
    /// As for [`Records::take`], where the records are counts.
    unsafe fn count(&self, part: &Part<'_>, errors: bool) -> Outcome {
        let (plan, spec, one) = (part.plan, part.spec, 1u32);
        let ScatterFns { identity, divide, .. } = plan.reducer();
        // SAFETY: the scratch has as many bytes, which are this thread's.
        unsafe { self.first.write_bytes(0, self.rows * self.record) };
        let rows = count().rows.as_ref().expect("a sum of rows");
        let inner = self.loops.last().copied().unwrap_or(Loop::ONCE);
        let by_index = self.components.len() == 1 && inner.index == plan.index().size() as isize && inner.data == 0;
        let by_index = by_index && self.stride == COUNT as isize && plan.index().size() >= 4;
        let by_index =
            if by_index { (rows.by_index)(Elements::one(COUNT), plan.index().size(), Updates::One) } else { None };
        let take = Take::Reduce(rows.resolved.at(spec.level), COUNT, by_index);
        let outcome = self.with(part, |on| {
            let mut loops = SmallVec::<[Loop; 6]>::from_slice(on.loops);
            loops.iter_mut().for_each(|along| along.out = 0);
            let origin = Cursor { out: (&raw const one).cast_mut().cast(), ..on.origin };
            let spec = KernelSpec { row: COUNT, next_slice_bytes: 0, ..on.spec.clone() };
            let ones = Part { origin, spec: &spec, loops: &loops, elements: 1, ..*on };
            // SAFETY: the caller's promise: the loops reach counts, and one update for all of them.
            unsafe { ones.call(take) }
        });
        if errors && outcome.out_of_range {
            return outcome;
        }
        if let Some(identity) = identity.filter(|_| !plan.includes_self()) {
            let line = identity();
            // SAFETY: the caller's promise: A1, with counts.
            self.each(part, |job| unsafe { begin_rows(job, &line, spec.row) });
        }
        // SAFETY: the caller's promise.
        let _ = unsafe { part.reduce() };
        if let Some(divide) = divide {
            self.each(part, |job| divide(job));
        }
        outcome
    }

    /// Calls `run` with the part on the records: its loops and components reach a record where they reached a row of the
    /// destination.
    fn with(&self, part: &Part<'_>, run: impl FnOnce(&Part<'_>) -> Outcome) -> Outcome {
        let spec = KernelSpec { components: self.components.clone(), ..part.spec.clone() };
        let origin = Cursor { data: self.first, ..part.origin };
        run(&Part { origin, spec: &spec, loops: &self.loops, stride: self.stride, ..*part })
    }

    /// Calls a function for all rows and their records.
    fn each(&self, part: &Part<'_>, run: impl Fn(&RowsJob)) {
        let [first, others @ ..] = self.dims.as_slice() else { unreachable!("there is one dimension or more") };
        let rows = RecordedRows {
            n: 1,
            records: self.first,
            destination: part.origin.data.cast_mut(),
            step: 0,
            elements: part.elements,
            include_self: part.plan.includes_self(),
            uncounted: 0,
        };
        each_of(
            &|rows| {
                // SAFETY: A1: records of the part, each beside the row that it stands for; the functions are the plan's.
                run(&unsafe { RowsJob::new(rows) })
            },
            rows,
            *first,
            others,
        );
    }
}

/// Calls a function for rows along some dimensions, from the first of `rows` on: for every run along the last dimension.
fn each_of(run: &impl Fn(RecordedRows), rows: RecordedRows, dim: Dim, others: &[Dim]) {
    let [next, others @ ..] = others else {
        return run(RecordedRows { n: dim.n, step: dim.step, ..rows });
    };
    for i in 0..dim.n {
        let destination = rows.destination.wrapping_offset(dim.step.wrapping_mul(i as isize));
        let records = rows.records.wrapping_add(dim.records * i);
        each_of(run, RecordedRows { destination, records, ..rows }, *next, others);
    }
}

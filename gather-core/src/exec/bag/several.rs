//! Running the bags of several tables at a time: threads share the pieces of all of them.

use alloc::vec::Vec;

use crate::exec::bag::scratch::Scratch;
use crate::exec::bag::short::Begun;
use crate::exec::bag::{BagCut, BagOperands, Call, Piece, Proven, tasks};
use crate::exec::cuts::share;
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::reduce::bag::BagFn;
use crate::plan::{Action, BagCall, Work};
use crate::types::error::Error;
use crate::types::policy::Par;

/// A call of several that run together.
#[derive(Clone, Copy)]
pub(crate) struct BagJob<'a> {
    pub(crate) plan: BagCall<'a>,
    pub(crate) reduce: BagFn,
    pub(crate) operands: BagOperands<'a>,
}

/// Runs several plans at a time: threads share the pieces of all of them. On one thread they run one after the other,
/// and nothing is listed.
///
/// # Errors
/// As for [`run`](super::run), with the number of the call: the first that has no scratch, or else the first with an
/// index out of range.
///
/// # Safety
/// The promise of [`run`](super::run) for each of the `n` calls; outputs of two have no element in common. `job` gives
/// the same call for the same number.
pub(crate) unsafe fn run_all<'a>(n: usize, job: impl Fn(usize) -> BagJob<'a>, par: Par) -> Result<(), (usize, Error)> {
    let check = |number| {
        let job = job(number);
        // SAFETY: X1, which the caller says of each call.
        unsafe { proven(&job) }.check().map_err(|error| (number, error))
    };
    let mut work = Work { bytes: 0, rows: 0, read: 0 };
    let mut is_near = true;
    for number in 0..n {
        let BagJob { plan, .. } = job(number);
        match plan.action() {
            Action::Nothing => {}
            // Errors of those before come first.
            Action::Check => {
                check(number).map_err(|error| (0..number).find_map(|before| check(before).err()).unwrap_or(error))?
            }
            Action::Run => work = work.and(plan.work()),
        }
        is_near &= Scratch::is_near(&plan);
    }
    let tasks = tasks(work.tasks(par, pool_threads));
    if tasks > 1 || !is_near {
        let jobs: Vec<BagJob<'_>> = (0..n).map(job).collect();
        // SAFETY: as the caller says.
        return unsafe { run_together(&jobs, work, tasks) };
    }
    // The rows of a table are on their way while those of the one before are added.
    let mut slots = [Begun::new(), Begun::new()];
    for number in 0..=n {
        let [even, odd] = &mut slots;
        let (before, this) = if number % 2 == 0 { (odd, even) } else { (even, odd) };
        if number < n {
            let job = job(number);
            if job.plan.action() == Action::Run {
                // SAFETY: X1, which the caller says of each call.
                this.begin(unsafe { proven(&job) }, true);
            }
        }
        // The first that has an index out of range ends all.
        if !before.finish().map_err(|error| (number - 1, error))?.is_complete() {
            check(number - 1)?;
        }
    }
    Ok(())
}

/// # Safety
/// X1, as for [`Proven::new`].
unsafe fn proven<'a>(job: &BagJob<'a>) -> Proven<'a> {
    // SAFETY: the caller's promise.
    unsafe { Proven::new(job.plan, job.reduce, job.operands) }
}

/// Runs plans of so much work in some tasks.
///
/// # Errors
/// As for [`run_all`].
///
/// # Safety
/// As for [`run_all`].
unsafe fn run_together(jobs: &[BagJob<'_>], work: Work, tasks: usize) -> Result<(), (usize, Error)> {
    let runs = |job: &BagJob<'_>| job.plan.action() == Action::Run;
    let cuts: Vec<BagCut> = jobs.iter().map(|job| BagCut::of_several(&job.plan, tasks, work)).collect();
    let scratch = |(number, (job, cut)): (usize, (&BagJob<'_>, &BagCut))| {
        Scratch::new(&job.plan, cut, if runs(job) { tasks } else { 0 }, &[]).map_err(|error| (number, error))
    };
    let scratches = jobs.iter().zip(&cuts).enumerate().map(scratch).collect::<Result<Vec<_>, _>>()?;
    let calls = jobs.iter().zip(&scratches);
    // SAFETY: X1, which the caller says of each call. Outputs have nothing in common.
    let calls: Vec<Call<'_>> = calls.map(|(job, scratch)| Call::new(unsafe { proven(job) }, scratch)).collect();
    let mut pieces = 0;
    let ends = jobs.iter().zip(&cuts).map(|(job, cut)| {
        pieces += if runs(job) { cut.pieces() } else { 0 };
        pieces
    });
    let ends: Vec<usize> = ends.collect();
    let run = |piece: usize, worker| {
        let number = ends.partition_point(|&end| end <= piece);
        let before = number.checked_sub(1).map_or(0, |last| ends[last]);
        let (bags, columns) = cuts[number].piece(&calls[number].proven.plan, piece - before);
        // SAFETY: pieces are bags or columns of their own call, whose output is its own; workers have numbers of their
        // own.
        unsafe { Piece::new(&calls[number], bags, columns, worker) }.run()
    };
    if share(tasks, pieces, run).is_complete() {
        return Ok(());
    }
    for (number, call) in calls.iter().enumerate().filter(|(number, _)| runs(&jobs[*number])) {
        call.proven.check().map_err(|error| (number, error))?;
    }
    unreachable!("the indices have changed while they were read")
}

impl BagCut {
    /// For a call of several, of so much work together: its share of the pieces.
    fn of_several(plan: &BagCall<'_>, tasks: usize, work: Work) -> Self {
        let share = |pieces: usize| {
            let [own, all] = [plan.work(), work].map(|work| work.bytes.max(1) as u128);
            usize::try_from((pieces as u128 * own).div_ceil(all)).unwrap_or(pieces)
        };
        match share(tasks) {
            0 | 1 => BagCut::Bags(if tasks == 1 { 1 } else { share(tasks * PIECES) }.min(plan.bounds().bags()).max(1)),
            tasks => BagCut::new(plan, tasks),
        }
    }
}

//! Execution of bags over several tables: threads share the chunks of all of them.

use alloc::vec::Vec;

use crate::exec::bag::scratch::Scratch;
use crate::exec::bag::short::Short;
use crate::exec::bag::{BagCall, BagPartition, Chunk, at_most_the_pool};
use crate::exec::cuts::share;
use crate::exec::threads::{CHUNKS_PER_THREAD, pool_threads};
use crate::kernels::Outcome;
use crate::plan::{Action, Work};
use crate::types::error::Error;
use crate::types::policy::Par;

/// Runs `n` calls; threads share the chunks of all calls. One thread runs small calls in order, without a list.
///
/// # Errors
/// As for [`run`](super::run), with the number of the call: the first whose scratch cannot be allocated, or else the
/// first with an index out of range.
///
/// # Safety
/// The outputs of the `n` calls are disjoint. `call` is pure: it gives equal calls for equal numbers.
pub(crate) unsafe fn run_all<'a>(
    n: usize,
    call: &dyn Fn(usize) -> BagCall<'a>,
    par: Par,
) -> Result<(), (usize, Error)> {
    let check = |number| call(number).check().map_err(|error| (number, error));
    let mut work = Work { bytes: 0, rows: 0, read: 0 };
    let (mut runs, mut is_near) = (false, true);
    for number in 0..n {
        let call = call(number);
        match call.action() {
            Action::Nothing => {}
            // Errors of earlier calls come first.
            Action::Check => {
                check(number).map_err(|error| (0..number).find_map(|before| check(before).err()).unwrap_or(error))?
            }
            Action::Run => {
                work = work.and(call.plan.work(&call.bags.bounds));
                (runs, is_near) = (true, is_near && Scratch::is_near(&call));
            }
        }
    }
    if !runs {
        return Ok(());
    }
    let tasks = at_most_the_pool(work.tasks(par, pool_threads));
    if tasks > 1 || !is_near {
        let calls: Vec<BagCall<'_>> = (0..n).map(call).collect();
        // SAFETY: `calls` are the caller's `n` calls, whose outputs are disjoint by the caller's contract.
        return unsafe { run_together(&calls, work, tasks) };
    }
    // Prefetches the rows of a table while the rows of the previous table are reduced.
    let mut slots = [(None, Short::new()), (None, Short::new())];
    for number in 0..=n {
        let [even, odd] = &mut slots;
        let (before, this) = if number % 2 == 0 { (odd, even) } else { (even, odd) };
        if number < n {
            let call = call(number);
            if call.action() == Action::Run {
                let outcome = if call.is_short() { this.1.begin(&call, true) } else { Outcome::NOTHING };
                this.0 = Some((call, outcome));
            }
        }
        if let Some((call, mut outcome)) = before.0.take() {
            match outcome.is_complete() {
                _ if !call.is_short() => outcome = call.in_windows().map_err(|error| (number - 1, error))?,
                true => before.1.finish(&call),
                false => {}
            }
            // The first call with an index out of range ends the run.
            if !outcome.is_complete() {
                return Err((number - 1, call.error()));
            }
        }
    }
    Ok(())
}

/// Runs calls, whose total cost is `work`, in `tasks` tasks.
///
/// # Errors
/// As for [`run_all`].
///
/// # Safety
/// As for [`run_all`].
unsafe fn run_together(calls: &[BagCall<'_>], work: Work, tasks: usize) -> Result<(), (usize, Error)> {
    let runs = |call: &BagCall<'_>| call.action() == Action::Run;
    let cuts: Vec<BagPartition> = calls.iter().map(|call| BagPartition::of_several(call, tasks, work)).collect();
    let mut chunks = 0;
    let ends = calls.iter().zip(&cuts).map(|(call, cut)| {
        chunks += if runs(call) { cut.chunks() } else { 0 };
        chunks
    });
    let ends: Vec<usize> = ends.collect();
    let workers = tasks.min(chunks);
    let scratch = |(number, (call, cut)): (usize, (&BagCall<'_>, &BagPartition))| {
        Scratch::new(call, cut, if runs(call) { workers } else { 0 }, &[]).map_err(|error| (number, error))
    };
    let scratches = calls.iter().zip(&cuts).enumerate().map(scratch).collect::<Result<Vec<_>, _>>()?;
    let run = |chunk: usize, worker| {
        let number = ends.partition_point(|&end| end <= chunk);
        let before = number.checked_sub(1).map_or(0, |last| ends[last]);
        let (bags, columns) = cuts[number].chunk(&calls[number], chunk - before);
        // SAFETY: chunks are disjoint bags or columns of a call. Outputs of calls are disjoint by the caller's
        // contract, and `share` gives each thread its own number `worker`.
        unsafe { Chunk::new(&calls[number], &scratches[number], bags, columns, worker) }.run()
    };
    if share(tasks, chunks, run).is_complete() {
        return Ok(());
    }
    for (number, call) in calls.iter().enumerate().filter(|(_, call)| runs(call)) {
        call.check().map_err(|error| (number, error))?;
    }
    unreachable!("the indices have changed while they were read")
}

impl BagPartition {
    /// Partition of one of several calls, whose total cost is `work`: a share of the chunks in proportion to its bytes.
    fn of_several(call: &BagCall<'_>, tasks: usize, work: Work) -> Self {
        let share = |chunks: usize| {
            let [own, all] = [call.plan.work(&call.bags.bounds), work].map(|work| work.bytes.max(1) as u128);
            usize::try_from((chunks as u128 * own).div_ceil(all)).unwrap_or(chunks)
        };
        match share(tasks) {
            0 | 1 => BagPartition::Bags(
                if tasks == 1 { 1 } else { share(tasks * CHUNKS_PER_THREAD) }.min(call.bags.bounds.bags()).max(1),
            ),
            tasks => BagPartition::new(call, tasks),
        }
    }
}

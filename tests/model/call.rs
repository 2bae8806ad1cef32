//! Calls that look after what `helpers` promises: that its work is called while the call lasts, and at no other time.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use shuttle::sync::Arc;
use shuttle::sync::atomic::AtomicUsize as Scheduled;

use crate::{helpers, pool};

std::thread_local! {
    /// The promises that were broken in this test, all of whose threads are one to the system. A panic would not do:
    /// those of the work are caught.
    pub(crate) static BROKEN: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn promise(is_kept: bool) {
    BROKEN.set(BROKEN.get() + usize::from(!is_kept));
}

struct Work<F> {
    piece: F,
    next: Scheduled,
    taken: Vec<AtomicUsize>,
    is_over: AtomicBool,
    /// Threads that are in `run`, and all that were.
    at_work: AtomicUsize,
    workers: AtomicUsize,
}

impl<F: Fn(usize)> Work<F> {
    fn run(&self) {
        promise(!self.is_over.load(SeqCst));
        self.workers.fetch_add(1, SeqCst);
        self.at_work.fetch_add(1, SeqCst);
        let result = catch_unwind(AssertUnwindSafe(|| {
            loop {
                let piece = self.next.fetch_add(1, SeqCst);
                promise(!self.is_over.load(SeqCst));
                let Some(taken) = self.taken.get(piece) else { break };
                taken.fetch_add(1, SeqCst);
                (self.piece)(piece);
            }
        }));
        promise(!self.is_over.load(SeqCst));
        self.at_work.fetch_sub(1, SeqCst);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

/// Takes the pieces from 0 to `pieces` on this thread and on up to `helpers` others. Returns with what panicked.
pub(crate) fn share<F>(helpers: usize, pieces: usize, piece: F) -> Result<(), Box<dyn Any + Send>>
where
    F: Fn(usize) + Send + Sync + 'static,
{
    let helpers = helpers.min(pool::others());
    let work = Arc::new(Work {
        piece,
        next: Scheduled::new(0),
        taken: (0..pieces).map(|_| AtomicUsize::new(0)).collect(),
        is_over: AtomicBool::new(false),
        at_work: AtomicUsize::new(0),
        workers: AtomicUsize::new(0),
    });
    let shared = Arc::clone(&work);
    // It outlives the call, so that a call of it which comes too late is seen, and harms nothing else.
    let run: &'static _ = Box::leak(Box::new(move || shared.run()));
    let result = catch_unwind(AssertUnwindSafe(|| helpers::run(helpers, run)));
    work.is_over.store(true, SeqCst);
    promise(work.at_work.load(SeqCst) == 0);
    promise((1..=helpers + 1).contains(&work.workers.load(SeqCst)));
    promise(work.taken.iter().all(|taken| taken.load(SeqCst) <= 1));
    promise(result.is_err() || work.taken.iter().all(|taken| taken.load(SeqCst) == 1));
    result
}

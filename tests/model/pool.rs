//! Pools as rayon has them: threads that take jobs in no certain order, and of which nothing says that they are of one
//! pool.

use std::cell::RefCell;

use shuttle::rand::{Rng as _, thread_rng};
use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
use shuttle::thread::JoinHandle;

type Job = Box<dyn FnOnce() + Send>;

/// A pool.
pub(crate) struct Pool {
    threads: usize,
    is_global: bool,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Jobs that no thread has taken; whether each is an offer.
    jobs: Vec<(Job, bool)>,
    /// Tasks that have not ended.
    tasks: usize,
    is_over: bool,
}

shuttle::thread_local! {
    static POOL: RefCell<Option<Arc<Pool>>> = const { RefCell::new(None) };
}

shuttle::lazy_static! {
    static ref GLOBAL: Mutex<Option<Arc<Pool>>> = Mutex::new(None);
}

pub(crate) fn is_in_pool() -> bool {
    POOL.with(|pool| pool.borrow().is_some())
}

/// The pool that this thread belongs to, or else the global one.
fn current() -> Arc<Pool> {
    let own = POOL.with(|pool| pool.borrow().clone());
    own.unwrap_or_else(|| GLOBAL.lock().unwrap().clone().expect("a global pool"))
}

/// The threads that may help a call from this thread.
pub(crate) fn others() -> usize {
    current().threads - usize::from(is_in_pool())
}

/// Spawns an offer. No pool has more of them that no thread has taken than threads, except for one in the global pool.
pub(crate) fn offer(job: impl FnOnce() + Send + 'static) {
    let pool = current();
    pool.push(Box::new(job), true);
    let open = pool.open_offers();
    assert!(open <= pool.threads + usize::from(pool.is_global), "{open} open offers of {} threads", pool.threads);
}

/// Runs a job of this thread's pool in the midst of another, if there is one, as `rayon::yield_now` does.
pub(crate) fn yield_now() {
    let job = current().queue().take_job();
    if let Some(job) = job {
        job();
    }
}

impl Pool {
    /// Runs `body` beside a pool, which it gets. Afterwards all jobs are done.
    pub(crate) fn with(threads: usize, is_global: bool, body: impl FnOnce(&Arc<Pool>)) {
        let pool = Pool { threads, is_global, queue: Mutex::default(), changed: Condvar::new() };
        let pool = Arc::new(pool);
        if is_global {
            *GLOBAL.lock().unwrap() = Some(Arc::clone(&pool));
        }
        let thread = || {
            let pool = Arc::clone(&pool);
            shuttle::thread::spawn(move || pool.take_jobs())
        };
        let threads: Vec<JoinHandle<()>> = (0..threads).map(|_| thread()).collect();
        body(&pool);
        pool.queue().is_over = true;
        pool.changed.notify_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(pool.queue().jobs.is_empty());
        *GLOBAL.lock().unwrap() = None;
    }

    /// Spawns a task.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl FnOnce() + Send + 'static) {
        self.queue().tasks += 1;
        let pool = Arc::clone(self);
        let task = move || {
            task();
            pool.queue().tasks -= 1;
            pool.changed.notify_all();
        };
        self.push(Box::new(task), false);
    }

    /// Waits, on a thread outside, until all tasks have ended.
    pub(crate) fn wait(&self) {
        let mut queue = self.queue();
        while queue.tasks > 0 {
            queue = self.changed.wait(queue).unwrap();
        }
    }

    /// The offers that no thread has taken.
    pub(crate) fn open_offers(&self) -> usize {
        self.queue().jobs.iter().filter(|(_, is_offer)| *is_offer).count()
    }

    fn push(&self, job: Job, is_offer: bool) {
        self.queue().jobs.push((job, is_offer));
        self.changed.notify_all();
    }

    fn take_jobs(self: Arc<Self>) {
        POOL.with(|pool| *pool.borrow_mut() = Some(Arc::clone(&self)));
        loop {
            let mut queue = self.queue();
            let job = loop {
                match queue.take_job() {
                    None if queue.is_over => return,
                    None => queue = self.changed.wait(queue).unwrap(),
                    Some(job) => break job,
                }
            };
            drop(queue);
            job();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap()
    }
}

impl Queue {
    /// Any job.
    fn take_job(&mut self) -> Option<Job> {
        let jobs = self.jobs.len();
        (jobs > 0).then(|| self.jobs.swap_remove(thread_rng().gen_range(0..jobs)).0)
    }
}

//! Tensors of a pool of memory: threads take blocks and give them back, while others trim the pool or drop it.

#[path = "../../gather-core/src/tensor/pool/blocks.rs"]
#[expect(unreachable_pub, reason = "there it is public")]
mod blocks;

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

use self::blocks::{Lender, Owner};
use crate::call::promise;
use crate::check;
use crate::tensor::allocation::{Allocation, alive, allow};

/// The counterpart of `tensor/pool/sync.rs`.
mod sync {
    pub(super) use shuttle::sync::{Arc, Mutex, MutexGuard};
    pub(super) use std::sync::PoisonError;
}

/// A tensor as far as its memory goes.
struct Tensor {
    memory: Option<Allocation>,
    pool: Lender,
}

impl Tensor {
    fn of(pool: &Owner, bytes: usize) -> Self {
        let pool = pool.lender();
        Tensor { memory: pool.take(bytes, 8).ok(), pool }
    }

    /// As an output that is too small for the next result.
    fn grow(&mut self, bytes: usize) {
        self.memory.take().into_iter().for_each(|memory| self.pool.give_back(memory));
        self.memory = self.pool.take(bytes, 8).ok();
        promise(self.memory.as_ref().is_none_or(|memory| memory.bytes() >= bytes));
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        self.memory.take().into_iter().for_each(|memory| self.pool.give_back(memory));
    }
}

/// What holds at any moment: the limit, and the numbers of blocks and bytes beside each other.
fn look(pool: &Owner) {
    let stats = pool.stats();
    promise(stats.bytes <= pool.limit() && (stats.blocks == 0) == (stats.bytes == 0));
}

#[test]
fn tensors_drop_on_other_threads_and_after_the_pool() {
    check(|| {
        let pool = Arc::new(Owner::with_limit(usize::MAX));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    let mut tensor = Tensor::of(&pool, 600);
                    look(&pool);
                    drop(pool);
                    // With the pool, or without it.
                    tensor.grow(2000);
                    tensor
                })
            })
            .collect();
        let own = Tensor::of(&pool, 600);
        drop(pool);
        let theirs = thread::spawn(move || drop(own));
        let tensors: Vec<Tensor> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        theirs.join().unwrap();
        drop(tensors);
        promise(alive() == 0);
    });
}

#[test]
fn limits_hold_while_others_trim() {
    check(|| {
        // One block and a half.
        let pool = Arc::new(Owner::with_limit(900));
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    drop(Tensor::of(&pool, 512));
                    look(&pool);
                    if number == 0 {
                        pool.trim();
                    }
                    let two = [Tensor::of(&pool, 512), Tensor::of(&pool, 512)];
                    look(&pool);
                    drop(two);
                    look(&pool);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let stats = pool.stats();
        promise(stats.reused + stats.allocated == 9);
        promise(stats.blocks <= 1 && stats.bytes == 512 * stats.blocks && alive() == stats.blocks);
        pool.trim();
        promise(alive() == 0);
    });
}

/// A block has one owner at a time.
#[test]
fn a_block_goes_to_one_tensor() {
    check(|| {
        let pool = Arc::new(Owner::with_limit(usize::MAX));
        let owned = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (pool, owned) = (Arc::clone(&pool), Arc::clone(&owned));
                thread::spawn(move || {
                    for _ in 0..2 {
                        let tensor = Tensor::of(&pool, 4096);
                        let number = tensor.memory.as_ref().map(Allocation::number);
                        let mut now = owned.lock().unwrap();
                        promise(!now.contains(&number));
                        now.push(number);
                        drop(now);
                        owned.lock().unwrap().retain(|&other| other != number);
                        drop(tensor);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let stats = pool.stats();
        promise(stats.blocks as u64 == stats.allocated && (1..=3).contains(&stats.blocks));
        promise(alive() == stats.blocks && stats.reused + stats.allocated == 6);
        drop(pool);
        promise(alive() == 0);
    });
}

/// Where the allocator has no more, what the pool keeps is freed for it.
#[test]
fn kept_memory_gives_way() {
    check(|| {
        allow(2);
        let pool = Arc::new(Owner::with_limit(usize::MAX));
        drop([Tensor::of(&pool, 512), Tensor::of(&pool, 512)]);
        promise(pool.stats().blocks == 2);
        // No block that is kept is large enough.
        let thread = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || Tensor::of(&pool, 5000).memory.is_some())
        };
        let own = Tensor::of(&pool, 512).memory.is_some();
        promise(own && thread.join().unwrap());
        drop(pool);
        promise(alive() == 0);
        allow(usize::MAX);
    });
}

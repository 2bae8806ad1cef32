//! Threads: which types may be shared, calls from inside thread pools, and races for the first use.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Barrier;

use gather_core::{
    BatchToSpace, BlocksView, ChunksView, DynTensor, DynView, Error, Explain, FusedRows, Gather, GatherElements,
    GatherNd, Given, KernelSet, Layout, Level, Map, Mapped, MappedView, Method, Par, Plan, RearrangePlan, Registry,
    Residency, Shape, Spec, Tensor, View, ViewMut,
};
use rayon::prelude::*;
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::support::{ends, this_test};

assert_impl_all!(Plan<f32, i64>: Send, Sync);
assert_impl_all!(RearrangePlan<f32>: Send, Sync);
assert_impl_all!(Explain<'static>: Send, Sync);
assert_impl_all!(Registry: Send, Sync);
assert_impl_all!(KernelSet: Send, Sync);
assert_impl_all!(Map<u8, f32, (f32, u8)>: Send, Sync);
assert_impl_all!(Given<'static, f32>: Send, Sync);
assert_impl_all!(ChunksView<'static, f32>: Send, Sync);
assert_impl_all!(ChunksView<'static, Mapped<u8, f32>>: Send, Sync);
assert_impl_all!(MappedView<'static, 'static, u8, f32, (f32, u8)>: Send, Sync);
assert_impl_all!(BlocksView<'static, f32>: Send, Sync);
assert_impl_all!(FusedRows<'static>: Send, Sync);
assert_impl_all!(Residency<'static>: Send, Sync);
assert_impl_all!(Gather: Send, Sync);
assert_impl_all!(GatherElements: Send, Sync);
assert_impl_all!(GatherNd: Send, Sync);
assert_impl_all!(BatchToSpace: Send, Sync);
assert_impl_all!(Layout: Send, Sync);
assert_impl_all!(Shape: Send, Sync);
assert_impl_all!(Error: Send, Sync);
assert_impl_all!(DynView<'static>: Send, Sync);
assert_impl_all!(DynTensor: Send, Sync);

// Tensors and views may be shared as their elements may.
assert_impl_all!(Tensor<String>: Send, Sync);
assert_impl_all!(View<'static, String>: Send, Sync);
assert_impl_all!(ViewMut<'static, String>: Send, Sync);
assert_not_impl_any!(Tensor<Rc<str>>: Send, Sync);
assert_not_impl_any!(View<'static, Rc<str>>: Send, Sync);
assert_not_impl_any!(ViewMut<'static, Rc<str>>: Send, Sync);
// A shared view of cells reads what another thread may write. A mutable view borrows them alone.
assert_not_impl_any!(View<'static, Cell<u8>>: Send, Sync);
assert_impl_all!(ViewMut<'static, Cell<u8>>: Send);
assert_not_impl_any!(ViewMut<'static, Cell<u8>>: Sync);

/// Runs calls that use several threads, one of them with panels. Returns their results.
fn big_calls() -> (Vec<u64>, Vec<u32>) {
    let table: Vec<u64> = (0..1 << 16).collect();
    let list: Vec<u32> = (0..1u32 << 19).map(|at| at.wrapping_mul(0x9e37_79b1) >> 16).collect();
    let (table, list) = (View::new(&table, &[1 << 16]).unwrap(), View::new(&list, &[1 << 19]).unwrap());
    let plan = Gather::new(0).plan(&table, &list).unwrap();
    assert!(plan.explain().tasks() > 1 || rayon::current_num_threads() == 1, "the call is worth threads");
    let gathered = plan.run(&table, &list).unwrap().into_vec();

    let columns: Vec<u32> = (0..300 * 500).collect();
    let rows: Vec<u16> = (0..300 * 500u32).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 16) as u16 % 300).collect();
    let (columns, rows) = (View::new(&columns, &[300, 500]).unwrap(), View::new(&rows, &[300, 500]).unwrap());
    let op = GatherElements::new(0).method(Method::Panels).par(Par::Threads(4));
    (gathered, op.run(&columns, &rows).unwrap().into_vec())
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn calls_from_inside_pools_end() {
    let expected = big_calls();
    for threads in [1, 2, 5] {
        let expected = expected.clone();
        ends(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(big_calls), expected);
            // From every thread of the pool at once, and from tasks inside tasks.
            let (a, b) = pool.install(|| rayon::join(big_calls, || rayon::join(big_calls, big_calls)));
            assert_eq!((&a, &b.0, &b.1), (&expected, &expected, &expected));
            pool.install(|| (0..8).into_par_iter().for_each(|_| assert_eq!(big_calls(), expected)));
            // A pool inside a pool: the inner pool's threads are used.
            let inner = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert_eq!(pool.install(|| inner.install(big_calls)), expected);
            pool.scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|_| assert_eq!(big_calls(), expected));
                }
            });
        });
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn a_panic_in_a_map_ends_the_call_and_not_the_pool() {
    gather_core::map_kernels! {
        /// Refuses one value.
        static PICKY = |value: u32| -> u32 { assert!(value != 77_777, "a value that is refused"); value + 1 };
    }
    ends(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let table: Vec<u32> = (0..100_000).collect();
        let run = |bad: u32| {
            let list: Vec<u32> = (0..100_000).map(|at| if at == 60_000 { bad } else { 0 }).collect();
            let (table, list) = (View::new(&table, &[100_000]).unwrap(), View::new(&list, &[100_000]).unwrap());
            let op = Gather::new(0).par(Par::Threads(8));
            pool.install(|| op.run(&table.map(&PICKY, ()), &list).unwrap().as_slice()[60_000])
        };
        assert_eq!(run(5), 6);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(77_777))).is_err());
        assert_eq!(run(6), 7);
    });
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn one_plan_runs_on_many_threads_with_inputs_of_their_own() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let gather = Gather::new(0)
        .plan(&Spec::<u64>::from_layout(&layout(&[64])), &Spec::<i32>::from_layout(&layout(&[5000])))
        .unwrap();
    let panels = GatherElements::new(0).method(Method::Panels).par(Par::Threads(3));
    let panels = panels
        .plan(&Spec::<u64>::from_layout(&layout(&[50, 100])), &Spec::<i32>::from_layout(&layout(&[50, 100])))
        .unwrap();
    let found = GatherNd::new()
        .plan(&Spec::<u64>::from_layout(&layout(&[8, 8])), &Spec::<i32>::from_layout(&layout(&[2500, 2])))
        .unwrap();
    let space =
        BatchToSpace::new(&[1, 4], &[0, 1], &[0, 2]).plan(&Spec::<u64>::from_layout(&layout(&[8, 300]))).unwrap();
    let work = |seed: u64| {
        for round in 0..20 {
            let element = |at: usize| at as u64 * 1_000_003 + seed * 1009 + round;
            let values: Vec<u64> = (0..5000).map(element).collect();
            let picked: Vec<i32> = (0..5000).map(|at| (at as u64 * 31 + seed + round) as i32 % 8).collect();
            let (list, square) = (View::new(&picked, &[5000]).unwrap(), View::new(&picked, &[50, 100]).unwrap());
            let got = gather.run(&View::new(&values[..64], &[64]).unwrap(), &list).unwrap();
            assert!(got.as_slice().iter().zip(&picked).all(|(&got, &at)| got == values[at as usize]));
            let got = panels.run(&View::new(&values, &[50, 100]).unwrap(), &square).unwrap();
            let from = |at: usize| values[picked[at] as usize * 100 + at % 100];
            assert!(got.as_slice().iter().enumerate().all(|(at, &got)| got == from(at)));
            let tuples = View::new(&picked, &[2500, 2]).unwrap();
            let got = found.run(&View::new(&values[..64], &[8, 8]).unwrap(), &tuples).unwrap();
            let from = |at: usize| values[picked[2 * at] as usize * 8 + picked[2 * at + 1] as usize];
            assert!(got.as_slice().iter().enumerate().all(|(at, &got)| got == from(at)));
            let got = space.run(&View::new(&values[..2400], &[8, 300]).unwrap()).unwrap();
            let from = |batch: usize, at: usize| values[((at + 1) % 4 * 2 + batch) * 300 + (at + 1) / 4];
            assert!(got.as_slice().iter().enumerate().all(|(at, &got)| got == from(at / 1197, at % 1197)));
        }
    };
    std::thread::scope(|scope| {
        for seed in 0..6 {
            scope.spawn(move || work(seed));
        }
    });
}

/// The environment variable that is set for the racing processes.
const RACE: &str = "GATHER_TESTS_RACE";

/// In fresh processes, many threads ask for the level, run and plan for the first time, all at once.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn first_use_may_be_raced_for() {
    if std::env::var_os(RACE).is_some() {
        return race();
    }
    let preferred = Level::preferred();
    let best = Level::ALL.iter().copied().rfind(|level| level.is_available()).unwrap();
    // gather-core itself tests what happens when the variable names no level of the machine.
    let spellings = [(None, best), (Some("scalar"), Level::Scalar), (Some(best.name()), best)];
    for round in 0..12 {
        let (forced, level) = spellings[round % spellings.len()];
        let mut process = this_test();
        process.args(["--exact", "concurrency::first_use_may_be_raced_for"]).env_remove("GATHER_LEVEL");
        if let Some(forced) = forced {
            process.env("GATHER_LEVEL", forced);
        }
        let output = process.env(RACE, level.name()).output().unwrap();
        assert!(output.status.success(), "{forced:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(Level::preferred(), preferred, "what has been found stays");
}

fn race() {
    let expected = std::env::var(RACE).unwrap();
    let threads = 8;
    let start = Barrier::new(threads);
    let (table, list) = ([10u16, 11, 12, 13], [3u8, 0, 2, 1, 3]);
    let (table, list) = (View::new(&table, &[4]).unwrap(), View::new(&list, &[5]).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (start, table, list, expected) = (&start, &table, &list, &expected);
            scope.spawn(move || {
                start.wait();
                if thread % 2 == 0 {
                    assert_eq!(Level::preferred().name(), expected);
                }
                assert_eq!(Gather::new(0).run(table, list).unwrap().as_slice(), [13, 10, 12, 11, 13]);
                let plan = Gather::new(0).plan(&table, &list).unwrap();
                assert!(plan.explain().kernel().ends_with(expected.as_str()), "{}", plan.explain().kernel());
            });
        }
    });
}

//! Times gathers of rows by each method that can be forced, beside the method that a plan chooses:
//! `methods [FILTER] [--seconds S]`.
//!
//! Rows at random from a table of 1 GiB and from one in the caches, planned, one thread pinned to a CPU, into warm
//! outputs in and beyond the caches. Every output is compared with the loop's first. Times are medians in nanoseconds a
//! row, in turn; `best / chosen` is the quotient of two of them.

use std::process::ExitCode;

use gather_benches::clock;
use gather_benches::options::Bench;
use gather_benches::random::Random;
use gather_core::{Gather, Method, Par, Plan, Spec, View, ViewMut};

/// Bytes of the tables.
const TABLES: [(&str, usize); 2] = [("1 GiB", 1 << 30), ("1 MiB", 1 << 20)];
/// Bytes of a row.
const ROWS: [usize; 8] = [64, 128, 160, 256, 512, 1024, 2048, 4096];
/// Bytes of the output.
const OUTPUTS: [usize; 3] = [1 << 20, 64 << 20, 256 << 20];
/// The methods of a gather of rows.
const METHODS: [Method; 5] = [Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched, Method::Streamed];

fn main() -> ExitCode {
    let bench = match Bench::pinned("methods") {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    let names = METHODS.map(|method| format!("{method:?}")).join(" | ");
    println!("| table | row | output MiB | chosen | loop | {names} | best / chosen |\n|{}", "---|".repeat(11));
    for (name, bytes) in TABLES {
        let table: Vec<u64> = (0..bytes as u64 / 8).collect();
        for row in ROWS {
            for output in OUTPUTS {
                let name = format!("{name} | {row} | {}", output >> 20);
                if name.contains(&bench.filter) {
                    time(&bench, &name, &table, row / 8, output / row);
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Prints a row: `count` rows of `columns` numbers of a table.
fn time(bench: &Bench, name: &str, table: &[u64], columns: usize, count: usize) {
    let mut random = Random::new(5);
    let shape = [table.len() / columns, columns];
    let ids: Vec<u32> = (0..count).map(|_| random.below(shape[0]) as u32).collect();
    let data = Spec::<u64>::new(&shape).expect("a table");
    let op = Gather::new(0).par(Par::Seq);
    let chosen = op.plan(&data, &ids[..]).expect("a plan");
    let text = chosen.explain().to_string();
    let plans: Vec<(Method, Plan<u64, u32>)> =
        METHODS.iter().filter_map(|&method| Some((method, op.method(method).plan(&data, &ids[..]).ok()?))).collect();
    let table = &table[..shape[0] * columns];
    let view = View::new(table, &shape).expect("a table");
    let [mut expected, mut out] = [(); 2].map(|()| vec![0u64; count * columns]);
    let by_loop = |out: &mut [u64]| {
        for (out, &id) in out.chunks_exact_mut(columns).zip(&ids) {
            out.copy_from_slice(&table[id as usize * columns..][..columns]);
        }
    };
    by_loop(&mut expected);
    let out = std::cell::RefCell::new(&mut out[..]);
    let run = |plan: &Plan<u64, u32>| {
        let mut out = out.borrow_mut();
        plan.run_into(&view, &ids[..], &mut ViewMut::new(&mut out, &[count, columns]).expect("rows")).expect("ids");
    };
    let mut calls: Vec<Box<dyn FnMut() + '_>> = vec![Box::new(|| by_loop(&mut out.borrow_mut()))];
    for plan in plans.iter().map(|(_, plan)| plan).chain([&chosen]) {
        out.borrow_mut().fill(0);
        run(plan);
        assert!(**out.borrow() == expected, "{name}: results differ");
        calls.push(Box::new(|| run(plan)));
    }
    let times: Vec<f64> = clock::medians(&mut calls, bench.budget).iter().map(|ms| ms * 1e6 / count as f64).collect();
    let (by_loop, own, by_plan) = (times[0], &times[1..=plans.len()], times[plans.len() + 1]);
    let best = own.iter().fold(f64::INFINITY, |best, &time| best.min(time));
    let cell =
        |method| plans.iter().position(|&(of, _)| of == method).map_or("-".into(), |at| format!("{:.1}", own[at]));
    let cells = METHODS.map(cell).join(" | ");
    let method = METHODS.iter().map(|method| method.name()).find(|name| text.contains(name)).unwrap_or("other");
    println!("| {name} | {method} {by_plan:.1} | {by_loop:.1} | {cells} | {:.2} |", best / by_plan);
}

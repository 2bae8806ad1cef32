//! Times gathers of rows out of chunks beside the same rows out of one table: `chunks [FILTER] [--seconds S]`.
//!
//! Rows at random from 2 GiB and from 1 MiB, planned, one thread pinned to a CPU, into a warm output. `chunks` divides
//! the table into chunks of equal lengths and of lengths from 1 to 2 times the mean. Every output is compared with the
//! loop's first. Times are medians in nanoseconds a row, in turn. The loop prefetches the row 16 ids ahead; `one table`
//! is the faster of the chosen method and of `Prefetched`; `chunks / best` is by the faster of both.

use std::cell::RefCell;
use std::process::ExitCode;

use gather_benches::clock;
use gather_benches::options::Bench;
use gather_benches::random::Random;
use gather_core::maps::e4m3_to_f32;
use gather_core::{Codes, Gather, Method, Par, Plan, View, ViewMut, chunks};

/// Rows that the loop prefetches ahead.
const AHEAD: usize = 16;
/// Rows that are named before a list of ids comes again.
const ROWS_IN_TURN: usize = 1 << 18;
/// Bytes of a row.
const ROWS: [usize; 5] = [4, 16, 64, 160, 1024];

fn main() -> ExitCode {
    let bench = match Bench::pinned("chunks") {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    println!("| rows | ids | chunks | one table | loop | chunks, ns a row | chunks / best |\n|{}", "---|".repeat(7));
    for (name, bytes) in [("2 GiB", 2 << 30), ("1 MiB", 1usize << 20)] {
        let table: Vec<u8> = (0..bytes).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8 & 0x77).collect();
        for row in ROWS {
            let rows = bytes / row;
            for count in [16, 4096, 1_000_000] {
                for (division, lengths) in divisions(rows) {
                    let name = format!("{name} of {row} | {count} | {division}");
                    if name.contains(&bench.filter) {
                        moved(&bench, &name, (&table[..rows * row], row), count, &lengths);
                    }
                    let name = format!("{name}, FP8");
                    if row == 160 && name.contains(&bench.filter) {
                        decoded(&bench, &name, (&table[..rows * row], row), count, &lengths);
                    }
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// The lengths of 1 and of 64 chunks.
fn divisions(rows: usize) -> [(&'static str, Vec<usize>); 3] {
    let mut random = Random::new(11);
    let mean = rows / 64;
    let mut unequal: Vec<usize> = (0..63).map(|_| mean * 2 / 3 + random.below(mean.max(3) * 2 / 3)).collect();
    unequal.push(rows - unequal.iter().sum::<usize>());
    let equal = (0..64).map(|chunk| rows * (chunk + 1) / 64 - rows * chunk / 64).collect();
    [("1", vec![rows]), ("64 equal", equal), ("64 unequal", unequal)]
}

/// Lists of ids that calls take in turn: together they name more rows than the caches hold, if the table has them.
fn ids(rows: usize, count: usize) -> Vec<Vec<u32>> {
    let mut random = Random::new(5);
    (0..(ROWS_IN_TURN / count).max(2)).map(|_| (0..count).map(|_| random.below(rows) as u32).collect()).collect()
}

/// The first rows of chunks, and their numbers.
fn ranges(lengths: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    lengths.iter().scan(0, |end, &n| {
        *end += n;
        Some((*end - n, n))
    })
}

fn moved(bench: &Bench, name: &str, (table, row): (&[u8], usize), count: usize, lengths: &[usize]) {
    let rows = table.len() / row;
    let ids = ids(rows, count);
    let parts: Vec<_> = ranges(lengths)
        .map(|(first, n)| View::new(&table[first * row..][..n * row], &[n, row]).expect("a chunk"))
        .collect();
    let (divided, whole) = (chunks(&parts).expect("chunks"), View::new(table, &[rows, row]).expect("a table"));
    let by_loop = |ids: &[u32], out: &mut [u8]| {
        for (at, (out, &id)) in out.chunks_exact_mut(row).zip(ids).enumerate() {
            prefetch(table, ids.get(at + AHEAD).map_or(0, |&id| id as usize * row), row);
            out.copy_from_slice(&table[id as usize * row..][..row]);
        }
    };
    time(bench, name, &ids, row, by_loop, &whole, &divided);
}

fn decoded(bench: &Bench, name: &str, (table, row): (&[u8], usize), count: usize, lengths: &[usize]) {
    let rows = table.len() / row;
    let ids = ids(rows, count);
    let scales: Vec<f32> = (0..rows).map(|at| (at % 7 + 1) as f32 / 64.0).collect();
    let numbers: Vec<f32> = (0..=255).map(e4m3_to_f32).collect();
    let parts: Vec<_> = ranges(lengths)
        .map(|(first, n)| {
            let scales = View::new(&scales[first..][..n], &[n, 1]).expect("scales");
            (View::new(&table[first * row..][..n * row], &[n, row]).expect("a chunk"), scales)
        })
        .collect();
    let parts: Vec<_> = parts.iter().map(|(codes, scales)| codes.blocks(Codes::E4M3, 0, scales)).collect();
    let (codes, scale) =
        (View::new(table, &[rows, row]).expect("a table"), View::new(&scales, &[rows, 1]).expect("scales"));
    let by_loop = |ids: &[u32], out: &mut [f32]| {
        for (at, (out, &id)) in out.chunks_exact_mut(row).zip(ids).enumerate() {
            let ahead = ids.get(at + AHEAD).map_or(0, |&id| id as usize);
            prefetch(table, ahead * row, row);
            prefetch(&scales, ahead, 4);
            let scale = scales[id as usize];
            for (out, &code) in out.iter_mut().zip(&table[id as usize * row..][..row]) {
                *out = numbers[usize::from(code)] * scale;
            }
        }
    };
    let (whole, divided) = (codes.blocks(Codes::E4M3, 0, &scale), chunks(&parts).expect("chunks"));
    time(bench, name, &ids, row, by_loop, &whole, &divided);
}

/// Prefetches `bytes` bytes from element `at` on.
fn prefetch<T>(table: &[T], at: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        let line = table.as_ptr().wrapping_add(at).cast::<i8>().wrapping_add(line);
        // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, at, bytes);
}

/// Prints a row: rows of `columns` elements by the loop, out of one table, and out of chunks.
fn time<U: gather_core::Element + PartialEq, W, D>(
    bench: &Bench,
    name: &str,
    lists: &[Vec<u32>],
    columns: usize,
    by_loop: impl Fn(&[u32], &mut [U]),
    whole: &W,
    divided: &D,
) where
    W: gather_core::TableOf<Gather, U>,
    D: gather_core::TableOf<Gather, U>,
{
    let count = lists[0].len();
    let (shape, op) = ([count, columns], Gather::new(0).par(Par::Seq));
    let [mut expected, mut out] = [(); 2].map(|()| vec![U::ZERO; count * columns]);
    let of_one: Vec<Plan<W::Kind, u32>> =
        [op, op.method(Method::Prefetched)].iter().filter_map(|op| op.plan(whole, &lists[0]).ok()).collect();
    let of_chunks = op.plan(divided, &lists[0]).expect("a plan");
    type Call<'a, U> = Box<dyn Fn(&[u32], &mut [U]) + 'a>;
    let mut ways: Vec<Call<'_, U>> = vec![Box::new(by_loop)];
    for plan in &of_one {
        ways.push(Box::new(|ids, out| {
            plan.run_into(whole, ids, &mut ViewMut::new(out, &shape).expect("rows")).expect("ids");
        }));
    }
    ways.push(Box::new(|ids, out| {
        of_chunks.run_into(divided, ids, &mut ViewMut::new(out, &shape).expect("rows")).expect("ids");
    }));
    for list in [&lists[0], &lists[lists.len() - 1]] {
        ways[0](list, &mut expected);
        for way in &ways[1..] {
            out.fill(U::ZERO);
            way(list, &mut out);
            assert!(out == expected, "{name}: results differ");
        }
    }
    let out = RefCell::new(&mut out[..]);
    let mut calls: Vec<Box<dyn FnMut() + '_>> = ways
        .iter()
        .map(|way| {
            let (mut turn, out) = (lists.iter().cycle(), &out);
            Box::new(move || way(turn.next().expect("a list"), &mut out.borrow_mut())) as Box<dyn FnMut()>
        })
        .collect();
    let times: Vec<f64> = clock::medians(&mut calls, bench.budget).iter().map(|ms| ms * 1e6 / count as f64).collect();
    let (by_loop, ours) = (times[0], times[times.len() - 1]);
    let one = times[1..times.len() - 1].iter().fold(f64::INFINITY, |best, &time| best.min(time));
    println!("| {name} | {one:.1} | {by_loop:.1} | {ours:.1} | {:.2} |", ours / one.min(by_loop));
}

//! Times five columns by one list of ids beside five gathers, and unique ids: `columns [FILTER] [--seconds S]`.
//!
//! Axes in the caches, one thread pinned to a CPU, into warm outputs. Every output is compared with the loop's first.
//! Times are medians in nanoseconds a row and column, in turn. `checked` makes the [`Checked`] ids in each call; `loop`
//! reads rows by ids that are positions, and does not check them.

use std::process::ExitCode;

use gather_benches::clock;
use gather_benches::options::Bench;
use gather_benches::random::Random;
use gather_core::{Checked, Element, Gather, Index, IndexPolicy, OutOfBounds, Par, Reduction, Unique, View, ViewMut};

/// Columns by one list of ids.
const COLUMNS: usize = 5;

fn main() -> ExitCode {
    let bench = match Bench::pinned("columns") {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    println!("| columns, rows, ids | gathers | checked | loop | gathers / checked |\n|{}", "---|".repeat(5));
    for (n, count) in [(4096, 1000), (4096, 16_000), (50_000, 1000), (50_000, 100_000)] {
        rows::<u32>(&bench, n, count);
        rows::<u64>(&bench, n, count);
        rows::<[u32; 3]>(&bench, n, count);
        rows::<[u32; 4]>(&bench, n, count);
    }
    println!("\n| unique ids, spread | ns an id | sort and binary searches |\n|{}", "---|".repeat(3));
    for count in [256, 65_536, 1_000_000] {
        for spread in [1, 100, 1 << 20] {
            unique(&bench, count, count * spread);
        }
    }
    ExitCode::SUCCESS
}

fn rows<T: Element + PartialEq + Copy>(bench: &Bench, n: usize, count: usize) {
    let mut random = Random::new(3);
    let positions: Vec<usize> = (0..count).map(|_| random.below(n)).collect();
    let from_end = |at: usize| if at.is_multiple_of(3) { at as i64 - n as i64 } else { at as i64 };
    let beyond = |at: usize| if at.is_multiple_of(7) { at as i64 * 3 } else { from_end(at) };
    let list = |id: &dyn Fn(usize) -> i64| positions.iter().map(|&at| id(at)).collect::<Vec<i64>>();
    let narrow = |list: &[i64]| list.iter().map(|&id| id as i32).collect::<Vec<i32>>();
    let plain = list(&|at| at as i64);
    let (of_end, far) = (list(&from_end), list(&beyond));
    let unsigned: Vec<u32> = plain.iter().map(|&id| id as u32).collect();
    let case = Case { bench, n, values: vec![T::ZERO; n] };
    case.time("u32", &unsigned, OutOfBounds::Error);
    case.time("i64", &plain, OutOfBounds::Error);
    case.time("i32, some from the end", &narrow(&of_end), OutOfBounds::Error);
    case.time("i64, some from the end", &of_end, OutOfBounds::Error);
    case.time("i32, some out of range, zero", &narrow(&far), OutOfBounds::Zero);
    case.time("i32, some out of range, clamp", &narrow(&far), OutOfBounds::Clamp);
    case.time("i32, some out of range, wrap", &narrow(&far), OutOfBounds::Wrap);
    if size_of::<T>() == 4 {
        added("u32", bench, n, &unsigned);
        added("i64", bench, n, &plain);
    }
}

struct Case<'b, T> {
    bench: &'b Bench,
    n: usize,
    values: Vec<T>,
}

impl<T: Element + PartialEq + Copy> Case<'_, T> {
    fn time<I: Index>(&self, name: &str, ids: &[I], out_of_bounds: OutOfBounds) {
        let Case { bench, n, ref values } = *self;
        let name = format!("{} B, {n}, {} {name}", size_of::<T>(), ids.len());
        if !name.contains(&bench.filter) {
            return;
        }
        let (op, shape) = (Gather::new(0).par(Par::Seq).out_of_bounds(out_of_bounds), [ids.len()]);
        let columns: Vec<Vec<T>> = (0..COLUMNS).map(|_| values.clone()).collect();
        let policy = IndexPolicy::from(out_of_bounds);
        let positions = Checked::<i64>::new(ids, n, policy).expect("ids");
        let positions = positions.positions();
        let positions: Vec<usize> =
            (0..ids.len()).map(|at| positions.get(&[at]).map_or(0, |&at| at.max(0) as usize)).collect();
        let [mut one, mut two, mut three] = [(); 3].map(|()| vec![vec![T::ZERO; ids.len()]; COLUMNS]);
        let gathers = || {
            for (column, out) in columns.iter().zip(&mut one) {
                op.run_into(column, ids, &mut ViewMut::new(out, &shape).expect("rows")).expect("ids");
            }
        };
        let checked = || {
            let ids = Checked::<i32>::new(ids, n, policy).expect("ids");
            for (column, out) in columns.iter().zip(&mut two) {
                op.run_into(column, &ids, &mut ViewMut::new(out, &shape).expect("rows")).expect("ids");
            }
        };
        let by_loop = || {
            for (column, out) in columns.iter().zip(&mut three) {
                for (out, &at) in out.iter_mut().zip(&positions) {
                    // SAFETY: the positions are below `n`, the length of each column.
                    *out = unsafe { *column.get_unchecked(at) };
                }
            }
        };
        let times = clock::medians(&mut [Box::new(gathers), Box::new(checked), Box::new(by_loop)], bench.budget);
        assert!(one == two, "{name}: results differ");
        print(&name, &times, ids.len() * COLUMNS);
    }
}

/// Sums of updates, in place.
fn added<I: Index>(name: &str, bench: &Bench, n: usize, ids: &[I]) {
    let name = format!("adjoint, 4 B, {n}, {} {name}", ids.len());
    if !name.contains(&bench.filter) {
        return;
    }
    let op = Gather::new(0).par(Par::Seq).adjoint().reduction(Reduction::Add);
    let [mut one, mut two, mut three] = [(); 3].map(|()| vec![vec![0u32; n]; COLUMNS]);
    let (updates, all) = (vec![1u32; ids.len()], Checked::<i64>::new(ids, n, OutOfBounds::Error).expect("ids"));
    let (all, updates) = (all.positions(), View::new(&updates, &[ids.len()]).expect("updates"));
    let positions: Vec<usize> = (0..ids.len()).map(|at| all.get(&[at]).map_or(0, |&at| at as usize)).collect();
    let scatters = || one.iter_mut().for_each(|column| op.run_on(column, ids, &updates).expect("ids"));
    let checked = || {
        let ids = Checked::<i32>::new(ids, n, OutOfBounds::Error).expect("ids");
        two.iter_mut().for_each(|column| op.run_on(column, &ids, &updates).expect("ids"));
    };
    let by_loop = || {
        for column in &mut three {
            positions.iter().for_each(|&at| column[at] = column[at].wrapping_add(1));
        }
    };
    let times = clock::medians(&mut [Box::new(scatters), Box::new(checked), Box::new(by_loop)], bench.budget);
    print(&name, &times, ids.len() * COLUMNS);
}

fn print(name: &str, times: &[f64], rows: usize) {
    let [gathers, checked, by_loop] = [0, 1, 2].map(|at| times[at] * 1e6 / rows as f64);
    println!("| {name} | {gathers:.2} | {checked:.2} | {by_loop:.2} | {:.2} |", gathers / checked);
}

fn unique(bench: &Bench, count: usize, spread: usize) {
    let name = format!("{count} unique, {spread}");
    if !name.contains(&bench.filter) {
        return;
    }
    let mut random = Random::new(7);
    let list: Vec<i64> = (0..count).map(|_| random.below(spread) as i64).collect();
    let ours = || assert!(!Unique::new(&list).expect("memory").ids().is_empty());
    let searched = || {
        let mut ids = list.clone();
        ids.sort_unstable();
        ids.dedup();
        let inverse: Vec<usize> = list.iter().filter_map(|id| ids.binary_search(id).ok()).collect();
        assert_eq!(std::hint::black_box(inverse).len(), list.len());
    };
    let times = clock::medians(&mut [Box::new(ours), Box::new(searched)], bench.budget);
    let [ours, searched] = [0, 1].map(|at| times[at] * 1e6 / count as f64);
    println!("| {name} | {ours:.1} | {searched:.1} |");
}

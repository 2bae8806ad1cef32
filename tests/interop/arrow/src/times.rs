//! Times of calls, ours and arrow's in turn.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use arrow_array::ArrayRef;

/// Compares results, prints medians, and keeps the quotients of each operation.
pub struct Times {
    /// Values that the calls of one time move in all.
    pub values: usize,
    pub quotients: BTreeMap<String, Vec<f64>>,
}

impl Times {
    /// Medians of nanoseconds. A call moves some `values` values; the first word of a name is its operation.
    pub fn compare(&mut self, values: usize, name: &str, ours: impl Fn() -> ArrayRef, theirs: impl Fn() -> ArrayRef) {
        assert_eq!(&ours(), &theirs(), "{name}");
        let calls = (self.values / values.max(64)).max(1);
        let time = |run: &dyn Fn() -> ArrayRef| {
            let start = Instant::now();
            (0..calls).for_each(|_| drop(black_box(run())));
            start.elapsed().as_nanos() as f64 / calls as f64
        };
        // Short times, so that few of them are interrupted.
        let rounds = if calls > 1 { 25 } else { 9 };
        let mut times: Vec<[f64; 2]> = (0..rounds).map(|_| [time(&ours), time(&theirs)]).collect();
        let [ours, theirs] = [0, 1].map(|at| {
            times.sort_by(|a, b| a[at].total_cmp(&b[at]));
            times[rounds / 2][at]
        });
        println!("{name:<56} ours {ours:>9.0} ns   arrow {theirs:>9.0} ns   arrow / ours {:.2}", theirs / ours);
        let operation = name.split(' ').next().unwrap_or_default().into();
        self.quotients.entry(operation).or_default().push(theirs / ours);
    }

    /// Prints the geometric mean and the least quotient of each operation.
    pub fn print_means(&self) {
        for (operation, quotients) in &self.quotients {
            let mean = (quotients.iter().map(|of| of.ln()).sum::<f64>() / quotients.len() as f64).exp();
            let least = quotients.iter().copied().fold(f64::INFINITY, f64::min);
            println!("{operation}: arrow / ours {mean:.2} (geometric mean of {}), least {least:.2}", quotients.len());
        }
    }
}

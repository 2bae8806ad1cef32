//! Whether other programs have disturbed the run.

use super::model::{OURS, Report, Section};
use super::stats::Summary;

/// How far the load average may lie above the number of threads that a run itself keeps busy.
const LOAD: f64 = 0.5;
/// The spread of repeats, in percent, beyond which they were disturbed.
const SPREAD: f64 = 20.0;
/// Fewest repeats that have a spread.
const REPEATS: usize = 4;

/// What speaks against the figures; nothing where the machine was quiet.
#[must_use]
pub fn warnings(report: &Report) -> Vec<String> {
    [by_load(report), by_spread(report)].into_iter().flatten().collect()
}

fn by_load(report: &Report) -> Option<String> {
    let load = Summary::of(&report.run.loads)?.median;
    let own = report.run.threads.iter().copied().max().unwrap_or(1);
    (load > own as f64 + LOAD).then(|| {
        format!(
            "The machine was loaded. The load average was {load:.1} in the middle of the run, and the run itself \
             keeps at most {own} busy. Times are too long, and ratios uncertain."
        )
    })
}

/// By gather-core's own repeats, whose calls do the same every time.
fn by_spread(report: &Report) -> Option<String> {
    let spread = |workload: &str, threads| {
        report.summary(workload, OURS, threads).filter(|summary| summary.n >= REPEATS).map(|summary| summary.spread())
    };
    let workloads = report.section(Section::Workloads);
    let spreads: Vec<f64> = workloads
        .flat_map(|workload| report.run.threads.iter().filter_map(move |&threads| spread(&workload.name, threads)))
        .collect();
    let middle = Summary::of(&spreads)?.median;
    (middle > SPREAD).then(|| {
        format!(
            "Repeats differ. On half of the workloads the quartiles of {OURS}'s times lie more than {middle:.0} \
             percent of the median apart, so other programs took time on this machine."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Outcome;
    use crate::report::samples::report;

    #[test]
    fn a_quiet_machine_is_not_warned_of() {
        assert!(warnings(&report()).is_empty());
    }

    #[test]
    fn load_is_warned_of_where_it_is_more_than_the_runs_own() {
        let mut report = report();
        report.run.loads = vec![0.5, 2.4, 2.4];
        assert!(warnings(&report).is_empty(), "two threads are the run's own");
        report.run.loads = vec![0.5, 2.6, 3.0];
        let [text] = &warnings(&report)[..] else { panic!("one warning") };
        assert!(text.contains("2.6 in the middle") && text.contains("at most 2 busy"), "{text}");
        report.run.loads.clear();
        assert!(warnings(&report).is_empty(), "a report of a system that tells no load");
    }

    #[test]
    fn repeats_that_differ_are_warned_of() {
        let mut report = report();
        for result in &mut report.results {
            if result.peer == OURS {
                result.outcome = Outcome::Timed(vec![100.0, 110.0, 140.0, 200.0]);
            }
        }
        let [text] = &warnings(&report)[..] else { panic!("one warning") };
        assert!(text.starts_with("Repeats differ."), "{text}");
    }
}

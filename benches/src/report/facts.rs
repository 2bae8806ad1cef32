//! What figures hold for: warnings, the headline, the machine, the sources and the run, as the page and the markdown
//! both have them.

use super::format;
use super::model::{LOOP, OURS, PeerInfo, Report};
use super::stats::Summary;
use crate::sections::Section;

/// How far the load average may lie above the number of threads that a run itself keeps busy.
const LOAD: f64 = 0.5;
/// The spread of repeats, in percent, beyond which they were disturbed.
const SPREAD: f64 = 20.0;
/// Fewest repeats that have a spread.
const REPEATS: usize = 4;

/// What speaks against the figures: other programs have disturbed the run. Nothing where the machine was quiet.
#[must_use]
pub fn warnings(report: &Report) -> Vec<String> {
    let own = report.run.threads.iter().copied().max().unwrap_or(1);
    let load = Summary::of(&report.run.loads).filter(|load| load.median > own as f64 + LOAD).map(|load| {
        format!(
            "The machine was loaded. The load average was {:.1} in the middle of the run, and the run itself \
             keeps at most {own} busy. Times are too long, and ratios uncertain.",
            load.median
        )
    });
    // gather-core's own calls do the same every time.
    let repeats = report.results.iter().filter(|result| result.peer == OURS).flat_map(|result| &result.outcome);
    let spreads: Vec<f64> = repeats.filter(|summary| summary.n >= REPEATS).map(Summary::spread).collect();
    let spread = Summary::of(&spreads).filter(|spread| spread.median > SPREAD).map(|spread| {
        format!(
            "Repeats differ. On half of the workloads the quartiles of {OURS}'s times lie more than {:.0} percent of \
             the median apart, so other programs took time on this machine.",
            spread.median
        )
    });
    load.into_iter().chain(spread).collect()
}

/// Sections that have a headline. The others vary one quantity, so that a mean over them means little.
const HEADED: usize = 2;

/// The result in a sentence or two for each section, with the names of those it is compared with; nothing where nothing
/// was compared.
#[must_use]
pub fn headlines(report: &Report) -> Vec<String> {
    Section::ALL[..HEADED].iter().filter_map(|&(section, what, _)| of_section(report, section, what)).collect()
}

fn of_section(report: &Report, section: Section, what: &str) -> Option<String> {
    let mean = |&threads: &usize| Some((report.mean_ratio(section, OURS, threads)?, threads));
    let says = |(at, (mean, threads)): (usize, (f64, usize))| {
        let than = if at == 0 { " as fast as the best peer" } else { "" };
        format!("{}{than} with {}", format::times(mean), format::threads(threads))
    };
    let means: Vec<_> = report.run.threads.iter().filter_map(mean).enumerate().map(says).collect();
    if means.is_empty() {
        return None;
    }
    let timed = report.timed_rivals(section, 1);
    let timed: Vec<String> = timed.into_iter().map(versioned).collect();
    let count = report.averaged(section).filter(|work| report.ratio(&work.name, OURS, 1).is_some()).count();
    let over = if count == 1 { "one workload".into() } else { format!("{count} workloads, in geometric mean") };
    let best = if timed.len() == 1 {
        format!("The peer is {}.", timed[0])
    } else {
        format!("The best peer of each workload is one of {}.", format::listed(&timed))
    };
    let alone: String = report.run.threads.iter().filter_map(|&threads| alone(report, section, threads)).collect();
    Some(format!("On {what} {OURS} is {} (over {over}). {best}{alone}", format::listed(&means)))
}

/// A peer with its version, which the loop has not.
fn versioned(peer: &PeerInfo) -> String {
    if peer.name == LOOP { LOOP.into() } else { format!("{} {}", peer.name, peer.version) }
}

/// Which of the best peers run on one thread beside more of gather-core, whatever they were told, and who is not
/// compared with more.
fn alone(report: &Report, section: Section, threads: usize) -> Option<String> {
    let best: Vec<_> = report.averaged(section).filter_map(|work| report.best(&work.name, OURS, threads)).collect();
    let mut alone: Vec<&str> = best.iter().filter(|best| best.alone).map(|best| best.peer).collect();
    let (count, all, with) = (alone.len(), best.len(), format::threads(threads));
    alone.sort_unstable();
    alone.dedup();
    let who = format::listed(&alone);
    let beside = match count {
        0 => String::new(),
        _ => format!(" Beside {with} of {OURS}, {count} of {all} best peers run on one thread: {who}."),
    };
    let compared = report.timed_rivals(section, threads);
    let without = report.timed_rivals(section, 1).into_iter().filter(|peer| !compared.contains(peer));
    let without = match &without.map(|peer| &peer.name).collect::<Vec<_>>()[..] {
        [] => String::new(),
        names => format!(" Not timed with {with}: {}.", format::listed(names)),
    };
    (all > 0).then_some(beside + &without)
}

/// Names and values.
#[must_use]
pub fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let Report { machine, run, .. } = report;
    let caches: Vec<_> =
        machine.caches.iter().map(|cache| format!("{} {}", cache.name, format::bytes(cache.bytes))).collect();
    let threads: Vec<_> = run.threads.iter().map(usize::to_string).collect();
    let memory = format::bytes(machine.memory as usize);
    let huge_pages = machine.huge_pages.as_deref().unwrap_or("not known");
    let mut facts = vec![
        ("machine", format!("{}, {} cores, {memory} of memory", machine.cpu, machine.cores)),
        ("instruction sets", format!("{}; gather-core runs at level {}", machine.flags.join(", "), machine.level)),
        ("caches", if caches.is_empty() { "not known".into() } else { caches.join(", ") }),
        ("system", format!("{}; huge pages: {huge_pages}; load average before {:.1}", machine.os, machine.load)),
        ("sources", format!("commit {}, {}", run.commit, run.rustc)),
        ("run", format!("{}, {}, {:.0} s, threads {}", run.date, run.mode, run.seconds, threads.join(", "))),
    ];
    if !run.engines.is_empty() {
        facts.push(("engines", run.engines.join("; ")));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{engines, report};

    #[test]
    fn load_and_spread_are_warned_of() {
        let mut report = report();
        report.run.loads = vec![0.5, 2.4, 2.4];
        assert!(warnings(&report).is_empty(), "two threads are the run's own, and three repeats are too few");
        report.run.loads = vec![0.5, 2.6, 3.0];
        for result in report.results.iter_mut().filter(|result| result.peer == OURS) {
            result.outcome = Ok(Summary::of(&[100.0, 110.0, 140.0, 200.0]).expect("four times"));
        }
        let [load, spread] = &warnings(&report)[..] else { panic!("two warnings") };
        assert!(load.contains("2.6 in the middle") && load.contains("at most 2 busy"), "{load}");
        assert!(spread.starts_with("Repeats differ."), "{spread}");
    }

    #[test]
    fn the_headline_names_the_peers() {
        let mut report = report();
        let expected = "On gathers gather-core is 1.00× as fast as the best peer with 1 thread and 4.00× with \
                        2 threads (over 2 \
                        workloads, in geometric mean). The peer is loop. Beside 2 threads \
                        of gather-core, 1 of 1 best peers run on one thread: loop.";
        assert_eq!(headlines(&report), [expected]);
        report.results.clear();
        assert!(headlines(&report).is_empty());
    }

    #[test]
    fn engines_are_named_with_version_machine_and_threads() {
        let mut report = report();
        crate::report::engines::join(&mut report, engines()).expect("a file of measure.py");
        let text = headlines(&report).concat();
        assert!(text.contains(" is one of loop and NumPy 2.4.6. Beside 2 threads of gather-core, 1 of 1 "), "{text}");
        assert!(text.contains(" run on one thread: loop. Not timed with 2 threads: NumPy."), "{text}");
        let (name, value) = facts(&report).pop().expect("facts");
        let mut two = report;
        two.run.engines.clear();
        for result in two.results.iter_mut().filter(|result| result.peer.contains("Num") || result.peer.contains("Py"))
        {
            (result.threads, result.busy) = (2, Some(1.02));
        }
        let text = headlines(&two).concat();
        assert!(text.contains("2 of 2 best peers run on one thread: NumPy and loop"), "told two threads: {text}");
        assert_eq!((name, value.contains(", 1 thread, through Python 3.11.7, on ")), ("engines", true), "{value}");
    }
}

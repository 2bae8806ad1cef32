//! What figures hold for: the headline, the machine, the sources and the run, as the page and the markdown both have
//! them.

use super::format;
use super::model::{EngineRun, LOOP, OURS, PeerInfo, Report, Section};

/// The result in a sentence or two for each section, with the names of those it is compared with; nothing where nothing
/// was compared.
#[must_use]
pub fn headlines(report: &Report) -> Vec<String> {
    Section::COMPARED.iter().filter_map(|&(section, what)| of_section(report, section, what)).collect()
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
    let (timed, others) = report.timed_rivals(section, 1);
    let timed: Vec<String> = timed.into_iter().map(versioned).collect();
    let count = report.averaged(section).filter(|work| report.ratio(&work.name, OURS, 1).is_some()).count();
    let over = if count == 1 { "one workload".into() } else { format!("{count} workloads, in geometric mean") };
    let best = if timed.len() == 1 {
        format!("The peer is {}.", timed[0])
    } else {
        format!("The best peer of each workload is one of {}.", format::listed(&timed))
    };
    // What runs gathers only is not missed elsewhere.
    let missing = if others.is_empty() || section != Section::Workloads {
        String::new()
    } else {
        format!(" Not timed: {}.", format::listed(&names(&others)))
    };
    let alone: String = report.run.threads.iter().filter_map(|&threads| alone(report, section, threads)).collect();
    Some(format!("On {what} {OURS} is {} (over {over}). {best}{alone}{missing}", format::listed(&means)))
}

fn names<'a>(peers: &[&'a PeerInfo]) -> Vec<&'a str> {
    peers.iter().map(|peer| &*peer.name).collect()
}

/// A peer with its version, which the loop has not.
fn versioned(peer: &PeerInfo) -> String {
    if peer.name == LOOP { LOOP.into() } else { format!("{} {}", peer.name, peer.version) }
}

/// Which of the best peers have one thread beside more of gather-core, and who is not compared with more.
fn alone(report: &Report, section: Section, threads: usize) -> Option<String> {
    let best: Vec<_> = report.averaged(section).filter_map(|work| report.best(&work.name, OURS, threads)).collect();
    let mut alone: Vec<&str> = best.iter().filter(|best| best.alone).map(|best| best.peer).collect();
    let (count, all, with) = (alone.len(), best.len(), format::threads(threads));
    alone.sort_unstable();
    alone.dedup();
    let beside = match count {
        0 => String::new(),
        _ => format!(
            " Beside {with} of {OURS}, {count} of {all} best peers run on one thread: {}.",
            format::listed(&alone)
        ),
    };
    let compared = report.timed_rivals(section, threads).0;
    let mut without = report.timed_rivals(section, 1).0;
    without.retain(|peer| !compared.contains(peer));
    let without = match &names(&without)[..] {
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
    let filter =
        if run.filter.is_empty() { String::new() } else { format!(", only workloads with “{}”", run.filter) };
    let huge_pages = machine.huge_pages.as_deref().unwrap_or("not known");
    let mut facts = vec![
        ("machine", format!("{}, {} cores, {} of memory", machine.cpu, machine.cores, gibibytes(machine.memory))),
        ("instruction sets", format!("{}; gather-core runs at level {}", machine.flags.join(", "), machine.level)),
        ("caches", if caches.is_empty() { "not known".into() } else { caches.join(", ") }),
        (
            "system",
            format!("{}; huge pages: {huge_pages}; load average before the run {:.1}", machine.os, machine.load),
        ),
        ("sources", format!("commit {}, {}", run.commit, run.rustc)),
        ("run", format!("{}, {}, {:.0} s, threads {}{filter}", run.date, run.mode, run.seconds, threads.join(", "))),
    ];
    if !run.engines.is_empty() {
        facts.push(("engines", run.engines.iter().map(engine_run).collect::<Vec<_>>().join("; ")));
    }
    facts
}

fn engine_run(EngineRun { date, cpu, threads, python }: &EngineRun) -> String {
    format!("{date}, {}, through Python {python}, on {cpu}", format::threads(*threads))
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{engines, report};

    #[test]
    fn the_headline_names_the_peers() {
        let mut report = report();
        let expected = "On gathers gather-core is 1.00× as fast as the best peer with 1 thread and 4.00× with \
                        2 threads (over 2 \
                        workloads, in geometric mean). The peer is loop. Beside 2 threads \
                        of gather-core, 1 of 1 best peers run on one thread: loop. Not timed: broken.";
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
        assert!(
            text.contains(" run on one thread: loop. Not timed with 2 threads: NumPy. Not timed: broken."),
            "{text}"
        );
        let (name, value) = facts(&report).pop().expect("facts");
        assert_eq!((name, value.contains(", 1 thread, through Python 3.11.7, on ")), ("engines", true), "{value}");
    }
}

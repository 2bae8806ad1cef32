//! What figures hold for: the headline, the machine, the sources and the run, as the page and the markdown both have
//! them.

use super::format;
use super::model::{OURS, Report, Section};

/// The result in a sentence or two, with the names of those it is compared with; `None` where nothing was compared.
#[must_use]
pub fn headline(report: &Report) -> Option<String> {
    let (timed, others) = report.timed_rivals();
    let mean = |&threads: &usize| Some((report.mean_ratio(OURS, threads)?, threads));
    let says = |(at, (mean, threads)): (usize, (f64, usize))| {
        let than = if at == 0 { " as fast as the best peer" } else { "" };
        format!("{}{than} with {}", format::times(mean), format::threads(threads))
    };
    let means: Vec<_> = report.run.threads.iter().filter_map(mean).enumerate().map(says).collect();
    if means.is_empty() {
        return None;
    }
    let count = report.section(Section::Workloads).filter(|work| report.ratio(&work.name, OURS, 1).is_some()).count();
    let over = if count == 1 { "one workload".into() } else { format!("{count} workloads, in geometric mean") };
    let missing = if others.is_empty() { String::new() } else { format!(" Not timed: {}.", format::listed(&others)) };
    Some(format!(
        "{OURS} is {} (over {over}). The best peer of each workload is one of {}.{missing}",
        format::listed(&means),
        format::listed(&timed)
    ))
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
    vec![
        ("machine", format!("{}, {} cores, {} of memory", machine.cpu, machine.cores, gibibytes(machine.memory))),
        ("instruction sets", format!("{}; gather-core runs at level {}", machine.flags.join(", "), machine.level)),
        ("caches", if caches.is_empty() { "not known".into() } else { caches.join(", ") }),
        (
            "system",
            format!("{}; huge pages: {huge_pages}; load average before the run {:.1}", machine.os, machine.load),
        ),
        ("sources", format!("commit {}, {}", run.commit, run.rustc)),
        ("run", format!("{}, {}, {:.0} s, threads {}{filter}", run.date, run.mode, run.seconds, threads.join(", "))),
    ]
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn the_headline_names_the_peers() {
        let mut report = report();
        let expected = "gather-core is 1.00× as fast as the best peer with 1 thread and 4.00× with 2 threads (over 2 \
                        workloads, in geometric mean). The best peer of each workload is one of loop. Not timed: \
                        broken.";
        assert_eq!(headline(&report).as_deref(), Some(expected));
        report.results.clear();
        assert_eq!(headline(&report), None);
    }
}

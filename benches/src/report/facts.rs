//! What figures hold for: the machine, the sources and the run, as the page and the markdown both have them.

use super::format;
use super::model::{OURS, Report};

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
    let means = run.threads.iter().filter_map(|&threads| {
        Some(format!("{} with {}", format::times(report.mean_ratio(OURS, threads)?), format::threads(threads)))
    });
    vec![
        ("machine", format!("{}, {} cores, {} of memory", machine.cpu, machine.cores, gibibytes(machine.memory))),
        ("instruction sets", format!("{}; gather-core runs at level {}", machine.flags.join(", "), machine.level)),
        ("caches", if caches.is_empty() { "not known".into() } else { caches.join(", ") }),
        ("system", format!("{}; huge pages: {huge_pages}; load at the begin {:.1}", machine.os, machine.load)),
        ("sources", format!("commit {}, {}", run.commit, run.rustc)),
        ("run", format!("{}, {}, {:.0} s, threads {}{filter}", run.date, run.mode, run.seconds, threads.join(", "))),
        ("against the best peer of each workload, in geometric mean", means.collect::<Vec<_>>().join(", ")),
    ]
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))
}

//! README's chart and table: what stands between two marks is written anew.

use std::fmt::Write;

use super::format::{self, three_digits};
use super::model::{FRESH, LOOP, OURS, PeerInfo, Report};
use super::stats::geometric_mean;
use crate::sections::{Section, WorkloadInfo};

/// What stands before that.
const BEGIN: &str = "<!-- report: `--readme` writes what follows -->\n\n";
/// What stands behind it.
const END: &str = "\n<!-- end of report -->\n";

/// The workloads that README lists, and [`WORST`] more.
const LISTED: [&str; 11] = [
    "gather/embedding_50257x768_8k",
    "gather/rows64B_1Mx16_1M",
    "gather/take_16M_4M",
    "gather_elements/last_4096x1024",
    "gather_elements/axis0_8192x64_i32",
    "batch_to_space/nhwc_64x64x64x32_b2",
    "gather/small_32x16_8",
    "scatter_elements/add_1d_1M_into_64K",
    "embedding_bag/sum_1Mx64_16Kx32",
    "embedding_bag/mean_50257x768_256x128",
    "embedding_bag/sum_32x16_1x8",
];
/// As many of the other gathers of more than a few bytes are listed besides: those on which ours compares worst.
const WORST: usize = 2;

/// A text with the chart and the table of a report between its marks.
///
/// # Errors
/// A text: it has no marks.
pub fn replaced(text: &str, report: &Report, chart: &str) -> Result<String, String> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("no {BEGIN}and no {END}"))?;
    let written = format!("![{OURS} against the best peer of each workload]({chart})\n\n{}", table(report));
    Ok(format!("{before}{BEGIN}{written}{END}{after}"))
}

/// The table, and the means below it.
fn table(report: &Report) -> String {
    // Crates stand in where no engine was timed.
    let (python, what) = if report.run.engines.is_empty() { (false, "crate") } else { (true, "engine") };
    let among = |peer: &PeerInfo| peer.python == python && peer.name != LOOP;
    let best = |workload: &WorkloadInfo, ours| report.best_of(&workload.name, ours, 1, among);
    let is_listed = |workload: &&WorkloadInfo| LISTED.contains(&&*workload.name);
    let others = report.averaged(Section::Workloads).filter(|workload| !is_listed(workload));
    let mut others: Vec<_> = others.filter_map(|workload| Some((best(workload, OURS)?.ratio, workload))).collect();
    others.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    others.truncate(WORST);
    let worst = others.iter().map(|&(_, workload)| workload);
    let mut text =
        format!("| workload | loop | ours | loop / ours | {what} | {what} / ours |\n|{}\n", "---|".repeat(6));
    for workload in report.workloads.iter().filter(is_listed).chain(worst) {
        let [looped, ours] = [LOOP, OURS].map(|peer| report.nanos(&workload.name, peer, 1));
        let time = |nanos: Option<f64>| nanos.map_or("-".into(), format::time);
        let ratio = looped.zip(ours).map_or("-".into(), |(looped, ours)| format!("{:.2}", looped / ours));
        let (rival, against) = best(workload, OURS).map_or(("-".into(), "-".into()), |best| {
            (format!("{}, {}", format::time(best.nanos), best.peer), format!("{:.2}", best.ratio))
        });
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "| {} | {} | {} | {ratio} | {rival} | {against} |", workload.name, time(looped), time(ours));
    }
    let averaged = || report.averaged(Section::Workloads);
    let looped = |work: &WorkloadInfo| Some(report.nanos(&work.name, LOOP, 1)? / report.nanos(&work.name, OURS, 1)?);
    let mean = |mean: Option<f64>| mean.map_or("-".into(), three_digits);
    let against = |ours| mean(geometric_mean(averaged().filter_map(|work| Some(best(work, ours)?.ratio))));
    let machine = &report.machine;
    let _ = writeln!(
        text,
        "\nIn geometric mean over {} workloads, ours is {} times as fast as the loop, and {} times as fast as the best \
         {what}\nof each ({} with fresh outputs on both sides): {}, {} cores, level {}, {}.",
        averaged().filter(|work| looped(work).is_some()).count(),
        mean(geometric_mean(averaged().filter_map(looped))),
        against(OURS),
        against(FRESH),
        machine.cpu,
        machine.cores,
        machine.level,
        format::day(&report.run.date)
    );
    if !others.is_empty() {
        let _ = writeln!(text, "The last rows are, of the other gathers, those on which ours compares worst.");
    }
    let mut timed = report.timed_rivals(Section::Workloads, 1);
    timed.retain(|peer| among(peer));
    timed.sort_by(|a, b| a.name.cmp(&b.name));
    // Without what names a build of it: `2.15.0+cu132`, `2026.4.1-22982-e213a147257`.
    let number = |version: &str| {
        let version = version.split('+').next().unwrap_or_default();
        let build =
            version.split_once('-').filter(|(_, build)| build.starts_with(|first: char| first.is_ascii_digit()));
        build.map_or(version, |(number, _)| number).to_owned()
    };
    let versions: Vec<_> = timed.iter().map(|peer| format!("{} {}", peer.name, number(&peer.version))).collect();
    if !versions.is_empty() {
        let _ = writeln!(text, "Timed: {}.", versions.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::engines;
    use crate::report::samples::{self, report};

    #[test]
    fn what_stands_between_the_marks_is_replaced_and_nothing_else() {
        let mut report = report();
        report.workloads[0].name = LISTED[0].into();
        report.results.iter_mut().filter(|result| result.workload == "gather/a").for_each(|result| {
            result.workload = LISTED[0].into();
        });
        let text = format!("before\n{BEGIN}old | old\n{END}after\n");
        let new = replaced(&text, &report, "x/comparison.svg").expect("marks");
        assert!(new.starts_with("before\n") && new.ends_with("after\n") && !new.contains("old"), "{new}");
        assert!(new.contains("](x/comparison.svg)\n\n| workload | loop | ours | loop / ours | crate |"), "{new}");
        assert!(new.contains(&format!("| {} | 2.00 µs | 1.00 µs | 2.00 | - | - |\n", LISTED[0])), "{new}");
        assert!(
            new.contains("over 2 workloads, ours is 1.00 times as fast as the loop") && new.contains("2026-01-01.")
        );
        assert_eq!(replaced(&new, &report, "x/comparison.svg"), Ok(new));
        engines::join(&mut report, samples::engines()).expect("a file of measure.py");
        assert!(
            replaced(&text, &report, "c.svg")
                .is_ok_and(|new| new.contains("| engine | engine / ours |") && new.contains("\nTimed: "))
        );
        assert!(replaced("no marks", &report, "c.svg").is_err());
    }
}

//! The charts: what each shows, laid out by `rows`, out of the marks of `svg` and the axes of `scale`.

pub mod rows;
pub mod scale;
pub mod svg;

use rows::{Mark, Row, Rows, class};

use super::format::{self, times};
use super::model::{COPY, LIMIT, OURS, PeerInfo, Report};
use crate::sections::{Section, WorkloadInfo};

/// A chart.
pub struct Chart {
    /// The name of its file.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Its rows.
    pub rows: Rows,
}

/// The charts for which a report has measurements.
#[must_use]
pub fn charts(report: &Report) -> Vec<Chart> {
    let threads = || report.run.threads.iter();
    let ratios = Section::ALL.into_iter().flat_map(|section| threads().filter_map(move |&n| ratio(report, section, n)));
    ratios.chain(throughput(report)).collect()
}

/// The two parts of `operator/what`.
fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("", name))
}

/// The rows of a section's workloads, in groups by operator; workloads without a row are left out.
fn groups(
    report: &Report,
    section: Section,
    row: impl Fn(&WorkloadInfo) -> Option<Row>,
) -> Option<Vec<(String, Vec<Row>)>> {
    let operator = |workload: &WorkloadInfo| split(&workload.name).0.to_owned();
    let workloads: Vec<&WorkloadInfo> = report.section(section).collect();
    let groups = workloads.chunk_by(|a, b| operator(a) == operator(b));
    let groups =
        groups.map(|group| (operator(group[0]), group.iter().filter_map(|work| row(work)).collect::<Vec<_>>()));
    let groups: Vec<_> = groups.filter(|(_, rows)| !rows.is_empty()).collect();
    (!groups.is_empty()).then_some(groups)
}

/// The radius of gather-core's dots, and that of its peers.
const LARGE: f64 = 5.0;
const SMALL: f64 = 4.0;

/// The dot of a legend.
fn legend(engine: &str, radius: f64) -> Mark {
    Mark::dot(0.5, engine, radius, String::new())
}

/// Entries of a legend for those peers that have a time on a workload of a section.
fn peer_legend(report: &Report, section: Section, threads: usize) -> impl Iterator<Item = (Mark, String)> {
    let timed = report.timed_rivals(section, threads);
    timed.into_iter().map(|peer| (legend(&peer.name, SMALL), peer.name.clone()))
}

/// How many times as fast as the best peer.
fn ratio(report: &Report, (section, what, file): (Section, &str, &str), threads: usize) -> Option<Chart> {
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let (ours, best) = (report.summary(name, OURS, threads)?, report.best(name, OURS, threads)?);
        let ratio = best.ratio;
        let other = |peer: &PeerInfo| {
            let other = report.beside(name, peer, OURS, threads)?;
            let speed = ratio / other.ratio;
            let (time, alone) = (format::time(other.nanos), if other.alone { " (1 thread)" } else { "" });
            Some(Mark::dot(
                speed,
                &peer.name,
                SMALL,
                format!("{}: {time}{alone}, {} of the best", peer.name, times(speed)),
            ))
        };
        let says = format!("{OURS}: {}, {} the best peer", format::time(ours.median), times(ratio));
        let bar = Mark::Bar(1.0, ratio, class(OURS));
        let span = Mark::Span(ratio * ours.median / ours.q3, ratio * ours.median / ours.q1);
        let marks = [bar, span].into_iter().chain(report.rivals().filter_map(other));
        Some(Row {
            label: split(name).1.into(),
            note: format!("{} {}{}", times(ratio), best.peer, if best.alone { "¹" } else { "" }),
            marks: marks.chain([Mark::dot(ratio, OURS, LARGE, says)]).collect(),
        })
    };
    let mean = report.mean_ratio(section, OURS, threads)?;
    let alone = if threads > 1 { " ¹ marks a peer that runs on one thread." } else { "" };
    let ours = [(legend(OURS, LARGE), OURS.into()), (Mark::Span(0.0, 1.0), "its middle half".into())];
    let figure = Rows {
        groups: groups(report, section, row)?,
        axis: "times as fast as the best peer (log scale)",
        tick: |value| format!("{}×", format::plain(value)),
        base: Some(1.0),
        legend: ours.into_iter().chain(peer_legend(report, section, threads)).collect(),
    };
    Some(Chart {
        name: format!("{file}-{threads}"),
        title: format!("gather-core against the best peer on {what}, {}", format::threads(threads)),
        caption: format!(
            "The best peer of each workload stands at 1. Its name is at the right, with how many times as fast \
             gather-core is (planned call, median of both). Right of the line gather-core is faster. The geometric \
             mean is {}. Point at a dot for its time.{alone}",
            times(mean)
        ),
        rows: figure,
    })
}

/// Bytes of output a second, beside a plain copy of them.
fn throughput(report: &Report) -> Option<Chart> {
    let ring = |value, says| Mark::Dot(value, class(OURS) + " ring", LARGE, says);
    let most = report.run.threads.last().copied().filter(|&threads| threads > 1);
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let rate = |nanos: f64| workload.output_bytes as f64 / nanos;
        let says = |what: &str, nanos| format!("{what}: {} GB/s", format::three_digits(rate(nanos)));
        let ours = report.nanos(name, OURS, 1)?;
        let copy = report.nanos(name, COPY, 1)?;
        let best = report.best(name, OURS, 1);
        let best = best.map(|best| Mark::dot(rate(best.nanos), best.peer, SMALL, says(best.peer, best.nanos)));
        let more = most.and_then(|threads| {
            let nanos = report.nanos(name, OURS, threads)?;
            Some(ring(rate(nanos), says(&format!("{OURS}, {}", format::threads(threads)), nanos)))
        });
        let limit = report.nanos(name, LIMIT, 1).map(|nanos| Mark::Tick(rate(nanos), class(LIMIT)));
        let copied = Mark::Tick(rate(copy), class(COPY));
        let marks = [limit, Some(copied), best, more, Some(Mark::dot(rate(ours), OURS, LARGE, says(OURS, ours)))];
        Some(Row {
            label: split(name).1.into(),
            note: format!("{:.0} % of a copy", copy / ours * 100.0),
            marks: marks.into_iter().flatten().collect(),
        })
    };
    let ours = [(legend(OURS, LARGE), format!("{OURS}, 1 thread"))];
    let more = most.map(|threads| (ring(0.5, String::new()), format!("{OURS}, {}", format::threads(threads))));
    let copy = (Mark::Tick(0.5, class(COPY)), "a copy of the output's bytes".into());
    let limit = (Mark::Tick(0.5, class(LIMIT)), "what memory allows".into());
    let legend = ours.into_iter().chain(more).chain([copy, limit]);
    let figure = Rows {
        groups: groups(report, Section::Workloads, row)?,
        axis: "GB of output a second (log scale)",
        tick: format::plain,
        base: None,
        legend: legend.chain(peer_legend(report, Section::Workloads, 1)).collect(),
    };
    Some(Chart {
        name: "throughput".into(),
        title: "Throughput beside a copy and the limit of memory, 1 thread".into(),
        caption: "A small dot is the best peer with one thread. A copy moves the output's bytes between warm buffers. \
                  A gather also reads its indices, and its data in an order that no cache foresees. So the copy is a \
                  reference and no limit: a gather out of a small table reads fewer bytes. What memory allows is the \
                  time of the lines that the gather has to move, each once."
            .into(),
        rows: figure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn there_is_a_chart_for_what_was_measured_and_for_nothing_else() {
        let mut report = report();
        let names = |report: &Report| charts(report).into_iter().map(|chart| chart.name).collect::<Vec<_>>();
        assert_eq!(names(&report), ["gathers-1", "gathers-2", "row-bytes-1", "throughput"]);
        report.run.threads = vec![1];
        report.results.retain(|result| result.threads == 1 && !result.workload.starts_with("row_bytes"));
        assert_eq!(names(&report), ["gathers-1", "throughput"]);
        report.results.clear();
        assert!(charts(&report).is_empty());
    }

    #[test]
    fn charts_are_drawn_at_every_width() {
        for chart in charts(&report()) {
            for width in [360.0, 1000.0] {
                let drawing = chart.rows.draw(width);
                assert!(drawing.height > 50.0, "{}", chart.name);
                assert!(drawing.marks.into_string().contains("e-gather-core"), "{}", chart.name);
            }
        }
    }
}

//! What each chart shows, out of a report.

use super::engines::{self, dot, ring, small_dot};
use super::lines::{Axis, Lines, Series};
use super::rows::{Mark, Row, Rows};
use super::{Chart, Figure};
use crate::report::format::{self, times};
use crate::report::model::{COPY, OURS, PeerInfo, Report, Section, WorkloadInfo};

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
    let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
    for workload in report.section(section) {
        let Some(row) = row(workload) else { continue };
        let operator = split(&workload.name).0;
        match groups.iter_mut().find(|(name, _)| name == operator) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((operator.into(), vec![row])),
        }
    }
    (!groups.is_empty()).then_some(groups)
}

/// Entries of a legend for those peers that have a time on a workload of a section.
fn peer_legend(report: &Report, section: Section, threads: usize) -> impl Iterator<Item = (Mark, String)> {
    let (timed, _) = report.timed_rivals(section, threads);
    timed.into_iter().map(|peer| (small_dot(0.5, &peer.name, String::new()), peer.name.clone()))
}

/// How many times as fast as the best peer.
pub(super) fn ratio(report: &Report, (section, what): (Section, &str), threads: usize) -> Option<Chart> {
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let (ours, best) = (report.summary(name, OURS, threads)?, report.best(name, OURS, threads)?);
        let ratio = best.ratio;
        let other = |peer: &PeerInfo| {
            let other = report.beside(name, peer, OURS, threads)?;
            let speed = ratio / other.ratio;
            let (time, alone) = (format::time(other.nanos), if other.alone { " (1 thread)" } else { "" });
            Some(small_dot(speed, &peer.name, format!("{}: {time}{alone}, {} of the best", peer.name, times(speed))))
        };
        let says = format!("{OURS}: {}, {} the best peer", format::time(ours.median), times(ratio));
        let bar = Mark::Bar(1.0, ratio, engines::class(OURS));
        let span = Mark::Span(ratio * ours.median / ours.q3, ratio * ours.median / ours.q1);
        let marks = [bar, span].into_iter().chain(report.rivals().filter_map(other));
        Some(Row {
            label: split(name).1.into(),
            note: format!("{} {}{}", times(ratio), best.peer, if best.alone { "¹" } else { "" }),
            marks: marks.chain([dot(ratio, OURS, says)]).collect(),
        })
    };
    let mean = report.mean_ratio(section, OURS, threads)?;
    let alone = if threads > 1 { " ¹ marks a peer that runs on one thread." } else { "" };
    let ours = [(dot(0.5, OURS, String::new()), OURS.into()), (Mark::Span(0.0, 1.0), "its middle half".into())];
    let figure = Rows {
        groups: groups(report, section, row)?,
        axis: "times as fast as the best peer (log scale)",
        tick: times_tick,
        base: Some(1.0),
        legend: ours.into_iter().chain(peer_legend(report, section, threads)).collect(),
    };
    Some(Chart {
        name: format!("{}-{threads}", if section == Section::Workloads { "ratio" } else { "inverses" }),
        title: format!("gather-core against the best peer on {what}, {}", format::threads(threads)),
        caption: format!(
            "The best peer of each workload stands at 1. Its name is at the right, with how many times as fast \
             gather-core is (planned call, median of both). Right of the line gather-core is faster. The geometric \
             mean is {}. Point at a dot for its time.{alone}",
            times(mean)
        ),
        figure: Figure::Rows(figure),
    })
}

fn times_tick(value: f64) -> String {
    format!("{}×", format::plain(value))
}

/// Bytes of output a second, beside a plain copy of them.
pub(super) fn throughput(report: &Report) -> Option<Chart> {
    let most = report.run.threads.last().copied().filter(|&threads| threads > 1);
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let rate = |nanos: f64| workload.output_bytes as f64 / nanos;
        let says = |what: &str, nanos| format!("{what}: {} GB/s", format::three_digits(rate(nanos)));
        let ours = report.nanos(name, OURS, 1)?;
        let copy = report.nanos(name, COPY, 1)?;
        let best =
            report.best(name, OURS, 1).map(|best| small_dot(rate(best.nanos), best.peer, says(best.peer, best.nanos)));
        let more = most.and_then(|threads| {
            let nanos = report.nanos(name, OURS, threads)?;
            Some(ring(rate(nanos), OURS, says(&format!("{OURS}, {}", format::threads(threads)), nanos)))
        });
        let copied = Mark::Tick(rate(copy), engines::class(COPY));
        let marks = [Some(copied), best, more, Some(dot(rate(ours), OURS, says(OURS, ours)))];
        Some(Row {
            label: split(name).1.into(),
            note: format!("{:.0} % of a copy", copy / ours * 100.0),
            marks: marks.into_iter().flatten().collect(),
        })
    };
    let ours = [(dot(0.5, OURS, String::new()), format!("{OURS}, 1 thread"))];
    let more = most.map(|threads| (ring(0.5, OURS, String::new()), format!("{OURS}, {}", format::threads(threads))));
    let reference = (Mark::Tick(0.5, engines::class(COPY)), "reference: a copy of the output's bytes".into());
    let figure = Rows {
        groups: groups(report, Section::Workloads, row)?,
        axis: "GB of output a second (log scale)",
        tick: format::plain,
        base: None,
        legend: ours
            .into_iter()
            .chain(more)
            .chain([reference])
            .chain(peer_legend(report, Section::Workloads, 1))
            .collect(),
    };
    Some(Chart {
        name: "throughput".into(),
        title: "Throughput beside a copy".into(),
        caption: "A small dot is the best peer with one thread. A copy moves the output's bytes between warm buffers. \
                  A gather also reads its indices, and its data in an order that no cache foresees. So the copy is a \
                  reference and no limit: a gather out of a small table reads fewer bytes."
            .into(),
        figure: Figure::Rows(figure),
    })
}

/// How many times as fast with more threads as with one.
pub(super) fn scaling(report: &Report) -> Option<Chart> {
    let most = report.run.threads.last().copied().filter(|&threads| threads > 1)?;
    let row = |workload: &WorkloadInfo| {
        let gain = |peer: &str, threads| {
            Some(report.nanos(&workload.name, peer, 1)? / report.nanos(&workload.name, peer, threads)?)
        };
        let rivals = report.rivals().filter_map(|peer| {
            let gain = gain(&peer.name, most)?;
            Some(small_dot(gain, &peer.name, format!("{}: {}", peer.name, times(gain))))
        });
        let ours = report.run.threads.iter().filter(|&&threads| threads > 1).filter_map(|&threads| {
            let gain = gain(OURS, threads)?;
            let mark = if threads == most { dot } else { ring };
            Some(mark(gain, OURS, format!("{}: {}", format::threads(threads), times(gain))))
        });
        let last = gain(OURS, most)?;
        let marks = [Mark::Bar(1.0, last, engines::class(OURS))].into_iter().chain(rivals).chain(ours);
        Some(Row { label: split(&workload.name).1.into(), note: times(last), marks: marks.collect() })
    };
    let mut legend = vec![(dot(0.5, OURS, String::new()), format!("{OURS}, {}", format::threads(most)))];
    if report.run.threads.len() > 2 {
        legend.push((ring(0.5, OURS, String::new()), format!("{OURS}, fewer threads")));
    }
    let takes_most =
        |peer: &PeerInfo| report.workloads.iter().any(|w| report.nanos(&w.name, &peer.name, most).is_some());
    let rivals = report.rivals().filter(|peer| takes_most(peer));
    legend.extend(rivals.map(|peer| (small_dot(0.5, &peer.name, String::new()), peer.name.clone())));
    let figure = Rows {
        groups: groups(report, Section::Workloads, row)?,
        axis: "times as fast as with one thread (log scale)",
        tick: times_tick,
        base: Some(1.0),
        legend,
    };
    Some(Chart {
        name: "threads".into(),
        title: format!("What {most} threads gain"),
        caption:
            "Each engine against itself with one thread. gather-core keeps calls of less than a megabyte on one thread."
                .into(),
        figure: Figure::Rows(figure),
    })
}

/// Lines over a section whose workloads differ in one quantity. A line has at least two points.
fn lines(
    report: &Report,
    section: Section,
    x: fn(&WorkloadInfo) -> usize,
    y: fn(&WorkloadInfo, f64) -> f64,
) -> Vec<Series> {
    let series = |peer: &PeerInfo| {
        let point = |workload: &WorkloadInfo| {
            let nanos = report.nanos(&workload.name, &peer.name, 1)?;
            Some((x(workload) as f64, y(workload, nanos)))
        };
        Series { name: peer.name.clone(), points: report.section(section).filter_map(point).collect() }
    };
    report.peers.iter().map(series).filter(|series| series.points.len() > 1).collect()
}

fn bytes_tick(value: f64) -> String {
    format::bytes(value as usize)
}

/// Throughput over the bytes of a row.
pub(super) fn row_bytes(report: &Report) -> Option<Chart> {
    let rate = |workload: &WorkloadInfo, nanos| workload.output_bytes as f64 / nanos;
    let row = |workload: &WorkloadInfo| workload.output_bytes / workload.lanes;
    let series = lines(report, Section::RowBytes, row, rate);
    let x = Axis { title: "bytes of a row", tick: bytes_tick };
    let y = Axis { title: "GB of output a second", tick: format::plain };
    (!series.is_empty()).then(|| Chart {
        name: "row-bytes".into(),
        title: "Throughput by the size of a row, 1 thread".into(),
        caption: "4 MiB of rows out of 256 KiB, i64 indices. Where a row has one byte, eight times as many bytes of \
             indices are read as output is written."
            .into(),
        figure: Figure::Lines(Lines { x, y, series, marked: Vec::new() }),
    })
}

/// Time an element over the bytes of the table.
pub(super) fn table_bytes(report: &Report) -> Option<Chart> {
    let each = |workload: &WorkloadInfo, nanos| nanos / workload.lanes as f64;
    let series = lines(report, Section::TableBytes, |workload| workload.data_bytes, each);
    let x = Axis { title: "bytes of the table", tick: bytes_tick };
    let y = Axis { title: "nanoseconds an element (less is better)", tick: format::plain };
    let caches = &report.machine.caches;
    let marked = caches.iter().map(|cache| (cache.bytes as f64, cache.name.clone())).collect();
    (!series.is_empty()).then(|| Chart {
        name: "table-bytes".into(),
        title: "Time of an element by the size of the table, 1 thread".into(),
        caption: "2^20 elements of f32 at random places, i64 indices. Dotted lines mark the sizes of the caches."
            .into(),
        figure: Figure::Lines(Lines { x, y, series, marked }),
    })
}

/// Nanoseconds a call on a few bytes.
pub(super) fn latency(report: &Report) -> Option<Chart> {
    let row = |workload: &WorkloadInfo, peer: &PeerInfo| {
        let summary = report.summary(&workload.name, &peer.name, 1)?;
        let says = format!("{}: {}", peer.name, format::time(summary.median));
        let marks = vec![Mark::Span(summary.q1, summary.q3), dot(summary.median, &peer.name, says)];
        Some(Row { label: peer.name.clone(), note: format::time(summary.median), marks })
    };
    let group = |workload: &WorkloadInfo| {
        let rows: Vec<Row> = report.peers.iter().filter_map(|peer| row(workload, peer)).collect();
        (!rows.is_empty()).then(|| (split(&workload.name).1.to_owned(), rows))
    };
    let groups: Vec<_> = report.section(Section::Latency).filter_map(group).collect();
    (!groups.is_empty()).then(|| Chart {
        name: "latency".into(),
        title: "Latency of small calls, 1 thread".into(),
        caption:
            "gather-core with a plan made ahead; unplanned, with shapes checked at every call; and fresh, into a new \
             output as well. Peers as their users call them."
                .into(),
        figure: Figure::Rows(Rows {
            groups,
            axis: "nanoseconds a call (log scale; left is faster)",
            tick: format::plain,
            base: None,
            legend: Vec::new(),
        }),
    })
}

//! What each chart shows, out of a report.

use super::lines::{Axis, Lines, Series};
use super::rows::{Mark, Row, Rows};
use super::{Chart, Figure};
use crate::report::format::{self, times};
use crate::report::model::{COPY, MOVES, OURS, PeerInfo, Report, Section, WorkloadInfo};

/// The names in `operator/what`.
fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("", name))
}

/// Rows for the workloads of a section that have one, in groups by operator.
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

/// How many times as fast as the best peer.
pub(super) fn ratio(report: &Report, threads: usize) -> Option<Chart> {
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let (ours, best) = (report.summary(name, OURS, threads)?, report.best(name, threads)?);
        let ratio = best.nanos / ours.median;
        let other = |peer: &PeerInfo| {
            let nanos = report.nanos_within(name, &peer.name, threads)?;
            let says = format!("{}: {}, {} of the best", peer.name, format::time(nanos), times(best.nanos / nanos));
            Some(Mark::Dot(best.nanos / nanos, "other", says))
        };
        let says = format!("{OURS}: {}, {} the best peer", format::time(ours.median), times(ratio));
        let class = if ratio >= 1.0 { "ours" } else { "behind" };
        let bar = Mark::Bar(1.0, ratio, class);
        let span = Mark::Span(best.nanos / ours.q3, best.nanos / ours.q1);
        let marks = [bar, span].into_iter().chain(report.rivals().filter_map(other));
        Some(Row {
            label: split(name).1.into(),
            note: format!("{} {}", times(ratio), best.peer),
            marks: marks.chain([Mark::Dot(ratio, class, says)]).collect(),
        })
    };
    let mean = report.mean_ratio(OURS, threads)?;
    let figure = Rows {
        groups: groups(report, Section::Workloads, row)?,
        axis: "times as fast as the best peer (log scale)",
        tick: times_tick,
        base: Some(1.0),
        legend: vec![
            (Mark::Dot(0.5, "ours", String::new()), "gather-core ahead".into()),
            (Mark::Dot(0.5, "behind", String::new()), "gather-core behind".into()),
            (Mark::Span(0.0, 1.0), "its middle half".into()),
            (Mark::Dot(0.5, "other", String::new()), "peers".into()),
        ],
    };
    Some(Chart {
        name: format!("ratio-{threads}"),
        title: format!("gather-core against the best peer, {}", format::threads(threads)),
        caption: format!(
            "For each workload the best peer stands at 1, named at the right with how many times as fast gather-core is \
             (planned call, median of both). The geometric mean is {}. Grey dots are all peers; point at one to see which.",
            times(mean)
        ),
        figure: Figure::Rows(figure),
    })
}

fn times_tick(value: f64) -> String {
    format!("{}×", format::plain(value))
}

/// Bytes of the output by the second, beside a plain copy of them.
pub(super) fn throughput(report: &Report) -> Option<Chart> {
    let most = report.run.threads.last().copied().filter(|&threads| threads > 1);
    let row = |workload: &WorkloadInfo| {
        let name = &workload.name;
        let rate = |nanos: f64| workload.output_bytes as f64 / nanos;
        let mark = |peer: &str, nanos: f64, class| {
            Mark::Dot(rate(nanos), class, format!("{peer}: {} GB/s", format::three_digits(rate(nanos))))
        };
        let ours = report.nanos(name, OURS, 1)?;
        let copy = report.nanos(name, COPY, 1)?;
        let best = report.best(name, 1).map(|best| mark(best.peer, best.nanos, "rival"));
        let more = most.and_then(|threads| {
            let says = format!("{OURS}, {}", format::threads(threads));
            Some(mark(&says, report.nanos(name, OURS, threads)?, "more"))
        });
        let span = Mark::Bar(rate(ours).min(rate(copy)), rate(ours).max(rate(copy)), "gap");
        let moves = report.nanos(name, MOVES, 1).map(|nanos| Mark::Tick(rate(nanos), "limit-2"));
        let marks =
            [Some(span), Some(Mark::Tick(rate(copy), "limit")), moves, best, more, Some(mark(OURS, ours, "ours"))];
        Some(Row {
            label: split(name).1.into(),
            note: format!("{:.0} % of a copy", copy / ours * 100.0),
            marks: marks.into_iter().flatten().collect(),
        })
    };
    let mut legend = vec![
        (Mark::Dot(0.5, "ours", String::new()), "gather-core, 1 thread".into()),
        (Mark::Dot(0.5, "rival", String::new()), "the best peer, 1 thread".into()),
        (Mark::Tick(0.5, "limit"), "a copy of the output's bytes".into()),
        (Mark::Tick(0.5, "limit-2"), "the moves alone".into()),
    ];
    if let Some(threads) = most {
        legend.insert(1, (Mark::Dot(0.5, "more", String::new()), format!("gather-core, {}", format::threads(threads))));
    }
    let figure = Rows {
        groups: groups(report, Section::Workloads, row)?,
        axis: "GB of output a second (log scale)",
        tick: format::plain,
        base: None,
        legend,
    };
    Some(Chart {
        name: "throughput".into(),
        title: "Throughput against the copy limit".into(),
        caption:
            "A copy of the output's bytes between warm buffers is what the memory allows a call that reads nothing \
                  else; a gather reads its indices too, and its data in an order that no cache foresees. The moves alone, of \
                  rows that are known beforehand, are what is left of a gather when that order is kept."
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
            Some(Mark::Dot(gain, "other", format!("{}: {}", peer.name, times(gain))))
        });
        let ours = report.run.threads.iter().filter(|&&threads| threads > 1).filter_map(|&threads| {
            let gain = gain(OURS, threads)?;
            let class = if threads == most { "ours" } else { "more" };
            Some(Mark::Dot(gain, class, format!("{}: {}", format::threads(threads), times(gain))))
        });
        let last = gain(OURS, most)?;
        let marks = [Mark::Bar(1.0, last, "gap")].into_iter().chain(rivals).chain(ours);
        Some(Row { label: split(&workload.name).1.into(), note: times(last), marks: marks.collect() })
    };
    let mut legend = vec![(Mark::Dot(0.5, "ours", String::new()), format!("gather-core, {}", format::threads(most)))];
    if report.run.threads.len() > 2 {
        legend.push((Mark::Dot(0.5, "more", String::new()), "gather-core, fewer threads".into()));
    }
    legend.push((Mark::Dot(0.5, "other", String::new()), format!("peers that take {}", format::threads(most))));
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
        caption: "Each against itself with one thread. Calls of less than a megabyte stay on one thread.".into(),
        figure: Figure::Rows(figure),
    })
}

/// Lines over a section whose workloads differ in one quantity, which a line needs two of.
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
        caption:
            "4 MiB of rows out of 256 KiB, i64 indices. With rows of one byte eight times as many bytes of indices \
                  are read as of output."
                .into(),
        figure: Figure::Lines(Lines { x, y, series, marked: Vec::new() }),
    })
}

/// Time of an element over the bytes of the table.
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
        caption: "2^20 elements of f32 at random places, i64 indices. Dotted lines are the sizes of the caches.".into(),
        figure: Figure::Lines(Lines { x, y, series, marked }),
    })
}

/// Nanoseconds of calls on a few bytes.
pub(super) fn latency(report: &Report) -> Option<Chart> {
    let row = |workload: &WorkloadInfo, peer: &PeerInfo| {
        let summary = report.summary(&workload.name, &peer.name, 1)?;
        let class = if peer.is_rival() { "other" } else { "ours" };
        let says = format!("{}: {}", peer.name, format::time(summary.median));
        let marks = vec![Mark::Span(summary.q1, summary.q3), Mark::Dot(summary.median, class, says)];
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
            "gather-core is planned once and called, unplanned (shapes checked at every call), or fresh (a new output \
                  too). Peers as they are called."
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

//! The tables of the page and of the markdown.

use super::format::{self, three_digits, times};
use super::model::{
    FRESH, LOOP, Lost, OURS, Outcome, PeerInfo, Report, Section, UNPLANNED, WorkloadInfo, is_reference,
};

/// A table.
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it; may be empty.
    pub remark: String,
    /// The columns' names.
    pub head: Vec<String>,
    /// The rows; the first cell is the row's name.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// What it says when one points at it.
    pub more: String,
    /// Whether it stands out.
    pub strong: bool,
}

impl Cell {
    fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    fn more(self, more: impl Into<String>) -> Self {
        Cell { more: more.into(), ..self }
    }
}

/// The tables that gather-core is compared in: one for each number of threads of each section.
#[must_use]
pub fn compared(report: &Report) -> Vec<Table> {
    let threads = || report.run.threads.iter().copied();
    let sections = Section::COMPARED.into_iter().flat_map(|section| threads().map(move |threads| (section, threads)));
    let tables = sections.map(|((section, what), threads)| workloads(report, section, what, threads));
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// The other tables.
#[must_use]
pub fn others(report: &Report) -> Vec<Table> {
    let tables = [
        spread(report),
        by_peer(report, Section::RowBytes, "Rows of 1 to 4096 bytes: microseconds for 4 MiB", 1e3),
        by_peer(report, Section::TableBytes, "Tables of 4 KiB to 256 MiB: microseconds for 2^20 elements", 1e3),
        by_peer(report, Section::Latency, "Small calls: nanoseconds", 1.0),
        not_timed(report),
        peers(report),
        what(report),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// A section: medians, and the ratios to the best peer.
fn workloads(report: &Report, section: Section, what: &str, threads: usize) -> Table {
    let shown = |peer: &&PeerInfo| {
        let here = |work: &WorkloadInfo| {
            let beside = peer.is_rival() && report.beside(&work.name, peer, OURS, threads).is_some();
            beside || report.outcome(&work.name, &peer.name, threads).is_some()
        };
        let reference = is_reference(&peer.name) && threads > 1;
        !reference && !report.is_absent(peer) && report.section(section).any(here)
    };
    let columns: Vec<&PeerInfo> = report.peers.iter().filter(shown).collect();
    let row = |workload: &WorkloadInfo| {
        let best = report.best(&workload.name, OURS, threads);
        let cell = |peer: &&PeerInfo| {
            let cell = time(report, &workload.name, peer, threads);
            Cell { strong: best.as_ref().is_some_and(|best| best.peer == peer.name), ..cell }
        };
        let ratio = |ours| {
            let ratio = report.ratio(&workload.name, ours, threads);
            Cell::new(ratio.map_or("-".into(), times))
        };
        let name = Cell::new(&workload.name).more(&workload.what);
        let ours = Cell { strong: true, ..ratio(OURS) };
        [name, ours, ratio(FRESH)].into_iter().chain(columns.iter().map(cell)).collect()
    };
    let mut rows: Vec<Vec<Cell>> = report.section(section).map(row).collect();
    if rows.len() > 1 {
        let mean = |ours| Cell::new(report.mean_ratio(section, ours, threads).map_or("-".into(), times));
        let rest = columns.iter().map(|_| Cell::default());
        rows.push([Cell::new("geometric mean"), mean(OURS), mean(FRESH)].into_iter().chain(rest).collect());
    }
    let head = ["workload", "ratio", "ratio, fresh"].map(str::to_owned).into_iter();
    let head = head.chain(columns.iter().map(|peer| short(&peer.name)));
    let python = if columns.iter().any(|peer| peer.python) {
        " Engines called through Python are compared with gather-core called through Python, in turn with them."
    } else {
        ""
    };
    let alone = if threads > 1 { " ¹ marks the time with one thread of a peer that takes no more." } else { "" };
    Table {
        title: format!("Times of {what}, {}", format::threads(threads)),
        remark: format!(
            "Medians. {OURS} is called as planned ahead, unplanned into memory that is used again (`reused`), and \
             unplanned into fresh memory. `ratio` is the best peer's time (in bold) over the planned one: above 1 \
             {OURS} is faster. `ratio, fresh` compares fresh outputs with those of peers that make one at \
             every call.{python}{alone}"
        ),
        head: head.collect(),
        rows,
    }
}

/// The name of a column: our own ways to call are told apart by what they do.
fn short(peer: &str) -> String {
    let way = |name: &str| match name {
        OURS => Some("planned"),
        UNPLANNED => Some("reused"),
        FRESH => Some("fresh"),
        _ => None,
    };
    let (name, python) = peer.split_once(' ').unwrap_or((peer, ""));
    way(name).map_or(peer.into(), |way| format!("{way} {python}").trim_end().into())
}

/// A time, or why there is none.
fn time(report: &Report, workload: &str, peer: &PeerInfo, threads: usize) -> Cell {
    if let Some(summary) = report.summary(workload, &peer.name, threads) {
        let more =
            format!("quartiles {} and {}, {} samples", format::time(summary.q1), format::time(summary.q3), summary.n);
        return Cell::new(format::time(summary.median)).more(more);
    }
    let alone = report.beside(workload, peer, OURS, threads).filter(|_| peer.is_rival());
    match (alone, report.outcome(workload, &peer.name, threads)) {
        (Some(alone), _) => Cell::new(format!("{}¹", format::time(alone.nanos))),
        (None, Some(Outcome::Not(Lost { status, detail }))) => Cell::new(status.word()).more(detail),
        (None, _) => Cell::new("-"),
    }
}

/// The spread of gather-core and of the best peer.
fn spread(report: &Report) -> Table {
    let row = |workload: &WorkloadInfo, peer: &str, threads: usize| {
        let summary = report.summary(&workload.name, peer, threads)?;
        let times = [summary.min, summary.q1, summary.median, summary.q3].map(|nanos| Cell::new(format::time(nanos)));
        let names = [&*workload.name, peer].map(Cell::new).into_iter().chain([Cell::new(threads.to_string())]);
        let counts = [format!("{:.0} %", summary.spread()), summary.n.to_string()].map(Cell::new);
        Some(names.chain(times).chain(counts).collect())
    };
    let mut rows = Vec::new();
    for workload in Section::COMPARED.iter().flat_map(|&(section, _)| report.section(section)) {
        for &threads in &report.run.threads {
            let best = report.best(&workload.name, OURS, threads).filter(|best| !best.alone);
            let peers = [Some(OURS), best.map(|best| best.peer)];
            rows.extend(peers.into_iter().flatten().filter_map(|peer| row(workload, peer, threads)));
        }
    }
    let head = ["workload", "engine", "threads", "least", "quartile", "median", "quartile", "spread", "samples"];
    Table {
        title: "Spread".into(),
        remark: "gather-core and the best peer. The spread is the distance between the quartiles in percent of the \
             median."
            .into(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    }
}

/// A section with one column for each peer that has a time in it.
fn by_peer(report: &Report, section: Section, title: &str, unit: f64) -> Table {
    let nanos = |workload: &WorkloadInfo, peer: &str| report.nanos(&workload.name, peer, 1);
    let names = report.peers.iter().map(|peer| &*peer.name);
    let timed = |peer: &&str| report.section(section).any(|workload| nanos(workload, peer).is_some());
    let columns: Vec<&str> = names.filter(timed).collect();
    let row = |workload: &WorkloadInfo| {
        let cell =
            |peer: &&str| Cell::new(nanos(workload, peer).map_or("-".into(), |nanos| three_digits(nanos / unit)));
        let name = Cell::new(&workload.name).more(&workload.what);
        std::iter::once(name).chain(columns.iter().map(cell)).collect()
    };
    let rows = if columns.is_empty() { Vec::new() } else { report.section(section).map(row).collect() };
    let head = std::iter::once("workload").chain(columns.iter().copied()).map(str::to_owned);
    Table { title: title.into(), remark: "Medians, one thread.".into(), head: head.collect(), rows }
}

/// Which engines have no time, and why.
fn not_timed(report: &Report) -> Table {
    // Each reason with the workloads and numbers of threads that it holds for, in the order of the results.
    let mut reasons: Vec<(&str, &Lost, Vec<String>)> = Vec::new();
    for result in &report.results {
        let Outcome::Not(lost) = &result.outcome else { continue };
        let threads =
            if result.threads == 1 { String::new() } else { format!(" ({})", format::threads(result.threads)) };
        let place = result.workload.clone() + &threads;
        match reasons.iter_mut().find(|reason| (reason.0, reason.1) == (&*result.peer, lost)) {
            Some(reason) => reason.2.push(place),
            None => reasons.push((&result.peer, lost, vec![place])),
        }
    }
    let several = |places: &[String]| match places {
        [one] => Cell::new(one),
        many => Cell::new(format!("{} workloads", many.len())).more(many.join(", ")),
    };
    let row = |(peer, lost, places): &(&str, &Lost, Vec<String>)| {
        vec![Cell::new(*peer), Cell::new(lost.status.word()), Cell::new(&lost.detail), several(places)]
    };
    Table {
        title: "Engines without a time, and why".into(),
        remark: String::new(),
        head: ["engine", "", "why", "where"].map(str::to_owned).to_vec(),
        rows: reasons.iter().map(row).collect(),
    }
}

/// The peers.
fn peers(report: &Report) -> Table {
    let rows = report.peers.iter().map(|peer| [&peer.name, &peer.version, &peer.unequal].map(Cell::new).to_vec());
    Table {
        title: "Engines, and what is not equal".into(),
        remark: format!(
            "`{LOOP}` is the plain loop in safe Rust that one would write. An engine that says `no gather` is a \
             reference and no peer."
        ),
        head: ["engine", "version", "not equal"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

/// The workloads in words.
fn what(report: &Report) -> Table {
    let size = |bytes: usize| Cell::new(format::bytes(bytes));
    let row = |workload: &WorkloadInfo| {
        vec![
            Cell::new(&workload.name),
            Cell::new(&workload.what),
            size(workload.data_bytes),
            size(workload.output_bytes),
        ]
    };
    Table {
        title: "Workloads".into(),
        remark: "Indices are random, each place as likely as any other, and the same for every engine.".into(),
        head: ["workload", "what", "data", "output"].map(str::to_owned).to_vec(),
        rows: Section::COMPARED.iter().flat_map(|&(section, _)| report.section(section)).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::COPY;
    use crate::report::samples::report;

    fn row<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
        let found = table.rows.iter().find(|row| row[0].text == name).expect("a row of that name");
        found.iter().map(|cell| &*cell.text).collect()
    }

    #[test]
    fn every_engine_has_a_cell_whatever_came_out() {
        let table = workloads(&report(), Section::Workloads, "gathers", 1);
        assert_eq!([short("gather-core-fresh (Python)"), short("ONNX Runtime")], ["fresh (Python)", "ONNX Runtime"]);
        let head = ["workload", "ratio", "ratio, fresh", "planned", "copy", "loop", "broken"];
        assert_eq!(table.head, head);
        let words = ["gather/a", "2.00×", "-", "1.00 µs", "500 ns", "2.00 µs", "wrong"];
        assert_eq!(row(&table, "gather/a"), words);
        assert_eq!(row(&table, "gather/b")[6], "crashed");
        assert_eq!(row(&table, "geometric mean")[1], "1.00×");
        assert!(table.rows[0][5].strong && !table.rows[0][4].strong, "the best peer stands out, the copy does not");
    }

    #[test]
    fn peers_of_one_thread_are_marked_as_such() {
        let table = workloads(&report(), Section::Workloads, "gathers", 2);
        assert_eq!(row(&table, "gather/a"), ["gather/a", "4.00×", "-", "500 ns", "2.00 µs¹", "wrong"]);
        assert!(!table.head.contains(&COPY.to_owned()) && table.remark.contains('¹'));
    }

    #[test]
    fn reasons_are_told_once_with_their_places() {
        let table = not_timed(&report());
        let rows: Vec<Vec<&str>> = table.rows.iter().map(|row| row.iter().map(|cell| &*cell.text).collect()).collect();
        let wrong = vec!["broken", "wrong", "byte 3 is 1 instead of 2", "2 workloads"];
        assert_eq!(rows, [wrong, vec!["broken", "crashed", "signal 11", "gather/b"]]);
        assert_eq!(table.rows[0][3].more, "gather/a, gather/a (2 threads)");
    }

    #[test]
    fn spreads_are_of_ours_and_the_best() {
        let table = spread(&report());
        let engines: Vec<&str> = table.rows.iter().map(|row| &*row[1].text).collect();
        assert_eq!(engines, [OURS, LOOP, OURS, OURS, LOOP]);
        assert_eq!(row(&table, "gather/a")[2..], ["1", "900 ns", "950 ns", "1.00 µs", "1.05 µs", "10 %", "3"]);
    }
}

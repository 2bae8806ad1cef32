//! The tables of the page and of the markdown.

use super::format::{self, times};
use super::model::{FRESH, LOOP, OURS, Other, PeerInfo, Report, UNPLANNED};
use super::stats::Summary;
use crate::peers::NotRun;
use crate::sections::{Section, WorkloadInfo};

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

impl Table {
    fn new<const N: usize>(
        title: &str,
        remark: String,
        head: [&str; N],
        rows: impl Iterator<Item = Vec<Cell>>,
    ) -> Self {
        Table { title: title.into(), remark, head: head.map(str::to_owned).to_vec(), rows: rows.collect() }
    }
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
    let sections = Section::ALL.into_iter().flat_map(|section| threads().map(move |threads| (section, threads)));
    let tables = sections.map(|((section, what, _), threads)| workloads(report, section, what, threads));
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// The other tables.
#[must_use]
pub fn others(report: &Report) -> Vec<Table> {
    let tables = [others_measured(report), not_timed(report), peers(report), what(report)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// A section: medians, and the ratios to the best peer.
fn workloads(report: &Report, section: Section, what: &str, threads: usize) -> Table {
    let shown = |peer: &&PeerInfo| {
        let here = |work: &WorkloadInfo| {
            let beside = peer.is_rival() && report.beside(&work.name, peer, OURS, threads).is_some();
            beside || report.measured(&work.name, &peer.name, threads).is_some()
        };
        !report.is_absent(peer) && report.section(section).any(here)
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
    let mut rows: Vec<Vec<Cell>> =
        report.section(section).filter(|work| report.nanos(&work.name, OURS, threads).is_some()).map(row).collect();
    if rows.len() > 1 {
        let mean = |ours| Cell::new(report.mean_ratio(section, ours, threads).map_or("-".into(), times));
        let rest = columns.iter().map(|_| Cell::default());
        rows.push([Cell::new("geometric mean"), mean(OURS), mean(FRESH)].into_iter().chain(rest).collect());
    }
    let head = ["workload", "ratio", "ratio, fresh"].map(str::to_owned).into_iter();
    let head = head.chain(columns.iter().map(|peer| short(&peer.name)));
    // Only a peer of Python has ours of Python beside it.
    let python = columns.iter().any(|peer| peer.python).then_some(
        " Engines called through Python are compared with gather-core called through Python, in turn with them.",
    );
    let python = python.unwrap_or_default();
    let alone = if threads > 1 { " ¹ marks a peer that runs on one thread." } else { "" };
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
    let alone = report.beside(workload, peer, OURS, threads).filter(|beside| beside.alone && peer.is_rival());
    let mark = if alone.is_some() { "¹" } else { "" };
    match (report.measured(workload, &peer.name, threads).map(|measured| &measured.outcome), alone) {
        (Some(Ok(Summary { n, q1, median, q3, .. })), _) => {
            let quartiles = format!("quartiles {} and {}, {n} samples", format::time(*q1), format::time(*q3));
            Cell::new(format::time(*median) + mark).more(quartiles)
        }
        (_, Some(alone)) => Cell::new(format::time(alone.nanos) + mark),
        (Some(Err(why)), None) => Cell::new(why.word()).more(why.why()),
        (None, None) => Cell::new("-"),
    }
}

/// What other benches have measured.
fn others_measured(report: &Report) -> Table {
    let row = |other: &Other| {
        let Summary { q1, median, q3, n, .. } = other.summary;
        let times = [q1, median, q3].map(|nanos| Cell::new(format::time(nanos)));
        let rest = [n.to_string(), format::day(&other.date).into()].map(Cell::new);
        [Cell::new(&other.name)].into_iter().chain(times).chain(rest).collect()
    };
    let remark = "What `cargo bench` has left beside the times of the peers, of whichever run was the last.".into();
    let head = ["benchmark", "quartile", "median", "quartile", "samples", "day"];
    Table::new("Other benches", remark, head, report.others.iter().map(row))
}

/// Which engines have no time, and why.
fn not_timed(report: &Report) -> Table {
    // Each reason with the workloads and numbers of threads that it holds for, in the order of the results.
    let mut reasons: Vec<(&str, &NotRun, Vec<String>)> = Vec::new();
    for result in &report.results {
        let Err(lost) = &result.outcome else { continue };
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
    let row = |(peer, lost, places): &(&str, &NotRun, Vec<String>)| {
        vec![Cell::new(*peer), Cell::new(lost.word()), Cell::new(lost.why()), several(places)]
    };
    let head = ["engine", "", "why", "where"];
    Table::new("Engines without a time, and why", String::new(), head, reasons.iter().map(row))
}

/// The peers.
fn peers(report: &Report) -> Table {
    let rows = report.peers.iter().map(|peer| [&peer.name, &peer.version, &peer.unequal].map(Cell::new).to_vec());
    let remark = format!(
        "`{LOOP}` is the plain loop in safe Rust that one would write. `copy` and `limit` are references and no peers."
    );
    Table::new("Engines, and what is not equal", remark, ["engine", "version", "not equal"], rows)
}

/// The workloads in words.
fn what(report: &Report) -> Table {
    let size = |bytes: usize| Cell::new(format::bytes(bytes));
    let row = |work: &WorkloadInfo| {
        vec![Cell::new(&work.name), Cell::new(&work.what), size(work.data_bytes), size(work.output_bytes)]
    };
    let remark = "Indices are random, each place as likely as any other, and the same for every engine.".into();
    Table::new("Workloads", remark, ["workload", "what", "data", "output"], report.workloads.iter().map(row))
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
        assert_eq!(row(&table, "gather/b")[6], "failed");
        assert_eq!(row(&table, "geometric mean")[1], "1.00×");
        assert!(table.rows[0][5].strong && !table.rows[0][4].strong, "the best peer stands out, the copy does not");
    }

    #[test]
    fn peers_of_one_thread_are_marked_as_such() {
        let table = workloads(&report(), Section::Workloads, "gathers", 2);
        assert_eq!(row(&table, "gather/a"), ["gather/a", "4.00×", "-", "500 ns", "2.00 µs¹", "wrong"]);
        assert!(!table.head.contains(&COPY.to_owned()) && table.remark.contains('¹'), "{:?}", table.head);
    }

    #[test]
    fn reasons_are_told_once_with_their_places() {
        let table = not_timed(&report());
        let rows: Vec<Vec<&str>> = table.rows.iter().map(|row| row.iter().map(|cell| &*cell.text).collect()).collect();
        let wrong = vec!["broken", "wrong", "byte 3 is 1 instead of 2", "2 workloads"];
        assert_eq!(rows, [wrong, vec!["broken", "failed", "signal 11", "gather/b"]]);
        assert_eq!(table.rows[0][3].more, "gather/a, gather/a (2 threads)");
    }

    #[test]
    fn other_benches_have_a_table() {
        let mut report = report();
        assert!(others(&report).iter().all(|table| !table.title.contains("benches")));
        let summary = Summary::of(&[1000.0, 2000.0, 3000.0]).expect("three times");
        report.others = vec![Other { name: "maps/x".into(), date: "2026-01-02T00:00:00Z".into(), summary }];
        assert_eq!(row(&others(&report)[0], "maps/x")[1..], ["1.50 µs", "2.00 µs", "2.50 µs", "3", "2026-01-02"]);
    }
}

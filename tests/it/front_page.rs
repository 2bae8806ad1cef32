//! README's figures of speed: quotients of printed times, means of printed ratios, rows of the record.

use std::collections::BTreeMap;
use std::fs;

use crate::words;

/// The families of workloads that README's means name, and the beginnings of their workloads' names.
const FAMILIES: [(&str, &[&str]); 4] = [
    ("gathers", &["gather/", "gather_elements/", "gather_nd/"]),
    ("scatters", &["scatter_elements/", "scatter_nd/", "index_add/"]),
    ("rearrangements", &["batch_to_space/", "space_to_batch/", "depth_to_space/", "space_to_depth/"]),
    ("bags", &["embedding_bag/"]),
];
/// The workload that is in no mean.
const LATENCY: &str = "gather/small_32x16_8";

/// The rows of each table of times in a text: cells by the names of columns.
fn tables(text: &str) -> Vec<Vec<BTreeMap<&str, &str>>> {
    let mut tables: Vec<Vec<BTreeMap<&str, &str>>> = Vec::new();
    let mut head: Option<Vec<&str>> = None;
    for line in text.lines() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            head = None;
            continue;
        };
        let cells: Vec<&str> = cells.split(" | ").collect();
        match &head {
            None if cells[0] == "workload, ms" => {
                tables.push(Vec::new());
                head = Some(cells);
            }
            Some(head) if cells[0] != "---" => {
                assert_eq!(head.len(), cells.len(), "{line}");
                tables.last_mut().expect("a head").push(head.iter().copied().zip(cells).collect());
            }
            _ => {}
        }
    }
    tables
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"))
}

/// The means that a text must name: `1.60 over 18 gathers, ..`.
fn means(rows: &[BTreeMap<&str, &str>]) -> String {
    let mean = |(family, beginnings): (&str, &[&str])| {
        let is_member = |name: &str| beginnings.iter().any(|beginning| name.starts_with(beginning)) && name != LATENCY;
        let ratios: Vec<f64> = rows
            .iter()
            .filter(|row| is_member(row["workload, ms"]) && row["best / ours"] != "-")
            .map(|row| number(row["best / ours"]).ln())
            .collect();
        let mean = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
        (!ratios.is_empty()).then(|| format!("{mean:.2} over {} {family}", ratios.len()))
    };
    FAMILIES.into_iter().filter_map(mean).collect::<Vec<_>>().join(", ")
}

#[test]
fn ratios_are_quotients_of_printed_times() {
    let text = |path: &str| fs::read_to_string(words::root().join(path)).expect("a text");
    let (readme, record) = (text("README.md"), text("benches/record/engines.md"));
    let (shown, measured) = (tables(&readme), tables(&record));
    assert_eq!((shown.len(), measured.len()), (1, 3), "tables of README and of the record");
    for row in shown.iter().chain(&measured[..2]).flatten().filter(|row| row["best / ours"] != "-") {
        let quotient = number(row["its ms"]) / number(row["ours"]);
        assert!((quotient - number(row["best / ours"])).abs() < 0.005_001, "{row:?}: {quotient}");
        for engine in ["NumPy", "PyTorch"] {
            let time = row.get(engine).filter(|time| **time != "-").map(|time| number(time));
            let is_fresh = measured[1].contains(row);
            assert!(is_fresh || time.is_none_or(|time| time >= number(row["its ms"])), "{row:?}: {engine} is faster");
        }
    }
    assert!(shown[0].len() >= 10 && measured[0].len() >= shown[0].len());
    for row in &shown[0] {
        assert!(measured[0].contains(row), "no row of the record: {row:?}");
    }
    let joined = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for table in &measured[..2] {
        assert!(joined.contains(&means(table)), "README lacks the means of a table: {}", means(table));
    }
}

//! Lists the built-in kernels: every data type x index type x nest rank x operator x level.
//!
//! `cargo run --release -p gather-core --example kernels` prints one line for each operator, data type and index type,
//! with its ranks and levels. With `-- --all` it prints every row.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use gather_core::{KernelInfo, Registry};

fn main() -> ExitCode {
    let all = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--all" => true,
        _ => {
            eprintln!("kernels: the only option is --all");
            return ExitCode::from(2);
        }
    };
    let rows: Vec<KernelInfo> = Registry::builtin().kernels().collect();
    if all {
        print_rows(&rows)
    } else {
        print_families(&rows)
    }
    print_counts(&rows);
    ExitCode::SUCCESS
}

fn index(row: &KernelInfo) -> String {
    row.index.map_or_else(|| "-".into(), |index| index.to_string())
}

fn rank(row: &KernelInfo) -> String {
    row.rank.map_or_else(|| "any".into(), |rank| rank.to_string())
}

fn print_rows(rows: &[KernelInfo]) {
    println!("{:<16} {:<11} {:<6} {:>4} {:<7} kernel", "operator", "data", "index", "rank", "level");
    for row in rows {
        println!("{:<16} {:<11} {:<6} {:>4} {:<7} {}", row.op, row.dtype, index(row), rank(row), row.level, row.name);
    }
}

fn print_families(rows: &[KernelInfo]) {
    type Family<'a> = (gather_core::Op, usize, String);
    let mut families: BTreeMap<Family<'_>, Vec<&KernelInfo>> = BTreeMap::new();
    let types: Vec<_> = rows.iter().map(|row| row.dtype).fold(Vec::new(), |mut types, dtype| {
        if !types.contains(&dtype) {
            types.push(dtype);
        }
        types
    });
    for row in rows {
        let position = types.iter().position(|&dtype| dtype == row.dtype).unwrap_or_default();
        families.entry((row.op, position, index(row))).or_default().push(row);
    }
    println!("{:<16} {:<11} {:<6} {:<22} {:<13} kernels", "operator", "data", "index", "nest ranks", "levels");
    for ((op, dtype, index), rows) in &families {
        let ranks: BTreeSet<(bool, String)> = rows.iter().map(|row| (row.rank.is_none(), rank(row))).collect();
        let ranks = ranks.into_iter().map(|(_, rank)| rank).collect::<Vec<_>>().join(" ");
        let levels: BTreeSet<&str> = rows.iter().map(|row| row.level.name()).collect();
        let levels = levels.into_iter().rev().collect::<Vec<_>>().join(" ");
        let family = rows[0].name.rsplit_once("_r").map_or(rows[0].name, |(family, _)| family);
        println!("{op:<16} {:<11} {index:<6} {ranks:<22} {levels:<13} {family}_r*", types[*dtype]);
    }
}

fn print_counts(rows: &[KernelInfo]) {
    let count = |distinct: BTreeSet<String>| distinct.len();
    println!();
    println!(
        "{} rows: {} operators, {} data types, {} index types, {} nest ranks (any is one), {} levels",
        rows.len(),
        count(rows.iter().map(|row| row.op.to_string()).collect()),
        count(rows.iter().map(|row| row.dtype.to_string()).collect()),
        count(rows.iter().filter_map(|row| row.index).map(|index| index.to_string()).collect()),
        count(rows.iter().map(rank).collect()),
        count(rows.iter().map(|row| row.level.to_string()).collect()),
    );
    println!("{} functions named, shared by width", count(rows.iter().map(|row| row.name.to_owned()).collect()));
}

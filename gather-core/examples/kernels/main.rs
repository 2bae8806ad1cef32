//! Lists the built-in kernels: every data type x index type x nest rank x operator x level.
//!
//! `cargo run --release -p gather-core --example kernels` prints one line for each operator, data type and index type,
//! with its ranks and levels, then how many rows, kernels and distinct functions there are. With `-- --all` it prints
//! every row. It fails if a combination is missing.
//!
//! With `-- --show gather_x32_i64_r2__avx2` it prints one kernel: the rows that name it, the other kernels that run the
//! same function, its loop nest, its body for each method, and the files in which they stand.

mod show;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use gather_core::{DType, IndexType, KernelInfo, Level, Op, Registry};

const USAGE: &str = "usage: kernels [--all | --show NAME]";

fn main() -> ExitCode {
    let rows: Vec<KernelInfo> = Registry::builtin().kernels().collect();
    let grid = Grid::new(&rows);
    let mut text = String::new();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let written = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => grid.write_families(&mut text, &rows).and_then(|()| grid.write_counts(&mut text, &rows)),
        ["--all"] => write_rows(&mut text, &rows).and_then(|()| grid.write_counts(&mut text, &rows)),
        ["--show", name] => {
            let named: Vec<&KernelInfo> = rows.iter().filter(|row| row.name == *name).collect();
            if named.is_empty() {
                eprintln!("kernels: no kernel is named {name:?}; --all lists them");
                return ExitCode::from(2);
            }
            show::write(&mut text, &named, &rows)
        }
        ["--help" | "-h"] => writeln!(text, "{USAGE}"),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    written.expect("a String takes all that is written");
    // A reader such as `head` may leave early.
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => panic!("{error}"),
        _ => {}
    }
    assert!(grid.is_full(&rows), "a combination is missing");
    ExitCode::SUCCESS
}

/// The values in each column of the rows, in order.
struct Grid {
    ops: BTreeSet<Op>,
    /// In the order of the registry.
    dtypes: Vec<DType>,
    indices: BTreeSet<IndexType>,
    ranks: BTreeSet<Rank>,
    levels: BTreeSet<Level>,
}

/// The ranks, then `any`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exactly(usize),
    Any,
}

fn rank(row: &KernelInfo) -> Rank {
    row.rank.map_or(Rank::Any, Rank::Exactly)
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rank::Exactly(rank) => write!(f, "{rank}"),
            Rank::Any => f.write_str("any"),
        }
    }
}

fn index(index: Option<IndexType>) -> String {
    index.map_or_else(|| "-".into(), |index| index.to_string())
}

fn joined<T: ToString>(items: &BTreeSet<T>) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

fn write_rows(text: &mut String, rows: &[KernelInfo]) -> std::fmt::Result {
    writeln!(text, "{:<16} {:<11} {:<6} {:>4} {:<7} kernel", "operator", "data", "index", "rank", "level")?;
    for row in rows {
        let (op, dtype, index, rank, level) = (row.op, row.dtype, index(row.index), rank(row).to_string(), row.level);
        writeln!(text, "{op:<16} {dtype:<11} {index:<6} {rank:>4} {level:<7} {}", row.name)?;
    }
    Ok(())
}

impl Grid {
    fn new(rows: &[KernelInfo]) -> Self {
        let mut dtypes = Vec::new();
        for row in rows {
            if !dtypes.contains(&row.dtype) {
                dtypes.push(row.dtype);
            }
        }
        Grid {
            ops: rows.iter().map(|row| row.op).collect(),
            dtypes,
            indices: rows.iter().filter_map(|row| row.index).collect(),
            ranks: rows.iter().map(rank).collect(),
            levels: rows.iter().map(|row| row.level).collect(),
        }
    }

    fn write_families(&self, text: &mut String, rows: &[KernelInfo]) -> std::fmt::Result {
        writeln!(
            text,
            "{:<16} {:<11} {:<6} {:<22} {:<18} kernels",
            "operator", "data", "index", "nest ranks", "levels"
        )?;
        let indices = || [None].into_iter().chain(self.indices.iter().copied().map(Some));
        for &op in &self.ops {
            for &dtype in &self.dtypes {
                for of in indices() {
                    let family = || rows.iter().filter(|row| (row.op, row.dtype, row.index) == (op, dtype, of));
                    let Some(first) = family().next() else { continue };
                    let (ranks, levels): (BTreeSet<Rank>, BTreeSet<Level>) =
                        family().map(|row| (rank(row), row.level)).unzip();
                    let name = first.name.rsplit_once("_r").map_or(first.name, |(name, _)| name);
                    let (index, ranks, levels) = (index(of), joined(&ranks), joined(&levels));
                    writeln!(text, "{op:<16} {dtype:<11} {index:<6} {ranks:<22} {levels:<18} {name}_r*")?;
                }
            }
        }
        Ok(())
    }

    fn write_counts(&self, text: &mut String, rows: &[KernelInfo]) -> std::fmt::Result {
        let Grid { ops, dtypes, indices, ranks, levels } = self;
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        writeln!(text)?;
        writeln!(
            text,
            "{} rows: {} operators, {} data types, {} index types, {} nest ranks (any is one), {} levels",
            rows.len(),
            ops.len(),
            dtypes.len(),
            indices.len(),
            ranks.len(),
            levels.len()
        )?;
        writeln!(text, "{} kernels, shared by data types of one width and by operators", names.len())?;
        let functions: BTreeSet<String> = rows.iter().map(show::function).collect();
        writeln!(text, "{} functions; kernels of the fallback share theirs", functions.len())
    }

    /// Whether there is one row for every combination. Operators that rearrange space have no indices.
    fn is_full(&self, rows: &[KernelInfo]) -> bool {
        let each = self.dtypes.len() * self.ranks.len() * self.levels.len();
        let indexed: BTreeSet<Op> = rows.iter().filter(|row| row.index.is_some()).map(|row| row.op).collect();
        let expected = each * (indexed.len() * self.indices.len() + (self.ops.len() - indexed.len()));
        let key = |row: &KernelInfo| (row.op, row.dtype.name(), row.index, rank(row), row.level);
        let distinct: BTreeSet<_> = rows.iter().map(key).collect();
        rows.len() == expected && distinct.len() == expected
    }
}

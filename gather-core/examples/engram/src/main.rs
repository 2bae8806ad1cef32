//! Rows of an embedding table that lies in many files, and is larger than memory.
//!
//! ```text
//! cargo run --release -p engram -- --make FOLDER --gib 2 --format fp8 --shards 64 --columns 160
//! cargo run --release -p engram -- FOLDER --rows 5,17,204799
//! cargo run --release -p engram -- FOLDER --compare
//! cargo run --release -p engram -- FOLDER --budget 256
//! ```
//!
//! The folder has shards in `.safetensors` files: in the order of their names, their rows are one table, made by
//! `chunks`. Each shard has two tensors:
//!
//! - `NAME`, by default `weight`: `F8_E4M3` of `[rows, columns]`; or `U8` of `[rows, columns / 2]`, codes of four bits,
//!   the lower half of a byte first.
//! - `NAME_scale_inv`, `NAME_scale` or `scale`: `F32`, or for FP8 `F8_E8M0`, of `[rows]` or `[rows, n]`: a scale for
//!   each row, or for each 32 or 128 columns.
//!
//! A number is `code * scale`, or `(code - 8) * scale` in four bits. `--compare` times the library, a loop, `pread` on
//! several threads, and io_uring, with the pages of the files in memory and not in memory. `--budget` shows the memory
//! that batches of random rows take, and its bound.
//!
//! Rows of tables that `--make` made are compared with the values they were made of. The exit status is 1 for an error,
//! 2 for a wrong command line, and 3 where pages stay in memory, so that reads from the disk cannot be timed.

#[macro_use]
#[path = "../../common/print.rs"]
mod print;
mod content;
mod format;
mod make;
mod rows;
mod shards;

// The crate `io-uring` takes pointers of 64 bits.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod measure;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod measure {
    use std::error::Error;

    use crate::{Batches, NotCold, Shards};

    pub(crate) fn compare(_: &Shards, _: usize) -> Result<(), Box<dyn Error>> {
        Err(NotCold("pages of files are dropped on Linux of 64 bits only".into()).into())
    }

    impl Batches {
        pub(crate) fn run(&self, of: &Shards) -> Result<(), Box<dyn Error>> {
            compare(of, self.rounds)
        }
    }
}

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use gather_core::Residency;
use lexopt::{Arg, ValueExt};

use crate::format::Format;
use crate::shards::Shards;

const USAGE: &str = "usage: engram FOLDER [--tensor NAME] --rows N,N,..
       engram FOLDER [--tensor NAME] --compare [--rounds N]
       engram FOLDER [--tensor NAME] --budget MIB [--batches N] [--batch N] [--rounds N]
       engram --make FOLDER --gib N [--format NAME] [--shards N] [--columns N]
  --tensor NAME  the tensor of codes (default weight); its scales are NAME_scale_inv, NAME_scale or scale
  --rows N,N     prints rows by their ids
  --compare      times reads from memory and from the disk: medians of --rounds N (default 5)
  --budget MIB   reads --batches N (default 1000) of --batch N random rows (default 256), without a budget and with a
                 budget of MIB MiB, and shows the memory and the time: medians of --rounds N (default 1)
  --make FOLDER  writes a table of --gib N (may be 0.01) in --shards N files (default 64), of rows of --columns N numbers
                 (default 160). --format: fp8 (default), fp8-32, fp8-128: FP8 with an f32 for each row, 32 or 128
                 numbers; mxfp8-row, mxfp8, mxfp8-128: with a power of two; q4-row, q4: four bits, an f32 for each row
                 or 32 numbers";

/// Numbers of a row that are shown.
const SHOWN: usize = 6;

#[derive(Default)]
struct Options {
    folder: Option<PathBuf>,
    make: Option<PathBuf>,
    tensor: Option<String>,
    rows: Option<Vec<u64>>,
    is_compared: bool,
    rounds: Option<usize>,
    budget: Option<usize>,
    batches: Option<usize>,
    batch: Option<usize>,
    gib: Option<f64>,
    format: Option<String>,
    shards: Option<usize>,
    columns: Option<usize>,
    /// The names of all options that are given.
    names: Vec<String>,
}

fn main() -> ExitCode {
    let fail = |message: String, status| {
        eprintln!("engram: {message}");
        ExitCode::from(status)
    };
    let task = match options() {
        Ok(Some(options)) => task(options),
        Ok(None) => {
            say!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => Err(error.to_string()),
    };
    match task.map(run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // Names of files and texts of headers are whoever's: no control character of theirs reaches a terminal.
        Ok(Err(error)) => fail(printable(&error.to_string()), if error.is::<NotCold>() { 3 } else { 1 }),
        Err(error) => fail(format!("{error}\n{USAGE}"), 2),
    }
}

/// A text with its control characters as escapes.
fn printable(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// The options, or `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        if let Arg::Long(name) = arg {
            options.names.push(name.to_owned());
        }
        match arg {
            Arg::Value(folder) if options.folder.is_none() => options.folder = Some(folder.into()),
            Arg::Long("make") => options.make = Some(parser.value()?.into()),
            Arg::Long("tensor") => options.tensor = Some(parser.value()?.string()?),
            Arg::Long("rows") => {
                let ids = parser.value()?.string()?;
                let ids = ids.split(',').map(|id| id.trim().parse::<u64>()).collect::<Result<_, _>>();
                options.rows = Some(ids.map_err(|error| format!("--rows: {error}"))?);
            }
            Arg::Long("compare") => options.is_compared = true,
            Arg::Long("rounds") => options.rounds = Some(number(&mut parser, "rounds", 1000)?),
            Arg::Long("budget") => options.budget = Some(number(&mut parser, "budget", 1 << 22)?),
            Arg::Long("batches") => options.batches = Some(number(&mut parser, "batches", 1 << 30)?),
            Arg::Long("batch") => options.batch = Some(number(&mut parser, "batch", 1 << 20)?),
            Arg::Long("gib") => options.gib = Some(parser.value()?.parse()?),
            Arg::Long("format") => options.format = Some(parser.value()?.string()?),
            Arg::Long("shards") => options.shards = Some(number(&mut parser, "shards", make::MOST_SHARDS)?),
            Arg::Long("columns") => options.columns = Some(parser.value()?.parse()?),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The value of an option: 1 to `most`.
fn number(parser: &mut lexopt::Parser, name: &str, most: usize) -> Result<usize, lexopt::Error> {
    let number = parser.value()?.parse()?;
    if !(1..=most).contains(&number) {
        return Err(format!("--{name} {number}: not 1 to {most}").into());
    }
    Ok(number)
}

/// A command line that makes sense.
enum Task {
    Make(PathBuf, make::Table),
    Rows(PathBuf, String, Vec<u64>),
    Compare(PathBuf, String, usize),
    Budget(PathBuf, String, Batches),
}

/// Batches of random rows to read, and bytes of memory for the files.
#[allow(dead_code, reason = "read on Linux of 64 bits")]
struct Batches {
    budget: usize,
    batches: usize,
    /// Rows of a batch.
    rows: usize,
    rounds: usize,
}

fn task(options: Options) -> Result<Task, String> {
    let tensor = options.tensor.unwrap_or_else(|| "weight".into());
    let only = |of: &[&str]| match options.names.iter().find(|name| !of.contains(&name.as_str())) {
        Some(name) => Err(format!("--{name}: not an option of --{}", of[0])),
        None => Ok(()),
    };
    match (options.make, options.folder, options.rows, options.budget, options.is_compared) {
        (Some(folder), None, None, None, false) => {
            only(&["make", "gib", "format", "shards", "columns"])?;
            let gib = options.gib.ok_or("--make needs --gib")?;
            let name = options.format.as_deref().unwrap_or("fp8");
            let format = Format::from_name(name, options.columns.unwrap_or(160))?;
            Ok(Task::Make(folder, make::Table::new(gib, format, options.shards.unwrap_or(64))?))
        }
        (None, Some(folder), Some(ids), None, false) => {
            only(&["rows", "tensor"])?;
            Ok(Task::Rows(folder, tensor, ids))
        }
        (None, Some(folder), None, None, true) => {
            only(&["compare", "tensor", "rounds"])?;
            Ok(Task::Compare(folder, tensor, options.rounds.unwrap_or(5)))
        }
        (None, Some(folder), None, Some(mib), false) => {
            only(&["budget", "tensor", "batches", "batch", "rounds"])?;
            let budget =
                mib.checked_mul(1 << 20).ok_or_else(|| format!("--budget {mib}: exceeds the address space"))?;
            let (batches, rows) = (options.batches.unwrap_or(1000), options.batch.unwrap_or(256));
            Ok(Task::Budget(folder, tensor, Batches { budget, batches, rows, rounds: options.rounds.unwrap_or(1) }))
        }
        _ => Err("give --make FOLDER, or FOLDER with --rows, --compare or --budget".into()),
    }
}

/// The pages of the files stay in memory, so that no read from the disk can be timed.
#[derive(Debug)]
struct NotCold(String);

impl std::fmt::Display for NotCold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: reads from the disk cannot be timed", self.0)
    }
}

impl Error for NotCold {}

fn run(task: Task) -> Result<(), Box<dyn Error>> {
    match task {
        Task::Make(folder, table) => table.write(&folder),
        Task::Rows(folder, tensor, ids) => print_rows(&open(&folder, &tensor)?, &ids),
        Task::Compare(folder, tensor, rounds) => measure::compare(&open(&folder, &tensor)?, rounds),
        Task::Budget(folder, tensor, batches) => batches.run(&open(&folder, &tensor)?),
    }
}

/// Numbers of rows.
fn numbers(rows: usize, columns: usize) -> Result<Vec<f32>, String> {
    let mut numbers = Vec::new();
    let count = rows.checked_mul(columns).filter(|&count| numbers.try_reserve_exact(count).is_ok());
    numbers.resize(count.ok_or_else(|| format!("{rows} rows of {columns} numbers exceed the memory"))?, 0.0);
    Ok(numbers)
}

/// Opens a table, and prints its shape.
fn open(folder: &std::path::Path, tensor: &str) -> Result<Shards, Box<dyn Error>> {
    if cfg!(target_endian = "big") {
        return Err("numbers of files are little-endian, and this machine is not".into());
    }
    let table = Shards::open(folder, tensor)?;
    let rows = |pick: fn(usize, usize) -> usize| table.shards.iter().map(|shard| shard.rows).reduce(pick);
    let (least, most) = (rows(usize::min).unwrap_or(0), rows(usize::max).unwrap_or(0));
    let a_shard = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let (count, columns) = (table.shards.len(), table.format.columns);
    say!("table  [{}, {columns}] of {}: {count} shards of {a_shard} rows", table.rows(), table.format);
    Ok(table)
}

fn print_rows(table: &Shards, ids: &[u64]) -> Result<(), Box<dyn Error>> {
    let columns = table.format.columns;
    let mut out = numbers(ids.len(), columns)?;
    let mut known = Residency::new(table.shards.iter().map(|shard| &shard.map));
    rows::with(table, &mut |rows| {
        rows.will_need(ids, &mut known);
        Ok(rows.read(ids, &mut out)?)
    })?;
    for (id, row) in ids.iter().zip(out.chunks_exact(columns)) {
        let shown: Vec<String> = row.iter().take(SHOWN).map(|number| format!("{number:.6}")).collect();
        say!("{id:>10}  {}{}", shown.join(" "), if columns > SHOWN { " .." } else { "" });
    }
    if table.check(ids, &out)? {
        say!("equal  to the values that the table was made of");
    }
    Ok(())
}

//! One table in several processes: each maps the same file, and memory holds it once.
//!
//! ```text
//! cargo run --release -p gather-core --example shared_table
//! cargo run --release -p gather-core --example shared_table -- --mib 4096 --processes 8 --file /data/table.bin
//! ```
//!
//! Makes a file and starts further processes of itself. Every process gathers all rows in an order of its own, checks
//! them, and says what memory it has while the others have theirs. Then the same with processes that read the file into
//! memory of their own. The file is removed at the end.
//!
//! `Rss` is the memory that a process can see, pages of others included. `Pss` counts a page of n processes as an nth,
//! so that its sum is the memory that all have together. Both are Linux's: other systems skip the example, and the exit
//! status is 3.

#[macro_use]
#[path = "common/print.rs"]
mod print;

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use gather_core::{DynView, Element, Gather, Tensor, View};
use lexopt::{Arg, ValueExt};
use memmap2::Mmap;

const USAGE: &str = "usage: shared_table [--mib N] [--processes N] [--file PATH]
  --mib N        size of the table, at most 65536 (default 256)
  --processes N  processes that have it, 2 to 64 (default 2)
  --file PATH    where the table is made; must not exist (default: in the folder for temporary files)";

/// Numbers in a row.
const COLUMNS: usize = 64;

/// The rows that a call gathers.
const COUNT: usize = 4096;

struct Options {
    mib: usize,
    processes: usize,
    file: PathBuf,
    /// The number of a process that this program has started, and how it has the table.
    worker: Option<(usize, Kind)>,
}

/// How a process has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Mapped,
    Read,
}

/// The bytes of a table.
enum Table {
    Mapped(Mmap),
    Read(Vec<u8>),
}

/// Memory of a process in KiB.
#[derive(Clone, Copy)]
struct Memory {
    rss: u64,
    pss: u64,
    shared: u64,
}

/// The system does not tell a process's share of memory, so that there is nothing to measure.
#[derive(Debug)]
struct Skipped(String);

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl Error for Skipped {}

fn main() -> ExitCode {
    let fail = |message: String, status| {
        eprintln!("shared_table: {message}");
        ExitCode::from(status)
    };
    let ran = match options() {
        Ok(Some(Options { worker: Some((number, kind)), file, .. })) => work(&file, number, kind),
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            say!("{USAGE}");
            Ok(())
        }
        Err(error) => return fail(format!("{error}\n{USAGE}"), 2),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error.to_string(), if error.is::<Skipped>() { 3 } else { 1 }),
    }
}

fn options() -> Result<Option<Options>, lexopt::Error> {
    let file = std::env::temp_dir().join(format!("shared_table.{}.bin", std::process::id()));
    let mut options = Options { mib: 256, processes: 2, file, worker: None };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("mib") => options.mib = parser.value()?.parse::<usize>()?.clamp(1, 65_536),
            Arg::Long("processes") => options.processes = parser.value()?.parse::<usize>()?.clamp(2, 64),
            Arg::Long("file") => options.file = parser.value()?.into(),
            // Not for people: how the program starts itself.
            Arg::Long("mapped") => options.worker = Some((parser.value()?.parse()?, Kind::Mapped)),
            Arg::Long("read") => options.worker = Some((parser.value()?.parse()?, Kind::Read)),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

/// Removes the file when all is done, also after an error.
struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    memory()?;
    let file = File::options().write(true).create_new(true).open(&options.file)?;
    let _removed = Removed(&options.file);
    let rows = (options.mib << 20) / (COLUMNS * size_of::<u32>());
    let mut file = BufWriter::with_capacity(1 << 20, file);
    for row in 0..rows {
        for column in 0..COLUMNS {
            file.write_all(&number(row, column).to_ne_bytes())?;
        }
    }
    file.into_inner()?;

    let Options { mib, processes, .. } = *options;
    say!("{mib} MiB, {rows} rows, in {}", options.file.display());
    say!("| table | process | Rss MiB | Pss MiB | shared MiB |");
    say!("|---|---|---|---|---|");
    let [mapped, read] = [measure(options, Kind::Mapped)?, measure(options, Kind::Read)?];
    say!("{processes} processes have {mapped:.0} MiB where they map the file, and {read:.0} MiB where each reads it");
    // Besides the table, a process has its code, its stack, and a MiB of rows.
    let table = mib as f64;
    let others = 16.0 * processes as f64;
    if !(table..table + others).contains(&mapped) {
        return Err("a mapped table is not in memory once".into());
    }
    if read < table * processes as f64 {
        return Err("a table that each process reads is not in memory once for each".into());
    }
    Ok(())
}

/// A process that this one has started: it gathers its rows, then answers each line with its memory.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(file: &Path, number: usize, kind: Kind) -> Result<Self, Box<dyn Error>> {
        let kind = if kind == Kind::Mapped { "--mapped" } else { "--read" };
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--file").arg(file).arg(kind).arg(number.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().ok_or("a process without output")?);
        Ok(Worker { child, input, output: BufReader::new(output) })
    }

    /// Reads its next line.
    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() { Err("a process ended early".into()) } else { Ok(line) }
    }

    /// Asks for its memory, now that all have theirs.
    fn memory(&mut self) -> Result<Memory, Box<dyn Error>> {
        self.input.as_mut().ok_or("a process without input")?.write_all(b"\n")?;
        let line = self.line()?;
        let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        let &[rss, pss, shared] = &numbers[..] else { return Err("a process says something else".into()) };
        Ok(Memory { rss, pss, shared })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A process ends with its input.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Prints the memory of processes, and returns what they have together, in MiB.
fn measure(options: &Options, kind: Kind) -> Result<f64, Box<dyn Error>> {
    let workers = 1..options.processes;
    let workers = workers.map(|number| Worker::start(&options.file, number, kind));
    let mut workers = workers.collect::<Result<Vec<_>, _>>()?;
    let table = gather_all(&options.file, 0, kind)?;
    for worker in &mut workers {
        worker.line()?;
    }
    let mut all = vec![memory()?];
    for worker in &mut workers {
        all.push(worker.memory()?);
    }
    drop(table);
    let mib = |kib: u64| kib as f64 / 1024.0;
    let name = if kind == Kind::Mapped { "mapped" } else { "read" };
    for (process, Memory { rss, pss, shared }) in all.iter().enumerate() {
        say!("| {name} | {process} | {:.1} | {:.1} | {:.1} |", mib(*rss), mib(*pss), mib(*shared));
    }
    Ok(mib(all.iter().map(|memory| memory.pss).sum()))
}

/// A process that was started by another: gathers, says so, and says its memory when it is asked.
fn work(file: &Path, number: usize, kind: Kind) -> Result<(), Box<dyn Error>> {
    let table = gather_all(file, number, kind)?;
    say!("gathered");
    let mut input = std::io::stdin().lock();
    if input.read_line(&mut String::new())? > 0 {
        let Memory { rss, pss, shared } = memory()?;
        say!("{rss} {pss} {shared}");
        // The others measure too: the table is kept until the input ends.
        input.read_to_end(&mut Vec::new())?;
    }
    drop(table);
    Ok(())
}

/// Gathers and checks every row, in an order of the process's own. Returns the table, which is in memory now.
fn gather_all(path: &Path, process: usize, kind: Kind) -> Result<Table, Box<dyn Error>> {
    let mut file = File::open(path)?;
    let bytes = match kind {
        // SAFETY: the first process has made the file under a name of its own, and nobody writes to it any more.
        Kind::Mapped => Table::Mapped(unsafe { Mmap::map(&file) }?),
        Kind::Read => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Table::Read(bytes)
        }
    };
    let rows = bytes.len() / (COLUMNS * size_of::<u32>());
    let table = DynView::from_bytes(u32::DTYPE, &bytes, &[rows, COLUMNS])?.downcast::<u32>()?;
    let gather = Gather::new(0);
    let mut found = Tensor::default();
    // Steps of a prime number reach all rows, whose number it does not divide: 4096 for each of at most 65536 MiB.
    let order = |at: usize| (at * 1_000_003 + process * 4099) % rows;
    for start in (0..rows).step_by(COUNT) {
        let ids: Vec<usize> = (start..rows.min(start + COUNT)).map(order).collect();
        let indices = View::new(&ids, &[ids.len()])?;
        gather.will_need(&table, &indices);
        gather.run_into(&table, &indices, &mut found)?;
        let expected = ids.iter().flat_map(|&row| (0..COLUMNS).map(move |column| number(row, column)));
        if !found.as_slice().iter().copied().eq(expected) {
            return Err("the rows are not those of the table".into());
        }
    }
    Ok(bytes)
}

impl Deref for Table {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Table::Mapped(map) => map,
            Table::Read(bytes) => bytes,
        }
    }
}

/// The number in a column of a row.
fn number(row: usize, column: usize) -> u32 {
    (row as u32).wrapping_mul(2_654_435_761) ^ column as u32
}

/// The memory of this process.
fn memory() -> Result<Memory, Skipped> {
    const FILE: &str = "/proc/self/smaps_rollup";
    let text = std::fs::read_to_string(FILE).map_err(|error| Skipped(format!("{FILE}: {error}")))?;
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.ok_or_else(|| Skipped(format!("{FILE} has no {name}")))
    };
    Ok(Memory { rss: kib("Rss")?, pss: kib("Pss")?, shared: kib("Shared_Clean")? + kib("Shared_Dirty")? })
}

//! Rows of a table in a file that is not in memory, with and without asking for their pages first.
//!
//! ```text
//! cargo run --release -p gather-core --example cold_table
//! cargo run --release -p gather-core --example cold_table -- --gib 16 --file /data/table.bin
//! ```
//!
//! Makes a file of some GiB that holds data where rows will be read, and holes elsewhere. Before each call its pages
//! are dropped from memory. Both ways are run in turn, and every byte that they find is checked. The file is removed at
//! the end.
//!
//! Where pages stay in memory after all, such as in a file system without a disk, nothing is measured, and the exit
//! status is 3.

#[macro_use]
#[path = "common/print.rs"]
mod print;

use std::error::Error;
use std::fs::File;
use std::io::{IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use gather_core::{AdviceStats, Gather, Par, View};
use lexopt::{Arg, ValueExt};
use memmap2::Mmap;

const USAGE: &str = "usage: cold_table [--gib N] [--rounds N] [--file PATH]
  --gib N      size of the table (default 4)
  --rounds N   rounds of timing, whose medians count (default 5)
  --file PATH  where the table is made; must not exist (default: in the folder for temporary files)";

/// The unit of the disk and of the page cache.
const BLOCK: u64 = 4096;

struct Options {
    gib: u64,
    rounds: usize,
    file: PathBuf,
}

fn main() -> ExitCode {
    let fail = |message: String, status| {
        eprintln!("cold_table: {message}");
        ExitCode::from(status)
    };
    match options() {
        Ok(Some(options)) => match run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(error.to_string(), if error.is::<NotCold>() { 3 } else { 1 }),
        },
        Ok(None) => {
            say!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(format!("{error}\n{USAGE}"), 2),
    }
}

/// The options, or `None` where help is asked for.
fn options() -> Result<Option<Options>, lexopt::Error> {
    let file = std::env::temp_dir().join(format!("cold_table.{}.bin", std::process::id()));
    let mut options = Options { gib: 4, rounds: 5, file };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("gib") => options.gib = parser.value()?.parse::<u64>()?.clamp(1, 1 << 12),
            Arg::Long("rounds") => options.rounds = parser.value()?.parse::<usize>()?.clamp(1, 1000),
            Arg::Long("file") => options.file = parser.value()?.into(),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The table cannot be dropped from memory, so that there is nothing to measure.
#[derive(Debug)]
struct NotCold(String);

impl std::fmt::Display for NotCold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: nothing to measure", self.0)
    }
}

impl Error for NotCold {}

/// Removes the table when all is done, also after an error.
struct Table<'a>(&'a Path);

impl Drop for Table<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let bytes = options.gib << 30;
    let file = File::options().read(true).write(true).create_new(true).open(&options.file)?;
    let _table = Table(&options.file);
    file.set_len(bytes)?;
    say!("{} GiB in {}", options.gib, options.file.display());
    say!("| rows | bytes a row | faults | asked first | ratio | us a row | ranges | MiB asked for |");
    say!("|---|---|---|---|---|---|---|---|");
    for row in [264, 1024] {
        for count in [96, 4096] {
            let ids = ids(bytes / row as u64, count);
            write_rows(&file, &ids, row as u64)?;
            compare(&file, &ids, row, options.rounds)?;
        }
    }
    Ok(())
}

/// Random rows (splitmix64).
fn ids(rows: u64, count: usize) -> Vec<u64> {
    let mut state = rows;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % rows
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Writes the blocks that rows lie in. Holes would be read without the disk.
fn write_rows(mut file: &File, ids: &[u64], row: u64) -> Result<(), Box<dyn Error>> {
    for (done, id) in ids.iter().enumerate() {
        for block in id * row / BLOCK..=(id * row + row - 1) / BLOCK {
            let bytes: Vec<u8> = (block * BLOCK..(block + 1) * BLOCK).map(byte).collect();
            file.seek(SeekFrom::Start(block * BLOCK))?;
            file.write_all(&bytes)?;
        }
        if done % 256 == 0 {
            let tenths = done * 10 / ids.len();
            progress(&format!("writing {} rows [{:<10}]", ids.len(), "#".repeat(tenths)));
        }
    }
    file.sync_all()?;
    progress("");
    Ok(())
}

/// The byte of the table at an address.
fn byte(address: u64) -> u8 {
    (address / BLOCK * 31 + address % BLOCK) as u8
}

/// Replaces the line on a terminal that says what is going on.
fn progress(line: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{line:50}\r");
    }
}

/// Times both ways in turn and prints a line.
fn compare(file: &File, ids: &[u64], row: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    let mut times = [const { Vec::new() }; 2];
    let mut told = AdviceStats::default();
    let expected: Vec<u8> = ids.iter().flat_map(|id| id * row as u64..(id + 1) * row as u64).map(byte).collect();
    for round in 0..rounds {
        progress(&format!("{} rows of {row} bytes: round {} of {rounds}", ids.len(), round + 1));
        for asked in [false, true] {
            drop_pages(file)?;
            // SAFETY: nobody else has the file, which was made here under a name of its own.
            let map = unsafe { Mmap::map(file) }?;
            // A few pages may be on their way to where they can be dropped.
            let resident = resident(&map).map_err(|error| NotCold(format!("pages cannot be counted: {error}")))?;
            if resident * 20 > ids.len() {
                return Err(NotCold(format!("{resident} pages stay in memory")).into());
            }
            let table = View::new(&map[..map.len() / row * row], &[map.len() / row, row])?;
            let indices = View::new(ids, &[ids.len()])?;
            let gather = Gather::new(0).par(Par::Seq);
            let start = Instant::now();
            if asked {
                told = gather.will_need(&table, &indices);
            }
            let rows = gather.run(&table, &indices)?;
            times[usize::from(asked)].push(start.elapsed().as_secs_f64());
            if rows.as_slice() != expected {
                return Err("the rows are not those of the table".into());
            }
        }
    }
    if told.ranges == 0 {
        return Err("no page was asked for".into());
    }
    let [faults, asked] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    progress("");
    say!(
        "| {} | {row} | {:.2} ms | {:.2} ms | {:.1} | {:.1} -> {:.1} | {} | {:.1} |",
        ids.len(),
        faults * 1e3,
        asked * 1e3,
        faults / asked,
        faults * 1e6 / ids.len() as f64,
        asked * 1e6 / ids.len() as f64,
        told.ranges,
        told.bytes as f64 / f64::from(1 << 20),
    );
    Ok(())
}

/// Drops the pages of a file from memory, where the system takes that advice.
#[cfg(target_os = "linux")]
fn drop_pages(file: &File) -> Result<(), Box<dyn Error>> {
    use std::os::fd::AsRawFd;
    // SAFETY: the file is open; the advice changes nothing that can be read.
    let status = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if status == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(status).into()) }
}

/// Pages of a file that are in memory.
#[cfg(target_os = "linux")]
fn resident(map: &Mmap) -> std::io::Result<usize> {
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(std::io::Error::other)?;
    let mut pages = vec![0u8; map.len().div_ceil(page)];
    // SAFETY: a mapping begins with a page, and there is a byte for each of its pages.
    let status = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr().cast()) };
    if status != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(pages.iter().filter(|&&page| page & 1 == 1).count())
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &File) -> Result<(), Box<dyn Error>> {
    Err(NotCold("pages of files can be dropped on Linux only".into()).into())
}

#[cfg(not(target_os = "linux"))]
fn resident(_: &Mmap) -> std::io::Result<usize> {
    Ok(0)
}

//! Times of reads, with the pages of the files in memory and on the disk.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gather_core::Residency;
use indicatif::{ProgressBar, ProgressStyle};
use memmap2::Advice;

use super::ring::{DEPTH, Ring};
use super::ways::{self, Files};
use super::{median, pages};
use crate::content::mix;
use crate::numbers;
use crate::rows::{self, Rows};
use crate::shards::Shards;

/// Rows of a call.
const COUNTS: [usize; 4] = [16, 256, 4096, 32_768];
/// The most rows of a call by a loop over a mapping without advice: it reads most of the table from the disk.
const MOST_WITHOUT_ADVICE: usize = 4096;
/// The fewest rows of a timing in memory.
const ROWS_IN_MEMORY: usize = 4096;
/// Threads of `pread`. The last number has the name of a target.
const THREADS: [usize; 4] = [1, 8, 16, 32];

/// Bits of a number that no way has written: a signalling NaN, which no product is.
const UNWRITTEN: u32 = 0x7fa5_a5a5;

/// Reads rows, and returns the time that it took.
type Call<'a> = Box<dyn FnMut(&[u64], &mut [f32]) -> Result<Duration, Box<dyn Error>> + 'a>;

/// Brings the pages of the files into the state that a call needs.
type Prepare<'a> = &'a mut dyn FnMut() -> Result<(), Box<dyn Error>>;

/// A way to read rows.
struct Way<'a> {
    name: String,
    role: Role,
    call: Call<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Ours,
    Loop,
    /// A loop on a mapping without advice.
    WithoutAdvice,
    /// The fastest of these is the limit of reads from the disk.
    Limit,
    /// As `Limit`, past the page cache.
    Direct,
    Other,
}

impl Role {
    /// The most rows of a call.
    fn most(self, is_cold: bool) -> usize {
        match self {
            Role::WithoutAdvice if is_cold => MOST_WITHOUT_ADVICE,
            // In memory, these are the loop, and a read from the disk.
            Role::WithoutAdvice | Role::Direct if !is_cold => 0,
            _ => usize::MAX,
        }
    }
}

/// Times all ways in memory and on the disk.
pub(crate) fn run(of: &Shards, rounds: usize) -> Result<(), Box<dyn Error>> {
    let counts: Vec<usize> = COUNTS.into_iter().filter(|&count| count <= of.rows()).collect();
    if counts.is_empty() {
        return Err(format!("{} rows; a comparison needs {} or more", of.rows(), COUNTS[0]).into());
    }
    rows::with(of, &mut |rows| {
        let known = RefCell::new(Residency::new(of.shards.iter().map(|shard| &shard.map)));
        let mut ways = ways(of, rows, &known);
        advise(of, Advice::Sequential)?;
        for shard in &of.shards {
            // Reads every page.
            std::hint::black_box(shard.map.iter().step_by(1024).fold(0, |sum, byte| sum ^ byte));
        }
        advise(of, Advice::Random)?;
        known.borrow_mut().look();
        let mut cold = || -> Result<(), Box<dyn Error>> {
            pages::drop_all(of)?;
            known.borrow_mut().forget();
            Ok(())
        };
        Times { of, counts: &counts, rounds, is_cold: false }.print(&mut ways, &mut || Ok(()))?;
        let (all, in_memory) = pages::in_memory_of_all(of)?;
        if !pages::are_told(of)? {
            say!("not checked: {}", pages::NOT_TOLD);
        } else if in_memory < all {
            say!("{in_memory} of {all} pages are in memory: these times have reads from the disk");
        }
        Times { of, counts: &counts, rounds, is_cold: true }.print(&mut ways, &mut cold)
    })
}

/// All ways, the library first.
fn ways<'a>(of: &'a Shards, rows: &'a dyn Rows, known: &'a RefCell<Residency<'a>>) -> Vec<Way<'a>> {
    let mut ways = Vec::new();
    let mut add = |name: &str, role, call: Call<'a>| ways.push(Way { name: name.into(), role, call });
    let ours = move |ids: &[u64], out: &mut [f32]| {
        let (mut known, start) = (known.borrow_mut(), Instant::now());
        rows.will_need(ids, &mut known);
        rows.read(ids, out)?;
        Ok(start.elapsed())
    };
    add("library", Role::Ours, Box::new(ours));
    let by_loop = |ids: &[u64], out: &mut [f32]| {
        let start = Instant::now();
        ways::by_loop(of, ids, out);
        Ok(start.elapsed())
    };
    add("loop", Role::Loop, Box::new(by_loop));
    let without_advice = move |ids: &[u64], out: &mut [f32]| {
        advise(of, Advice::Normal)?;
        let time = by_loop(ids, out);
        advise(of, Advice::Random)?;
        time
    };
    add("loop without `MADV_RANDOM`", Role::WithoutAdvice, Box::new(without_advice));
    match Files::open(of, 0) {
        Ok(files) => {
            let files = Rc::new(files);
            for threads in THREADS {
                let files = files.clone();
                let role = if threads == 32 { Role::Limit } else { Role::Other };
                let call = move |ids: &[u64], out: &mut [f32]| Ok(files.pread(threads, ids, out)?);
                let plural = if threads == 1 { "" } else { "s" };
                add(&format!("`pread`, {threads} thread{plural}"), role, Box::new(call));
            }
            match Ring::new() {
                Ok(mut ring) => {
                    let call = move |ids: &[u64], out: &mut [f32]| Ok(files.by_ring(&mut ring, ids, out)?);
                    add(&format!("io_uring, depth {DEPTH}"), Role::Limit, Box::new(call));
                }
                Err(error) => say!("skipped: io_uring: {error}"),
            }
        }
        Err(error) => say!("skipped: `pread`: {error}"),
    }
    match Ring::new().and_then(|ring| Ok((ring, Files::open(of, libc::O_DIRECT)?))) {
        Ok((mut ring, files)) => {
            let call = move |ids: &[u64], out: &mut [f32]| Ok(files.by_direct_ring(&mut ring, ids, out)?);
            add(&format!("io_uring, depth {DEPTH}, `O_DIRECT`, each page once"), Role::Direct, Box::new(call));
        }
        Err(error) => say!("skipped: io_uring with `O_DIRECT`: {error}"),
    }
    ways
}

fn advise(of: &Shards, advice: Advice) -> std::io::Result<()> {
    of.shards.iter().try_for_each(|shard| shard.map.advise(advice))
}

/// Random rows.
pub(crate) fn random_ids(of: &Shards, count: usize, seed: u64) -> Vec<u64> {
    let rows = of.rows() as u64;
    (0..count as u64).map(|at| mix(mix(seed).wrapping_add(at)) % rows).collect()
}

struct Times<'a> {
    of: &'a Shards,
    counts: &'a [usize],
    rounds: usize,
    is_cold: bool,
}

impl Times<'_> {
    /// Times all ways in turn, and prints medians and ratios. Calls `prepare` before each call.
    fn print(&self, ways: &mut [Way<'_>], prepare: Prepare<'_>) -> Result<(), Box<dyn Error>> {
        let medians = self.medians(ways, prepare)?;
        let (state, unit, scale) = if self.is_cold { ("on the disk", "ms", 1e3) } else { ("in memory", "us", 1e6) };
        let counts: Vec<String> = self.counts.iter().map(ToString::to_string).collect();
        say!("");
        say!("| pages {state}, {unit} a call of | {} |", counts.join(" | "));
        say!("|---|{}", "---|".repeat(counts.len()));
        for (way, medians) in ways.iter().zip(&medians).filter(|(way, _)| way.role.most(self.is_cold) > 0) {
            line(&way.name, medians, |time| format!("{:.2}", time * scale));
        }
        let best = |roles: &[Role]| -> Vec<Option<f64>> {
            let all = ways.iter().zip(&medians).filter(|(way, _)| roles.contains(&way.role));
            let best = |at: usize| all.clone().filter_map(|(_, medians)| medians[at]).min_by(f64::total_cmp);
            (0..counts.len()).map(best).collect()
        };
        let mut others = vec![("library / loop", best(&[Role::Loop]))];
        if self.is_cold {
            others.push(("library / best of `pread`, 32 threads, and io_uring", best(&[Role::Limit])));
            others.push(("the same with `O_DIRECT`", best(&[Role::Limit, Role::Direct])));
        }
        for (name, others) in others {
            let ratios = best(&[Role::Ours]).into_iter().zip(others).map(|(ours, other)| Some(ours? / other?));
            line(name, &ratios.collect::<Vec<_>>(), |ratio| format!("{ratio:.2}"));
        }
        Ok(())
    }

    /// The median seconds of a call, for each way and each count of rows.
    fn medians(&self, ways: &mut [Way<'_>], prepare: Prepare<'_>) -> Result<Vec<Vec<Option<f64>>>, Box<dyn Error>> {
        // The first calls in memory look the translations of addresses up: they do not count.
        let uncounted = usize::from(!self.is_cold);
        let rounds = uncounted + self.rounds;
        let progress = ProgressBar::new((self.counts.len() * rounds * ways.len()) as u64);
        progress.set_style(ProgressStyle::with_template("timing [{bar:40}] {pos} of {len}, {elapsed}")?);
        let mut medians = vec![Vec::new(); ways.len()];
        for &count in self.counts {
            let mut times = vec![Vec::new(); ways.len()];
            for round in 0..rounds {
                let all = if self.is_cold { count } else { count.max(ROWS_IN_MEMORY) };
                let ids = random_ids(self.of, all, (count + round) as u64);
                let of_round = self.round(ways, count, &ids, prepare, &progress)?;
                for (times, time) in times.iter_mut().zip(of_round).filter(|_| round >= uncounted) {
                    times.extend(time);
                }
            }
            for (medians, times) in medians.iter_mut().zip(times) {
                medians.push(median(times));
            }
        }
        progress.finish_and_clear();
        Ok(medians)
    }

    /// Seconds of a call of `count` rows, each way once; `None` where a way does not apply. Results must be equal.
    fn round(
        &self,
        ways: &mut [Way<'_>],
        count: usize,
        ids: &[u64],
        prepare: Prepare<'_>,
        progress: &ProgressBar,
    ) -> Result<Vec<Option<f64>>, Box<dyn Error>> {
        let columns = self.of.format.columns;
        let (mut out, mut expected) = (numbers(ids.len(), columns)?, Vec::new());
        let mut times = Vec::new();
        for Way { name, role, call } in ways {
            progress.inc(1);
            if count > role.most(self.is_cold) {
                times.push(None);
                continue;
            }
            prepare()?;
            out.fill(f32::from_bits(UNWRITTEN));
            let mut time = Duration::ZERO;
            for (ids, out) in ids.chunks(count).zip(out.chunks_mut(count * columns)) {
                time += call(ids, out).map_err(|error| format!("{name}: {error}"))?;
            }
            times.push(Some(time.as_secs_f64() / ids.len().div_ceil(count) as f64));
            if expected.is_empty() {
                self.of.check(ids, &out)?;
                expected = numbers(ids.len(), columns)?;
                expected.copy_from_slice(&out);
            }
            // The bits of a NaN depend on the order of the factors.
            let are_equal = |out: &f32, expected: &f32| match out.to_bits() {
                UNWRITTEN => false,
                bits => bits == expected.to_bits() || out.is_nan() && expected.is_nan(),
            };
            if !out.iter().zip(&expected).all(|(out, expected)| are_equal(out, expected)) {
                return Err(format!("{name}: {count} rows differ from the library's").into());
            }
        }
        Ok(times)
    }
}

/// Prints a line of a table.
fn line(name: &str, values: &[Option<f64>], show: impl Fn(f64) -> String) {
    let values: Vec<String> = values.iter().map(|value| value.map_or("-".into(), &show)).collect();
    say!("| {name} | {} |", values.join(" | "));
}

//! The memory that batches of random rows take, with and without a budget.

use std::error::Error;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use gather_core::Residency;
use indicatif::{ProgressBar, ProgressStyle};

use super::compare::random_ids;
use super::{median, pages};
use crate::rows::{self, Rows};
use crate::shards::Shards;
use crate::{Batches, NotCold, numbers};

/// Looks at the memory during the batches, and one after the last.
const LOOKS: usize = 100;

/// The memory and the time of all batches.
#[derive(Default)]
struct Spent {
    /// Bytes of the mappings that are resident, at most, as the process counts them.
    resident: usize,
    /// Bytes of the files in memory, at most.
    cached: usize,
    /// Looks at both.
    looks: usize,
    requested: usize,
    time: Duration,
}

/// No budget, and both forms of a budget.
const WAYS: [&str; 3] = ["no budget", WITHOUT_FILES, "`of_files`"];
/// Gives no page back of files that the user neither owns nor may write.
const WITHOUT_FILES: &str = "`budget`";

impl Batches {
    /// Reads all batches in each way in turn, and prints a line for each way.
    pub(crate) fn run(&self, of: &Shards) -> Result<(), Box<dyn Error>> {
        if of.rows() == 0 {
            return Err("0 rows; a batch reads 1 or more".into());
        }
        let (mut spent, are_told) = (WAYS.map(|_| Vec::new()), pages::are_told(of)?);
        if !are_told {
            say!("{}; pages that this process has mapped are counted", pages::NOT_TOLD);
        }
        rows::with(of, &mut |rows| {
            for _ in 0..self.rounds {
                for (&way, spent) in WAYS.iter().zip(&mut spent) {
                    if !are_told && way == WITHOUT_FILES {
                        continue;
                    }
                    // Before the `Residency` is made, which counts pages from here on.
                    if are_told {
                        pages::drop_all(of)?
                    } else {
                        pages::drop_unchecked(of)?
                    }
                    spent.push(self.read_all(of, rows, &mut self.residency(of, way), way, are_told)?);
                }
            }
            Ok(())
        })?;
        let Batches { budget, batches, rows, rounds } = self;
        let looks = spent[0].first().map_or(0, |spent: &Spent| spent.looks);
        say!("{batches} batches of {rows} random rows, a budget of {} MiB, medians of {rounds}", budget >> 20);
        say!("memory: the most of {looks} looks a round");
        say!("");
        say!(
            "| way | MiB mapped, at most | MiB in memory, at most | MiB read | ms a batch | / no budget | us a page |"
        );
        say!("|---|---|---|---|---|---|---|");
        let mut without = f64::NAN;
        for (way, spent) in WAYS.iter().zip(&spent) {
            let Some(time) = median(spent.iter().map(|spent| spent.time.as_secs_f64())) else { continue };
            let read = median(spent.iter().map(|spent| spent.requested as f64)).unwrap_or(0.0);
            let mib = |bytes: f64| bytes / f64::from(1 << 20);
            let most = |of: fn(&Spent) -> usize| mib(spent.iter().map(of).max().unwrap_or(0) as f64);
            let resident = most(|spent| spent.resident);
            let cached = if are_told { format!("{:.1}", most(|spent| spent.cached)) } else { "-".into() };
            let batch = time * 1e3 / *batches as f64;
            without = if without.is_nan() { batch } else { without };
            let page = time * 1e6 / (read / pages::page_size()? as f64).max(1.0);
            let (read, ratio) = (mib(read), batch / without);
            say!("| {way} | {resident:.1} | {cached} | {read:.0} | {batch:.3} | {ratio:.2} | {page:.1} |");
        }
        Ok(())
    }

    fn residency<'s>(&self, of: &'s Shards, way: &str) -> Residency<'s> {
        let maps = of.shards.iter().map(|shard| &shard.map);
        match way {
            "no budget" => Residency::new(maps),
            WITHOUT_FILES => Residency::new(maps).budget(self.budget),
            _ => {
                let files = of.shards.iter().map(|shard| (&shard.map, shard.file.as_fd(), 0));
                // SAFETY: each mapping is of all of this file, shared, and never written.
                unsafe { Residency::of_files(files, self.budget) }
            }
        }
    }

    fn read_all(
        &self,
        of: &Shards,
        rows: &dyn Rows,
        known: &mut Residency<'_>,
        way: &'static str,
        are_told: bool,
    ) -> Result<Spent, Box<dyn Error>> {
        let progress = ProgressBar::new(self.batches as u64);
        progress.set_style(ProgressStyle::with_template("{msg:10} [{bar:40}] {pos} of {len}, {eta} left")?);
        progress.set_message(way);
        let mut out = numbers(self.rows, of.format.columns)?;
        let (mut spent, before, page) = (Spent::default(), pages::resident_files()?, pages::page_size()?);
        for batch in 0..self.batches {
            let ids = random_ids(of, self.rows, batch as u64);
            let start = Instant::now();
            spent.requested += rows.will_need(&ids, known).bytes;
            rows.read(&ids, &mut out)?;
            spent.time += start.elapsed();
            if batch % (self.batches / LOOKS).max(1) == 0 || batch + 1 == self.batches {
                of.check(&ids, &out)?;
                spent.resident = spent.resident.max(pages::resident_files()?.saturating_sub(before));
                let (_, cached) = pages::in_memory_of_all(of)?;
                spent.cached = spent.cached.max(cached * page);
                spent.looks += 1;
                progress.set_position(batch as u64);
            }
        }
        progress.finish_and_clear();
        if are_told && known.stats().is_bounded == Some(false) {
            say!("{way}: pages that were given back stay in memory: other processes map the files, or own them");
        } else if known.stats().given_back_bytes > 0 {
            // A batch whose rows have more pages keeps them all.
            let pages = self.rows * (of.format.code_bytes() / page + of.format.scale_bytes() / page + 4);
            let most = self.budget.max(pages * page) / 10 * 11;
            if are_told && spent.cached > most {
                return Err(format!("{way}: {} bytes of files in memory, more than {most}", spent.cached).into());
            }
            // A fault maps neighbours that are in memory too, as pages that other processes have mapped.
            if !are_told && spent.resident > most {
                let mapped = format!("{way}: {} bytes of files mapped, more than {most}", spent.resident);
                return Err(NotCold(format!("{mapped}, as where other processes map the files")).into());
            }
        }
        Ok(spent)
    }
}

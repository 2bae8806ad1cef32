//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, ValueExt};

/// How to call the program.
pub const USAGE: &str = "\
usage: report [--quick] [--threads N]... [--filter TEXT] [--out DIR] [--read FILE.json] [--engines FILE.json]...
              [--record DIR] [--readme FILE]
  --quick        fewer and shorter rounds: some minutes
  --threads N    threads to measure with; may be given several times (default: 1, and 2 if there are two cores)
  --filter TEXT  only workloads whose names contain it
  --out DIR      where to write index.html, report.md, measurements.json and the charts (default: target/report)
  --read FILE    measure nothing; write the report of a saved measurements.json again
  --engines FILE engines that benches/native/measure.py has timed with --json, as further peers; several times for
                 several numbers of threads
  --record DIR   also write comparison.svg and comparison.md there, to be committed
  --readme FILE  also write the table, with a link to comparison.svg, between the marks in FILE";

/// How much time to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Its name.
    pub name: &'static str,
    /// The time for all workloads together, roughly.
    pub total: Duration,
    /// Most rounds of a workload.
    pub rounds: usize,
    /// Milliseconds for one peer in one round.
    pub slice: u64,
    /// Fewest samples of one peer in one round.
    pub least: usize,
}

impl Effort {
    /// For a first look.
    pub const QUICK: Effort = Effort { name: "quick", total: Duration::from_secs(150), rounds: 4, slice: 30, least: 1 };
    /// For figures to quote.
    pub const FULL: Effort = Effort { name: "full", total: Duration::from_secs(900), rounds: 9, slice: 150, least: 2 };
}

/// What the program is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How much time to spend.
    pub effort: Effort,
    /// Numbers of threads, ascending, 1 among them.
    pub threads: Vec<usize>,
    /// What the names of workloads contain.
    pub filter: String,
    /// Where to write.
    pub out: PathBuf,
    /// What to read instead of measuring.
    pub read: Option<PathBuf>,
    /// What `measure.py` has written.
    pub engines: Vec<PathBuf>,
    /// Where to write what is committed.
    pub record: Option<PathBuf>,
    /// The file with marks to write a table between.
    pub readme: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the program's name; `None` if they ask for help.
    ///
    /// # Errors
    /// An argument that is unknown or has no value that fits.
    pub fn parse(mut parser: lexopt::Parser, cores: usize) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options {
            effort: Effort::FULL,
            threads: Vec::new(),
            filter: String::new(),
            out: "target/report".into(),
            read: None,
            engines: Vec::new(),
            record: None,
            readme: None,
        };
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("quick") => options.effort = Effort::QUICK,
                Arg::Long("threads") => match parser.value()?.parse()? {
                    0 => return Err("--threads 0: there is at least one".into()),
                    threads => options.threads.push(threads),
                },
                Arg::Long("filter") => options.filter = parser.value()?.string()?,
                Arg::Long("out") => options.out = parser.value()?.into(),
                Arg::Long("read") => options.read = Some(parser.value()?.into()),
                Arg::Long("engines") => options.engines.push(parser.value()?.into()),
                Arg::Long("readme") => options.readme = Some(parser.value()?.into()),
                Arg::Long("record") => options.record = Some(parser.value()?.into()),
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        if options.threads.is_empty() {
            options.threads.push(cores.min(2));
        }
        // Peers of one thread are compared with any number of threads.
        options.threads.push(1);
        options.threads.sort_unstable();
        options.threads.dedup();
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Option<Options>, String> {
        Options::parse(lexopt::Parser::from_args(arguments), 16).map_err(|error| error.to_string())
    }

    #[test]
    fn one_thread_is_always_measured() {
        let threads = |arguments: &[&str]| parse(arguments).map(|options| options.map(|options| options.threads));
        assert_eq!(threads(&[]), Ok(Some(vec![1, 2])));
        assert_eq!(threads(&["--threads", "8", "--threads=4", "--threads", "8"]), Ok(Some(vec![1, 4, 8])));
        assert_eq!(threads(&["--threads", "1"]), Ok(Some(vec![1])));
        let one_core = Options::parse(lexopt::Parser::from_args(&[] as &[&str]), 1);
        assert_eq!(one_core.ok().flatten().map(|options| options.threads), Some(vec![1]));
    }

    #[test]
    fn options_are_read() {
        let options = parse(&["--quick", "--filter", "small", "--out", "x", "--read=y.json", "--record", "z"]);
        let options = options.expect("right").expect("no help");
        assert_eq!((options.effort, &*options.filter), (Effort::QUICK, "small"));
        let engines = parse(&["--engines", "1.json", "--engines=2.json"]).ok().flatten().map(|options| options.engines);
        assert_eq!(engines, Some(vec!["1.json".into(), "2.json".into()]));
        assert_eq!((options.out, options.read, options.record), ("x".into(), Some("y.json".into()), Some("z".into())));
    }

    #[test]
    fn mistakes_are_errors_and_help_is_none() {
        assert_eq!(parse(&["--help"]), Ok(None));
        for wrong in [&["--threads", "0"][..], &["--threads", "two"], &["--threads"], &["--fast"], &["small"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

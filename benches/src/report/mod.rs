//! The report: every peer on every workload, as a page, as markdown and as charts.
//!
//! ```text
//! the bench `peers` -> criterion, engines, record -> model -> tables, charts, facts, method -> page, markdown, files
//! ```
//!
//! Nothing is measured here. What others have measured becomes plain data (`model`); pages and charts know nothing
//! else.

pub mod charts;
pub mod criterion;
pub mod engines;
pub mod facts;
pub mod format;
pub mod markdown;
pub mod model;
pub mod page;
pub mod record;
#[cfg(test)]
mod samples;
pub mod stats;
pub mod tables;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use charts::{Chart, charts};
use lexopt::Arg;
use model::Report;

/// How to call the program.
const USAGE: &str = "\
usage: report [--out DIR] [--engines FILE.json]... [--record DIR]
Writes what `cargo bench -p gather-benches --bench peers` has measured, and what other benches have left beside it.
  --out DIR      where to write index.html, report.md and the charts (default: target/report)
  --engines FILE engines that benches/native/measure.py has timed with --json, as further peers; several times for
                 several numbers of threads
  --record DIR   also write comparison.svg and comparison.md there, to be committed";

/// What the program is asked to do: see [`USAGE`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Options {
    out: PathBuf,
    engines: Vec<PathBuf>,
    record: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the program's name; `None` if they ask for help.
    fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options { out: "target/report".into(), ..Options::default() };
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("out") => options.out = parser.value()?.into(),
                Arg::Long("engines") => options.engines.push(parser.value()?.into()),
                Arg::Long("record") => options.record = Some(parser.value()?.into()),
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(options))
    }
}

/// Does what the arguments after the program's name ask for; returns the text to print.
///
/// # Errors
/// The command line is wrong, nothing was measured, or files cannot be read or written.
pub fn run(arguments: &[OsString]) -> Result<String, String> {
    let parsed = Options::parse(lexopt::Parser::from_args(arguments));
    let Some(options) = parsed.map_err(|error| format!("{error}\n{USAGE}"))? else { return Ok(USAGE.into()) };
    let mut report = criterion::read(&criterion::folder())?;
    for path in &options.engines {
        engines::add(&mut report, path)?;
    }
    report.record = record::read(&record::folder())?;
    let written = write(&report, &options)?;
    Ok(format!("{}{}", markdown::head(&report), written.join("\n")))
}

/// The width of charts in files: that of a column of text on most sites.
const FILE_WIDTH: f64 = 900.0;

/// Writes every file; returns their paths.
fn write(report: &Report, options: &Options) -> Result<Vec<String>, String> {
    let charts = charts(report);
    let markdown = markdown::markdown(report);
    let mut files = vec![
        (options.out.join("index.html"), page::page(report, &charts)),
        (options.out.join("report.md"), markdown.clone()),
    ];
    files.extend(charts.iter().map(|chart| (options.out.join(format!("{}.svg", chart.name)), file(report, chart))));
    let comparison = options.record.as_ref().unwrap_or(&options.out).join("comparison.svg");
    if let Some(folder) = &options.record {
        files.push((folder.join("comparison.md"), markdown));
    }
    files.extend(charts.first().map(|chart| (comparison.clone(), file(report, chart))));
    for (path, text) in &files {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(files.into_iter().map(|(path, _)| path.display().to_string()).collect())
}

/// A chart as a file that says where its figures come from.
fn file(report: &Report, chart: &Chart) -> String {
    let Report { machine, run, .. } = report;
    let remark = format!("{}, {} cores; {}; {}", machine.cpu, machine.cores, run.rustc, format::day(&run.date));
    chart.rows.draw(FILE_WIDTH).file(&chart.title, &remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let parse = |arguments: &[&str]| Options::parse(lexopt::Parser::from_args(arguments)).map_err(|_| ());
        let arguments = ["--engines", "1.json", "--out", "x", "--engines=2.json", "--record", "z"];
        let engines = vec!["1.json".into(), "2.json".into()];
        let expected = Options { out: "x".into(), engines, record: Some("z".into()) };
        assert_eq!(parse(&arguments), Ok(Some(expected)));
        assert_eq!(parse(&["--help"]), Ok(None));
        for wrong in [&["--out"][..], &["--fast"], &["small"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

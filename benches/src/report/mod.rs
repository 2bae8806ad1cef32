//! The report: every peer on every workload, as a page, as markdown and as charts.
//!
//! ```text
//! options -> measure (engine: asks -> protocol -> worker: answers) -> model
//!         -> tables, charts, facts, method -> page, markdown, files
//! ```
//!
//! What is measured is plain data (`model`), which is saved and can be read again. Pages and charts know nothing else.

pub mod charts;
pub mod engine;
pub mod engines;
pub mod facts;
pub mod format;
pub mod load;
pub mod machine;
pub mod markdown;
pub mod measure;
pub mod method;
pub mod model;
pub mod options;
pub mod page;
pub mod protocol;
pub mod readme;
#[cfg(test)]
mod samples;
pub mod stats;
pub mod tables;
pub mod worker;
pub mod workloads;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

use charts::{Chart, charts};
use machine::{Machine, commit, cores, rustc};
use model::{Report, Run};
use options::{Options, USAGE};

/// Why there is no report.
pub struct Failure {
    /// The text.
    pub text: String,
    /// Whether it is the command line that is wrong.
    pub usage: bool,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure { text, usage: false }
    }
}

/// Does what the arguments after the program's name ask for; returns the text to print.
///
/// # Errors
/// The command line is wrong, nothing was measured, or files cannot be read or written.
pub fn run(arguments: &[OsString]) -> Result<String, Failure> {
    if let [flag, peer] = arguments
        && flag == engine::WORKER
    {
        worker::serve(&peer.to_string_lossy())?;
        return Ok(String::new());
    }
    let parsed = Options::parse(lexopt::Parser::from_args(arguments), cores());
    let options = parsed.map_err(|error| Failure { text: format!("{error}\n{USAGE}"), usage: true })?;
    let Some(options) = options else { return Ok(USAGE.into()) };
    let mut report = match &options.read {
        Some(path) => read(path)?,
        None => measured(&options)?,
    };
    if report.workloads.is_empty() {
        return Err(format!("no workload has “{}” in its name", options.filter).into());
    }
    for path in &options.engines {
        engines::add(&mut report, path)?;
    }
    let written = write(&report, &options)?;
    Ok(format!("{}{}", markdown::results(&report), written.join("\n")))
}

fn measured(options: &Options) -> Result<Report, String> {
    let (begin, date) = (Instant::now(), SystemTime::now());
    let machine = Machine::here()?;
    let measurements = measure::measure(&options.filter, &options.threads, options.effort);
    let measure::Measurements { peers, workloads, results, loads } = measurements;
    let run = Run {
        date: humantime::format_rfc3339_seconds(date).to_string(),
        commit: commit(),
        rustc: rustc(),
        mode: options.effort.name.into(),
        threads: options.threads.clone(),
        filter: options.filter.clone(),
        seconds: begin.elapsed().as_secs_f64(),
        loads,
        engines: Vec::new(),
    };
    Ok(Report { machine, run, peers, workloads, results })
}

fn read(path: &Path) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The width of charts in files: that of a column of text on most sites.
const FILE_WIDTH: f64 = 900.0;

/// Writes every file; returns their paths.
fn write(report: &Report, options: &Options) -> Result<Vec<String>, String> {
    let charts = charts(report);
    let json = serde_json::to_string(report).map_err(|error| error.to_string())?;
    let markdown = markdown::markdown(report);
    let mut files = vec![
        (options.out.join("index.html"), page::page(report, &charts)),
        (options.out.join("report.md"), markdown.clone()),
        (options.out.join("measurements.json"), json),
    ];
    files.extend(charts.iter().map(|chart| (options.out.join(format!("{}.svg", chart.name)), file(report, chart))));
    if let Some(folder) = &options.record {
        files.push((folder.join("comparison.md"), markdown));
        files.extend(charts.first().map(|chart| (folder.join("comparison.svg"), file(report, chart))));
    }
    if let Some(readme) = &options.readme {
        let at = |error: String| format!("{}: {error}", readme.display());
        let text = fs::read_to_string(readme).map_err(|error| at(error.to_string()))?;
        let chart = options.record.as_deref().unwrap_or(&options.out).join("comparison.svg");
        // As seen from the file's folder, where it lies below that.
        let chart = readme.parent().and_then(|folder| chart.strip_prefix(folder).ok()).unwrap_or(&chart);
        files.push((readme.clone(), readme::replaced(&text, report, &chart.display().to_string()).map_err(at)?));
    }
    for (path, text) in &files {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(files.into_iter().map(|(path, _)| path.display().to_string()).collect())
}

/// A chart as a file that says where its figures come from.
fn file(report: &Report, chart: &Chart) -> String {
    let Report { machine, run, .. } = report;
    let remark = format!("{}, {} cores; {}; {}", machine.cpu, machine.cores, run.rustc, run.day());
    chart.draw(FILE_WIDTH).file(&chart.title, &remark)
}

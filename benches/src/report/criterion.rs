//! What criterion has measured, read from its folder: the bench `peers`, and what other benches have left there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::model::{LIMIT, Measured, Other, Report};
use super::stats::Summary;
use crate::sections;

/// The benchmarks that limit a workload: the one that takes longer does.
pub const LIMITS: [&str; 2] = ["limit-stream", "limit-lines"];
/// What the bench `peers` writes beside criterion's files.
const SAVED: &str = "peers.json";

/// Where criterion writes.
#[must_use]
pub fn folder() -> PathBuf {
    let target = || std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from).join("criterion");
    let folder = std::env::var_os("CRITERION_HOME").map_or_else(target, PathBuf::from);
    // Benchmarks run in their package's folder, and programs in that of the reader.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| folder.clone(), |root| root.join(&folder))
}

/// Saves all of a run but its times.
///
/// # Errors
/// A text: the file cannot be written.
pub fn save(report: &Report) -> Result<(), String> {
    let text = serde_json::to_string(report).map_err(|error| error.to_string())?;
    let write = fs::create_dir_all(folder()).and_then(|()| fs::write(folder().join(SAVED), text));
    write.map_err(|error| error.to_string())
}

/// `benchmark.json` of criterion.
#[derive(Deserialize)]
struct Id {
    full_id: String,
}

/// `sample.json` of criterion.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// The last run of the bench `peers`, with its times, and the times of other benches.
///
/// # Errors
/// There is none, or a file cannot be read.
pub fn read(folder: &Path) -> Result<Report, String> {
    let mut report: Report = json(&folder.join(SAVED))
        .map_err(|error| format!("{error}; `cargo bench -p gather-benches --bench peers` writes it"))?;
    let begin = humantime::parse_rfc3339(&report.run.date).map_err(|error| format!("{SAVED}: {error}"))?;
    let known: Vec<_> = sections::all().into_iter().map(|(section, work)| work.info(section)).collect();
    for path in found(folder) {
        let Id { full_id } = json(&path.join("benchmark.json"))?;
        let Sample { iters, times } = json(&path.join("sample.json"))?;
        let nanos: Vec<f64> = times.iter().zip(&iters).map(|(time, iters)| time / iters).collect();
        let Some(summary) = Summary::of(&nanos) else { continue };
        let written = fs::metadata(path.join("sample.json")).and_then(|file| file.modified());
        let written = written.unwrap_or(SystemTime::UNIX_EPOCH);
        let ours = known.iter().find_map(|info| {
            let engine = full_id.strip_prefix(&info.id)?.strip_prefix('/')?;
            let (engine, threads) = engine.split_once('/').unwrap_or((engine, "1"));
            Some((info, engine, threads.parse().ok()?)).filter(|_| sections::is_timed(engine))
        });
        match ours {
            Some((info, engine, threads)) if written >= begin => {
                let peer = if LIMITS.contains(&engine) { LIMIT } else { engine };
                add(&mut report, Measured::new(&info.name, peer, threads, Ok(summary)));
            }
            // Of another run.
            Some(_) => {}
            None => {
                let date = humantime::format_rfc3339_seconds(written).to_string();
                report.others.push(Other { name: full_id, date, summary });
            }
        }
    }
    report.others.sort_by(|a, b| a.name.cmp(&b.name));
    report.workloads.retain(|work| report.results.iter().any(|result| result.workload == work.name));
    Ok(report)
}

/// Of two times of one name, the two that limit a workload, the longer one is kept.
fn add(report: &mut Report, new: Measured) {
    let same = |old: &Measured| (&old.workload, &old.peer, old.threads) == (&new.workload, &new.peer, new.threads);
    let median = |measured: &Measured| measured.outcome.as_ref().map_or(0.0, |summary| summary.median);
    if !report.results.iter().any(|old| same(old) && median(old) > median(&new)) {
        report.results.retain(|old| !same(old));
        report.results.push(new);
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| at(error.to_string()))
}

/// The folders `new` of benchmarks, at any depth.
fn found(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders
        .flat_map(|path| {
            if path.join("benchmark.json").is_file() && path.ends_with("new") { vec![path] } else { found(&path) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::OURS;
    use crate::report::samples;

    #[test]
    fn times_of_the_run_are_joined_and_older_ones_left_out() {
        let folder = std::env::temp_dir().join(format!("gather-criterion-{}", std::process::id()));
        let bench = |group: &str, function: &str, nanos: f64| {
            let path = folder.join(group.replace('/', "_")).join(function.replace('/', "_")).join("new");
            fs::create_dir_all(&path).expect("a folder of our own");
            let id = format!(r#"{{"full_id":"{group}/{function}","title":"x"}}"#);
            let sample = format!(r#"{{"sampling_mode":"Flat","iters":[2.0,2.0],"times":[{nanos},{nanos}]}}"#);
            for (name, text) in [("benchmark.json", id), ("sample.json", sample)] {
                fs::write(path.join(name), text).expect("a file of our own");
            }
        };
        assert!(read(&folder).is_err_and(|why| why.contains("--bench peers")));
        bench("row_bytes/64", OURS, 200.0);
        bench("row_bytes/64", "gather-core/2", 100.0);
        bench("row_bytes/64", "limit-stream", 50.0);
        bench("row_bytes/64", "limit-lines", 80.0);
        bench("row_bytes/64", "limit-older", 80.0);
        let mut report = samples::report();
        report.results.clear();
        let read = |date: &str| {
            let run = report.run.clone();
            let dated = Report { run: super::super::model::Run { date: date.into(), ..run }, ..report.clone() };
            fs::write(folder.join(SAVED), serde_json::to_string(&dated).expect("plain data")).expect("a file");
            super::read(&folder).expect("files of criterion")
        };
        let now = read("2026-01-01T00:00:00Z");
        let nanos = |peer, threads| now.nanos("row_bytes/64", peer, threads);
        assert_eq!([nanos(OURS, 1), nanos(OURS, 2), nanos(LIMIT, 1)], [Some(100.0), Some(50.0), Some(40.0)]);
        assert_eq!(now.others.iter().map(|other| &*other.name).collect::<Vec<_>>(), ["row_bytes/64/limit-older"]);
        assert_eq!(now.workloads.len(), 1, "those without a result are left out");
        assert!(read("2222-01-01T00:00:00Z").results.is_empty());
        fs::remove_dir_all(&folder).expect("a folder of our own");
    }
}

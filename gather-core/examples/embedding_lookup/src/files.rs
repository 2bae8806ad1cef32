//! The command line: rows of tables in files.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gather_core::{DynTensor, DynView, Gather};
use lexopt::{Arg, ValueExt};

use crate::{common, numbers};

const USAGE: &str = "usage: embedding_lookup [--table FILE --tensor NAME (--indices FILE.npy | --ids N,N,..) \
    [--scales NAME [--zero-points NAME]] [--out FILE.npy]]";

/// The command line.
#[derive(Default)]
struct Options {
    table: Option<PathBuf>,
    tensor: Option<String>,
    indices: Option<PathBuf>,
    ids: Option<Vec<i64>>,
    scales: Option<String>,
    zero_points: Option<String>,
    out: Option<PathBuf>,
}

/// Runs what the command line asks for.
pub(crate) fn run() -> Result<(), String> {
    let options = options().map_err(|error| format!("{error} ({USAGE})"))?;
    let Some(options) = options else {
        say!("{USAGE}");
        return Ok(());
    };
    let Options { table, tensor, indices, ids, scales, zero_points, out } = options;
    match (table, tensor, indices, ids) {
        (Some(table), Some(tensor), Some(indices), None) if scales.is_none() && !is_gguf(&table) => {
            on_files(&table, &tensor, &indices, out.as_deref())
        }
        (Some(table), Some(tensor), indices, ids) if indices.is_some() != ids.is_some() => {
            let ids = match indices {
                Some(file) => numbers::ids_of(&file)?,
                None => ids.unwrap_or_default(),
            };
            let names = numbers::Names { tensor, scales, zero_points };
            numbers::print(&table, &names, &ids, out.as_deref())
        }
        _ => Err(format!("--table and --tensor go together, with --indices or --ids ({USAGE})")),
    }
}

pub(crate) fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

/// The options, or `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("table") => options.table = Some(parser.value()?.into()),
            Arg::Long("tensor") => options.tensor = Some(parser.value()?.string()?),
            Arg::Long("indices") => options.indices = Some(parser.value()?.into()),
            Arg::Long("ids") => {
                let ids = parser.value()?.string()?;
                let ids = ids.split(',').map(|id| id.trim().parse::<i64>());
                options.ids = Some(ids.collect::<Result<_, _>>().map_err(|error| format!("--ids: {error}"))?);
            }
            Arg::Long("scales") => options.scales = Some(parser.value()?.string()?),
            Arg::Long("zero-points") => options.zero_points = Some(parser.value()?.string()?),
            Arg::Long("out") | Arg::Short('o') => options.out = Some(parser.value()?.into()),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The lookup on files mapped into memory: any data type, and any integer type of indices.
fn on_files(table: &Path, tensor: &str, indices: &Path, out: Option<&Path>) -> Result<(), String> {
    let at = |path: &Path, error: String| format!("{}: {error}", path.display());
    let table_map = common::map(table)?;
    let index_map = common::map(indices)?;
    let data = common::safetensors::parse(&table_map, tensor).map_err(|error| at(table, error))?;
    let ids = common::npy::parse(&index_map).map_err(|error| at(indices, error))?;
    say!("table  {} {:?}", data.dtype, data.shape);
    say!("ids    {} {:?}", ids.dtype, ids.shape);

    let data = data.view().map_err(|error| at(table, error))?;
    let ids = ids.view().map_err(|error| at(indices, error))?;
    let start = Instant::now();
    drop(gather(&data, &ids)?);
    let first = start.elapsed();
    let start = Instant::now();
    let found = gather(&data, &ids)?;
    let second = start.elapsed();
    let bytes = found.as_bytes().len();
    say!("out    {} {:?}, {bytes} bytes", found.dtype(), found.shape());
    for (name, time) in [("first", first), ("again", second)] {
        say!("{name}  {:>9.3} ms, {:>6.2} GB/s", time.as_secs_f64() * 1e3, bytes as f64 / time.as_secs_f64() / 1e9);
    }
    if let Some(out) = out {
        common::write_whole(out, |file| common::npy::write(file, &found))?;
        say!("wrote  {}", out.display());
    }
    Ok(())
}

fn gather(data: &DynView<'_>, ids: &DynView<'_>) -> Result<DynTensor, String> {
    Gather::new(0).run(data, ids).map_err(|error| error.to_string())
}

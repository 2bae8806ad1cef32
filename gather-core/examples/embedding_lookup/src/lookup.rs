//! The lookups: planned and timed on the shipped table, and with types known at run time on files.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use gather_core::{DynTensor, DynView, Element, Gather, Spec, Tensor, View};
use half::f16;

use crate::common::{self, Array};

/// Calls in one timing, and the number of timings, of which the median counts.
const CALLS: u32 = 200;
const TIMINGS: usize = 31;

/// The result of the lookup.
pub(crate) struct Found {
    /// The table itself, for comparisons.
    pub(crate) table: Vec<f16>,
    /// Columns of the table.
    pub(crate) dim: usize,
    pub(crate) rows: Rows,
}

/// Gathered rows.
pub(crate) struct Rows(Tensor<f16>);

impl Rows {
    pub(crate) fn row(&self, at: usize) -> &[f16] {
        let dim = self.0.shape()[1];
        &self.0.as_slice()[at * dim..(at + 1) * dim]
    }
}

/// Plans one Gather of `ids` on the shipped table, runs it, and times it against a plain loop.
pub(crate) fn shipped(table: &Array<'_>, ids: &[u32]) -> Result<Found, String> {
    let text = |error: gather_core::Error| error.to_string();
    let (&[rows, dim], true) = (&table.shape[..], table.dtype == f16::DTYPE) else {
        return Err(format!("expected a matrix of f16, got {} {:?}", table.dtype, table.shape));
    };
    let values: Vec<f16> = table.bytes.chunks_exact(2).map(|bytes| f16::from_le_bytes([bytes[0], bytes[1]])).collect();
    let data = View::new(&values, &[rows, dim]).map_err(text)?;
    let indices = View::new(ids, &[ids.len()]).map_err(text)?;

    let plan = Gather::new(0).plan(&Spec::<f16>::new(&[rows, dim]).map_err(text)?, &indices).map_err(text)?;
    say!("{}", plan.explain());
    let gathered = plan.run(&data, &indices).map_err(text)?;

    let mut out = vec![f16::ZERO; gathered.len()];
    let mut planned = Vec::with_capacity(TIMINGS);
    let mut looped = Vec::with_capacity(TIMINGS);
    for _ in 0..TIMINGS {
        planned.push(time(|| plan.run_slices(black_box(&values), black_box(ids), black_box(&mut out)).map_err(text))?);
        looped.push(time(|| naive(black_box(&values), dim, black_box(ids), black_box(&mut out)))?);
    }
    if out != gathered.as_slice() {
        return Err("the plain loop and the plan disagree".into());
    }
    let bytes = size_of_val(&out[..]) as f64;
    let rate = |time: Duration| bytes / time.as_secs_f64() / 1e9;
    let (planned, looped) = (median(planned), median(looped));
    say!("");
    say!("out    f16 {:?}, {} kB", gathered.shape(), bytes as usize / 1000);
    say!("plan   {:>7.1} us a call, {:>5.1} GB/s", planned.as_secs_f64() * 1e6, rate(planned));
    say!("loop   {:>7.1} us a call, {:>5.1} GB/s (plain safe Rust)", looped.as_secs_f64() * 1e6, rate(looped));
    Ok(Found { table: values, dim, rows: Rows(gathered) })
}

/// The loop that one would write without the library.
fn naive(table: &[f16], dim: usize, ids: &[u32], out: &mut [f16]) -> Result<(), String> {
    for (&id, row) in ids.iter().zip(out.chunks_exact_mut(dim)) {
        let start = id as usize * dim;
        let from = table.get(start..start + dim).ok_or("an id outside the table")?;
        row.copy_from_slice(from);
    }
    Ok(())
}

fn time(mut call: impl FnMut() -> Result<(), String>) -> Result<Duration, String> {
    let start = Instant::now();
    for _ in 0..CALLS {
        call()?;
    }
    Ok(start.elapsed() / CALLS)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The lookup on files mapped into memory: any data type, and any integer type of indices.
pub(crate) fn on_files(table: &Path, tensor: &str, indices: &Path, out: Option<&Path>) -> Result<(), String> {
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

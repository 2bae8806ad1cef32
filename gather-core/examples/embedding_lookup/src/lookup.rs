//! The lookup on the shipped table, planned and timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gather_core::{Gather, Spec, Tensor, View};

/// Calls in one timing, and the number of timings, of which the median counts.
const CALLS: u32 = 200;
const TIMINGS: usize = 31;

/// The result of the lookup: numbers are `f16` by their bits, which a gather does not look at.
pub(crate) struct Found {
    /// The table itself, for comparisons.
    pub(crate) table: Vec<u16>,
    /// Columns of the table.
    pub(crate) dim: usize,
    pub(crate) rows: Rows,
}

/// Gathered rows.
pub(crate) struct Rows(Tensor<u16>);

impl Rows {
    pub(crate) fn row(&self, at: usize) -> &[u16] {
        let dim = self.0.shape()[1];
        &self.0.as_slice()[at * dim..(at + 1) * dim]
    }
}

/// The numbers of the shipped file, which lie behind a header that begins with its length.
pub(crate) fn table(file: &[u8]) -> Result<Vec<u16>, String> {
    let numbers =
        file.split_first_chunk().and_then(|(&len, rest)| rest.get(usize::try_from(u64::from_le_bytes(len)).ok()?..));
    let numbers = numbers.ok_or("the shipped table has no header")?;
    Ok(numbers.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect())
}

/// Plans one Gather of `ids` on the shipped table, runs it, and times it against a plain loop.
pub(crate) fn shipped(values: Vec<u16>, shape: [usize; 2], ids: &[i64]) -> Result<Found, String> {
    let text = |error: gather_core::Error| error.to_string();
    let data = View::new(&values, &shape).map_err(text)?;
    let indices = View::new(ids, &[ids.len()]).map_err(text)?;

    let plan = Gather::new(0).plan(&Spec::<u16>::new(&shape).map_err(text)?, &indices).map_err(text)?;
    say!("{}", plan.explain());
    let gathered = plan.run(&data, &indices).map_err(text)?;

    let mut out = vec![0; gathered.len()];
    let mut planned = Vec::with_capacity(TIMINGS);
    let mut looped = Vec::with_capacity(TIMINGS);
    for _ in 0..TIMINGS {
        planned.push(time(|| plan.run_slices(black_box(&values), black_box(ids), black_box(&mut out)).map_err(text))?);
        looped.push(time(|| naive(black_box(&values), shape[1], black_box(ids), black_box(&mut out)))?);
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
    Ok(Found { table: values, dim: shape[1], rows: Rows(gathered) })
}

/// The loop that one would write without the library.
fn naive(table: &[u16], dim: usize, ids: &[i64], out: &mut [u16]) -> Result<(), String> {
    for (&id, row) in ids.iter().zip(out.chunks_exact_mut(dim)) {
        let start = usize::try_from(id).map_err(|_| "a negative id")? * dim;
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

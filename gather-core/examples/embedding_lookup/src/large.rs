//! Three calls on tables beyond the caches, timed against plain loops on the same ids.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Gather, Reduction, View, ViewMut};

/// Numbers in the table: 256 MiB. Without optimisation a small table has to do.
const NUMBERS: usize = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 26 };
/// Columns of the table, of the quantised table, and of the table of bags.
const COLUMNS: [usize; 3] = [16, 128, 64];
/// Rows of a bag.
const LENGTH: usize = 32;
/// Timings of each call; the median counts.
const TIMINGS: usize = 7;

/// Runs and times the calls.
///
/// # Errors
/// A text: an error of the library, or a loop with another result.
pub(crate) fn run() -> Result<(), String> {
    let text = |error: gather_core::Error| error.to_string();
    let mut random = random();
    let table: Vec<f32> = (0..NUMBERS).map(|_| (random() >> 8) as f32 / (1 << 24) as f32 - 0.5).collect();
    let mut ids = |columns: usize, count: usize| -> Vec<u32> {
        (0..count).map(|_| random() % (NUMBERS / columns) as u32).collect()
    };
    say!("Beyond the caches, on one thread: random ids, tables of {} MiB of f32.", NUMBERS >> 18);

    let columns = COLUMNS[0];
    let data = View::new(&table, &[NUMBERS / columns, columns]).map_err(text)?;
    let rows = ids(columns, NUMBERS / columns / 4);
    let plan = Gather::new(0).plan(&data, &rows).map_err(text)?;
    compare(
        &format!("{} rows of {columns}", rows.len()),
        rows.len() * columns,
        |out| plan.run_slices(&table, &rows, out).map_err(text),
        |out| {
            for (&id, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
                out.copy_from_slice(&table[id as usize * columns..][..columns]);
            }
        },
    )?;

    let columns = COLUMNS[1];
    let data = View::new(&table, &[NUMBERS / columns, columns]).map_err(text)?;
    let codes = FusedRows::quantize(FusedFormat::Torch8, &data).map_err(text)?;
    let fused = FusedRows::new(codes.view(), FusedFormat::Torch8, columns).map_err(text)?;
    let rows = ids(columns, NUMBERS / columns / 8);
    compare(
        &format!("{} rows of {columns} codes of 8 bits, as f32", rows.len()),
        rows.len() * columns,
        |out| {
            let out = &mut ViewMut::new(out, &[rows.len(), columns]).map_err(text)?;
            Gather::new(0).run_into(&fused.to::<f32>(), &rows, out).map_err(text)
        },
        |out| {
            for (&id, out) in rows.iter().zip(out.chunks_exact_mut(columns)) {
                let row = &codes.as_slice()[id as usize * (columns + 8)..][..columns + 8];
                let number = |at: usize| f32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
                let (scale, bias) = (number(columns), number(columns + 4));
                out.iter_mut().zip(row).for_each(|(out, &code)| *out = f32::from(code) * scale + bias);
            }
        },
    )?;

    let columns = COLUMNS[2];
    let data = View::new(&table, &[NUMBERS / columns, columns]).map_err(text)?;
    let rows = ids(columns, NUMBERS / columns / 2);
    let bags = rows.len() / LENGTH;
    let rows_of_bags = View::new(&rows, &[bags, LENGTH]).map_err(text)?;
    compare(
        &format!("{bags} sums of {LENGTH} rows of {columns}"),
        bags * columns,
        |out| {
            let out = &mut ViewMut::new(out, &[bags, columns]).map_err(text)?;
            EmbeddingBag::new(Reduction::Add).run_into(&data, &Bags::packed(&rows_of_bags), out).map_err(text)
        },
        |out| {
            for (bag, out) in rows.chunks_exact(LENGTH).zip(out.chunks_exact_mut(columns)) {
                out.fill(0.0);
                for &id in bag {
                    let row = &table[id as usize * columns..][..columns];
                    out.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
            }
        },
    )
}

/// Compares the outputs of a call and of a loop, to the bit, then their times, measured in turn.
fn compare(
    name: &str,
    len: usize,
    mut call: impl FnMut(&mut [f32]) -> Result<(), String>,
    mut plain_loop: impl FnMut(&mut [f32]),
) -> Result<(), String> {
    let [mut ours, mut expected] = [vec![1.0f32; len], vec![2.0f32; len]];
    call(&mut ours)?;
    plain_loop(&mut expected);
    if ours.iter().zip(&expected).any(|(a, b)| a.to_bits() != b.to_bits()) {
        return Err(format!("{name}: the loop has another result"));
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..TIMINGS {
        let start = Instant::now();
        call(black_box(&mut ours))?;
        times[0].push(start.elapsed());
        let start = Instant::now();
        plain_loop(black_box(&mut expected));
        times[1].push(start.elapsed());
    }
    let [ours, looped] = times.map(|mut times: Vec<Duration>| {
        times.sort();
        times[TIMINGS / 2].as_secs_f64() * 1e3
    });
    say!("  {name:<44} ours {ours:>6.2} ms   loop {looped:>6.2} ms   loop / ours {:.2}", looped / ours);
    Ok(())
}

/// Numbers that look random.
fn random() -> impl FnMut() -> u32 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    }
}

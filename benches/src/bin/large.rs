//! Times gathers at random from large tables on pages of the usual size and on huge pages, and prints tables of
//! medians: `large [--mib N] [--seconds S] [--file FOLDER]`.
//!
//! The first table is of calls: milliseconds that one thread has a CPU, planned into warm memory, in turn with the
//! plain loop, both from either of two tables with the same contents. The second is a copy of the first that
//! `gather_core::promote` has moved to huge pages; how many of them it reached stands above. Indices are `i64`,
//! uniform. Without `--mib` the tables have 64, 512 and 2048 MiB.
//!
//! The second table has the ways to make such a table, in seconds of the clock, with their page faults; with
//! `--file FOLDER` from a file too, which is made there, removed, and in memory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::buffer::Buffer;
use gather_benches::clock::{ROUNDS, middle, thread_time};
use gather_benches::random::Random;
use gather_core::{Gather, GatherElements, Layout, Par, Spec, Tensor, View, promote};
use lexopt::{Arg, ValueExt};

const USAGE: &str = "large [--mib N] [--seconds S] [--file FOLDER]";

/// The bytes of a row, and the number of ids.
const ROWS: [(usize, usize); 4] = [(3072, 1 << 14), (256, 1 << 18), (64, 1 << 20), (4, 1 << 22)];

fn main() -> ExitCode {
    let options = match Options::read() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("large: {error} (usage: {USAGE})");
            return ExitCode::from(2);
        }
    };
    match options.mib.iter().try_for_each(|&mib| measure(mib << 20, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("large: {why}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    mib: Vec<usize>,
    budget: Duration,
    folder: Option<PathBuf>,
}

impl Options {
    fn read() -> Result<Self, lexopt::Error> {
        let mut options = Options { mib: Vec::new(), budget: Duration::from_secs(2), folder: None };
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("mib") => options.mib.push(parser.value()?.parse()?),
                Arg::Long("seconds") => {
                    options.budget =
                        Duration::try_from_secs_f64(parser.value()?.parse()?).map_err(|error| error.to_string())?;
                }
                Arg::Long("file") => options.folder = Some(parser.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        if options.mib.is_empty() {
            options.mib = vec![64, 512, 2048];
        }
        Ok(options)
    }
}

/// Element `at` of a table.
fn value(at: usize) -> f32 {
    (at & 0xff_ffff) as f32
}

fn measure(bytes: usize, options: &Options) -> Result<(), String> {
    let len = bytes / size_of::<f32>();
    let small: Vec<f32> = (0..len).map(value).collect();
    let mut huge = small.clone();
    let start = Instant::now();
    match promote(&mut huge) {
        Ok(reached) => println!(
            "{} MiB: {} of {} places on huge pages after {:.3} s.\n",
            bytes >> 20,
            reached.huge,
            reached.candidates,
            start.elapsed().as_secs_f64()
        ),
        Err(refused) => println!("{} MiB: {refused}.\n", bytes >> 20),
    }
    println!(
        "| table | rows | small pages | huge pages | loop, small | loop, huge | small/huge | loop/ours, small | loop/ours, huge |"
    );
    println!("|{}", "---|".repeat(9));
    let mut random = Random::new(bytes as u64);
    for (row, count) in ROWS {
        let columns = row / size_of::<f32>();
        let rows = len / columns;
        let ids: Vec<i64> = (0..count).map(|_| random.below(rows) as i64).collect();
        let shape = [rows, columns];
        let name = format!("{} MiB | {count} of {row} bytes", bytes >> 20);
        let tables = [&small, &huge].map(|table| &table[..rows * columns]);
        let by_rows = |plan: &dyn Fn(&[f32], &mut Buffer<f32>)| {
            let looped = |table: &[f32], out: &mut Buffer<f32>| {
                let ids = std::hint::black_box(&ids[..]);
                for (to, &id) in out.as_mut_slice().chunks_exact_mut(columns).zip(ids) {
                    to.copy_from_slice(&table[id as usize * columns..][..columns]);
                }
            };
            in_turn(&name, tables, &[count, columns], plan, &looped, options.budget);
        };
        let gather = Gather::new(0).par(Par::Seq);
        let list = Layout::contiguous(&[count]).map_err(|error| error.to_string())?;
        let data = Layout::contiguous(&shape).map_err(|error| error.to_string())?;
        let plan = gather
            .plan(&Spec::<f32>::from_layout(&data), &Spec::<i64>::from_layout(&list))
            .map_err(|error| error.to_string())?;
        by_rows(&|table, out| {
            let (table, ids) = (View::new(table, &shape).expect("a table"), View::new(&ids, &[count]).expect("a list"));
            plan.run_into(&table, &ids, &mut out.view_mut()).expect("ids in range");
        });
    }
    elements(bytes, [&small, &huge], &mut random, options.budget)?;
    println!();
    drop((small, huge));
    fill(len, options.folder.as_deref()).map_err(|error| error.to_string())
}

/// GatherElements along axis 0 of a table of 64 columns.
fn elements(bytes: usize, tables: [&Vec<f32>; 2], random: &mut Random, budget: Duration) -> Result<(), String> {
    const COLUMNS: usize = 64;
    const COUNT: usize = 1 << 16;
    let rows = bytes / size_of::<f32>() / COLUMNS;
    let (shape, list) = ([rows, COLUMNS], [COUNT, COLUMNS]);
    let ids: Vec<i64> = (0..COUNT * COLUMNS).map(|_| random.below(rows) as i64).collect();
    let layouts = [&shape, &list].map(|shape| Layout::contiguous(shape));
    let [Ok(data), Ok(indices)] = layouts else { return Err("a table that cannot be laid out".into()) };
    let op = GatherElements::new(0).par(Par::Seq);
    let plan = op
        .plan(&Spec::<f32>::from_layout(&data), &Spec::<i64>::from_layout(&indices))
        .map_err(|error| error.to_string())?;
    let ours = |table: &[f32], out: &mut Buffer<f32>| {
        let (table, ids) = (View::new(table, &shape).expect("a table"), View::new(&ids, &list).expect("a list"));
        plan.run_into(&table, &ids, &mut out.view_mut()).expect("ids in range");
    };
    let looped = |table: &[f32], out: &mut Buffer<f32>| {
        for (at, (to, &id)) in out.as_mut_slice().iter_mut().zip(&ids).enumerate() {
            *to = table[id as usize * COLUMNS + at % COLUMNS];
        }
    };
    let name = format!("{} MiB | GatherElements, {COUNT} x {COLUMNS}", bytes >> 20);
    in_turn(&name, tables.map(|table| &table[..]), &list, &ours, &looped, budget);
    Ok(())
}

/// Times a call and the loop, each from both tables.
fn in_turn(
    name: &str,
    tables: [&[f32]; 2],
    shape: &[usize],
    ours: &dyn Fn(&[f32], &mut Buffer<f32>),
    looped: &dyn Fn(&[f32], &mut Buffer<f32>),
    budget: Duration,
) {
    let (mut out, mut expected) = (Buffer::aligned(shape), Buffer::aligned(shape));
    looped(tables[0], &mut expected);
    for table in tables {
        out.as_mut_slice().fill(-1.0);
        ours(table, &mut out);
        assert!(out.as_slice() == expected.as_slice(), "{name}: not what the loop gives");
    }
    let mut times: [Vec<f64>; 4] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < budget {
        for (way, times) in times.iter_mut().enumerate() {
            let table = tables[way % 2];
            let call: &dyn Fn(&[f32], &mut Buffer<f32>) = if way < 2 { ours } else { looped };
            times.push(thread_time(&mut || call(table, &mut out)));
        }
    }
    let [small, huge, loop_small, loop_huge] = times.map(middle);
    println!(
        "| {name} | {small:.3} | {huge:.3} | {loop_small:.3} | {loop_huge:.3} | {:.2} | {:.2} | {:.2} |",
        small / huge,
        loop_small / small,
        loop_huge / huge
    );
}

/// The ways to make a table of `len` elements.
fn fill(len: usize, folder: Option<&Path>) -> std::io::Result<()> {
    println!("| a table of {} MiB | seconds |", (len * size_of::<f32>()) >> 20);
    println!("|---|---|");
    let seconds = |name: &str, make: &mut dyn FnMut()| {
        let mut times = [(); 3].map(|()| {
            let start = Instant::now();
            make();
            start.elapsed().as_secs_f64()
        });
        times.sort_by(f64::total_cmp);
        println!("| {name} | {:.3} |", times[1]);
    };
    let shape = [len];
    seconds("a `Vec` of the values", &mut || drop((0..len).map(value).collect::<Vec<f32>>()));
    seconds("the same, and `promote`", &mut || {
        let mut table: Vec<f32> = (0..len).map(value).collect();
        std::hint::black_box(promote(&mut table)).ok();
    });
    seconds("`Tensor::from_fn`", &mut || drop(Tensor::from_fn(&shape, value)));
    seconds("`Tensor::full`, then the values", &mut || {
        let mut table = Tensor::full(&shape, 0.0).expect("a table that fits");
        table.as_mut_slice().iter_mut().enumerate().for_each(|(at, to)| *to = value(at));
    });
    let Some(folder) = folder else {
        println!();
        return Ok(());
    };
    let path = folder.join(format!("table-{}", std::process::id()));
    fs::write(&path, bytemuck::cast_slice::<f32, u8>(&(0..len).map(value).collect::<Vec<f32>>()))?;
    let open = || File::open(&path).expect("the file that was written");
    seconds("a `Vec` of bytes out of a file, by `read_to_end`", &mut || {
        let mut bytes = Vec::with_capacity(len * size_of::<f32>());
        open().read_to_end(&mut bytes).expect("a file in memory");
        std::hint::black_box(bytes);
    });
    seconds("`Tensor::from_reader`", &mut || {
        drop(Tensor::<f32>::from_reader(open(), &shape).expect("a file in memory"))
    });
    fs::remove_file(&path)?;
    println!();
    Ok(())
}

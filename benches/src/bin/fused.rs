//! Times sums of fused rows, beside those of the same rows in `f32`: `fused [FILTER] [--seconds S]`.
//!
//! Every output is checked against the plain loop over decoded rows, to the bit, before it is timed. Times are
//! milliseconds, the least and the median of rounds in which the calls take turns; all are planned, and write into warm
//! memory. `native/bags.py` times PyTorch on rows of the same formats. The last table is of one call over many tables,
//! beside a call for each.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::options::filter_and_seconds;
use gather_benches::random::Random;
use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Gather, Par, Reduction, Tensor, View, ViewMut};
use half::f16;

/// Fewest rounds of a workload.
const ROUNDS: usize = 7;
/// Name, rows and columns of the table, bags and indices of each.
const WORKLOADS: [(&str, [usize; 2], [usize; 2]); 7] = [
    ("sum_1Mx64_16Kx32", [1 << 20, 64], [16384, 32]),
    ("sum_50257x768_256x128", [50257, 768], [256, 128]),
    ("sum_1Mx16_64Kx8", [1 << 20, 16], [65536, 8]),
    ("sum_1Mx128_16Kx32", [1 << 20, 128], [16384, 32]),
    ("sum_4096x64_16Kx32", [4096, 64], [16384, 32]),
    ("sum_4096x64_1Kx32", [4096, 64], [1024, 32]),
    ("sum_1000x100_16Kx4", [1000, 100], [16384, 4]),
];

fn main() -> ExitCode {
    let (filter, seconds) = match filter_and_seconds() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("fused: {error} (usage: fused [FILTER] [--seconds S])");
            return ExitCode::from(2);
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
    println!("| workload | rows | one | weighted | into f16 | two | f32 | one / f32 |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, table, bags) in WORKLOADS.into_iter().filter(|(name, ..)| name.contains(&filter)) {
        pool.install(|| run(name, table, bags, Duration::from_secs_f64(seconds)));
    }
    if "tables".contains(&filter) {
        println!("\n| tables | each | all | each, two | all, two | each / all | each / all, two |");
        println!("|---|---|---|---|---|---|---|");
        for (bags, len) in [(64, 4), (512, 8), (4096, 16)] {
            pool.install(|| tables(bags, len, Duration::from_secs_f64(seconds)));
        }
    }
    ExitCode::SUCCESS
}

/// Tables of several formats and widths, of 2^16 rows each.
fn tables(bags: usize, len: usize, budget: Duration) {
    const ROWS: usize = 1 << 16;
    let mut random = Random::new(37);
    let formats = [FusedFormat::Torch8, FusedFormat::Fbgemm4, FusedFormat::F16, FusedFormat::F32];
    let shapes: Vec<_> = (0..24).map(|number| (formats[number % 4], [16, 64, 32, 128, 8][number % 5])).collect();
    let bytes = shapes.iter().map(|&(format, columns)| {
        let mut numbers = Tensor::full(&[ROWS, columns], 0f32).expect("a table that fits");
        numbers.as_mut_slice().fill_with(|| random.fraction() as f32 - 0.5);
        FusedRows::quantize(format, &numbers.view()).expect("rows that fit")
    });
    let bytes: Vec<_> = bytes.collect();
    let fused = bytes
        .iter()
        .zip(&shapes)
        .map(|(bytes, &(format, columns))| FusedRows::new(bytes.view(), format, columns).expect("rows of the format"));
    let fused: Vec<_> = fused.collect();
    let mut ids = Tensor::full(&[24, bags * len], 0i64).expect("indices that fit");
    ids.as_mut_slice().fill_with(|| random.below(ROWS) as i64);
    let ids: Vec<_> =
        ids.as_slice().chunks(bags * len).map(|ids| View::new(ids, &[bags, len]).expect("as many")).collect();
    let bags_of: Vec<_> = ids.iter().map(Bags::packed).collect();
    let all = gather_core::tables::<f32>(&fused).expect("some tables");
    let columns: usize = shapes.iter().map(|shape| shape.1).sum();
    let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| vec![f32::NAN; bags * columns]);
    let op = |par| EmbeddingBag::new(Reduction::Add).par(par);
    let each = |op: EmbeddingBag, out: &mut [f32]| {
        let mut start = 0;
        for (table, bags_of) in fused.iter().zip(&bags_of) {
            let (shape, strides) = ([bags, table.columns()], [columns as isize, 1]);
            let mut out = ViewMut::strided(out, &shape, &strides, start).expect("columns of the output");
            op.run_into(&table.to::<f32>(), bags_of, &mut out).expect("indices in range");
            start += table.columns();
        }
    };
    let at_once = |op: EmbeddingBag, out: &mut [f32]| {
        let mut out = ViewMut::new(out, &[bags, columns]).expect("columns of all");
        op.run_into(&all, &bags_of, &mut out).expect("indices in range");
    };
    let times = rounds(
        &mut [
            &mut || each(op(Par::Seq), &mut a),
            &mut || at_once(op(Par::Seq), &mut b),
            &mut || each(op(Par::Auto), &mut c),
            &mut || at_once(op(Par::Auto), &mut d),
        ],
        budget,
    );
    assert!([&b, &c, &d].iter().all(|sums| a.iter().zip(*sums).all(|(a, b)| a.to_bits() == b.to_bits())));
    let text = times.map(|(least, median)| format!("{least:.4} / {median:.4}")).join(" | ");
    let [one, two] = [0, 2].map(|at| times[at].1 / times[at + 1].1);
    println!("| 24 tables, {bags} bags of {len} | {text} | {one:.2} | {two:.2} |");
}

fn run(name: &str, [rows, columns]: [usize; 2], [bags, len]: [usize; 2], budget: Duration) {
    let mut random = Random::new(37);
    let mut numbers = Tensor::full(&[rows, columns], 0f32).expect("a table that fits");
    numbers.as_mut_slice().fill_with(|| random.fraction() as f32 - 0.5);
    let mut ids = Tensor::full(&[bags, len], 0i64).expect("indices that fit");
    ids.as_mut_slice().fill_with(|| random.below(rows) as i64);
    let mut weights = Tensor::full(&[bags, len], 0f32).expect("weights that fit");
    weights.as_mut_slice().fill_with(|| random.fraction() as f32);
    let (ids_view, weights_view) = (ids.view(), weights.view());
    let packed = Bags::packed(&ids_view);
    let op = |par| EmbeddingBag::new(Reduction::Add).par(par);
    for format in [
        FusedFormat::Torch8,
        FusedFormat::Torch4,
        FusedFormat::Torch2,
        FusedFormat::Fbgemm8,
        FusedFormat::F16,
        FusedFormat::F32,
    ] {
        let bytes = FusedRows::quantize(format, &numbers.view()).expect("rows that fit");
        let table = FusedRows::new(bytes.view(), format, columns).expect("rows of the format");
        let decoded = Gather::new(0).run(&table.to::<f32>(), &ids_view).expect("indices in range");
        let plain = |weight: &dyn Fn(usize) -> f32| -> Vec<f32> {
            let mut sums = vec![0.0; bags * columns];
            for (at, row) in decoded.as_slice().chunks(columns).enumerate() {
                let sums = &mut sums[at / len * columns..][..columns];
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * weight(at));
            }
            sums
        };
        let (expected, weighted) = (plain(&|_| 1.0), plain(&|at| weights.as_slice()[at]));
        let [one, two] = [Par::Seq, Par::Threads(2)]
            .map(|par| op(par).plan(&table.to::<f32>(), &packed).expect("a workload of the list"));
        let (floats, halves) = (table.to::<f32>(), table.to::<f16>());
        let half = op(Par::Seq).plan(&halves, &packed).expect("a workload of the list");
        let single = op(Par::Seq).plan(&numbers.view(), &packed).expect("a workload of the list");
        let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| Tensor::full(&[bags, columns], f32::NAN).expect("sums"));
        let mut h = Tensor::full(&[bags, columns], f16::NAN).expect("sums that fit");
        let times = {
            let mut calls: [&mut (dyn FnMut() + Send); 5] = [
                &mut || one.run_into(&floats, &Bags::planned(&ids_view), &mut a).expect("indices in range"),
                &mut || {
                    one.run_into(&floats, &Bags::planned(&ids_view).weights(&weights_view), &mut b)
                        .expect("indices in range")
                },
                &mut || half.run_into(&halves, &Bags::planned(&ids_view), &mut h).expect("indices in range"),
                &mut || two.run_into(&floats, &Bags::planned(&ids_view), &mut c).expect("indices in range"),
                &mut || single.run_into(&numbers.view(), &Bags::planned(&ids_view), &mut d).expect("indices in range"),
            ];
            calls.iter_mut().for_each(|call| call());
            rounds(&mut calls, budget)
        };
        for (got, expected) in [(&a, &expected), (&b, &weighted), (&c, &expected)] {
            assert!(got.as_slice().iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
        }
        assert!(h.as_slice().iter().zip(&expected).all(|(&a, &b)| a == f16::from_f32(b)), "{name}");
        let text = times.map(|(least, median)| format!("{least:.4} / {median:.4}")).join(" | ");
        println!("| {name} | {format:?} | {text} | {:.2} |", times[0].1 / times[4].1);
    }
}

/// The least and the median of calls in milliseconds, which take turns, round by round.
fn rounds<const N: usize>(calls: &mut [&mut (dyn FnMut() + Send); N], budget: Duration) -> [(f64, f64); N] {
    let mut times = [const { Vec::new() }; N];
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < budget {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let start = Instant::now();
            call();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.map(|mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    })
}

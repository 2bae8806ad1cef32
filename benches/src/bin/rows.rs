//! Times row functions beside what one would write without them: `rows [FILTER] [--seconds N]`.
//!
//! Rescoring: a function of 4,096 random rows and a query, beside the loop `zip().map().sum()` over each row; in tables
//! of half a GiB and more, and of a MiB. Embedding: token and position embeddings, then a layer norm, in
//! one pass and in two of ours. Outputs are compared first. Times are medians in microseconds, in turn, on one thread
//! pinned to a CPU, into warm memory.

use std::hint::black_box;
use std::process::ExitCode;

use bytemuck::Pod;
use gather_benches::buffer::Buffer;
use gather_benches::clock;
use gather_benches::options::Bench;
use gather_benches::random::Random;
use gather_core::{Element, Gather, Given, Layout, Par, RowFunction, RowParams, Spec, Tensor, View, ViewMut, rows};
use half::f16;

const IDS: usize = 4_096;
/// Lists of ids that take turns, so that rows are seldom met again.
const LISTS: usize = 256;

fn main() -> ExitCode {
    let bench = match Bench::pinned("rows") {
        Ok(bench) => bench,
        Err(status) => return status,
    };
    println!("| workload | rows of the table | the loop | planned | not planned | loop / planned |");
    println!("|---|---|---|---|---|---|");
    let float = |bits: u64| (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let query = values(768, 3, float);
    let query = query.as_slice();
    for (width, many) in [(128, 1 << 20), (768, 1 << 18)] {
        for rows in [many, (1 << 20) / (4 * width)] {
            let call = Rescoring { name: "dot f32", rows, width, tolerance: 1e-3, query: &query[..width] };
            rescore(&bench, &rows::dot(), &call, float, |row, query| row.iter().zip(query).map(|(a, b)| a * b).sum());
            let call = Rescoring { name: "L2 f32", ..call };
            rescore(&bench, &rows::l2_squared(), &call, float, |row, query| {
                row.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum()
            });
        }
    }
    for rows in [1 << 19, (1 << 20) / (2 * 768)] {
        let call = Rescoring { name: "dot f16", rows, width: 768, tolerance: 1e-3, query };
        let half = |bits| f16::from_f32(float(bits));
        rescore(&bench, &rows::dot(), &call, half, |row, query| {
            row.iter().zip(query).map(|(a, b)| a.to_f32() * b).sum()
        });
    }
    let byte = |bits: u64| (bits >> 56) as i8;
    let bytes = values(768, 3, byte);
    for rows in [1 << 20, (1 << 20) / 768] {
        let call = Rescoring { name: "dot i8", rows, width: 768, tolerance: 0.0, query: bytes.as_slice() };
        rescore(&bench, &rows::dot(), &call, byte, |row, query| {
            row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
        });
    }
    embed(&bench, float);
    ExitCode::SUCCESS
}

fn values<T: Pod>(n: usize, seed: u64, value: impl Fn(u64) -> T) -> Buffer<T> {
    let (mut random, mut values) = (Random::new(seed), Buffer::aligned(&[n]));
    values.as_mut_slice().fill_with(|| value(random.bits()));
    values
}

struct Rescoring<'a, Q> {
    name: &'static str,
    rows: usize,
    width: usize,
    /// How far results may be from the loop's, per element.
    tolerance: f64,
    query: &'a [Q],
}

fn rescore<T: Element + Pod, Q: Element, U: Element + Into<f64>, P>(
    bench: &Bench,
    function: &RowFunction<T, U, P>,
    call: &Rescoring<'_, Q>,
    value: impl Fn(u64) -> T,
    score: impl Fn(&[T], &[Q]) -> U,
) where
    P: for<'a> RowParams<Given<'a> = (Given<'a, &'a [Q], Q>,)>,
{
    let &Rescoring { name, rows, width, tolerance, query } = call;
    let name = format!("{name}, {width} wide");
    if !name.contains(&bench.filter) {
        return;
    }
    let mut random = Random::new(5);
    let table = values(rows * width, 1, value);
    let table = table.as_slice();
    let lists: Vec<u32> = (0..IDS * LISTS).map(|_| random.below(rows) as u32).collect();
    let data = View::new(table, &[rows, width]).expect("a table");
    let ids: Vec<_> = lists.chunks(IDS).map(|ids| View::new(ids, &[IDS]).expect("ids")).collect();
    let gather = Gather::new(0).par(Par::Seq);
    let plan = gather.plan(&Spec::from_layout(data.layout()).rows(function), &ids[0]).expect("a plan");
    let given = (Given::All(query),);

    let loop_over = |ids: &[u32], out: &mut [U]| {
        for (out, &id) in out.iter_mut().zip(ids) {
            *out = score(&table[id as usize * width..][..width], query);
        }
    };
    let (mut outs, mut planned, mut not_planned) = (vec![U::ZERO; IDS], Tensor::default(), Tensor::default());
    loop_over(&lists[..IDS], &mut outs);
    plan.run_into(&data.rows(function, given), &ids[0], &mut planned).expect("scores");
    for (&ours, &theirs) in planned.as_slice().iter().zip(&outs) {
        let (ours, theirs): (f64, f64) = (ours.into(), theirs.into());
        assert!((ours - theirs).abs() <= tolerance * width as f64, "{name}: {ours} and {theirs}");
    }
    // No variant reads the rows that another has just read.
    let (mut a, mut b, mut c) = (0, LISTS / 3, LISTS / 3 * 2);
    let next = |at: &mut usize| {
        *at = (*at + 1) % LISTS;
        *at
    };
    let times = clock::medians(
        &mut [
            Box::new(|| {
                let at = next(&mut a);
                loop_over(black_box(&lists[at * IDS..][..IDS]), &mut outs);
            }),
            Box::new(|| plan.run_into(&data.rows(function, given), &ids[next(&mut b)], &mut planned).expect("scores")),
            Box::new(|| {
                gather.run_into(&data.rows(function, given), &ids[next(&mut c)], &mut not_planned).expect("scores");
            }),
        ],
        bench.budget,
    );
    report(&name, rows, &times);
}

fn report(name: &str, rows: usize, times: &[f64]) {
    let cells: Vec<String> = times.iter().map(|time| format!("{:.0}", time * 1e3)).collect();
    println!("| {name} | {rows} | {} | {:.2} |", cells.join(" | "), times[0] / times[1]);
}

/// GPT-2's table: [16, 512] tokens with the embeddings of their positions, then a layer norm.
fn embed(bench: &Bench, float: impl Fn(u64) -> f32 + Copy) {
    const ROWS: usize = 50_257;
    const WIDTH: usize = 768;
    const SHAPE: [usize; 2] = [16, 512];
    let name = "embedding, position and layer norm (two passes of ours for the loop)";
    if !name.contains(&bench.filter) {
        return;
    }
    let mut random = Random::new(7);
    let table = values(ROWS * WIDTH, 1, float);
    let (positions, gains, biases) =
        (values(SHAPE[1] * WIDTH, 2, float), values(WIDTH, 3, float), values(WIDTH, 4, float));
    let ids: Vec<u32> = (0..SHAPE[0] * SHAPE[1]).map(|_| random.below(ROWS) as u32).collect();
    let data = View::new(table.as_slice(), &[ROWS, WIDTH]).expect("a table");
    let ids = View::new(&ids, &SHAPE).expect("ids");
    let gather = Gather::new(0).par(Par::Seq);
    let params = (
        Given::PerIndex(positions.as_slice()),
        Given::All(gains.as_slice()),
        Given::All(biases.as_slice()),
        Given::All(1e-5),
    );
    let out_shape = [SHAPE[0], SHAPE[1], WIDTH];
    let len: usize = out_shape.iter().product();
    let fused = gather.plan(&data.rows(&rows::layer_norm(), params), &ids).expect("a plan");
    eprintln!("{}", fused.explain());
    // The second pass reads what the first one has gathered: each row by its number.
    let copied = gather.plan(&data, &ids).expect("a plan");
    let numbers: Vec<u32> = (0..ids.len() as u32).collect();
    let numbers = View::new(&numbers, &SHAPE).expect("numbers");
    let gathered_layout = Layout::contiguous(&[ids.len(), WIDTH]).expect("a layout");
    let normed = gather.plan(&Spec::from_layout(&gathered_layout).rows(&rows::layer_norm()), &numbers).expect("a plan");
    let [mut gathered, mut two, mut one] = [(); 3].map(|()| Buffer::<f32>::aligned(&[len]));
    let mut fresh = Tensor::default();
    let mut in_two = || {
        copied
            .run_into(&data, &ids, &mut ViewMut::new(gathered.as_mut_slice(), &out_shape).expect("a view"))
            .expect("rows");
        let taken = View::new(gathered.as_slice(), &[ids.len(), WIDTH]).expect("a view");
        normed
            .run_into(
                &taken.rows(&rows::layer_norm(), params),
                &numbers,
                &mut ViewMut::new(two.as_mut_slice(), &out_shape).expect("a view"),
            )
            .expect("rows");
    };
    let mut in_one = || {
        fused
            .run_into(
                &data.rows(&rows::layer_norm(), params),
                &ids,
                &mut ViewMut::new(one.as_mut_slice(), &out_shape).expect("a view"),
            )
            .expect("rows");
    };
    let mut not_planned = || {
        gather.run_into(&data.rows(&rows::layer_norm(), params), &ids, &mut fresh).expect("rows");
    };
    in_two();
    in_one();
    let times =
        clock::medians(&mut [Box::new(&mut in_two), Box::new(&mut in_one), Box::new(&mut not_planned)], bench.budget);
    assert!(one.as_slice() == two.as_slice(), "results differ");
    report(name, ROWS, &times);
}

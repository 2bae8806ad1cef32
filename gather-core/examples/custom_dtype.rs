//! Data types of your own: particles of 16 bytes and points of 12, gathered like numbers.
//!
//! ```text
//! cargo run --release -p gather-core --example custom_dtype
//! cargo run --release -p gather-core --example custom_dtype -- --side 2048
//! ```
//!
//! Every operator is checked against a plain loop, and then timed in turn with it. Typed calls run on the built-in
//! kernels: those of 16 bytes for particles, and those of rows for points. The last line goes through a registry, where
//! points have kernels of their own size. The example fails if results differ, or if another kernel runs.

#[macro_use]
#[path = "common/print.rs"]
mod print;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use gather_core::{
    BatchToSpace, DType, DynView, DynViewMut, Element, Gather, GatherNd, Op, Par, Registry, Tensor, View,
};
use lexopt::{Arg, ValueExt};

const USAGE: &str = "usage: custom_dtype [--side N]
  --side N   elements along each side of a grid of N x N, a multiple of 4 (default 1024)";

/// Rounds of timing. Their median counts.
const ROUNDS: usize = 11;
/// The block of BatchToSpace along both sides.
const BLOCK: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    id: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

gather_core::kernels! {
    /// Kernels for particles and points.
    static CLOUD;
    elements: [Particle as x128, Point];
    indices: [u32];
    ranks: 1..=2, any;
    ops: [gather, gather_nd, batch_to_space];
}

/// A line of the table.
struct Line {
    operator: Op,
    dtype: DType,
    call: &'static str,
    kernel: &'static str,
    /// Medians in milliseconds.
    times: [f64; 2],
}

fn main() -> ExitCode {
    let fail = |message: String, status| {
        eprintln!("custom_dtype: {message}");
        ExitCode::from(status)
    };
    match options() {
        Ok(Some(side)) => run(side).map_or_else(|error| fail(error.to_string(), 1), |()| ExitCode::SUCCESS),
        Ok(None) => {
            say!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(format!("{error}\n{USAGE}"), 2),
    }
}

/// The side of the grid, or `None` where help is asked for.
fn options() -> Result<Option<usize>, lexopt::Error> {
    let mut size = 1024;
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("side") => size = parser.value()?.parse_with(side)?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(size))
}

fn side(word: &str) -> Result<usize, &'static str> {
    let fits = |side: &usize| *side > 0 && side.is_multiple_of(BLOCK) && *side <= 1 << 14;
    word.parse().ok().filter(fits).ok_or("expected a multiple of 4 up to 16384")
}

fn run(side: usize) -> Result<(), Box<dyn Error>> {
    let len = side * side;
    let points: Vec<Point> = (0..len).map(|n| n as f32).map(|n| Point { x: n, y: n / 2.0, z: -n }).collect();
    let particles: Vec<Particle> =
        points.iter().zip(0..).map(|(point, id)| Particle { position: [point.x, point.y, point.z], id }).collect();
    let ids = numbers(len, len);
    let pairs = numbers(2 * len, side);

    say!("{side} x {side} elements and as many indices; one thread; medians of {ROUNDS} rounds in turn\n");
    say!(
        "{:<15} {:<9} {:<16} {:<28} {:>8} {:>8} {:>6}",
        "operator",
        "data",
        "call",
        "kernel",
        "ms",
        "loop ms",
        "ratio"
    );
    print(&gather(&particles, &ids)?, "x128")?;
    print(&gather(&points, &ids)?, "rows")?;
    print(&gather_nd(side, &particles, &pairs)?, "x128")?;
    print(&gather_nd(side, &points, &pairs)?, "rows")?;
    print(&batch_to_space(side, &particles)?, "x128")?;
    print(&batch_to_space(side, &points)?, "rows")?;
    print(&registered(&points, &ids)?, "point")?;
    Ok(())
}

/// Elements by number.
fn gather<T: Element + PartialEq>(data: &[T], ids: &[u32]) -> Result<Line, Box<dyn Error>> {
    let (view, indices) = (View::new(data, &[data.len()])?, View::new(ids, &[ids.len()])?);
    let plan = Gather::new(0).par(Par::Seq).plan(&view, &indices)?;
    let times = compare(
        plan.output_shape(),
        |out| plan.run_into(black_box(&view), black_box(&indices), &mut out.view_mut()),
        |out| by_number(data, black_box(ids), out),
    )?;
    Ok(Line { operator: Op::Gather, dtype: T::DTYPE, call: "plan", kernel: plan.explain().kernel(), times })
}

/// Elements of the grid by row and column.
fn gather_nd<T: Element + PartialEq>(side: usize, data: &[T], pairs: &[u32]) -> Result<Line, Box<dyn Error>> {
    let (view, indices) = (View::new(data, &[side, side])?, View::new(pairs, &[pairs.len() / 2, 2])?);
    let plan = GatherNd::new().par(Par::Seq).plan(&view, &indices)?;
    let times = compare(
        plan.output_shape(),
        |out| plan.run_into(black_box(&view), black_box(&indices), &mut out.view_mut()),
        |out| {
            for (out, pair) in out.as_mut_slice().iter_mut().zip(black_box(pairs).chunks_exact(2)) {
                *out = data[pair[0] as usize * side + pair[1] as usize];
            }
        },
    )?;
    Ok(Line { operator: Op::GatherNd, dtype: T::DTYPE, call: "plan", kernel: plan.explain().kernel(), times })
}

/// A batch of grids, interleaved into one: each fills one element of every block.
fn batch_to_space<T: Element + PartialEq>(side: usize, data: &[T]) -> Result<Line, Box<dyn Error>> {
    let (small, block) = (side / BLOCK, BLOCK as i64);
    let view = View::new(data, &[BLOCK * BLOCK, small, small])?;
    let operator = BatchToSpace::new(&[1, block, block], &[0; 3], &[0; 3]).par(Par::Seq);
    let plan = operator.plan(&view)?;
    let times = compare(
        plan.output_shape(),
        |out| plan.run_into(black_box(&view), &mut out.view_mut()),
        |out| {
            let data = black_box(data);
            for (y, row) in out.as_mut_slice().chunks_exact_mut(side).enumerate() {
                for (x, out) in row.iter_mut().enumerate() {
                    let phase = y % BLOCK * BLOCK + x % BLOCK;
                    *out = data[(phase * small + y / BLOCK) * small + x / BLOCK];
                }
            }
        },
    )?;
    Ok(Line { operator: Op::BatchToSpace, dtype: T::DTYPE, call: "plan", kernel: plan.explain().kernel(), times })
}

/// Points by number, through a registry that knows them.
fn registered(data: &[Point], ids: &[u32]) -> Result<Line, Box<dyn Error>> {
    let registry = const { &Registry::builtin().with(&CLOUD) };
    let (view, indices) = (View::new(data, &[data.len()])?, View::new(ids, &[ids.len()])?);
    let (view, indices) = (DynView::from(&view), DynView::from(&indices));
    let gather = Gather::new(0).par(Par::Seq);
    let plan = gather.registry(registry).plan(&view, &indices)?;
    let times = compare(
        plan.output_shape(),
        |out| plan.run_into(black_box(&view), black_box(&indices), &mut DynViewMut::from(&mut out.view_mut())),
        |out| by_number(data, black_box(ids), out),
    )?;
    let kernel = plan.explain().kernel();
    Ok(Line { operator: Op::Gather, dtype: Point::DTYPE, call: "registry, plan", kernel, times })
}

/// The loop that is a Gather.
fn by_number<T: Copy>(data: &[T], ids: &[u32], out: &mut Tensor<T>) {
    for (out, &id) in out.as_mut_slice().iter_mut().zip(ids) {
        *out = data[id as usize];
    }
}

/// Checks a call against a loop, then times both in turn. Returns medians in milliseconds.
fn compare<T: Element + PartialEq>(
    shape: &[usize],
    mut call: impl FnMut(&mut Tensor<T>) -> Result<(), gather_core::Error>,
    mut looped: impl FnMut(&mut Tensor<T>),
) -> Result<[f64; 2], Box<dyn Error>> {
    let (mut out, mut expected) = (Tensor::full(shape, T::ZERO)?, Tensor::full(shape, T::ZERO)?);
    call(&mut out)?;
    looped(&mut expected);
    if out != expected {
        return Err("the operator and the plain loop disagree".into());
    }
    let mut times = [Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS)];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        call(black_box(&mut out))?;
        let between = Instant::now();
        looped(black_box(&mut expected));
        times[0].push((between - start).as_secs_f64() * 1e3);
        times[1].push(between.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    }))
}

/// Prints a line whose kernel has a name with this word: the width that it is made for.
fn print(line: &Line, width: &str) -> Result<(), String> {
    let Line { operator, dtype, call, kernel, times: [ours, looped] } = line;
    say!("{operator:<15} {dtype:<9} {call:<16} {kernel:<28} {ours:>8.3} {looped:>8.3} {:>6.2}", looped / ours);
    let expected = kernel.split('_').any(|word| word == width);
    if expected { Ok(()) } else { Err(format!("expected a kernel for {width}")) }
}

/// Numbers below `bound` in no order.
fn numbers(count: usize, bound: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let high = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * bound as u64) >> 32) as u32
    };
    (0..count).map(next).collect()
}

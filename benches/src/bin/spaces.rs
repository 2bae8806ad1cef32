//! Times the operators that rearrange space beside the plain loop and prints a table of medians: `spaces [FILTER]`.
//!
//! The ways of a workload are timed in turn, in one process, into warm memory. Every output is compared with the loop's
//! first. Times are milliseconds; the last columns are times of the loop, and of a copy of as many bytes.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_core::{
    BatchToSpace, DepthToSpace, Layout, Mode, Par, RearrangePlan, SpaceAttributes, SpaceOperator, SpaceToBatch,
    SpaceToDepth,
};

/// How long the rounds of a workload take together, and the fewest there are.
const BUDGET: Duration = Duration::from_secs(6);
const ROUNDS: usize = 5;

/// A workload: data of four dimensions, and what is made of it.
struct Space {
    name: &'static str,
    shape: [usize; 4],
    /// The plain loop.
    plain: fn(&[f32], [usize; 4], &mut [f32]),
    /// The plan, for the threads that `Par` allows.
    plan: fn(&Layout, Par) -> RearrangePlan<f32>,
}

const SPACES: [Space; 8] = [
    Space {
        name: "space_to_batch/nhwc_16x128x128x32_b2",
        shape: [16, 128, 128, 32],
        plain: space_to_batch::<0>,
        plan: |data, par| planned(SpaceToBatch::openvino2(&[1, 2, 2, 1], &[0; 4], &[0; 4]), data, par),
    },
    Space {
        name: "space_to_batch/nhwc_16x128x128x32_b2_pad2",
        shape: [16, 128, 128, 32],
        plain: space_to_batch::<2>,
        plan: |data, par| planned(SpaceToBatch::tensorflow(&[2, 2], &[[2; 2]; 2]), data, par),
    },
    Space {
        name: "depth_to_space/dcr_16x256x64x64_b2",
        shape: [16, 256, 64, 64],
        plain: depth_to_space::<2, false>,
        plan: |data, par| planned(DepthToSpace::onnx13(2, Mode::Dcr), data, par),
    },
    Space {
        name: "depth_to_space/crd_16x256x64x64_b2",
        shape: [16, 256, 64, 64],
        plain: depth_to_space::<2, true>,
        plan: |data, par| planned(DepthToSpace::onnx13(2, Mode::Crd), data, par),
    },
    Space {
        name: "space_to_depth/16x64x128x128_b2",
        shape: [16, 64, 128, 128],
        plain: space_to_depth::<2>,
        plan: |data, par| planned(SpaceToDepth::onnx13(2), data, par),
    },
    Space {
        name: "space_to_depth/4x16x128x128_b2",
        shape: [4, 16, 128, 128],
        plain: space_to_depth::<2>,
        plan: |data, par| planned(SpaceToDepth::onnx13(2), data, par),
    },
    Space {
        name: "space_to_depth/4x4x128x128_b4",
        shape: [4, 4, 128, 128],
        plain: space_to_depth::<4>,
        plan: |data, par| planned(SpaceToDepth::onnx13(4), data, par),
    },
    Space {
        name: "batch_to_space/nhwc_64x64x64x32_b2",
        shape: [64, 64, 64, 32],
        plain: batch_to_space,
        plan: |data, par| planned(BatchToSpace::openvino2(&[1, 2, 2, 1], &[0; 4], &[0; 4]), data, par),
    },
];

fn planned<A: SpaceAttributes>(op: SpaceOperator<A>, data: &Layout, par: Par) -> RearrangePlan<f32> {
    op.par(par).plan(data).expect("a workload's attributes fit its shape")
}

/// SpaceToBatch in blocks of 2 x 2, with `PAD` rows and columns at every end.
fn space_to_batch<const PAD: usize>(data: &[f32], [n, h, w, c]: [usize; 4], out: &mut [f32]) {
    let (rows, columns) = (h / 2 + PAD, w / 2 + PAD);
    let mut at = 0;
    for image in 0..4 * n {
        let (place, image) = (image / n, image % n);
        for row in 0..rows {
            for column in 0..columns {
                let to = &mut out[at..at + c];
                let (y, x) = ((row * 2 + place / 2).wrapping_sub(PAD), (column * 2 + place % 2).wrapping_sub(PAD));
                if y < h && x < w {
                    let from = ((image * h + y) * w + x) * c;
                    to.copy_from_slice(&data[from..from + c]);
                } else {
                    to.fill(0.0);
                }
                at += c;
            }
        }
    }
}

/// BatchToSpace in blocks of 2 x 2.
fn batch_to_space(data: &[f32], [n, h, w, c]: [usize; 4], out: &mut [f32]) {
    let images = n / 4;
    let mut at = 0;
    for image in 0..images {
        for y in 0..2 * h {
            for x in 0..2 * w {
                let from = ((((y % 2 * 2 + x % 2) * images + image) * h + y / 2) * w + x / 2) * c;
                out[at..at + c].copy_from_slice(&data[from..from + c]);
                at += c;
            }
        }
    }
}

fn depth_to_space<const B: usize, const CRD: bool>(data: &[f32], [n, c, h, w]: [usize; 4], out: &mut [f32]) {
    let depth = c / (B * B);
    let mut at = 0;
    for image in 0..n {
        for channel in 0..depth {
            for y in 0..h * B {
                for x in 0..w * B {
                    let place = y % B * B + x % B;
                    let from = if CRD { channel * B * B + place } else { place * depth + channel };
                    out[at] = data[((image * c + from) * h + y / B) * w + x / B];
                    at += 1;
                }
            }
        }
    }
}

fn space_to_depth<const B: usize>(data: &[f32], [n, c, h, w]: [usize; 4], out: &mut [f32]) {
    let mut at = 0;
    for image in 0..n {
        for channel in 0..c * B * B {
            let (place, channel) = (channel / c, channel % c);
            for y in 0..h / B {
                let from = ((image * c + channel) * h + y * B + place / B) * w + place % B;
                for x in 0..w / B {
                    out[at] = data[from + x * B];
                    at += 1;
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let chosen: Vec<&Space> = SPACES.iter().filter(|space| space.name.contains(&filter)).collect();
    if chosen.is_empty() {
        eprintln!("spaces: no workload has `{filter}` in its name");
        return ExitCode::from(2);
    }
    println!("| workload | 1 thread | 2 threads | loop | copy | loop / 1 thread | 1 thread / copy |");
    println!("|---|---|---|---|---|---|---|");
    for space in chosen {
        if let Err(why) = measure(space) {
            eprintln!("spaces: {}: {why}", space.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Times the ways of a workload in turn and prints a row.
fn measure(space: &Space) -> Result<(), String> {
    let layout = Layout::contiguous(&space.shape).map_err(|error| error.to_string())?;
    let data: Vec<f32> = (0..layout.len()).map(|at| at as f32 + 0.5).collect();
    let plans = [Par::Seq, Par::Threads(2)].map(|par| (space.plan)(&layout, par));
    let len = plans[0].output_shape().iter().product();
    let (mut expected, mut out) = (vec![-1.0; len], vec![-1.0; len]);
    (space.plain)(&data, space.shape, &mut expected);
    for plan in &plans {
        out.fill(-1.0);
        plan.run_slices(&data, &mut out).map_err(|error| error.to_string())?;
        if out != expected {
            return Err("not what the plain loop gives".into());
        }
    }
    // A copy of the output's bytes.
    let source = expected;
    let mut times: [Vec<f64>; 4] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < BUDGET {
        for (way, times) in times.iter_mut().enumerate() {
            let begin = Instant::now();
            match way {
                0 | 1 => plans[way].run_slices(&data, &mut out).expect("it has run before"),
                2 => (space.plain)(&data, space.shape, &mut out),
                _ => out.copy_from_slice(&source),
            }
            std::hint::black_box(&mut out);
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [one, two, plain, copy] = times.map(median);
    println!(
        "| {} | {one:.3} | {two:.3} | {plain:.3} | {copy:.3} | {:.2} | {:.2} |",
        space.name,
        plain / one,
        one / copy
    );
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

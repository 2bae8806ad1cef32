//! Looks rows of quantised tables up with gather-core and with candle's `QTensor::embedding`: `quantized [--rounds N]`.
//!
//! 8,192 rows of 768 values out of a table of 50,257 rows, on one thread, in turns. candle returns a fresh output from
//! every call. gather-core is timed with a fresh one too, and with one that is given, as an inference engine would have
//! it. Values are compared first. Times are medians in milliseconds; ratios are candle's to ours.
//!
//! The last line is `View::blocks` on codes of 4 bits in blocks of 32, which `benches/native/quantized.py`
//! times in ONNX Runtime.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use candle_core::quantized::ggml_file::qtensor_from_ggml;
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor as Candle};
use gather_benches::pin;
use gather_benches::random::Random;
use gather_core::maps::{self, Block, Convertible};
use gather_core::{Codes, Gather, OutOfBounds, Par, Spec, Tensor, View};

const ROWS: usize = 50_257;
const VALUES: usize = 768;
const IDS: usize = 8_192;

fn main() -> ExitCode {
    let rounds = std::env::args().skip_while(|arg| arg != "--rounds").nth(1);
    let rounds = rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(9);
    if let Err(why) = pin::to_one_cpu() {
        eprintln!("quantized: not pinned to a CPU: {why}");
    }
    println!("| table | candle ms | ours, fresh, ms | ours, given, ms | ratio, fresh | ratio, given |");
    println!("|---|---|---|---|---|---|");
    let compared = compare::<maps::Q8_0, _>(GgmlDType::Q8_0, &[0], rounds)
        .and_then(|()| compare::<maps::Q4_0, _>(GgmlDType::Q4_0, &[0], rounds))
        .and_then(|()| compare::<maps::Q4_K, _>(GgmlDType::Q4K, &[0, 2], rounds))
        .and_then(|()| block_quantized(rounds));
    match compared {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quantized: {error}");
            ExitCode::from(2)
        }
    }
}

/// Bytes of a table whose blocks have small numbers in the halves at `halves`.
fn table(size: usize, blocks: usize, halves: &[usize], random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| random.bits() as u8).take(blocks * size).collect();
    for block in bytes.chunks_exact_mut(size) {
        for &at in halves {
            let half = random.bits() as u16 & 0x9fff | 0x0400;
            block[at..at + 2].copy_from_slice(&half.to_le_bytes());
        }
    }
    bytes
}

fn compare<B, const N: usize>(
    dtype: GgmlDType,
    halves: &[usize],
    rounds: usize,
) -> Result<(), Box<dyn std::error::Error>>
where
    B: Block + Convertible<f32, Floats = [f32; N]>,
{
    let (map, mut random) = (&maps::convert::<B, f32>(), Random::new(17));
    let ids: Vec<u32> = (0..IDS).map(|_| random.below(ROWS) as u32).collect();
    let bytes = table(size_of::<B>(), ROWS * VALUES / N, halves, &mut random);
    let theirs: QTensor = qtensor_from_ggml(dtype, &bytes, vec![ROWS, VALUES], &Device::Cpu)?;
    let their_ids = Candle::new(&ids[..], &Device::Cpu)?;
    let (data, ids) = (View::new(B::from_bytes(&bytes).0, &[ROWS, VALUES / N])?, View::new(&ids, &[IDS])?);
    let plan = Gather::new(0)
        .par(Par::Seq)
        .plan(&Spec::from_layout(data.layout()).map(map), &Spec::from_layout(ids.layout()))?;
    let mut out = Tensor::full(&[IDS, VALUES / N], [0.0; N])?;
    plan.run_into(&data.map(map, ()), &ids, &mut out.view_mut())?;

    let expected = theirs.embedding(&their_ids)?.flatten_all()?.to_vec1::<f32>()?;
    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1e-3);
    if !out.as_slice().as_flattened().iter().zip(&expected).all(near) {
        return Err(format!("{}: candle gives other values", map.name()).into());
    }

    let mut times = [const { Vec::new() }; 3];
    let timed = |times: &mut Vec<f64>, start: Instant| times.push(1e3 * start.elapsed().as_secs_f64());
    for _ in 0..rounds {
        let start = Instant::now();
        black_box(theirs.embedding(&their_ids)?);
        timed(&mut times[0], start);
        let start = Instant::now();
        black_box(plan.run(&data.map(map, ()), &ids)?);
        timed(&mut times[1], start);
        let start = Instant::now();
        plan.run_into(&data.map(map, ()), &ids, &mut out.view_mut())?;
        timed(&mut times[2], start);
    }
    let [candle, fresh, given] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let (name, ratios) = (map.name(), (candle / fresh, candle / given));
    println!("| {name} | {candle:.2} | {fresh:.2} | {given:.2} | {:.1} | {:.1} |", ratios.0, ratios.1);
    Ok(())
}

fn block_quantized(rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    const BLOCK: usize = 32;
    let mut random = Random::new(17);
    let codes: Vec<u8> = std::iter::repeat_with(|| random.bits() as u8).take(ROWS * VALUES / 2).collect();
    let scales: Vec<f32> = (0..ROWS * VALUES / BLOCK).map(|_| random.fraction() as f32).collect();
    let ids: Vec<i64> = (0..IDS).map(|_| random.below(ROWS) as i64).collect();
    let (data, indices) = (View::new(&codes, &[ROWS, VALUES / 2])?, View::new(&ids, &[IDS])?);
    let scale_view = View::new(&scales, &[ROWS, VALUES / BLOCK])?;
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).par(Par::Seq);
    let blocks = data.blocks(Codes::Bits4, BLOCK, &scale_view);
    let plan = op.plan(&blocks, &indices)?;
    let mut out = Tensor::full(&[IDS, VALUES], f32::NAN)?;
    plan.run_into(&blocks, &indices, &mut out.view_mut())?;
    for (at, &value) in out.as_slice().iter().enumerate() {
        let from = ids[at / VALUES] as usize * VALUES + at % VALUES;
        let code = codes[from / 2] >> (from % 2 * 4) & 15;
        if value != (f32::from(code) - 8.0) * scales[from / BLOCK] {
            return Err(format!("block_quantized: value {at} is wrong").into());
        }
    }
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        let start = Instant::now();
        black_box(plan.run(&blocks, &indices)?);
        times[0].push(1e3 * start.elapsed().as_secs_f64());
        let start = Instant::now();
        plan.run_into(&blocks, &indices, &mut out.view_mut())?;
        times[1].push(1e3 * start.elapsed().as_secs_f64());
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    println!("| block_quantized | | {:.2} | {:.2} | | |", times[0][rounds / 2], times[1][rounds / 2]);
    Ok(())
}

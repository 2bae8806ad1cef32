//! Times the ready-made maps and prints how fast each writes: `tables [FILTER] [--rounds N] [--among N]`.
//!
//! Each gathers 8,192 rows of 768 values out of a table of 50,257 rows, on one thread, into warm memory. `--among`
//! takes them from the first rows alone: 500 of them fit in most second-level caches. Beside it, in turn: a plain loop
//! that decodes value by value, as one would write it first, and a fill of the same output, which is as fast as bytes
//! can be written. Every output is compared with the loop's first. Rates are medians, in gigabytes of output a second.

use std::process::ExitCode;
use std::time::Instant;

use gather_benches::pin;
use gather_benches::random::Random;
use gather_core::maps::{
    self, Block, IQ4_NL, IQ4_XS, MXFP4, NVFP4, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0,
};
use gather_core::{Element, Gather, Given, Map, Par, Params, Spec, Tensor, View};
use half::{bf16, f16};
use lexopt::{Arg, ValueExt};

const ROWS: usize = 50_257;
const VALUES: usize = 768;
const IDS: usize = 8_192;
/// Of maps that take them.
const SCALE: f32 = 0.37;
const ZERO_POINT: u8 = 7;
const EXPONENT: u8 = 121;

/// What decodes value `i` of a row.
type Decode = fn(&[u8], usize) -> f32;

/// What is timed, and how.
struct Bench {
    filter: String,
    rounds: usize,
    ids: Tensor<u32>,
}

/// A number of an output.
trait Number: Copy + PartialEq + 'static {
    const NONE: Self;
    fn round(value: f32) -> Self;
}

impl Number for f32 {
    const NONE: Self = f32::MAX;
    fn round(value: f32) -> Self {
        value
    }
}

impl Number for f16 {
    const NONE: Self = f16::MAX;
    fn round(value: f32) -> Self {
        f16::from_f32(value)
    }
}

impl Number for bf16 {
    const NONE: Self = bf16::MAX;
    fn round(value: f32) -> Self {
        bf16::from_f32(value)
    }
}

/// An element of an output, made of numbers.
trait Numbers: Element {
    type Of: Number;
    const NONE: Self;
    fn numbers(values: &mut [Self]) -> &mut [Self::Of];
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Numbers for $number {
            type Of = $number;
            const NONE: Self = <$number as Number>::NONE;
            fn numbers(values: &mut [Self]) -> &mut [$number] {
                values
            }
        }
        impl<const N: usize> Numbers for [$number; N] {
            type Of = $number;
            const NONE: Self = [<$number as Number>::NONE; N];
            fn numbers(values: &mut [Self]) -> &mut [$number] {
                values.as_flattened_mut()
            }
        }
    )*};
}
numbers!(f32, f16, bf16);

fn main() -> ExitCode {
    let (filter, rounds, among) = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("tables: {error} (usage: tables [FILTER] [--rounds N] [--among N])");
            return ExitCode::from(2);
        }
    };
    match pin::to_one_cpu() {
        Ok(cpu) => eprintln!("tables: on CPU {cpu}"),
        Err(why) => eprintln!("tables: not pinned to a CPU: {why}"),
    }
    let mut random = Random::new(17);
    let ids = (0..IDS).map(|_| random.below(among) as u32).collect();
    let ids = Tensor::new(ids, &[IDS]).expect("as many ids");
    println!("| map | loop GB/s | ours GB/s | fill GB/s | ours / loop | ours / fill |");
    println!("|---|---|---|---|---|---|");
    let bench = Bench { filter, rounds, ids };
    whole_numbers(&bench);
    floats(&bench);
    microscaling(&bench);
    gguf(&bench);
    ExitCode::SUCCESS
}

/// The filter, rounds, and rows that are gathered from.
fn options() -> Result<(String, usize, usize), lexopt::Error> {
    let (mut filter, mut rounds, mut among) = (String::new(), 15, ROWS);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(value) => filter = value.string()?,
            Arg::Long("rounds") => rounds = parser.value()?.parse::<usize>()?.max(1),
            Arg::Long("among") => among = parser.value()?.parse::<usize>()?.clamp(1, ROWS),
            other => return Err(other.unexpected()),
        }
    }
    Ok((filter, rounds, among))
}

/// Bytes of a table whose rows are `blocks` blocks of `size` bytes. The halves at `halves` are small numbers.
fn table(blocks: usize, size: usize, halves: &[usize]) -> Vec<u8> {
    let mut random = Random::new(size as u64);
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| random.bits() as u8).take(ROWS * blocks * size).collect();
    for block in bytes.chunks_exact_mut(size) {
        for &at in halves {
            // From 2^-14 to 2^-6, of either sign.
            let half = random.bits() as u16 & 0x9fff | 0x0400;
            block[at..at + 2].copy_from_slice(&half.to_le_bytes());
        }
    }
    bytes
}

impl Bench {
    /// Times a map of a table, given as elements and as the bytes that they are, and prints a line.
    fn map<T: Element, U: Numbers, P: Params>(
        &self,
        (name, map): (&str, &Map<T, U, P>),
        (elements, bytes): (&[T], &[u8]),
        given: P::Given<'_>,
        decode: Decode,
    ) {
        let name = format!("{name}, {}", std::any::type_name::<U::Of>());
        if !name.contains(&self.filter) {
            return;
        }
        let row = elements.len() / ROWS;
        let table = View::new(elements, &[ROWS, row]).expect("a table");
        let mut out = Tensor::full(&[IDS, row], U::NONE).expect("memory");
        let mut plain = Tensor::full(&[IDS, VALUES], U::Of::NONE).expect("memory");
        let mut filled = Tensor::full(&[IDS, VALUES], U::Of::NONE).expect("memory");
        let ids = self.ids.view();
        let plan = Gather::new(0)
            .par(Par::Seq)
            .plan(&Spec::from_layout(table.layout()).map(map), &Spec::from_layout(ids.layout()))
            .expect("a plan");

        let ours = |out: &mut Tensor<U>| {
            plan.run_into(&table.map(map, given), &ids, &mut out.view_mut()).expect("ids in range");
        };
        let bytes_of_row = bytes.len() / ROWS;
        let plain_loop = |out: &mut [U::Of]| {
            for (out, &id) in out.chunks_exact_mut(VALUES).zip(self.ids.as_slice()) {
                let row = &bytes[id as usize * bytes_of_row..][..bytes_of_row];
                for (i, out) in out.iter_mut().enumerate() {
                    *out = U::Of::round(decode(row, i));
                }
            }
        };
        ours(&mut out);
        plain_loop(plain.as_mut_slice());
        let (got, expected) = (U::numbers(out.as_mut_slice()), plain.as_slice());
        for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
            #[allow(clippy::eq_op, reason = "NaN is not equal to itself")]
            let both_nan = got != got && expected != expected;
            assert!(got == expected || both_nan, "{}: value {at} is not that of the loop", name);
        }

        let mut times = [const { Vec::new() }; 3];
        for round in 0..self.rounds {
            let start = Instant::now();
            ours(&mut out);
            times[0].push(start.elapsed().as_secs_f64());
            // The loop is slow, and its time steady.
            if round < 5 {
                let start = Instant::now();
                plain_loop(plain.as_mut_slice());
                times[1].push(start.elapsed().as_secs_f64());
            }
            let start = Instant::now();
            filled.as_mut_slice().fill(std::hint::black_box(U::Of::NONE));
            std::hint::black_box(&mut filled);
            times[2].push(start.elapsed().as_secs_f64());
        }
        let size = (IDS * VALUES * size_of::<U::Of>()) as f64 / 1e9;
        let [ours, plain, fill] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            size / times[times.len() / 2]
        });
        println!("| {} | {plain:.2} | {ours:.2} | {fill:.2} | {:.2} | {:.2} |", name, ours / plain, ours / fill);
    }
}

/// Times maps of one table.
macro_rules! maps {
    ($bench:expr, $table:expr, $given:expr, $decode:expr, $name:ident) => {
        maps!($bench, $table, $given, $decode, $name, $name::<f32> $name::<f16> $name::<bf16>);
    };
    ($bench:expr, $table:expr, $given:expr, $decode:expr, $name:ident, $($map:ident::<$($ty:ty),*>)*) => {
        $($bench.map((stringify!($name), &maps::$map::<$($ty),*>()), $table, $given, $decode);)*
    };
}

/// Value `i` of pairs of four bits, the low one first.
fn low_first(bytes: &[u8], i: usize) -> u8 {
    bytes[i / 2] >> (i % 2 * 4) & 15
}

fn whole_numbers(bench: &Bench) {
    let bytes = table(VALUES, 1, &[]);
    let given = (Given::All(SCALE), Given::All(ZERO_POINT));
    maps!(
        bench,
        (&bytes, &bytes),
        given,
        |row, i| (f32::from(row[i]) - f32::from(ZERO_POINT)) * SCALE,
        dequantize,
        dequantize::<u8>
    );

    let bytes = table(VALUES / 2, 1, &[]);
    let pair: Decode = |row, i| (f32::from(low_first(row, i)) - f32::from(ZERO_POINT)) * SCALE;
    maps!(bench, (&bytes, &bytes), given, pair, u4);
    let given = (Given::All(SCALE), Given::All(ZERO_POINT as i8));
    let pair: Decode = |row, i| {
        let code = (low_first(row, i) << 4) as i8 >> 4;
        (f32::from(code) - f32::from(ZERO_POINT)) * SCALE
    };
    maps!(bench, (&bytes, &bytes), given, pair, i4);
}

/// A half at a place of a row, as the crate `half` reads it.
fn half_at(row: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([row[at], row[at + 1]]).to_f32()
}

/// FP8 by powers of two, which are exact.
fn fp8(code: u8, mantissa: i32, bias: i32, special: fn(u8) -> Option<f32>) -> f32 {
    let rest = code & 0x7f;
    let (exponent, fraction) = (i32::from(rest) >> mantissa, f32::from(rest & ((1 << mantissa) - 1)));
    let power = |e: i32| f32::from_bits(((e + 127) as u32) << 23);
    let value = special(rest).unwrap_or_else(|| match exponent {
        0 => fraction * power(1 - bias - mantissa),
        _ => (fraction + power(mantissa)) * power(exponent - bias - mantissa),
    });
    if code >= 0x80 { -value } else { value }
}

fn e4m3(code: u8) -> f32 {
    fp8(code, 3, 7, |rest| (rest == 0x7f).then_some(f32::NAN))
}

fn e5m2(code: u8) -> f32 {
    fp8(code, 2, 15, |rest| match rest {
        0x7c => Some(f32::INFINITY),
        0x7d.. => Some(f32::NAN),
        _ => None,
    })
}

const E2M1: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

fn e2m1(code: u8) -> f32 {
    let value = E2M1[usize::from(code & 7)];
    if code & 8 == 0 { value } else { -value }
}

fn floats(bench: &Bench) {
    let bytes = table(VALUES, 2, &[0]);
    let halves: Vec<f16> = bytes.as_chunks().0.iter().map(|&bytes| f16::from_le_bytes(bytes)).collect();
    maps!(bench, (&halves, &bytes), (), |row, i| half_at(row, 2 * i), f16, convert::<f16, f32>);
    let given = (Given::All(SCALE),);
    maps!(bench, (&halves, &bytes), given, |row, i| half_at(row, 2 * i) * SCALE, f16_scaled, scaled::<f16, f32>);
    let brains: Vec<bf16> = bytes.as_chunks().0.iter().map(|&bytes| bf16::from_le_bytes(bytes)).collect();
    let brain: Decode = |row, i| bf16::from_le_bytes([row[2 * i], row[2 * i + 1]]).to_f32();
    maps!(bench, (&brains, &bytes), (), brain, bf16, convert::<bf16, f32>);
    let brain: Decode = |row, i| bf16::from_le_bytes([row[2 * i], row[2 * i + 1]]).to_f32() * SCALE;
    maps!(bench, (&brains, &bytes), given, brain, bf16_scaled, scaled::<bf16, f32>);

    let bytes = table(VALUES, 1, &[]);
    maps!(bench, (&bytes, &bytes), (), |row, i| e4m3(row[i]), e4m3);
    maps!(bench, (&bytes, &bytes), (), |row, i| e5m2(row[i]), e5m2);
    let e4m3_scaled: Decode = |row, i| e4m3(row[i]) * SCALE;
    maps!(bench, (&bytes, &bytes), given, e4m3_scaled, e4m3_scaled);
    let e5m2_scaled: Decode = |row, i| e5m2(row[i]) * SCALE;
    maps!(bench, (&bytes, &bytes), given, e5m2_scaled, e5m2_scaled);
}

fn microscaling(bench: &Bench) {
    let bytes = table(VALUES / 32, 32, &[]);
    let blocks: &[[u8; 32]] = bytes.as_chunks().0;
    let given = (Given::All(EXPONENT),);
    let decode: Decode = |row, i| e4m3(row[i]) * f32::from_bits(u32::from(EXPONENT) << 23);
    maps!(bench, (blocks, &bytes), given, decode, mxfp8_e4m3);
    let decode: Decode = |row, i| e5m2(row[i]) * f32::from_bits(u32::from(EXPONENT) << 23);
    maps!(bench, (blocks, &bytes), given, decode, mxfp8_e5m2);

    let bytes = table(VALUES / 32, 16, &[]);
    let pairs: &[[u8; 16]] = bytes.as_chunks().0;
    let decode: Decode = |row, i| e2m1(low_first(row, i)) * f32::from_bits(u32::from(EXPONENT) << 23);
    maps!(bench, (pairs, &bytes), given, decode, mxfp4_pairs);

    let bytes = table(VALUES / 64, 32, &[]);
    let blocks: &[[u8; 32]] = bytes.as_chunks().0;
    let given = (Given::All(SCALE),);
    let decode: Decode = |row, i| maps::NF4[usize::from(row[i / 2] >> (4 - i % 2 * 4) & 15)] * SCALE;
    maps!(bench, (blocks, &bytes), given, decode, nf4);
}

/// A code of four bits out of blocks of 32: the low halves of 16 bytes, then the high ones.
fn halves_of_bytes(block: &[u8], i: usize) -> u8 {
    block[i % 16] >> (i / 16 * 4) & 15
}

const IQ4_NL_VALUES: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

fn gguf(bench: &Bench) {
    macro_rules! blocks {
        ($block:ident, $halves:expr, $decode:expr) => {{
            let bytes = table(VALUES / $block::LEN, size_of::<$block>(), &$halves);
            let decode: Decode = |row, i| {
                let decode: fn(&[u8], usize) -> f32 = $decode;
                decode(&row[i / $block::LEN * size_of::<$block>()..], i % $block::LEN)
            };
            maps!(bench, ($block::from_bytes(&bytes).0, &bytes), (), decode, $block,
                convert::<$block, f32> convert::<$block, f16> convert::<$block, bf16>);
        }};
    }
    blocks!(Q8_0, [0], |block, i| f32::from(block[2 + i] as i8) * half_at(block, 0));
    blocks!(Q4_0, [0], |block, i| f32::from(halves_of_bytes(&block[2..], i) as i8 - 8) * half_at(block, 0));
    blocks!(Q4_1, [0, 2], |block, i| f32::from(halves_of_bytes(&block[4..], i)) * half_at(block, 0)
        + half_at(block, 2));
    blocks!(Q4_K, [0, 2], q4_k);
    blocks!(Q6_K, [208], q6_k);
    blocks!(IQ4_NL, [0], |block, i| f32::from(IQ4_NL_VALUES[usize::from(halves_of_bytes(&block[2..], i))])
        * half_at(block, 0));
    blocks!(IQ4_XS, [0], iq4_xs);
    blocks!(Q5_0, [0], |block, i| f32::from(five_bits(&block[2..], i) as i8 - 16) * half_at(block, 0));
    blocks!(Q5_1, [0, 2], |block, i| f32::from(five_bits(&block[4..], i)) * half_at(block, 0) + half_at(block, 2));
    blocks!(Q2_K, [80, 82], q2_k);
    blocks!(Q3_K, [108], q3_k);
    blocks!(Q5_K, [0, 2], q5_k);
    blocks!(MXFP4, [], |block, i| {
        let scale = 2f64.powi(i32::from(block[0]) - 127);
        (f64::from(e2m1(halves_of_bytes(&block[1..], i))) * scale) as f32
    });
    blocks!(NVFP4, [], |block, i| {
        let scale = if block[i / 16] == 0x7f { 0.0 } else { fp8(block[i / 16] & 0x7f, 3, 7, |_| None) };
        e2m1(halves_of_groups(&block[4 + i / 16 * 8..], i % 16)) * scale
    });
}

/// A code of four bits out of groups of 16.
fn halves_of_groups(group: &[u8], i: usize) -> u8 {
    group[i % 8] >> (i / 8 * 4) & 15
}

/// Five bits: one out of four bytes, and four out of the 16 behind them.
fn five_bits(block: &[u8], i: usize) -> u8 {
    halves_of_bytes(&block[4..], i) | (block[i / 8] >> (i % 8) & 1) << 4
}

/// Scale and minimum of a group of 32 in the 12 bytes that hold eight of each.
fn scale_and_min(scales: &[u8], group: usize) -> (f32, f32) {
    let (scale, min) = match group {
        0..4 => (scales[group] & 63, scales[group + 4] & 63),
        _ => {
            (scales[group + 4] & 15 | (scales[group - 4] >> 6) << 4, scales[group + 4] >> 4 | (scales[group] >> 6) << 4)
        }
    };
    (scale.into(), min.into())
}

fn q4_k(block: &[u8], i: usize) -> f32 {
    let (scale, min) = scale_and_min(&block[4..16], i / 32);
    let code = block[16 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15;
    half_at(block, 0) * scale * f32::from(code) - half_at(block, 2) * min
}

fn q5_k(block: &[u8], i: usize) -> f32 {
    let (scale, min) = scale_and_min(&block[4..16], i / 32);
    let (low, high) = (block[48 + i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4) & 15, block[16 + i % 32] >> (i / 32) & 1);
    half_at(block, 0) * scale * f32::from(low | high << 4) - half_at(block, 2) * min
}

fn q2_k(block: &[u8], i: usize) -> f32 {
    let (packed, code) = (block[i / 16], block[16 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3);
    half_at(block, 80) * f32::from(packed & 15) * f32::from(code) - half_at(block, 82) * f32::from(packed >> 4)
}

fn q3_k(block: &[u8], i: usize) -> f32 {
    let (group, scales) = (i / 16, &block[96..108]);
    let scale = scales[group % 8] >> (group / 8 * 4) & 15 | (scales[8 + group % 4] >> (group / 4 * 2) & 3) << 4;
    let code = block[32 + i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
    let offset = if block[i % 32] >> (i / 32) & 1 == 1 { 0 } else { 4 };
    half_at(block, 108) * f32::from(scale as i8 - 32) * f32::from(code as i8 - offset)
}

fn iq4_xs(block: &[u8], i: usize) -> f32 {
    let group = i / 32;
    let scale = block[4 + group / 2] >> (group % 2 * 4) & 15 | (block[2 + group / 4] >> (group % 4 * 2) & 3) << 4;
    let value = IQ4_NL_VALUES[usize::from(halves_of_bytes(&block[8 + group * 16..], i % 32))];
    half_at(block, 0) * f32::from(scale as i8 - 32) * f32::from(value)
}

fn q6_k(block: &[u8], i: usize) -> f32 {
    let (half, at) = (i / 128, i % 128);
    let low = block[half * 64 + at % 64] >> (at / 64 * 4) & 15;
    let high = block[128 + half * 32 + at % 32] >> (at / 32 * 2) & 3;
    half_at(block, 208) * f32::from(block[192 + i / 16] as i8) * f32::from((low | high << 4) as i8 - 32)
}

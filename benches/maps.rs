//! Maps: a gather that converts on its way, against a gather followed by a conversion. All write into warm memory.
//! The call gathers 8,192 rows of an embedding table of [50257, 768]. Every output is compared with that of the two
//! steps, bit by bit, before it is timed.
//!
//! The second steps are loops over slices. Like the maps, they are compiled for AVX2 where the machine has it.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gather_core::{Element, Gather, Given, Map, Par, Params, Tensor, View, maps};
use half::f16;
use half::slice::HalfFloatSliceExt;

const ROWS: usize = 50257;
const COLUMNS: usize = 768;
const IDS: usize = 8192;
const ZERO_POINT: u8 = 131;

/// A loop that is also compiled for AVX2; that version is called where the machine has AVX2.
macro_rules! vectorised {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $body:block) => {
        $(#[$doc])*
        fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn plain($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn with_avx2($($arg: $ty),*) {
                plain($($arg),*);
            }

            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has AVX2.
                return unsafe { with_avx2($($arg),*) };
            }
            plain($($arg),*);
        }
    };
}

vectorised! {
    /// The second step, in one pass.
    fn dequantize(rows: &[u8], scales: &[f32], out: &mut [f32]) {
        for ((row, out), scale) in rows.chunks_exact(COLUMNS).zip(out.chunks_exact_mut(COLUMNS)).zip(scales) {
            for (out, &value) in out.iter_mut().zip(row) {
                *out = (f32::from(value) - f32::from(ZERO_POINT)) * scale;
            }
        }
    }
}

vectorised! {
    /// The second step of a tensor library: a cast.
    fn cast(rows: &[u8], out: &mut [f32]) {
        for (out, &value) in out.iter_mut().zip(rows) {
            *out = f32::from(value);
        }
    }
}

vectorised! {
    /// And its third: a subtraction and a product, broadcast over rows.
    fn scale(out: &mut [f32], scales: &[f32]) {
        for (out, scale) in out.chunks_exact_mut(COLUMNS).zip(scales) {
            for out in out {
                *out = (*out - f32::from(ZERO_POINT)) * scale;
            }
        }
    }
}

/// A seeded generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// A tensor in the same kind of memory as outputs: on huge pages where they pay.
fn tensor<T: Clone>(shape: &[usize], zero: T, mut value: impl FnMut() -> T) -> Tensor<T> {
    let mut tensor = Tensor::full(shape, zero).expect("a tensor that fits");
    tensor.as_mut_slice().fill_with(&mut value);
    tensor
}

/// Checks that a call gives the bits of `expected`. Its output is filled with something else first.
fn check<U: Copy, B: PartialEq>(
    out: &mut Tensor<U>,
    expected: &Tensor<U>,
    (other, bits): (U, fn(U) -> B),
    call: impl FnOnce(&mut Tensor<U>),
) {
    out.as_mut_slice().fill(other);
    call(out);
    let same = out.as_slice().iter().zip(expected.as_slice()).all(|(&got, &expected)| bits(got) == bits(expected));
    assert!(same, "one step gives what two steps give");
}

/// A number that is in no output, and how to get its bits.
const SINGLE: (f32, fn(f32) -> u32) = (f32::NAN, f32::to_bits);
const HALF: (f16, fn(f16) -> u16) = (f16::NAN, f16::to_bits);

fn run<T: Element, U: Element, P: Params>(
    par: Par,
    map: &Map<T, U, P>,
    table: &Tensor<T>,
    ids: &View<'_, i64>,
    params: P::Given<'_>,
    out: &mut Tensor<U>,
) {
    let gather = Gather::new(0).par(par);
    gather.run_into(&table.view().map(map, params), ids, &mut out.view_mut()).expect("ids in range");
}

fn quantised(criterion: &mut Criterion, ids: &Tensor<i64>) {
    let mut random = Random(1);
    let table = tensor(&[ROWS, COLUMNS], 0, || random.next() as u8);
    let scales = tensor(&[ROWS], 0.0, || 1.0 / (1 + random.next() % 999) as f32);
    let ids = ids.view();
    let params = (Given::PerRow(scales.as_slice()), Given::All(ZERO_POINT));

    let mut rows = Tensor::full(&[IDS, COLUMNS], 0u8).expect("fits");
    let mut row_scales = Tensor::full(&[IDS], 0.0f32).expect("fits");
    let [mut two, mut fused] = [(); 2].map(|()| Tensor::full(&[IDS, COLUMNS], 0.0f32).expect("fits"));
    let gather = Gather::new(0).par(Par::Seq);
    let mut gathered = |then: &mut dyn FnMut(&[u8], &[f32])| {
        gather.run_into(&table.view(), &ids, &mut rows.view_mut()).expect("ids in range");
        gather.run_into(&scales.view(), &ids, &mut row_scales.view_mut()).expect("ids in range");
        then(rows.as_slice(), row_scales.as_slice());
    };

    let mut group = criterion.benchmark_group("maps/dequantize_u8_50257x768_8k");
    group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Bytes((IDS * COLUMNS * 4) as u64));
    gathered(&mut |rows, scales| dequantize(rows, scales, two.as_mut_slice()));
    for (name, par) in [("fused/1", Par::Seq), ("fused/2", Par::Threads(2))] {
        check(&mut fused, &two, SINGLE, |out| run(par, &maps::dequantize(), &table, &ids, params, out));
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(par, &maps::dequantize(), &table, &ids, params, &mut fused));
        });
    }
    group.bench_function("gather_then_convert/1", |bencher| {
        bencher.iter(|| gathered(&mut |rows, scales| dequantize(rows, scales, two.as_mut_slice())));
    });
    check(&mut two, &fused, SINGLE, |two| {
        gathered(&mut |rows, scales| {
            cast(rows, two.as_mut_slice());
            scale(two.as_mut_slice(), scales);
        });
    });
    group.bench_function("gather_cast_scale/1", |bencher| {
        bencher.iter(|| {
            gathered(&mut |rows, scales| {
                cast(rows, two.as_mut_slice());
                scale(two.as_mut_slice(), scales);
            });
        });
    });
    group.finish();
}

fn half_precision(criterion: &mut Criterion, ids: &Tensor<i64>) {
    let mut random = Random(2);
    // Numbers between 0 and 1.
    let table = tensor(&[ROWS, COLUMNS], f16::ZERO, || f16::from_bits(random.next() as u16 & 0x3bff));
    let ids = ids.view();
    let mut rows = Tensor::full(&[IDS, COLUMNS], f16::ZERO).expect("fits");
    let [mut two, mut fused] = [(); 2].map(|()| Tensor::full(&[IDS, COLUMNS], 0.0f32).expect("fits"));
    let gather = Gather::new(0).par(Par::Seq);
    let mut two_steps = |out: &mut Tensor<f32>| {
        gather.run_into(&table.view(), &ids, &mut rows.view_mut()).expect("ids in range");
        rows.as_slice().convert_to_f32_slice(out.as_mut_slice());
    };

    let mut group = criterion.benchmark_group("maps/f16_to_f32_50257x768_8k");
    group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Bytes((IDS * COLUMNS * 4) as u64));
    two_steps(&mut two);
    for (name, par) in [("fused/1", Par::Seq), ("fused/2", Par::Threads(2))] {
        check(&mut fused, &two, SINGLE, |out| run(par, &maps::convert::<_, f32>(), &table, &ids, (), out));
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(par, &maps::convert::<_, f32>(), &table, &ids, (), &mut fused));
        });
    }
    group.bench_function("gather_then_convert/1", |bencher| bencher.iter(|| two_steps(&mut two)));
    group.finish();
}

/// From 4 bytes to 2. The rows between the two steps are as long as those that are read.
fn to_half_precision(criterion: &mut Criterion, ids: &Tensor<i64>) {
    let mut random = Random(4);
    let table = tensor(&[ROWS, COLUMNS], 0.0, || (random.next() as i32) as f32 / 1e6);
    let ids = ids.view();
    let mut rows = Tensor::full(&[IDS, COLUMNS], 0.0f32).expect("fits");
    let [mut two, mut fused] = [(); 2].map(|()| Tensor::full(&[IDS, COLUMNS], f16::ZERO).expect("fits"));
    let gather = Gather::new(0).par(Par::Seq);
    let mut two_steps = |out: &mut Tensor<f16>| {
        gather.run_into(&table.view(), &ids, &mut rows.view_mut()).expect("ids in range");
        out.as_mut_slice().convert_from_f32_slice(rows.as_slice());
    };

    let mut group = criterion.benchmark_group("maps/f32_to_f16_50257x768_8k");
    group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Bytes((IDS * COLUMNS * 2) as u64));
    two_steps(&mut two);
    for (name, par) in [("fused/1", Par::Seq), ("fused/2", Par::Threads(2))] {
        check(&mut fused, &two, HALF, |out| run(par, &maps::convert::<_, half::f16>(), &table, &ids, (), out));
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(par, &maps::convert::<_, half::f16>(), &table, &ids, (), &mut fused));
        });
    }
    group.bench_function("gather_then_convert/1", |bencher| bencher.iter(|| two_steps(&mut two)));
    group.finish();
}

fn maps(criterion: &mut Criterion) {
    let mut random = Random(3);
    let ids = tensor(&[IDS], 0i64, || (random.next() % ROWS as u64) as i64);
    quantised(criterion, &ids);
    half_precision(criterion, &ids);
    to_half_precision(criterion, &ids);
}

criterion_group!(benches, maps);
criterion_main!(benches);

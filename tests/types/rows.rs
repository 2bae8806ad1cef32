//! Compares every row of the kernel table with the oracle: data type x index type x loop nest rank x operator x level.
//! The dimensions of the views cannot be merged, so that the loop nest has the rank of the row.

use std::collections::HashSet;

use gather_core::{
    BatchToSpace, DynView, Element, Gather, GatherElements, GatherNd, Index, IndexType, KernelInfo, Level,
    NegativeIndex, Op, OutOfBounds, Registry, ScatterElements, ScatterNd, ScatterOutOfBounds, Spec,
};
use gather_tests::oracle::{self, Dense, Rule, Rules};
use half::{bf16, f16};
use num_complex::Complex;

use crate::support::{Spread, available_levels, compiled_levels, dense, narrow, view};

const ZERO: Rules = Rules { from_end: true, out_of_range: Rule::Zero };

/// Values that differ in every byte.
trait Sample: Element + PartialEq + std::fmt::Debug {
    fn sample(at: usize) -> Self;
}

macro_rules! samples {
    ($($ty:ty: $at:ident => $value:expr;)*) => {$(
        impl Sample for $ty {
            fn sample($at: usize) -> Self {
                $value
            }
        }
    )*};
}
samples! {
    bool: at => at % 3 == 1;
    i8: at => at as i8;
    i16: at => (at as i16).wrapping_mul(0x0101);
    i32: at => (at as i32).wrapping_mul(0x0101_0101);
    i64: at => (at as i64).wrapping_mul(0x0101_0101_0101_0101);
    u8: at => at as u8;
    u16: at => (at as u16).wrapping_mul(0x0101);
    u32: at => (at as u32).wrapping_mul(0x0101_0101);
    u64: at => (at as u64).wrapping_mul(0x0101_0101_0101_0101);
    f16: at => f16::from_bits(0x3c00 + at as u16);
    bf16: at => bf16::from_bits(0x3f80 + at as u16);
    f32: at => at as f32 + 0.5;
    f64: at => at as f64 + 0.5;
    Complex<f32>: at => Complex::new(at as f32, -1.0);
    Complex<f64>: at => Complex::new(at as f64, -1.0);
}

/// A shape of `rank` dimensions of at least 2 whose last is `lanes`.
fn shape(rank: usize, lanes: usize) -> Vec<usize> {
    let mut shape = vec![2; rank];
    shape[rank - 1] = lanes;
    shape
}

fn run_row<T: Sample, I: Index + TryFrom<i128>>(row: &KernelInfo, lanes: usize) {
    let rank = row.rank.unwrap_or(9);
    let fill = T::ZERO;
    // Indices one too far on both sides of the axis, where the index type allows.
    let index = |at: usize, dim: usize| {
        let dim = dim.min(50);
        let value = (at * 5 % (2 * dim + 2)) as i128 - dim as i128 - 1;
        if I::TYPE.dtype().name().starts_with('u') { value.abs() } else { value }
    };
    match row.op {
        Op::Gather => {
            // Indices with the rank of the loop nest, on a table of rank 1.
            let data = Dense::from_fn(&[7], T::sample);
            let indices = Dense::from_fn(&shape(rank, lanes), |at| index(at, 7));
            let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(row.level);
            let (spread, narrowed) = (Spread::new(&data), narrow::<I>(&indices));
            let narrowed = Spread::new(&narrowed);
            assert_kernel(row, &op.plan(&spread.view(), &narrowed.view()).unwrap().explain());
            let got = op.run(&spread.view(), &narrowed.view()).unwrap();
            assert_eq!(dense(&got), oracle::gather(&data, &indices, 0, 0, ZERO, &fill).unwrap(), "{row:?}");
        }
        Op::GatherElements => {
            let shape = shape(rank, lanes);
            let data = Dense::from_fn(&shape, T::sample);
            let indices = Dense::from_fn(&shape, |at| index(at, shape[0]));
            let op = GatherElements::new(0).out_of_bounds(OutOfBounds::Zero).level(row.level);
            let (spread, narrowed) = (Spread::new(&data), narrow::<I>(&indices));
            let narrowed = Spread::new(&narrowed);
            assert_kernel(row, &op.plan(&spread.view(), &narrowed.view()).unwrap().explain());
            let got = op.run(&spread.view(), &narrowed.view()).unwrap();
            assert_eq!(dense(&got), oracle::gather_elements(&data, &indices, 0, ZERO, &fill).unwrap(), "{row:?}");
        }
        Op::GatherNd => {
            let data = Dense::from_fn(&[3, 4], T::sample);
            let indices = Dense::from_fn(&[&shape(rank, lanes)[..], &[2]].concat(), |at| index(at, 3));
            let op = GatherNd::new().out_of_bounds(OutOfBounds::Zero).level(row.level);
            let (spread, narrowed) = (Spread::new(&data), narrow::<I>(&indices));
            let narrowed = Spread::new(&narrowed);
            assert_kernel(row, &op.plan(&spread.view(), &narrowed.view()).unwrap().explain());
            let got = op.run(&spread.view(), &narrowed.view()).unwrap();
            assert_eq!(dense(&got), oracle::gather_nd(&data, &indices, 0, ZERO, &fill).unwrap(), "{row:?}");
        }
        Op::ScatterElements => {
            let shape = shape(rank, lanes);
            let (data, updates) = (Dense::from_fn(&shape, T::sample), Dense::from_fn(&shape, |at| T::sample(at + 7)));
            let indices = Dense::from_fn(&shape, |at| index(at, shape[0]));
            let op = ScatterElements::new(0).out_of_bounds(ScatterOutOfBounds::Drop).level(row.level);
            let (spread, narrowed) = (Spread::new(&updates), narrow::<I>(&indices));
            let narrowed = Spread::new(&narrowed);
            let (ids, new) = (narrowed.view(), spread.view());
            assert_kernel(row, &op.plan(&Spec::<T>::new(&shape).unwrap(), &ids, &new).unwrap().explain());
            let got = dense(&op.run(&view(&data), &ids, &new).unwrap());
            let replace = |_: &T, new: &T| *new;
            assert_eq!(got, oracle::scatter_elements(&data, &indices, &updates, 0, ZERO, replace).unwrap(), "{row:?}");
        }
        Op::ScatterNd => {
            let shape = shape(rank, lanes);
            let (data, updates) = (Dense::from_fn(&[3, 4], T::sample), Dense::from_fn(&shape, |at| T::sample(at + 7)));
            let indices = Dense::from_fn(&[&shape[..], &[2]].concat(), |at| index(at, 3));
            let op = ScatterNd::new().out_of_bounds(ScatterOutOfBounds::Drop).level(row.level);
            let (spread, narrowed) = (Spread::new(&updates), narrow::<I>(&indices));
            let narrowed = Spread::new(&narrowed);
            let (ids, new) = (narrowed.view(), spread.view());
            assert_kernel(row, &op.plan(&Spec::<T>::new(&[3, 4]).unwrap(), &ids, &new).unwrap().explain());
            let got = dense(&op.run(&view(&data), &ids, &new).unwrap());
            let replace = |_: &T, new: &T| *new;
            assert_eq!(got, oracle::scatter_nd(&data, &indices, &updates, 0, ZERO, replace).unwrap(), "{row:?}");
        }
        op => panic!("{op} takes no indices"),
    }
}

fn run_copy<T: Sample>(row: &KernelInfo, lanes: usize, last_block: usize) {
    let rank = row.rank.unwrap_or(9).max(2);
    let mut block = vec![1; rank];
    block[rank - 1] = last_block;
    let mut shape = shape(rank, lanes);
    // A batch of 1 leaves no loop over it.
    shape[0] = if row.rank == Some(1) { last_block } else { 2 * last_block };
    let begin = vec![0; rank];
    let mut end = vec![0; rank];
    end[rank - 1] = usize::from(last_block > 1);
    let data = Dense::from_fn(&shape, T::sample);
    let signed = |list: &[usize]| list.iter().map(|&x| x as i64).collect::<Vec<_>>();
    let op = BatchToSpace::new(&signed(&block), &signed(&begin), &signed(&end)).level(row.level);
    let spread = Spread::new(&data);
    assert_kernel(row, &op.plan(&spread.view()).unwrap().explain());
    let got = op.run(&spread.view()).unwrap();
    assert_eq!(dense(&got), oracle::batch_to_space(&data, &block, &begin, &end), "{row:?}");
}

fn assert_kernel(row: &KernelInfo, explain: &gather_core::Explain<'_>) {
    assert_eq!(explain.kernel(), row.name, "{row:?}\n{explain}");
}

fn with_index<T: Sample>(row: &KernelInfo, lanes: usize) {
    match row.index {
        None => {
            for block in [1, 2, 3, 4, 8] {
                run_copy::<T>(row, lanes, block);
            }
        }
        Some(IndexType::I8) => run_row::<T, i8>(row, lanes),
        Some(IndexType::I16) => run_row::<T, i16>(row, lanes),
        Some(IndexType::I32) => run_row::<T, i32>(row, lanes),
        Some(IndexType::I64) => run_row::<T, i64>(row, lanes),
        Some(IndexType::U8) => run_row::<T, u8>(row, lanes),
        Some(IndexType::U16) => run_row::<T, u16>(row, lanes),
        Some(IndexType::U32) => run_row::<T, u32>(row, lanes),
        Some(IndexType::U64) => run_row::<T, u64>(row, lanes),
        Some(IndexType::Isize) => run_row::<T, isize>(row, lanes),
        Some(IndexType::Usize) => run_row::<T, usize>(row, lanes),
        Some(other) => panic!("{other} is not tested"),
    }
}

fn with_dtype(row: &KernelInfo, lanes: usize) {
    macro_rules! of {
        ($($ty:ty)*) => {
            $(if row.dtype == <$ty as Element>::DTYPE {
                return with_index::<$ty>(row, lanes);
            })*
        };
    }
    of!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 Complex<f32> Complex<f64>);
    panic!("{} is not tested", row.dtype);
}

#[test]
fn every_row_of_the_table_gives_what_the_oracle_gives() {
    let registry = Registry::builtin();
    let levels = available_levels();
    for row in registry.kernels().filter(|row| levels.contains(&row.level)) {
        let lanes = if row.rank == Some(1) { 70 } else { 5 };
        with_dtype(&row, lanes);
    }
}

#[test]
fn lanes_of_every_length_around_a_block() {
    let registry = Registry::builtin();
    let levels = available_levels();
    let rank_one = |row: &KernelInfo| row.rank == Some(1) && levels.contains(&row.level);
    let chosen = |row: &KernelInfo| {
        row.index.is_none_or(|index| [IndexType::I64, IndexType::I32, IndexType::U8].contains(&index))
            && ["u8", "f16", "f32", "i64", "complex128"].contains(&row.dtype.name())
    };
    let lengths: Vec<usize> = (1..=40).chain(500..=530).chain(1020..=1030).collect();
    for row in registry.kernels().filter(rank_one).filter(chosen) {
        for &lanes in &lengths {
            with_dtype(&row, lanes);
        }
    }
}

/// Contiguous rows, which the levels interleave with code of their own, with crops on both sides.
fn interleave<T: Sample>(level: Level) {
    for block in 2..=9usize {
        for width in (1..=20).chain([31, 32, 33, 63, 64, 65, 100]) {
            for (begin, end) in [(0, 0), (1, 0), (0, block - 1), (block + 1, 1)] {
                if begin + end > width * block {
                    continue;
                }
                let data = Dense::from_fn(&[block, 2, width], T::sample);
                let op = BatchToSpace::new(&[1, 1, block as i64], &[0, 0, begin as i64], &[0, 0, end as i64]);
                let got = op.level(level).run(&view(&data)).unwrap();
                let expected = oracle::batch_to_space(&data, &[1, 1, block], &[0, 0, begin], &[0, 0, end]);
                assert_eq!(dense(&got), expected, "block {block}, width {width}, crops {begin} {end}");
            }
        }
    }
}

#[test]
fn contiguous_streams_of_every_width_and_block_are_interleaved() {
    for level in available_levels() {
        interleave::<u8>(level);
        interleave::<u16>(level);
        interleave::<f32>(level);
        interleave::<u64>(level);
        interleave::<Complex<f64>>(level);
    }
}

#[test]
fn the_table_has_every_combination_once() {
    let rows: Vec<KernelInfo> = Registry::builtin().kernels().collect();
    let keys: HashSet<_> = rows.iter().map(|row| (row.op, row.dtype, row.index, row.rank, row.level)).collect();
    assert_eq!(keys.len(), rows.len());
    let levels = compiled_levels();
    // 15 data types, 10 index types, ranks 1..=8 and any.
    assert_eq!(rows.len(), levels * (5 * 15 * 10 * 9 + 4 * 15 * 9));
    let names: HashSet<_> = rows.iter().map(|row| row.name).collect();
    assert_eq!(
        names.len(),
        levels * (5 * 8 * 9 + 8 * 9 + 5 * 9),
        "machine code is shared by width, by the gathers, and by the scatters of every width"
    );
}

#[test]
fn forced_levels_and_rejecting_policies_agree_on_the_erased_face() {
    let (data, indices) = (Dense::from_fn(&[6, 3], u32::sample), [5u8, 0, 3]);
    let data_view = gather_core::View::new(&data.values, &data.shape).unwrap();
    let index_view = gather_core::View::new(&indices, &[3]).unwrap();
    let run = |level: Level| {
        let op = Gather::new(0).negative_index(NegativeIndex::Reject).level(level);
        let out = op.run(&DynView::from(&data_view), &DynView::from(&index_view));
        out.unwrap().as_bytes().to_vec()
    };
    for level in available_levels() {
        assert_eq!(run(level), run(Level::Scalar));
    }
}

//! Masks and masked gathers beside a loop over all coordinates: every width, level and density, bits from any offset,
//! any strides of data and of the output, and threads.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use gather_core::{
    Append, Argument, Bitmap, Checked, DynTensor, DynView, DynViewMut, Element, Error, FusedFormat, FusedRows, Gather,
    Given, Level, Mask, Method, Op, OutOfBounds, Par, Tensor, View, ViewMut, chunks, maps, rows,
};

use crate::support::{levels, mixed};

/// A value of which many bytes differ.
trait Value: Element + PartialEq + Debug {
    fn of(at: usize) -> Self;
}

macro_rules! values {
    ($($T:ty: $at:ident => $value:expr;)*) => {$(
        impl Value for $T {
            fn of($at: usize) -> Self {
                $value
            }
        }
    )*};
}
values! {
    u8: at => mixed(1, at) as u8;
    i16: at => mixed(1, at) as i16;
    u32: at => mixed(1, at) as u32;
    f64: at => at as f64;
    [u64; 2]: at => [mixed(1, at), at as u64];
}

impl<const N: usize> Value for [u8; N] {
    fn of(at: usize) -> Self {
        std::array::from_fn(|k| mixed(at as u64, k) as u8)
    }
}

/// Masks of `n` elements, from none to all, in runs and scattered.
fn masks(n: usize) -> Vec<Vec<bool>> {
    let percent = |percent: u64| (0..n).map(|at| mixed(7, at) % 100 < percent).collect();
    let runs = |run: usize| (0..n).map(|at| mixed(9, at / run) % 2 == 0).collect();
    let mut masks: Vec<Vec<bool>> = [0, 1, 10, 50, 90, 99, 100].map(percent).into();
    masks.extend([runs(20), runs(150), (0..n).map(|at| at + 1 == n).collect(), (0..n).map(|at| at == 0).collect()]);
    masks
}

/// Bits of a mask from bit `offset` on, between bits that are 1.
fn packed(mask: &[bool], offset: usize) -> Vec<u8> {
    let mut bytes = vec![0xff; (offset + mask.len()).div_ceil(8) + 1];
    for (at, _) in mask.iter().enumerate().filter(|(_, is)| !**is) {
        bytes[(offset + at) / 8] &= !(1 << ((offset + at) % 8));
    }
    bytes.truncate((offset + mask.len()).div_ceil(8).max(1));
    bytes
}

fn kept<T: Copy>(data: &[T], mask: &[bool]) -> Vec<T> {
    data.iter().zip(mask).filter(|(_, is)| **is).map(|(value, _)| *value).collect()
}

/// Lists of one type by masks from any offset, at every level.
fn lists<T: Value>(lengths: impl Iterator<Item = usize>) {
    for n in lengths {
        let data: Vec<T> = (0..n).map(T::of).collect();
        for (number, mask) in masks(n).iter().enumerate() {
            let offset = if number == 3 { n % 71 } else { (n * 5 + number * 13) % 71 };
            let bytes = packed(mask, offset);
            let bits = Mask::from_bits(Bitmap::new(&bytes, offset, n).unwrap());
            let expected = kept(&data, mask);
            assert_eq!((bits.len(), bits.count(), bits.is_empty()), (n, expected.len(), n == 0));
            for level in levels() {
                let op = Gather::new(0).level(level).masked();
                let got = op.run(&data, &bits).unwrap();
                assert_eq!((got.shape(), got.as_slice()), (&[expected.len()][..], &expected[..]), "{n}, {level}");
                let mut own = vec![T::ZERO; expected.len()];
                op.run_into(&data, &bits, &mut ViewMut::new(&mut own, &[expected.len()]).unwrap()).unwrap();
                assert_eq!(own, expected, "{n}, {level}");
            }
        }
    }
}

fn near_words() -> impl Iterator<Item = usize> {
    (0..=140).chain([191, 192, 193, 255, 256, 257, 511, 640, 1000])
}

#[test]
fn elements_of_every_width_at_every_level() {
    lists::<u8>(near_words());
    lists::<i16>(near_words());
    lists::<u32>(near_words());
    lists::<f64>(near_words());
    lists::<[u64; 2]>(near_words());
}

#[test]
fn rows_of_any_length() {
    lists::<[u8; 3]>(near_words().step_by(3));
    lists::<[u8; 5]>(near_words().step_by(7));
    lists::<[u8; 12]>(near_words().step_by(7));
    lists::<[u8; 24]>(near_words().step_by(7));
    lists::<[u8; 33]>(near_words().step_by(7));
    lists::<[u8; 100]>(near_words().step_by(17));
    lists::<[u8; 200]>(near_words().step_by(17));
    lists::<[u8; 700]>(near_words().step_by(29));
}

#[test]
fn every_offset_of_bits() {
    let data: Vec<u32> = (0..300).map(u32::of).collect();
    for offset in 0..=70 {
        for n in [0, 1, 63, 64, 65, 128, 300] {
            for mask in &masks(n) {
                let bytes = packed(mask, offset);
                let bits = Mask::from_bits(Bitmap::new(&bytes, offset, n).unwrap());
                let trues: Vec<i64> = kept(&(0..n as i64).collect::<Vec<_>>(), mask);
                assert_eq!(list(&bits.positions::<i64>().unwrap()), trues, "{n} from {offset}");
                let narrow: Vec<i64> = list(&bits.positions::<i32>().unwrap()).into_iter().map(i64::from).collect();
                assert_eq!(narrow, trues, "{n} from {offset}");
                for level in levels() {
                    let got = Gather::new(0).level(level).masked().run(&data[..n], &bits).unwrap();
                    assert_eq!(got.as_slice(), kept(&data[..n], mask), "{n} from {offset}, {level}");
                }
            }
        }
    }
}

fn list<I: gather_core::Position>(positions: &Checked<'_, I>) -> Vec<I> {
    let view = positions.positions();
    (0..view.len()).map(|at| *view.get(&[at]).unwrap()).collect()
}

/// The coordinates of a shape in row-major order.
fn coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &n in shape {
        all = all.iter().flat_map(|outer: &Vec<usize>| (0..n).map(|at| [&outer[..], &[at]].concat())).collect();
    }
    all
}

/// The result of a masked gather, element by element.
fn expected<T: Value>(data: &View<'_, T>, axis: usize, mask: &[bool], k: usize) -> (Vec<usize>, Vec<T>) {
    let shape = data.shape();
    let trues: Vec<Vec<usize>> =
        coordinates(&shape[axis..axis + k]).into_iter().zip(mask).filter(|(_, is)| **is).map(|(at, _)| at).collect();
    let mut values = Vec::new();
    for outer in coordinates(&shape[..axis]) {
        for at in &trues {
            for row in coordinates(&shape[axis + k..]) {
                values.push(*data.get(&[&outer[..], at, &row].concat()).unwrap());
            }
        }
    }
    ([&shape[..axis], &[trues.len()], &shape[axis + k..]].concat(), values)
}

/// Strides of a shape whose dimensions lie in the order `order` in memory, the last one innermost, with gaps; reversed
/// in dimensions of `reversed`.
fn strides(shape: &[usize], order: &[usize], gap: usize, reversed: u32) -> (Vec<isize>, usize, usize) {
    let (mut strides, mut step) = (vec![0isize; shape.len()], 1 + gap.min(1));
    for &d in order.iter().rev() {
        strides[d] = step as isize;
        step = step * shape[d].max(1) + gap;
    }
    let mut first = 0;
    for d in 0..shape.len() {
        if reversed >> d & 1 == 1 {
            first += strides[d] as usize * shape[d].saturating_sub(1);
            strides[d] = -strides[d];
        }
    }
    (strides, first, step + 1)
}

/// All masked gathers of one tensor by masks of its dimensions.
fn tensors<T: Value>(shape: &[usize], order: &[usize], gap: usize, reversed: u32, par: Par) {
    let (steps, first, len) = strides(shape, order, gap, reversed);
    let values: Vec<T> = (0..len).map(T::of).collect();
    let data = View::strided(&values, shape, &steps, first).unwrap();
    for axis in 0..shape.len() {
        for k in 1..=shape.len() - axis {
            let covered = &shape[axis..axis + k];
            let n: usize = covered.iter().product();
            for (number, mask) in masks(n).iter().enumerate().skip(2).step_by(2) {
                let bits = Mask::new(mask).unwrap().with_shape(covered).unwrap();
                let (out, expected) = expected(&data, axis, mask, k);
                for level in levels() {
                    let about = format!("{shape:?} {steps:?}, axis {axis}, {k} dims, mask {number}, {level}");
                    let gather = Gather::new(axis as i64 - shape.len() as i64).level(level).par(par);
                    let op = gather.masked();
                    // By the faster of bits and positions; by bits.
                    for op in [op, gather.method(Method::Direct).masked()] {
                        let got = op.run(&data, &bits).unwrap();
                        assert_eq!((got.shape(), got.as_slice()), (&out[..], &expected[..]), "{about}");
                    }
                    let (dynamic, before) = (DynView::from(&data), out.len());
                    let got: DynTensor = op.run(&dynamic, &bits).unwrap();
                    assert_eq!(got.downcast::<T>().unwrap().as_slice(), expected, "{about}");
                    let mut reused = Tensor::default();
                    op.run_into(&data, &bits, &mut reused).unwrap();
                    assert_eq!((reused.shape().len(), reused.as_slice()), (before, &expected[..]), "{about}");
                    // Outputs of the reversed order of dimensions, with gaps.
                    let (to, start, room) = strides(&out, &(0..out.len()).rev().collect::<Vec<_>>(), gap, reversed);
                    let mut own = vec![T::of(99); room];
                    let mut view = ViewMut::strided(&mut own, &out, &to, start).unwrap();
                    op.run_into(&data, &bits, &mut view).unwrap();
                    let written = View::strided(&own, &out, &to, start).unwrap();
                    let got: Vec<T> = coordinates(&out).iter().map(|at| *written.get(at).unwrap()).collect();
                    assert_eq!(got, expected, "{about}, into a view");
                    let touched = own.iter().filter(|value| **value != T::of(99)).count();
                    assert!(touched <= expected.len(), "{about}: the gaps are untouched");
                }
            }
        }
    }
}

#[test]
fn tensors_of_any_strides() {
    let pars = [Par::Seq, Par::Threads(3)];
    for (number, par) in pars.into_iter().enumerate() {
        tensors::<u32>(&[70], &[0], 0, 1, par);
        tensors::<u32>(&[9, 13], &[0, 1], 0, 0, par);
        tensors::<u8>(&[9, 13], &[1, 0], 0, 2, par);
        tensors::<f64>(&[70, 3], &[0, 1], 1, 1, par);
        tensors::<i16>(&[3, 70], &[1, 0], 0, 0, par);
        tensors::<u32>(&[4, 5, 6], &[2, 0, 1], 1, number as u32 * 5, par);
        tensors::<[u8; 3]>(&[4, 5, 6], &[0, 1, 2], 0, 0, par);
        tensors::<u8>(&[2, 3, 4, 5], &[0, 1, 2, 3], number, 0, par);
        tensors::<[u64; 2]>(&[2, 3, 4, 2], &[3, 1, 0, 2], 1, 6, par);
        tensors::<u32>(&[2, 1, 3, 1, 2, 2, 2], &[0, 1, 2, 3, 4, 5, 6], 0, 0, par);
        tensors::<u32>(&[1, 1], &[0, 1], 0, 0, par);
        // Many short lines, few long lines, and lines that do not merge.
        tensors::<u32>(&[40, 5], &[0, 1], 0, 0, par);
        tensors::<u8>(&[17, 130], &[0, 1], 0, 1, par);
        tensors::<[u8; 3]>(&[30, 20], &[1, 0], 0, 0, par);
        tensors::<f64>(&[70, 20], &[0, 1], number, 2, par);
        tensors::<i16>(&[5, 3, 130], &[1, 0, 2], 0, 0, par);
        tensors::<u32>(&[2, 20, 3, 4], &[0, 1, 3, 2], 0, 4, par);
    }
}

#[test]
fn one_element_at_every_coordinate() {
    let value = [7u32];
    let data = View::strided(&value, &[5, 80], &[0, 0], 0).unwrap();
    let mask = &masks(80)[3];
    let got = Gather::new(1).masked().run(&data, &Mask::new(mask).unwrap()).unwrap();
    let count = mask.iter().filter(|is| **is).count();
    assert_eq!((got.shape(), got.as_slice()), (&[5, count][..], &vec![7; 5 * count][..]));
    // So large that only memory is missing.
    let most = isize::MAX as usize;
    let data = View::strided(&value, &[most / 64, 64], &[0, 0], 0).unwrap();
    let (op, all) = (Gather::new(1).masked(), Mask::new(&[true; 64]).unwrap());
    let shape = Box::from([most / 64, 64]);
    assert_eq!(op.run(&data, &all).unwrap_err(), Error::TooManyBytes { shape, element: 4 });
    let one = Mask::new(&std::array::from_fn::<bool, 64, _>(|at| at == 9)).unwrap();
    assert!(matches!(op.run(&data, &one), Err(Error::TooManyBytes { .. } | Error::AllocationFailed { .. })));
    let none = Mask::new(&[false; 64]).unwrap();
    assert_eq!(op.run(&data, &none).unwrap().shape(), [most / 64, 0]);
    let bools = View::strided(&[true], &[most], &[0], 0).unwrap();
    assert_eq!(Mask::new(&bools).unwrap_err(), Error::AllocationFailed { bytes: most.div_ceil(8) });
}

#[test]
fn large_calls_on_several_threads() {
    let (n, par) = if cfg!(miri) { (700, Par::Threads(2)) } else { (200_000, Par::Threads(3)) };
    let data: Vec<u32> = (0..n).map(u32::of).collect();
    for mask in &masks(n) {
        let bits = Mask::new(mask).unwrap();
        let of = |shape: &[usize]| View::new(&data, shape).unwrap();
        let got = Gather::new(0).par(par).masked().run(&of(&[n]), &bits).unwrap();
        assert!(got.as_slice() == kept(&data, mask));
        let got = Gather::new(0).masked().run(&of(&[n]), &bits).unwrap();
        assert!(got.as_slice() == kept(&data, mask));
        // Many short lines, and a few long ones, by the faster of bits and positions, and by bits; rows.
        let (rows, columns) = (n / 50, 50);
        for (rows, columns) in [(rows, columns), (4, n / 4)] {
            let bits = Mask::new(&mask[..columns]).unwrap();
            let all: Vec<u32> = data.chunks_exact(columns).flat_map(|row| kept(row, &mask[..columns])).collect();
            for op in [Gather::new(1).par(par), Gather::new(1).par(par).method(Method::Direct)] {
                assert!(op.masked().run(&of(&[rows, columns]), &bits).unwrap().as_slice() == all);
            }
        }
        let bits = Mask::new(&mask[..rows]).unwrap();
        let got = Gather::new(0).par(par).masked().run(&of(&[rows, columns]), &bits).unwrap();
        let all: Vec<u32> = kept(&data.chunks_exact(columns).collect::<Vec<_>>(), &mask[..rows]).concat();
        assert!(got.as_slice() == all);
        // Lines that do not merge: a mask of both dimensions of a transposed matrix.
        let transposed = of(&[columns, rows]).permuted(&[1, 0]).unwrap();
        let bits = Mask::new(&mask[..n]).unwrap().with_shape(&[rows, columns]).unwrap();
        let got = Gather::new(0).par(par).masked().run(&transposed, &bits).unwrap();
        let all: Vec<u32> = (0..n).filter(|&at| mask[at]).map(|at| data[at % columns * rows + at / columns]).collect();
        assert!(got.as_slice() == all);
    }
}

#[test]
fn every_output() {
    let (data, mask) = ([1.5f32, 2.5, 3.5, 4.5], Mask::new(&[true, false, false, true]).unwrap());
    let op = Gather::new(0).masked();
    let mut all = vec![0.5];
    op.run_into(&data, &mask, &mut Append(&mut all)).unwrap();
    op.run_into(&data, &mask, &mut Append(&mut all)).unwrap();
    assert_eq!(all, [0.5, 1.5, 4.5, 1.5, 4.5]);
    let mut rows = Tensor::default();
    let table = View::new(&data, &[2, 2]).unwrap();
    for keep in [[true, false], [true, true], [false, false]] {
        op.run_into(&table, &Mask::new(&keep).unwrap(), &mut Append(&mut rows)).unwrap();
    }
    assert_eq!((rows.shape(), rows.as_slice()), (&[3, 2][..], &[1.5, 2.5, 1.5, 2.5, 3.5, 4.5][..]));
    let refused = Gather::new(1).masked().run_into(&table, &Mask::new(&[true, false]).unwrap(), &mut Append(&mut rows));
    assert!(matches!(refused, Err(Error::AppendMismatch { .. })));
    let mut fresh = [MaybeUninit::uninit(); 2];
    op.run_into(&data, &mask, &mut ViewMut::new(&mut fresh, &[2]).unwrap()).unwrap();
    #[allow(unsafe_code)]
    // SAFETY: the call has succeeded, so every element is initialised.
    let fresh = fresh.map(|value: MaybeUninit<f32>| unsafe { value.assume_init() });
    assert_eq!(fresh, [1.5, 4.5]);
    let mut own = [0.0f32; 2];
    let mut view = ViewMut::new(&mut own, &[2]).unwrap();
    let dynamic = View::new(&data, &[4]).unwrap();
    op.run_into(&DynView::from(&dynamic), &mask, &mut DynViewMut::from(&mut view)).unwrap();
    assert_eq!(own, [1.5, 4.5]);
    let mut wrong = [0u32; 2];
    let mut view = ViewMut::new(&mut wrong, &[2]).unwrap();
    let refused = op.run_into(&DynView::from(&dynamic), &mask, &mut DynViewMut::from(&mut view)).unwrap_err();
    assert_eq!(refused, Error::DTypeMismatch { expected: f32::DTYPE, got: u32::DTYPE });
}

#[test]
fn sources_that_are_not_moved_unchanged() {
    let (n, par) = (60, Par::Threads(2));
    let bytes: Vec<u8> = (0..n * 12).map(|at| mixed(2, at) as u8).collect();
    let table = View::new(&bytes[..n * 4], &[n, 4]).unwrap();
    let floats: Vec<f32> = (0..n * 4).map(|at| at as f32).collect();
    let numbers = View::new(&floats, &[n, 4]).unwrap();
    let fused = FusedRows::new(View::new(&bytes, &[n, 12]).unwrap(), FusedFormat::Torch8, 4).unwrap();
    let parts = [View::new(&floats[..80], &[20, 4]).unwrap(), View::new(&floats[80..], &[40, 4]).unwrap()];
    // NaN differs from itself.
    let to_bits = |rows: Tensor<f32>| (rows.shape().to_vec(), rows.into_vec().into_iter().map(f32::to_bits).collect());
    for mask in &masks(n) {
        let bits = Mask::new(mask).unwrap();
        let ids: Vec<u32> = kept(&(0..n as u32).collect::<Vec<_>>(), mask);
        macro_rules! check {
            ($table:expr) => {{
                let table = $table;
                let op = Gather::new(0).par(par);
                let expected: (Vec<usize>, Vec<u32>) = to_bits(op.run(&table, &ids).unwrap());
                assert_eq!(to_bits(op.masked().run(&table, &bits).unwrap()), expected);
                let mut rows = Tensor::default();
                op.masked().run_into(&table, &bits, &mut Append(&mut rows)).unwrap();
                assert_eq!(to_bits(rows), expected);
                let refused = op.masked().run(&table, &Mask::new(&[true; 240]).unwrap().with_shape(&[n, 4]).unwrap());
                let (op, argument) = (Op::Gather, Argument::Mask);
                assert_eq!(refused.unwrap_err(), Error::RankOutOfRange { op, argument, rank: 2, min: 1, max: 1 });
            }};
        }
        check!(table.map(&maps::dequantize(), (Given::All(0.5f32), Given::All(3u8))));
        check!(numbers.rows(&rows::dot(), (Given::All(&[1.0, 2.0, 3.0, 4.0]),)));
        check!(fused.to::<f32>());
        check!(chunks(&parts).unwrap());
        check!(chunks(&parts).unwrap().rows(&rows::dot(), (Given::All(&[1.0, 2.0, 3.0, 4.0]),)));
    }
}

#[test]
fn errors_come_in_order_and_leave_outputs_untouched() {
    let (op, argument) = (Op::Gather, Argument::Mask);
    let data = View::new(&[1u8, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    let mask = |shape: &[usize]| Mask::new(&vec![true; shape.iter().product()]).unwrap().with_shape(shape).unwrap();
    let mut own = [9u8; 6];
    let shapes = |expected: &[usize], got: &[usize]| Error::ShapeMismatch {
        op,
        argument,
        expected: expected.into(),
        got: got.into(),
    };
    let rank = |rank, max| Error::RankOutOfRange { op, argument, rank, min: 1, max };
    for (gather, shape, error) in [
        (Gather::new(2).batch_dims(1), &[][..], Error::AxisOutOfRange { op, axis: 2, rank: 2 }),
        (Gather::new(1).batch_dims(1), &[], Error::BatchDimsOutOfRange { op, batch_dims: 1, min: 0, max: 0 }),
        (Gather::new(1).batch_dims(-1), &[3], Error::BatchDimsOutOfRange { op, batch_dims: -1, min: 0, max: 0 }),
        (Gather::new(0), &[], rank(0, 2)),
        (Gather::new(0), &[2, 3, 1], rank(3, 2)),
        (Gather::new(1), &[3, 1], rank(2, 1)),
        (Gather::new(0), &[3], shapes(&[2], &[3])),
        (Gather::new(1), &[2], shapes(&[3], &[2])),
        (Gather::new(0), &[3, 2], shapes(&[2, 3], &[3, 2])),
        (Gather::new(0), &[0], shapes(&[2], &[0])),
    ] {
        let mut view = ViewMut::new(&mut own, &[6]).unwrap();
        assert_eq!(gather.masked().run(&data, &mask(shape)).unwrap_err(), error);
        assert_eq!(gather.masked().run_into(&data, &mask(shape), &mut view).unwrap_err(), error);
    }
    let refused = Gather::new(0).masked().run_into(&data, &mask(&[2]), &mut ViewMut::new(&mut own, &[6]).unwrap());
    let (expected, got) = ([2, 3].into(), [6].into());
    assert_eq!(refused.unwrap_err(), Error::ShapeMismatch { op, argument: Argument::Output, expected, got });
    assert_eq!(own, [9; 6]);
    let lacking = Level::ALL.iter().copied().find(|level| !level.is_available()).expect("of another machine");
    let refused = Gather::new(0).level(lacking).masked().run(&data, &mask(&[2])).unwrap_err();
    assert_eq!(refused, Error::LevelUnavailable { level: lacking });
    let method = Method::Table;
    let refused = Gather::new(0).method(method).masked().run(&data, &mask(&[2])).unwrap_err();
    assert_eq!(refused, Error::MethodUnavailable { op, method });
    let direct = Gather::new(0).method(Method::Direct).out_of_bounds(OutOfBounds::Zero).masked();
    assert_eq!(direct.run(&data, &mask(&[2])).unwrap().as_slice(), [1, 2, 3, 4, 5, 6]);
    let scalar = View::scalar(&1u8);
    let refused = Gather::new(0).masked().run(&scalar, &mask(&[])).unwrap_err();
    assert_eq!(refused, Error::AxisOutOfRange { op, axis: 0, rank: 0 });
}

#[test]
fn masks_of_bytes_bools_and_bits_are_equal() {
    for n in near_words() {
        for (number, mask) in masks(n).iter().enumerate() {
            let bytes: Vec<u8> =
                mask.iter().enumerate().map(|(at, &is)| if is { 1 + (at % 255) as u8 } else { 0 }).collect();
            let offset = (n + number) % 9;
            let bits = packed(mask, offset);
            let bits = Bitmap::new(&bits, offset, n).unwrap();
            for of in [Mask::new(mask).unwrap(), Mask::new(&bytes).unwrap(), Mask::from_bits(bits)] {
                assert_eq!((of.count(), of.shape()), (mask.iter().filter(|is| **is).count(), &[n][..]));
                assert!((0..n).all(|at| of.bitmap().get(at) == Some(mask[at])));
                let valid = packed(&(0..n).map(|at| at % 3 != 0).collect::<Vec<_>>(), 5);
                let nulled = of.with_nulls(Bitmap::new(&valid, 5, n).unwrap()).unwrap();
                assert!((0..n).all(|at| nulled.bitmap().get(at) == Some(mask[at] && at % 3 != 0)));
                assert_eq!(nulled.count(), (0..n).filter(|&at| mask[at] && at % 3 != 0).count());
            }
        }
    }
}

#[test]
fn rows_of_bits_of_other_lengths_are_refused() {
    let (mask, op, argument) = (Mask::new(&[true; 4]).unwrap(), Op::Gather, Argument::Data);
    for (len, columns, rows) in [(8, 1, 4), (7, 2, 8), (0, usize::MAX, usize::MAX), (8, usize::MAX / 4 + 3, usize::MAX)]
    {
        let refused = mask.select_bits(Bitmap::new(&[0xff], 0, len).unwrap(), columns).unwrap_err();
        assert_eq!(refused, Error::BitmapLengthMismatch { op, argument, len, rows, elements: rows });
    }
}

#[test]
fn scatters_where_a_mask_is_true() {
    let (n, mask) = (100, &masks(100)[3]);
    let at = Mask::new(mask).unwrap().positions::<i32>().unwrap();
    let count = list(&at).len();
    let updates: Vec<f32> = (0..count).map(|at| -(at as f32)).collect();
    let mut own: Vec<f32> = (0..n).map(|at| at as f32).collect();
    Gather::new(0).writer().run_on(&mut own, &at, &updates).unwrap();
    let mut next = updates.iter();
    let expected: Vec<f32> = (0..n).map(|at| if mask[at] { *next.next().unwrap() } else { at as f32 }).collect();
    assert_eq!(own, expected);
    Gather::new(0).writer().run_on(&mut own, &at, &View::strided(&[0.5], &[count], &[0], 0).unwrap()).unwrap();
    assert!((0..n).all(|at| own[at] == if mask[at] { 0.5 } else { at as f32 }));
}

//! The doors of row functions: from and into elements of every kind, with every setting.

use std::mem::MaybeUninit;

use gather_core::rows::{self, lanes::Number};
use gather_core::{
    Argument, Codes, DynView, Element, Error, FusedFormat, FusedRows, Gather, Given, Index, IndexType, Op, Per,
    RowFunction, Spec, Tensor, View, ViewMut,
};
use half::{bf16, f16};

use crate::common::{Line, Lines, Packed, Point, Sample, set, settings};

gather_core::row_kernels! {
    static LINES_TO_BYTE = |row: &[Lines]| -> u8 { row.iter().fold(0, |sum, line| sum ^ line.first() as u8) };
    static BYTES_TO_LINES = |row: &[u8], out: &mut [Lines]| {
        for (out, &byte) in out.iter_mut().zip(row) {
            *out = Lines::of(u16::from(byte));
        }
    };
    static LINE_TO_LINE = |row: &[Line]| -> Line { row[2] };
    static POINT_TO_POINT = |row: &[Point], out: &mut [Point]| { out.copy_from_slice(row) };
    static PACKED_TO_NUMBER = |row: &[Packed]| -> u64 { row.iter().map(|value| u64::from(value.tag())).sum() };
    static SHIFTED = |row: &[u32], out: &mut [u32], by: u32, #[any_len] more: &[Point], #[optional] rows: &[u32]| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = row[at] ^ by ^ rows.get(at).unwrap_or(&0) ^ more.len() as u32;
        }
    };
}

/// Runs a row function through every door with every setting. `params` are given anew for each call.
macro_rules! go {
    ($function:expr, $from:ty => $to:ty, $shape:expr, $params:expr, $convert:expr) => {{
        let function: &RowFunction<$from, $to, _> = &$function;
        let convert: fn(usize, &[$from]) -> Vec<$to> = $convert;
        let values: Vec<$from> = (0..15).map(<$from>::sample).collect();
        let converted: Vec<$to> = values.chunks(3).enumerate().flat_map(|(at, row)| convert(at, row)).collect();
        let (len, fill) = (converted.len() / 5, <$to>::sample(77));
        let (shape, filled): (&[usize], _) = (&$shape, function.with_fill(fill));
        let table = View::new(&values, &[5, 3]).unwrap();
        for indices in [vec![0i32, 4, 2, 1, 3, 0, 2], vec![4, -1, -5, 3, 9, 0, -8]] {
            let exact: Vec<i128> = indices.iter().map(|&index| i128::from(index)).collect();
            let indices = View::new(&indices, &[7]).unwrap();
            for setting in settings() {
                let expected = setting.gather(&converted, len, &exact, <$to as Element>::ZERO);
                let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
                let op = set!(Gather::new(0), &setting);
                judge("run", op.run(&table.rows(function, $params), &indices).map(Tensor::into_vec));
                let mut written = vec![<$to>::sample(99); 7 * len];
                let out = &mut ViewMut::new(&mut written, shape).unwrap();
                let ran = op.run_into(&table.rows(function, $params), &indices, out);
                judge("run_into", ran.map(|()| written));
                let mut fresh = vec![MaybeUninit::new(<$to>::sample(99)); 7 * len];
                let out = &mut ViewMut::new(&mut fresh, shape).unwrap();
                // Safe code cannot read what was written; what the call says must be right still.
                let ran = op.run_into(&table.rows(function, $params), &indices, out);
                judge("run_uninit", ran.map(|()| expected.clone().unwrap_or_default()));

                let plan = op.plan(&Spec::from_layout(table.layout()).rows(function), &indices);
                let ran = plan.and_then(|plan| plan.run(&table.rows(function, $params), &indices));
                judge("plan", ran.map(Tensor::into_vec));

                let list = DynView::from(&indices);
                let data = DynView::from(&table).downcast::<$from>().unwrap();
                judge("run by dyn", op.run(&data.rows(function, $params), &list).map(Tensor::into_vec));
                let mut written = vec![<$to>::sample(99); 7 * len];
                let out = &mut ViewMut::new(&mut written, shape).unwrap();
                let ran = op.run_into(&data.rows(function, $params), &list, out);
                judge("run_into by dyn", ran.map(|()| written));
                let plan = op.plan(&data.rows(function, $params), &list);
                let ran = plan.and_then(|plan| plan.run(&data.rows(function, $params), &list));
                judge("plan by dyn", ran.map(Tensor::into_vec));
                let expected = setting.gather(&converted, len, &exact, fill);
                let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
                let plan =
                    op.plan_any_count(&Spec::from_layout(table.layout()).rows(&filled), &Spec::new(&[2]).unwrap());
                let mut out = Tensor::default();
                let ran = plan.and_then(|plan| plan.run_into(&table.rows(&filled, $params), &indices, &mut out));
                judge("plan_any_count", ran.map(|()| out.into_vec()));
            }
        }
    }};
}

#[test]
fn from_and_into_aligned_elements() {
    go!(LINES_TO_BYTE, Lines => u8, [7], (), |_, row| vec![row.iter().fold(0, |sum, line| sum ^ line.first() as u8)]);
    let lines = |_, row: &[u8]| row.iter().map(|&byte| Lines::of(u16::from(byte))).collect();
    go!(BYTES_TO_LINES, u8 => Lines, [7, 3], (), lines);
    go!(LINE_TO_LINE, Line => Line, [7], (), |_, row| vec![row[2]]);
}

#[test]
fn from_and_into_odd_sizes() {
    go!(POINT_TO_POINT, Point => Point, [7, 3], (), |_, row| row.to_vec());
    let sum = |_, row: &[Packed]| vec![row.iter().map(|value| u64::from(value.tag())).sum()];
    go!(PACKED_TO_NUMBER, Packed => u64, [7], (), sum);
}

#[test]
fn parameters_for_the_call_each_index_and_each_row() {
    let (none, two) = (Given::All(&[][..]), [Point::sample(1), Point::sample(2)]);
    let params = || (Given::All(7), Given::All(&two[..]), none);
    go!(SHIFTED, u32 => u32, [7, 3], params(), |_, row| row.iter().map(|value| value ^ 7 ^ 2).collect());
    let (by, added): (Vec<u32>, Vec<u32>) = ((0..5).collect(), (0..15).map(|at| at * 100).collect());
    let params = || (Given::PerRow(&by[..]), none_of(), Given::PerRow(&added[..]));
    go!(SHIFTED, u32 => u32, [7, 3], params(), |at, row| {
        let one = |(k, value): (usize, &u32)| value ^ at as u32 ^ (at * 300 + k * 100) as u32;
        row.iter().enumerate().map(one).collect()
    });
    let same = [9u32; 7];
    let params = || (Given::PerIndex(&same[..]), none_of(), none);
    go!(SHIFTED, u32 => u32, [7, 3], params(), |_, row| row.iter().map(|value| value ^ 9).collect());

    let (table, ids) = ([1u32, 2], [0u8]);
    let (table, ids) = (View::new(&table, &[2, 1]).unwrap(), View::new(&ids, &[1]).unwrap());
    let got = Gather::new(0).run(&table.rows(&SHIFTED, (Given::PerRow(&by[..]), none_of(), none)), &ids);
    assert!(
        matches!(got, Err(Error::RowParameterLengthMismatch { per: Per::Row, len: 5, expected: 2, .. })),
        "{got:?}"
    );
    assert_eq!((SHIFTED.name(), SHIFTED.params()), ("SHIFTED", &["by", "more", "rows"][..]));
    assert_eq!((SHIFTED.fill(), SHIFTED.with_fill(3).with_len(4).fill()), (None, Some(&3)));
}

gather_core::map_kernels! {
    static TRIPLED = |value: u8, more: f32| -> [f32; 2] { [f32::from(value) * 3.0, more] };
}

gather_core::row_kernels! {
    static TURNED = |row: &[f32], out: &mut [f32], by: f32| {
        out.iter_mut().zip(row.iter().rev()).for_each(|(out, value)| *out = value + by);
    };
}

/// Runs a chain through every door with every setting, beside the function on `decoded`, a row for each of five.
macro_rules! chain {
    ($chain:expr, $planned:expr, $decoded:expr) => {{
        let (row, fill) = ($decoded.len() / 5, 77.0f32);
        let computed: Vec<f32> = $decoded
            .chunks(row)
            .flat_map(|row| row.iter().rev().map(|value| value + 0.5).collect::<Vec<_>>())
            .collect();
        let (function, filled, by) = (&TURNED, TURNED.with_fill(fill), (Given::All(0.5),));
        for indices in [vec![0i32, 4, 2, 1, 3, 0, 2], vec![4, -1, -5, 3, 9, 0, -8]] {
            let exact: Vec<i128> = indices.iter().map(|&index| i128::from(index)).collect();
            let indices = View::new(&indices, &[7]).unwrap();
            for setting in settings() {
                let expected = setting.gather(&computed, row, &exact, 0.0);
                let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
                let op = set!(Gather::new(0), &setting);
                let source = $chain.rows(function, by);
                judge("run", op.run(&source, &indices).map(Tensor::into_vec));
                judge("run by dyn", op.run(&source, &DynView::from(&indices)).map(Tensor::into_vec));
                let mut written = vec![99.0; 7 * row];
                let ran = op.run_into(&source, &indices, &mut ViewMut::new(&mut written, &[7, row]).unwrap());
                judge("run_into", ran.map(|()| written));
                let mut fresh = vec![MaybeUninit::new(99.0); 7 * row];
                let ran = op.run_into(&source, &indices, &mut ViewMut::new(&mut fresh, &[7, row]).unwrap());
                // Safe code cannot read what was written; what the call says must be right still.
                judge("run_uninit", ran.map(|()| expected.clone().unwrap_or_default()));
                let plan = op.plan(&$planned.rows(function), &indices);
                judge("plan", plan.and_then(|plan| plan.run(&source, &indices)).map(Tensor::into_vec));
                let expected = setting.gather(&computed, row, &exact, fill);
                let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
                let source = $chain.rows(&filled, by);
                let plan = op.plan_any_count(&source, &Spec::<i32>::new(&[2]).unwrap());
                let mut out = Tensor::default();
                let ran = plan.and_then(|plan| plan.run_into(&source, &indices, &mut out));
                judge("plan_any_count", ran.map(|()| out.into_vec()));
            }
        }
    }};
}

#[test]
fn chains() {
    let bytes: Vec<u8> = (0..40).map(|at| at * 5).collect();
    let table = View::new(&bytes, &[5, 8]).unwrap();
    let more = [1.0f32, 2.0, 3.0, 4.0, 5.0];
    let pairs = bytes.iter().enumerate().flat_map(|(at, &byte)| [f32::from(byte) * 3.0, more[at / 8]]);
    let decoded: Vec<f32> = pairs.collect();
    let spec = || Spec::<u8>::from_layout(table.layout());
    chain!(table.map(&TRIPLED, (Given::PerRow(&more),)), spec().map(&TRIPLED), decoded);

    let scales = View::new(&more, &[5, 1]).unwrap();
    let code = |byte: u8, at: usize| (f32::from(byte) - 8.0) * more[at];
    let decoded: Vec<f32> =
        bytes.iter().enumerate().flat_map(|(at, &byte)| [byte & 15, byte >> 4].map(|x| code(x, at / 8))).collect();
    chain!(table.blocks(Codes::Bits4, 16, &scales), spec().blocks::<f32>(Codes::Bits4, 16), decoded);

    let decoded: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte)).collect();
    let floats = View::new(&decoded, &[5, 8]).unwrap();
    let packed = FusedRows::quantize(FusedFormat::F32, &floats).unwrap();
    let fused = FusedRows::new(packed.view(), FusedFormat::F32, 8).unwrap();
    // There is no spec of fused rows: a table stands for one.
    struct Planned<'a>(&'a FusedRows<'a>);
    impl<'a> Planned<'a> {
        fn rows(
            &self,
            function: &'a RowFunction<f32, f32, (f32,)>,
        ) -> impl gather_core::Describe<Kind = gather_core::ByRow<gather_core::Fused<f32>, f32>> + use<'a> {
            self.0.to::<f32>().rows(function, (Given::All(0.0),))
        }
    }
    chain!(fused.to::<f32>(), Planned(&fused), decoded);
}

fn none_of<'a>() -> Given<'a, &'a [Point], Point> {
    Given::All(&[])
}

#[test]
fn plans_of_row_functions() {
    let table: Vec<u32> = (0..12).collect();
    let (table, ids) = (View::new(&table, &[4, 3]).unwrap(), View::new(&[3u8, 0], &[2]).unwrap());
    let plan = Gather::new(0).plan(&Spec::from_layout(table.layout()).rows(&SHIFTED.with_len(2)), &ids).unwrap();
    assert_eq!(plan.output_shape(), [2, 2]);
    assert!(plan.explain().to_string().starts_with("gather: rows -> [2, 2]"), "{}", plan.explain());
    let params = (Given::All(0), none_of(), Given::All(&[][..]));
    let short = SHIFTED.with_len(2);
    let rows = table.rows(&short, params);
    assert_eq!(plan.will_need(&rows, &ids).rows, if cfg!(unix) { 2 } else { 0 });
    assert_eq!(plan.run(&rows, &ids).unwrap().as_slice(), [9, 10, 0, 1]);
    // Rows of another length than planned.
    let refused = plan.run(&table.rows(&SHIFTED, params), &ids).unwrap_err();
    let (expected, got) = ([2, 2].into(), [2, 3].into());
    assert_eq!(refused, Error::PlanMismatch { argument: Argument::Output, expected, got });
    let mut out = Tensor::default();
    plan.run_into(&rows, &ids, &mut out).unwrap();
    assert_eq!((out.shape(), out.as_slice()), (&[2, 2][..], &[9, 10, 0, 1][..]));
}

/// Indices of every type; and data that is of another type, or lies at odd addresses.
#[test]
fn types_known_at_run_time() {
    let table = [3.0f32, 4.0, 0.0, 1.0, 2.0, 2.0];
    let (table, query) = (View::new(&table, &[3, 2]).unwrap(), [1.0f32, 10.0]);
    let (params, op) = ((Given::All(&query[..]),), Gather::new(0));
    let data = DynView::from(&table).downcast::<f32>().unwrap();
    let scores = data.rows(&rows::dot(), params);
    macro_rules! by {
        ($($index:ident),*) => {$({
            let ids: [$index; 4] = [2, 0, 1, 2];
            let ids = View::new(&ids, &[2, 2]).unwrap();
            let ids = DynView::from(&ids);
            let found = op.run(&scores, &ids).unwrap();
            assert_eq!((found.shape(), found.as_slice()), (&[2, 2][..], &[22.0, 43.0, 10.0, 22.0][..]));
            let plan = op.plan(&Spec::from_layout(data.layout()).rows(&rows::dot()), &ids).unwrap();
            let mut out = Tensor::default();
            plan.run_into(&scores, &ids, &mut out).unwrap();
            assert_eq!(out.as_slice(), [22.0, 43.0, 10.0, 22.0]);
            let other = if <$index as Index>::TYPE == IndexType::U8 { i8::DTYPE } else { u8::DTYPE };
            let other = DynView::from_bytes(other, &[0; 4], &[2, 2]);
            let refused = plan.run(&scores, &other.unwrap());
            assert!(matches!(refused, Err(Error::DTypeMismatch { .. })), "{refused:?}");
        })*};
    }
    by!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

    let memory = [0u8; 40];
    let bytes = &memory[memory.as_ptr().align_offset(8)..];
    let whole = DynView::from_bytes(f64::DTYPE, &bytes[..16], &[2, 1]).unwrap();
    assert_eq!(op.run(&scores, &whole).unwrap_err(), Error::NotAnIndexType { dtype: f64::DTYPE });
    assert_eq!(op.plan(&scores, &whole).unwrap_err(), Error::NotAnIndexType { dtype: f64::DTYPE });
    let odd = DynView::from_bytes(f32::DTYPE, &bytes[1..25], &[3, 2]).unwrap();
    assert_eq!(odd.downcast::<f32>().unwrap_err(), Error::Misaligned { dtype: f32::DTYPE, align: 4 });
}

#[test]
fn functions_of_rows() {
    fn of<N: Number<Sum = f32>>(number: fn(f32) -> N) {
        let row: Vec<N> = (0..45).map(|at| number((at % 7) as f32 - 2.0)).collect();
        let whole: Vec<f32> = (0..45).map(|at| (at % 7) as f32 - 2.0).collect();
        assert_eq!(rows::lanes::dot(&row, &whole), whole.iter().map(|x| x * x).sum());
        assert_eq!(rows::lanes::sum_of_squares(&row), whole.iter().map(|x| x * x).sum());
        assert_eq!(rows::lanes::sum(&row), whole.iter().sum());
        assert_eq!(rows::lanes::l2_squared(&row, &whole), 0.0);
        assert_eq!(rows::lanes::max(&row), 4.0);
    }
    of(|value| value);
    of(f16::from_f32);
    of(bf16::from_f32);
    assert_eq!(rows::lanes::dot(&[1.0f64, 2.0], &[3.0f64, 4.0, 5.0]), 11.0);
    assert_eq!((rows::lanes::dot(&[-1i8, 2], &[200u8, 100]), rows::lanes::max::<u8>(&[])), (0, i32::MIN));
}

/// Runs the functions on rows of a type.
fn ready_made<T: rows::Normed>(number: fn(f32) -> T) {
    let table = [3.0, 4.0, 0.0, 1.0].map(number);
    let (table, ids) = (View::new(&table, &[2, 2]).unwrap(), [1u8, 0]);
    let (gather, query) = (Gather::new(0), [0.0f32, 2.0]);
    let (none, query) = (Given::All(&[][..]), Given::All(&query[..]));
    let value = Given::All;
    let lengths = Given::PerRow(&[5.0f32, 1.0][..]);
    let is = |got: Result<Tensor<f32>, Error>, expected: &[f32]| assert_eq!(got.unwrap().as_slice(), expected);
    is(gather.run(&table.rows(&rows::dot(), (query,)), &ids), &[2.0, 8.0]);
    is(gather.run(&table.rows(&rows::l2_squared(), (query,)), &ids), &[1.0, 13.0]);
    is(gather.run(&table.rows(&rows::cosine(), (query, lengths, value(2.0))), &ids), &[1.0, 0.8]);
    is(gather.run(&table.rows(&rows::rms_norm(), (none, none, value(3.5))), &ids), &[0.0, 0.5, 0.75, 1.0]);
    let layer = table.rows(&rows::layer_norm(), (none, query, none, value(0.0)));
    is(gather.run(&layer, &ids), &[0.0, 2.0, 0.0, 2.0]);
    is(gather.run(&table.rows(&rows::l2_normalize(), (none, value(8.0))), &ids), &[0.0, 0.125, 0.375, 0.5]);
}

#[test]
fn ready_made_functions() {
    ready_made(|value| value);
    ready_made(f16::from_f32);
    ready_made(bf16::from_f32);

    let table = [3i8, 4, -128, 127];
    let (table, ids) = (View::new(&table, &[2, 2]).unwrap(), View::new(&[1u8, 0], &[2]).unwrap());
    let (gather, query) = (Gather::new(0), Given::All(&[-1i8, 2][..]));
    assert_eq!(gather.run(&table.rows(&rows::dot(), (query,)), &ids).unwrap().as_slice(), [382, 5]);
    assert_eq!(gather.run(&table.rows(&rows::l2_squared(), (query,)), &ids).unwrap().as_slice(), [31754, 20]);
    let params = (query, Given::All(2.0), Given::PerIndex(&[1.0f32, 5.0][..]));
    assert_eq!(gather.run(&table.rows(&rows::cosine(), params), &ids).unwrap().as_slice(), [191.0, 0.5]);
}

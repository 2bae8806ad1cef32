//! What bags read: every kind of rows, by ids of types known to the compiler or at run time, in bags by offsets or by
//! rows, weighted or not, through every verb, beside the plain loop. And what is refused.

use std::fmt::Debug;

use gather_core::{
    Argument, BagKind, BagOperator, BagPlan, BaggedBy, Bags, BagsOf, DType, Dyn, DynTensor, DynView, Element,
    EmbeddingBag, Error, Fused, FusedFormat, FusedRows, Given, Kind, Mapped, Op, PlanBags, Reduction, Source, Spec,
    Tables, Tensor, TensorOf, View, map_kernels, reduce_kernels, tables, tables_dyn,
};

map_kernels! {
    static TIMES = |value: u8, by: f32| -> f32 { f32::from(value) * by };
    static SHARE = |value: u8, by: f32| -> f32 { f32::from(value) / by };
    static PLUS = |value: u8, more: f32| -> f32 { f32::from(value) + more };
}

reduce_kernels! {
    static LATEST = |kept: f32, new: f32| -> f32 { kept * 0.5 + new };
}

const ROWS: usize = 5;
const IDS: [i32; 12] = [3, -1, 0, 0, 2, 4, 1, 1, -5, 2, 3, 0];
const WEIGHTS: [f32; 12] = [1.0, -2.0, 0.5, 3.0, 0.25, 1.0, -1.0, 2.0, 4.0, 0.0, 1.5, -0.5];
const OFFSETS: [u8; 5] = [0, 2, 2, 7, 8];

/// The plain loop: bags from each bound on to the next.
fn plain(
    rows: &[Vec<f32>],
    bounds: &[usize],
    weights: Option<&[f32]>,
    reduce: fn(Option<f32>, f32) -> f32,
) -> Vec<f32> {
    let sum = |bag: &[usize], column: usize| {
        let terms = (bag[0]..bag[1]).map(|at| {
            let value = rows[IDS[at].rem_euclid(ROWS as i32) as usize][column];
            weights.map_or(value, |weights| value * weights[at])
        });
        terms.fold(None, |kept, new| Some(reduce(kept, new))).unwrap_or(0.0)
    };
    let columns = rows[0].len();
    bounds.windows(2).flat_map(|bag| (0..columns).map(move |column| sum(bag, column))).collect()
}

fn sum(kept: Option<f32>, new: f32) -> f32 {
    kept.unwrap_or(0.0) + new
}

/// Runs every verb, with bags and with those that were planned.
fn verbs<S, B, P, R>(op: &BagOperator<R>, source: &S, (bags, planned): (&B, &P), of: &Expected<'_, TensorOf<S>>)
where
    S: Source<Kind: BaggedBy<R>>,
    B: BagsOf<<S::Kind as BagKind>::Weight>,
    P: PlanBags<<S::Kind as BagKind>::Weight, Index = B::Index>,
{
    let same = |got: TensorOf<S>, verb: &str| assert_eq!((of.read)(got), of.values, "{verb} of {}", of.what);
    same(op.run(source, bags).unwrap(), "run");
    let mut out = (of.old)();
    op.run_into(source, bags, &mut out).unwrap();
    same(out, "run_into");
    let plan = op.plan(source, bags).unwrap();
    assert_eq!(plan.output_shape().iter().product::<usize>(), of.values.len());
    same(plan.run(source, bags).unwrap(), "run of a plan");
    same(plan.run(source, planned).unwrap(), "run of a plan in its bags");
    let mut out = (of.old)();
    plan.run_into(source, bags, &mut out).unwrap();
    same(out, "run_into of a plan");
    let mut out = (of.old)();
    plan.clone().run_into(source, planned, &mut out).unwrap();
    same(out, "run_into of a plan in its bags");
}

/// What is expected, how a tensor is read, and one that held something else.
struct Expected<'a, T> {
    values: Vec<f32>,
    read: fn(T) -> Vec<f32>,
    old: fn() -> T,
    what: &'a str,
}

fn typed(values: Vec<f32>, what: &str) -> Expected<'_, Tensor<f32>> {
    Expected { values, read: Tensor::into_vec, old: || Tensor::full(&[7], -77.0).unwrap(), what }
}

fn dynamic(values: Vec<f32>, what: &str) -> Expected<'_, DynTensor> {
    let read = |tensor: DynTensor| tensor.downcast::<f32>().unwrap().into_vec();
    Expected { values, read, old: || DynTensor::zeros::<u16>(&[9]).unwrap(), what }
}

/// Calls with bags of every form, and with the same as planned: `$bounds` are where they begin and end.
macro_rules! every_form {
    ($weights:expr, |$bags:ident, $planned:ident, $bounds:ident| $run:expr) => {{
        let square = View::new(&IDS, &[4, 3]).unwrap();
        let (list, offsets) = (View::new(&IDS, &[12]).unwrap(), View::new(&OFFSETS, &[5]).unwrap());
        let (ids, starts, packed) = (DynView::from(&list), DynView::from(&offsets), DynView::from(&square));
        let $bounds = [0, 2, 2, 7, 8, 12];
        every_form!(@ IDS, Bags::new(&IDS, &OFFSETS), $weights.0, |$bags, $planned| $run);
        every_form!(@ list, Bags::new(&list, &starts), $weights.0, |$bags, $planned| $run);
        every_form!(@ ids, Bags::new(&ids, &OFFSETS), $weights.0, |$bags, $planned| $run);
        every_form!(@ ids, Bags::new(&ids, &starts), $weights.0, |$bags, $planned| $run);
        let $bounds = [0, 3, 6, 9, 12];
        every_form!(@ square, Bags::packed(&square), $weights.1, |$bags, $planned| $run);
        every_form!(@ packed, Bags::packed(&packed), $weights.1, |$bags, $planned| $run);
    }};
    (@ $ids:expr, $all:expr, $weights:expr, |$bags:ident, $planned:ident| $run:expr) => {{
        let ($bags, $planned) = ($all.weights($weights), Bags::planned(&$ids).weights($weights));
        $run;
    }};
}

/// Sums of a source of one table, weighted and not, and what they are by the loop.
macro_rules! sums {
    ($source:expr, $rows:expr, $expected:ident, $what:expr) => {{
        let (op, source) = (EmbeddingBag::new(Reduction::Add), $source);
        let square = View::new(&WEIGHTS, &[4, 3]).unwrap();
        let list = View::new(&WEIGHTS, &[12]).unwrap();
        let (weights, packed) = (DynView::from(&list), DynView::from(&square));
        every_form!((None::<&[f32]>, None::<&DynView<'_>>), |bags, planned, bounds| {
            let of = $expected(plain($rows, &bounds, None, sum), $what);
            verbs(&op, &source, (&bags, &planned), &of);
        });
        every_form!((&WEIGHTS, &square), |bags, planned, bounds| {
            let of = $expected(plain($rows, &bounds, Some(&WEIGHTS), sum), $what);
            verbs(&op, &source, (&bags, &planned), &of);
        });
        every_form!((Some(&weights), Some(&packed)), |bags, planned, bounds| {
            let of = $expected(plain($rows, &bounds, Some(&WEIGHTS), sum), $what);
            verbs(&op, &source, (&bags, &planned), &of);
        });
    }};
}

fn rows_of(columns: usize, value: impl Fn(usize) -> f32) -> Vec<Vec<f32>> {
    (0..ROWS).map(|row| (0..columns).map(|column| value(row * columns + column)).collect()).collect()
}

#[test]
fn every_kind_by_every_bags() {
    let codes: Vec<u8> = (0..ROWS as u8 * 3).map(|at| at * 16).collect();
    let numbers: Vec<f32> = codes.iter().map(|&code| f32::from(code) - 100.0).collect();
    let (table, bytes) = (View::new(&numbers, &[ROWS, 3]).unwrap(), View::new(&codes, &[ROWS, 3]).unwrap());
    let rows = rows_of(3, |at| numbers[at]);
    sums!(&table, &rows, typed, "a view");
    sums!(Tensor::new(numbers.clone(), &[ROWS, 3]).unwrap(), &rows, typed, "a tensor");
    sums!(DynView::from(&table), &rows, dynamic, "a tensor known at run time");
    let by = [1.0f32, 0.5, -2.0, 4.0, 0.25];
    let converted = rows_of(3, |at| f32::from(codes[at]) * by[at / 3]);
    sums!(bytes.map(&TIMES, (Given::PerRow(&by),)), &converted, typed, "a map");

    // Rows of codes with a scale, and plain ones.
    let quantised = FusedRows::quantize(FusedFormat::Torch8, &table).unwrap();
    let quantised = FusedRows::new(quantised.view(), FusedFormat::Torch8, 3).unwrap();
    let every: Vec<u8> = (0..ROWS as u8).collect();
    let decoded = gather_core::Gather::new(0).run(&quantised.to::<f32>(), &every).unwrap();
    let decoded = rows_of(3, |at| decoded.as_slice()[at]);
    sums!(quantised.to::<f32>(), &decoded, typed, "fused rows");
    sums!(quantised.to_dyn(f32::DTYPE), &decoded, dynamic, "fused rows known at run time");

    // Lists are tables whose rows are elements.
    let (list, single) = ([2.0f32, -1.0, 8.0, 0.5, 3.0], rows_of(1, |at| [2.0, -1.0, 8.0, 0.5, 3.0][at]));
    sums!(list, &single, typed, "an array");
    sums!(list.to_vec(), &single, typed, "a list");

    let op = EmbeddingBag::new(Reduction::Add).reduce_by(&LATEST);
    every_form!((None::<&[f32]>, None::<&DynView<'_>>), |bags, planned, bounds| {
        let latest = |kept: Option<f32>, new| kept.map_or(new, |kept| kept * 0.5 + new);
        let of = typed(plain(&rows, &bounds, None, latest), "a reduction of one's own");
        verbs(&op, &table, (&bags, &planned), &of);
    });
}

#[test]
fn several_tables_by_every_bags() {
    let (wide, narrow): (Vec<f32>, Vec<f32>) =
        ((0..ROWS * 3).map(|at| at as f32 - 7.0).collect(), (0..ROWS).map(|at| at as f32 * 0.5).collect());
    let one = FusedRows::plain(View::new(&wide, &[ROWS, 3]).unwrap()).unwrap();
    let other = FusedRows::plain(View::new(&narrow, &[ROWS, 1]).unwrap()).unwrap();
    let op = EmbeddingBag::new(Reduction::Add);
    let (list, square) = (View::new(&WEIGHTS, &[12]).unwrap(), View::new(&WEIGHTS, &[4, 3]).unwrap());
    let rows: Vec<_> = (0..ROWS).map(|row| [&wide[row * 3..][..3], &narrow[row..][..1]].concat()).collect();
    let (all, at_run_time) = (tables::<f32>([&one, &other]).unwrap(), tables_dyn(f32::DTYPE, [&one, &other]).unwrap());
    for weighted in [false, true] {
        let weights = weighted.then_some(&WEIGHTS[..]);
        every_form!((weighted.then_some(&list), weighted.then_some(&square)), |bags, planned, bounds| {
            let values = plain(&rows, &bounds, weights, sum);
            let of = typed(values.clone(), "tables");
            verbs(&op, &all, (&[bags; 2], &[planned; 2]), &of);
            verbs(&op, &all, (&vec![bags; 2], &vec![planned; 2]), &of);
            let of = dynamic(values, "tables known at run time");
            verbs(&op, &at_run_time, (&[bags; 2], &[planned; 2]), &of);
        });
    }
}

#[test]
fn plans_run_with_other_maps() -> Result<(), Error> {
    let table = View::new(&[8u8, 16, 32], &[3])?;
    let bags = Bags::new(&[0u32, 2, 1], &[0u32, 2]);
    let spec = Spec::<u8>::new(&[3])?.map(&TIMES);
    let plan: BagPlan<Mapped<u8, f32>, u32> = EmbeddingBag::new(Reduction::Add).plan(&spec, &bags)?;
    for (by, other) in [(2.0, [20.0, 8.0]), (4.0, [10.0, 4.0])] {
        assert_eq!(plan.run(&table.map(&TIMES, (Given::All(by),)), &bags)?.as_slice(), [40.0 * by, 16.0 * by]);
        assert_eq!(plan.run(&table.map(&SHARE, (Given::All(by),)), &bags)?.as_slice(), other);
        assert_eq!(plan.run(&table.map(&SHARE, (Given::All(by),)), &Bags::planned(&[0, 2, 1]))?.as_slice(), other);
    }
    let refused = plan.run(&table.map(&PLUS, (Given::All(1.0),)), &bags).unwrap_err();
    let (expected, got): (&[&str], &[&str]) = (&["by"], &["more"]);
    assert_eq!(refused, Error::PlanParametersMismatch { op: Op::EmbeddingBag, function: "PLUS", expected, got });
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<(), Error> {
    let op = EmbeddingBag::new(Reduction::Add);
    let (table, words) = ([1.0f32, 2.0, 4.0], View::new(&[1.0f64, 2.0], &[2])?);
    let (ids, data) = (View::new(&[0u8, 2], &[2])?, View::new(&table, &[3])?);
    let (ids, words, data) = (DynView::from(&ids), DynView::from(&words), DynView::from(&data));
    let no_index = Error::NotAnIndexType { dtype: f64::DTYPE };
    let mismatch = |expected: DType, got: DType| Error::DTypeMismatch { expected, got };
    // Indices, offsets, weights, in this order and before all else.
    let wild = op.padding_index(7);
    assert_eq!(wild.run(&table, &Bags::new(&words, &words).weights(&words)).unwrap_err(), no_index);
    assert_eq!(wild.run(&table, &Bags::new(&ids, &words).weights(&words)).unwrap_err(), no_index);
    let refused = mismatch(f32::DTYPE, f64::DTYPE);
    assert_eq!(wild.run(&table, &Bags::new(&ids, &[0u8]).weights(&words)).unwrap_err(), refused);
    assert_eq!(wild.run(&data, &Bags::new(&ids, &[0u8]).weights(&[1.0f64, 2.0])).unwrap_err(), refused);
    assert_eq!(wild.plan(&data, &Bags::new(&ids, &[0u8]).weights(&[1.0f64, 2.0])).unwrap_err(), refused);
    let message = "embedding_bag: padding_index is 7; 3 rows allow -3..=2";
    assert_eq!(wild.run(&table, &Bags::new(&ids, &[0u8])).unwrap_err().to_string(), message);

    // A list has no rows of ids.
    let refused = op.run(&table, &Bags::packed(&[0u8, 1])).unwrap_err().to_string();
    assert_eq!(refused, "embedding_bag: indices has rank 1; allowed is 2");
    let refused = op.run(&table, &Bags::new(&[0u8, 1], &[1u8])).unwrap_err();
    assert_eq!(refused, Error::BagOffsetOutOfRange { position: 0, offset: 1, min: 0, max: 0 });
    let refused = op.run(&table, &Bags::new(&[0u8, 3], &[0u8])).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { position: 1, index: 3, dim: 3, .. }), "{refused}");
    let refused = op.reduce_by(&LATEST).run(&table, &Bags::new(&[0u8], &[0u8]).weights(&[1.0])).unwrap_err();
    assert_eq!(refused, Error::WeightsUnavailable { reduction: "LATEST" });

    // Plans: other types, other data, other counts of indices in planned bags.
    let plan: BagPlan<f32, Dyn> = op.plan(&table, &Bags::new(&ids, &[0u8, 1]))?;
    let others = View::new(&[0u16, 2], &[2])?;
    let others = DynView::from(&others);
    let refused = mismatch(u8::DTYPE, u16::DTYPE);
    assert_eq!(plan.run(&table, &Bags::planned(&others)).unwrap_err(), refused);
    assert_eq!(plan.run(&table, &Bags::new(&others, &words)).unwrap_err(), refused);
    assert_eq!(plan.run(&table, &Bags::new(&ids, &words)).unwrap_err(), no_index);
    let plan = op.plan(&table, &Bags::new(&[0u8, 2], &[0u8, 1]))?;
    let (argument, expected, got) = (Argument::Indices, [2].into(), [3].into());
    let refused = plan.run(&table, &Bags::planned(&[0, 1, 2])).unwrap_err();
    assert_eq!(refused, Error::PlanMismatch { argument, expected, got });
    assert_eq!(plan.run(&table, &Bags::new(&[0, 1, 2], &[0]))?.as_slice(), [7.0]);
    let (argument, expected, got) = (Argument::Data, [3].into(), [2].into());
    let refused = plan.run(&[1.0, 2.0], &Bags::planned(&[0, 1])).unwrap_err();
    assert_eq!(refused, Error::PlanMismatch { argument, expected, got });
    let shape = |expected: usize, got: usize| Error::ShapeMismatch {
        op: Op::EmbeddingBag,
        argument: Argument::Weights,
        expected: [expected].into(),
        got: [got].into(),
    };
    assert_eq!(plan.run(&table, &Bags::planned(&[0, 1]).weights(&[1.0; 3])).unwrap_err(), shape(2, 3));
    assert_eq!(op.run(&table, &Bags::new(&[0u8], &[0u8]).weights(&[1.0; 3])).unwrap_err(), shape(1, 3));
    Ok(())
}

#[test]
fn fused_rows_and_tables_that_do_not_fit_are_refused() -> Result<(), Error> {
    let op = EmbeddingBag::new(Reduction::Add);
    let (bytes, bags) = ([0u8; 24], Bags::new(&[0u8, 1], &[0u8]));
    let eight = FusedRows::new(View::new(&bytes, &[2, 12])?, FusedFormat::Torch8, 4)?;
    let four = FusedRows::new(View::new(&bytes[..16], &[2, 8])?, FusedFormat::Torch4, 8)?;
    let plan: BagPlan<Fused<f32>, u8> = op.plan(&eight.to::<f32>(), &bags)?;
    let refused = plan.run(&four.to(), &bags).unwrap_err();
    let (expected, got) = (FusedFormat::Torch8, FusedFormat::Torch4);
    assert_eq!(refused, Error::FusedFormatMismatch { expected, got });
    let unavailable =
        Error::ReductionUnavailable { op: Op::EmbeddingBag, reduction: Reduction::Add, dtype: Some(u8::DTYPE) };
    assert_eq!(op.run(&eight.to_dyn(u8::DTYPE), &bags).unwrap_err(), unavailable);

    assert_eq!(tables::<f32>([]).unwrap_err(), Error::NoTables);
    assert_eq!(tables_dyn(f32::DTYPE, []).unwrap_err(), Error::NoTables);
    let in_table = |table, error: Error| Error::InTable { table, error: error.into() };
    let (one, both) = (tables::<f32>([&eight])?, tables::<f32>([&eight, &four])?);
    let mismatch = |argument, got| Error::TablesMismatch { argument, expected: 2, got };
    let plan: BagPlan<Tables<f32>, u8> = op.plan(&both, &[bags; 2])?;
    assert_eq!(op.run(&both, &[bags]).unwrap_err(), mismatch(Argument::Indices, 1));
    assert_eq!(op.plan(&both, &[bags; 3]).unwrap_err(), mismatch(Argument::Indices, 3));
    assert_eq!(plan.run(&both, &[bags]).unwrap_err(), mismatch(Argument::Indices, 1));
    assert_eq!(plan.run(&one, &[bags]).unwrap_err(), mismatch(Argument::Data, 1));
    let turned = tables::<f32>([&four, &eight])?;
    let (expected, got) = (FusedFormat::Torch8, FusedFormat::Torch4);
    assert_eq!(plan.run(&turned, &[bags; 2]).unwrap_err(), in_table(0, Error::FusedFormatMismatch { expected, got }));
    let two = Bags::new(&[0u8, 1], &[0u8, 1][..]);
    let three = Bags::new(&[0u8, 1], &[0u8, 1, 1][..]);
    let refused = in_table(1, Error::BagsMismatch { expected: 2, got: 3 });
    assert_eq!(op.run(&both, &[two, three]).unwrap_err(), refused);
    assert_eq!(op.plan(&both, &[two, three]).unwrap_err(), refused);
    assert_eq!(plan.run(&both, &[two, three]).unwrap_err(), refused);
    let (argument, expected, got) = (Argument::Indices, [2].into(), [1].into());
    let planned = [Bags::planned(&[0u8, 1][..]), Bags::planned(&[0u8][..])];
    let refused = plan.run(&both, &planned).unwrap_err();
    assert_eq!(refused, in_table(1, Error::PlanMismatch { argument, expected, got }));
    assert_eq!(plan.run(&both, &[planned[0]; 2])?.shape(), [1, 12]);
    Ok(())
}

// What a program writes without naming a type.

struct Layer<K> {
    sums: BagPlan<K, u32>,
}

impl<K: BagKind<Weight = f32, Out = f32>> Layer<K> {
    fn forward(
        &self,
        table: &impl Source<Kind = K>,
        bags: &impl PlanBags<f32, Index = u32>,
    ) -> Result<Tensor<f32>, Error> {
        self.sums.run(table, bags)
    }
}

fn summed<S, B>(table: &S, bags: &B) -> Result<Tensor<f32>, Error>
where
    S: Source<Kind: BaggedBy<Reduction> + Kind<Out = f32> + BagKind<Weight = f32>>,
    B: BagsOf<f32>,
{
    EmbeddingBag::new(Reduction::Add).run(table, bags)
}

#[test]
fn types_follow_from_operands() -> Result<(), Error> {
    let (table, codes) = ([1.0f32, 2.0, 4.0], View::new(&[1u8, 2, 4], &[3])?);
    let doubled = codes.map(&TIMES, (Given::All(2.0),));
    let bags = Bags::new(&[0u32, 2, 1], &[0, 2]);
    assert_eq!(summed(&table, &bags)?.as_slice(), [5.0, 2.0]);
    assert_eq!(summed(&doubled, &bags.weights(&[1.0, 0.5, 1.0]))?.as_slice(), [6.0, 4.0]);
    let plain = Layer { sums: EmbeddingBag::new(Reduction::Add).plan(&table, &bags)? };
    assert_eq!(plain.forward(&table, &Bags::planned(&[1, 1, 0]))?.as_slice(), [4.0, 1.0]);
    let mapped = Layer { sums: EmbeddingBag::new(Reduction::Add).plan(&doubled, &bags)? };
    assert_eq!(mapped.forward(&doubled, &bags)?.as_slice(), [10.0, 4.0]);
    // Bags, settings and operators by a reduction of one's own are values.
    let show = |value: &dyn Debug| format!("{value:?}");
    assert!(show(&bags).contains("offsets: Some([0, 2])"), "{}", show(&bags));
    let latest = EmbeddingBag::new(Reduction::Add).reduce_by(&LATEST).skip_negative(true).default_index(1);
    assert!(show(&latest).contains("LATEST") && latest.get_skip_negative());
    assert_eq!(latest.run(&table, &Bags::new(&[-1i8, 0, 2], &[0, 1]))?.as_slice(), [2.0, 4.5]);
    Ok(())
}

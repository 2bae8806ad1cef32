//! Checked indices: every operator by positions beside the same call by the indices, to the bit.

use std::fmt::Debug;

use gather_core::{
    Argument, Bags, Bitmap, Checked, DynView, DynViewMut, Element, EmbeddingBag, Error, FusedFormat, FusedRows, Gather,
    GatherElements, GatherNd, Given, Index, IndexPolicy, IndexType, Layout, Method, NegativeIndex, Nulls, OutOfBounds,
    Par, Position, Reduction, ScatterElements, ScatterNd, ScatterOutOfBounds, Source, TableOf, Tensor, Validity, View,
    ViewMut, chunks, maps, rows, tables, zeros,
};

use crate::support::{levels, mixed};

const ROWS: usize = 60;

fn policies() -> impl Iterator<Item = IndexPolicy> {
    let negative = [NegativeIndex::FromEnd, NegativeIndex::Reject];
    let each = |negative| OutOfBounds::ALL.iter().map(move |&out_of_bounds| IndexPolicy { negative, out_of_bounds });
    negative.into_iter().flat_map(each)
}

/// Positions, indices from the end, and indices out of range.
fn lists<I: Index + TryFrom<i64>>() -> Vec<Vec<I>> {
    let rows = ROWS as i64;
    let list = |n: usize, of: &dyn Fn(i64) -> i64| {
        (0..n).map(|at| of((mixed(3, at) % ROWS as u64) as i64)).filter_map(|id| I::try_from(id).ok()).collect()
    };
    let odd = |id: i64| if id % 3 == 0 { -id - 1 } else { id };
    let beyond = |id: i64| if id % 5 == 0 { id * 2 - rows } else { id };
    [list(0, &|id| id), list(1, &|id| id), list(700, &|id| id), list(70, &odd), list(300, &beyond)].into()
}

fn results<T: Element>(got: Result<Tensor<T>, Error>) -> Result<(Vec<usize>, Vec<T>), String> {
    // Positions have the type `P`, and a message names the policy for negative indices.
    got.map(|tensor| (tensor.shape().to_vec(), tensor.into_vec())).map_err(|error| error.to_string())
}

/// Gathers of a table of `ROWS` rows by ids of type `I` and by their positions.
fn gathers<I: Index + TryFrom<i64>, P: Position + ToString, U: Element + PartialEq + Debug>(
    table: &impl TableOf<Gather, U>,
) {
    for (at, level) in levels().enumerate() {
        let par = if at % 2 == 1 { Par::Threads(3) } else { Par::Seq };
        for (ids, policy) in
            lists::<I>().into_iter().flat_map(|ids| policies().map(move |policy| (ids.clone(), policy)))
        {
            let op = Gather::new(0).level(level).par(par);
            let of = op.negative_index(policy.negative).out_of_bounds(policy.out_of_bounds);
            let expected = results(of.run(table, &ids));
            let checked = match Checked::<P>::new(&ids, ROWS, policy) {
                Ok(checked) => checked,
                Err(error) => {
                    assert_eq!(Err(error.to_string()), expected.map(drop), "{policy:?}");
                    continue;
                }
            };
            // The policies of the operator have no effect.
            assert_eq!(results(op.out_of_bounds(OutOfBounds::Wrap).run(table, &checked)), expected, "{policy:?}");
            assert_eq!(results(op.run(table, &checked)), expected, "{policy:?}");
            for method in [Method::Direct, Method::Blocks] {
                let [got, expected] = [op.method(method).run(table, &checked), of.method(method).run(table, &ids)];
                assert_eq!(results(got), results(expected), "{policy:?}, {method}");
            }
            let planned = op.plan(table, &checked).unwrap();
            assert_eq!(results(planned.run(table, &checked)), expected, "{policy:?}, planned");
            let empty = Checked::<P>::new(&[0i8; 0], ROWS, OutOfBounds::Error).unwrap();
            let planned = op.plan_any_count(table, &empty).unwrap();
            assert_eq!(results(planned.run(table, &checked)), expected, "{policy:?}, for any count");
            let valid = Bitmap::new(&[0b0101_1011; 100], 2, ids.len()).unwrap();
            let nulls = Nulls { indices: Some(valid), data: Some(Bitmap::new(&[0b1110_1101; 20], 3, ROWS).unwrap()) };
            let expected = nullable(of.nullable().run(table, &ids, nulls));
            assert_eq!(nullable(op.nullable().run(table, &checked, nulls)), expected, "{policy:?}, nulls");
            let planned = op.nullable().plan(table, &checked).unwrap();
            assert_eq!(nullable(planned.run(table, &checked, nulls)), expected, "{policy:?}, nulls, planned");
            let checked = Checked::<P>::with_nulls(&ids, valid, ROWS, policy).unwrap();
            assert_eq!(nullable(planned.run(table, &checked, nulls)), expected, "{policy:?}, nulls checked");
            let nulls = checked.positions();
            let missing = |at: usize| nulls.get(&[at]).is_some_and(|position| *position.to_string() == *"-1");
            assert!((0..ids.len()).all(|at| missing(at) || valid.get(at) == Some(true)));
        }
    }
}

type NullableResult<T> = Result<(Vec<T>, Option<Vec<u8>>), String>;

fn nullable<T: Element>(got: Result<(Tensor<T>, Option<Validity>), Error>) -> NullableResult<T> {
    let bytes = |valid: Validity| valid.as_bytes().to_vec();
    got.map(|(rows, valid)| (rows.into_vec(), valid.map(bytes))).map_err(|error| error.to_string())
}

#[test]
fn gathers_of_every_width_and_index_type() {
    fn of_rows<T: Element + PartialEq + Debug>(row: &[usize], value: impl Fn(usize) -> T) {
        let width: usize = row.iter().product();
        let values: Vec<T> = (0..ROWS * width).map(value).collect();
        let table = View::new(&values, &[&[ROWS], row].concat()).unwrap();
        gathers::<i32, i32, T>(&table);
        gathers::<u32, i32, T>(&table);
        gathers::<i64, i32, T>(&table);
        gathers::<u64, i64, T>(&table);
        gathers::<i8, i32, T>(&table);
        gathers::<u16, i64, T>(&table);
    }
    of_rows(&[], |at| mixed(1, at) as u8);
    of_rows(&[], |at| mixed(1, at) as f32);
    of_rows(&[], |at| mixed(1, at));
    of_rows(&[3], |at| mixed(1, at) as f32);
    of_rows(&[2, 2], |at| mixed(1, at) as i32);
    of_rows(&[50], |at| mixed(1, at) as u16);
}

#[test]
fn gathers_of_every_source() -> Result<(), Error> {
    let floats: Vec<f32> = (0..ROWS * 4).map(|at| at as f32).collect();
    let codes: Vec<u8> = (0..ROWS * 12).map(|at| mixed(2, at) as u8).collect();
    let view = View::new(&floats, &[ROWS, 4])?;
    let bytes = View::new(&codes[..ROWS * 4], &[ROWS, 4])?;
    gathers::<i64, i32, f32>(&bytes.map(&maps::dequantize(), (Given::All(0.5), Given::All(3u8))));
    gathers::<i64, i32, f32>(&view.rows(&rows::dot(), (Given::All(&[1.0, 2.0, 3.0, 4.0]),)));
    let fused = FusedRows::new(View::new(&codes, &[ROWS, 12])?, FusedFormat::Torch8, 4)?;
    let part = |from: usize, to: usize| View::new(&floats[from * 4..to * 4], &[to - from, 4]);
    let parts = [part(0, 20)?, part(20, 20)?, part(20, 60)?];
    gathers::<i32, i64, f32>(&chunks(&parts)?);

    let ids = Checked::<i32>::new(&[3i64, -1, 99], ROWS, OutOfBounds::Zero)?;
    let of = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let bits = |rows: Tensor<f32>| rows.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let expected = bits(of.run(&fused.to::<f32>(), &[3i64, -1, 99])?);
    assert_eq!(bits(Gather::new(0).run(&fused.to::<f32>(), &ids)?), expected);
    // Types known at run time, of data and of indices.
    let list = View::new(&[3i64, -1, 99], &[3])?;
    let known = DynView::from(&list);
    let ids = Checked::<i64>::new(&known, ROWS, OutOfBounds::Zero)?;
    let taken = Gather::new(0).run(&DynView::from(&view), &ids)?.downcast::<f32>()?;
    assert_eq!(taken, of.run(&view, &list)?);
    // Positions of another type, and pointers.
    let narrow = Checked::<i32>::new(&ids, ROWS, OutOfBounds::Error)?;
    assert_eq!(Gather::new(0).run(&view, &Box::new(&narrow))?, taken);
    let told = Gather::new(0).will_need(&view, &narrow);
    assert_eq!(told.rows, if cfg!(unix) && cfg!(not(miri)) { 2 } else { 0 });
    let names: Vec<String> = (0..ROWS).map(|at| at.to_string()).collect();
    assert_eq!(Gather::new(0).run_cloned(&names, &narrow)?.as_slice(), ["3", "59", ""]);
    assert_eq!(Gather::new(0).run_cloned_or(&names, &narrow, &"-".into())?.as_slice(), ["3", "59", "-"]);
    Ok(())
}

#[test]
fn elements_and_other_axes() -> Result<(), Error> {
    let values: Vec<u16> = (0..5 * ROWS).map(|at| at as u16).collect();
    let (data, list) = (View::new(&values, &[5, ROWS])?, &lists::<i64>()[2][..60]);
    let ids = View::strided(list, &[5, 4], &[1, 5], 0)?;
    let checked = Checked::<i32>::new(&ids, ROWS, OutOfBounds::Error)?;
    assert_eq!(checked.positions().shape(), [5, 4]);
    assert_eq!(GatherElements::new(1).run(&data, &checked)?, GatherElements::new(1).run(&data, &ids)?);
    assert_eq!(Gather::new(1).run(&data, &checked)?, Gather::new(1).run(&data, &ids)?);
    let updates: Vec<u16> = (0..20).collect();
    let updates = View::new(&updates, &[5, 4])?;
    let op = ScatterElements::new(1).reduction(Reduction::Add);
    let expected = op.run(&data, &ids, &updates)?;
    assert_eq!(op.run(&data, &checked, &updates)?, expected);
    assert_eq!(op.plan(&data, &checked, &updates)?.run(&data, &checked, &updates)?, expected);
    let adjoint = GatherElements::new(1).adjoint();
    assert_eq!(adjoint.run(&data, &checked, &updates)?, adjoint.run(&data, &ids, &updates)?);
    Ok(())
}

/// The policy of a scatter that treats indices as a gather does.
fn of_scatter(policy: OutOfBounds) -> ScatterOutOfBounds {
    match policy {
        OutOfBounds::Zero => ScatterOutOfBounds::Drop,
        OutOfBounds::Clamp => ScatterOutOfBounds::Clamp,
        OutOfBounds::Wrap => ScatterOutOfBounds::Wrap,
        _ => ScatterOutOfBounds::Error,
    }
}

#[test]
fn scatters_skip_missing_positions() -> Result<(), Error> {
    for width in [1, 5] {
        for (ids, policy) in
            lists::<i64>().into_iter().flat_map(|ids| policies().map(move |policy| (ids.clone(), policy)))
        {
            let Ok(checked) = Checked::<i32>::new(&ids, ROWS, policy) else { continue };
            let updates: Vec<f32> = (0..ids.len() * width).map(|at| (mixed(4, at) % 99) as f32).collect();
            let (updates, old) = (View::new(&updates, &[ids.len(), width])?, Tensor::full(&[ROWS, width], 7.0)?);
            for reduction in [Reduction::None, Reduction::Add, Reduction::Max, Reduction::Mean] {
                let op = Gather::new(0).adjoint().reduction(reduction);
                let of = op.negative_index(policy.negative).out_of_bounds(of_scatter(policy.out_of_bounds));
                let expected = of.run(&old, &ids, &updates)?;
                for op in [op, op.skip_negative(true), op.par(Par::Threads(3))] {
                    assert_eq!(op.run(&old, &checked, &updates)?, expected, "{policy:?}, {op:?}");
                    let mut table = old.clone();
                    op.run_on(&mut table, &checked, &updates)?;
                    assert_eq!(table, expected, "{policy:?}, {op:?}, in place");
                    let plan = op.plan(&old, &checked, &updates)?;
                    assert_eq!(plan.run(&old, &checked, &updates)?, expected, "{policy:?}, planned");
                    let mut table = old.clone();
                    op.plan_any_count(&old, &checked, &updates)?.run_on(&mut table, &checked, &updates)?;
                    assert_eq!(table, expected, "{policy:?}, planned, in place");
                }
            }
        }
    }
    let names = vec!["a".to_string(), "b".to_string()];
    let ids = Checked::<i32>::new(&[-1i64, 5], 2, OutOfBounds::Zero)?;
    let written = ScatterElements::new(0).run_cloned(&names, &ids, &["x".to_string(), "y".to_string()])?;
    assert_eq!(written.as_slice(), ["a", "x"]);
    Ok(())
}

#[test]
fn bags_count_missing_positions_as_zeros() -> Result<(), Error> {
    let values: Vec<f32> = (0..ROWS * 3).map(|at| (mixed(9, at) % 50) as f32 - 60.0).collect();
    let table = View::new(&values, &[ROWS, 3])?;
    for (ids, policy) in lists::<i64>().into_iter().flat_map(|ids| policies().map(move |policy| (ids.clone(), policy)))
    {
        let Ok(checked) = Checked::<i32>::new(&ids, ROWS, policy) else { continue };
        let offsets = [0, ids.len() / 3, ids.len() / 2];
        let weights: Vec<f32> = (0..ids.len()).map(|at| (at % 4) as f32).collect();
        for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
            let op = EmbeddingBag::new(reduction).padding_index(5);
            let of = op.negative_index(policy.negative).out_of_bounds(policy.out_of_bounds);
            let expected = of.run(&table, &Bags::new(&ids, &offsets))?;
            assert_eq!(op.run(&table, &Bags::new(&checked, &offsets))?, expected, "{policy:?}, {reduction:?}");
            let plan = op.plan(&table, &Bags::new(&checked, &offsets))?;
            assert_eq!(plan.run(&table, &Bags::new(&checked, &offsets))?, expected, "{policy:?}, planned");
            assert_eq!(plan.run(&table, &Bags::planned(&checked))?, expected, "{policy:?}, planned bags");
            if reduction == Reduction::Add {
                let expected = of.run(&table, &Bags::new(&ids, &offsets).weights(&weights))?;
                assert_eq!(op.run(&table, &Bags::new(&checked, &offsets).weights(&weights))?, expected, "{policy:?}");
            }
        }
    }
    let ids = Checked::<i32>::new(&[0i32, 99, 2, 99], ROWS, OutOfBounds::Zero)?;
    let ones = vec![1.0f32; ROWS];
    let mean = |op: EmbeddingBag| op.run(&ones, &Bags::new(&ids, &[0u8, 3])).map(Tensor::into_vec);
    assert_eq!(mean(EmbeddingBag::new(Reduction::Mean))?, [2.0 / 3.0, 0.0]);
    assert_eq!(mean(EmbeddingBag::new(Reduction::Mean).skip_negative(true))?, [1.0, 0.0]);
    assert_eq!(mean(EmbeddingBag::new(Reduction::Mean).skip_out_of_range(true))?, [1.0, 0.0]);
    Ok(())
}

/// Ids out of range do not count under any policy, in one table and in several, of which one has no rows.
#[test]
fn bags_skip_ids_out_of_range() -> Result<(), Error> {
    let floats = [1.0f32, 2.0, 3.0, 4.0];
    let tables =
        [FusedRows::plain(View::new(&floats, &[4, 1])?)?, FusedRows::plain(View::new(&floats[..0], &[0, 1])?)?];
    let (ids, offsets) = ([1u64, 4, u64::MAX, 3, 9, 1 << 40], [0u64, 4]);
    let bags = [0, 1].map(|_| Bags::new(&ids, &offsets));
    for policy in [OutOfBounds::Error, OutOfBounds::Zero, OutOfBounds::Clamp, OutOfBounds::Wrap] {
        let mean = EmbeddingBag::new(Reduction::Mean).out_of_bounds(policy).skip_out_of_range(true);
        for par in [Par::Seq, Par::Threads(2)] {
            let sources = gather_core::tables::<f32>(&tables)?;
            assert_eq!(mean.par(par).run(&sources, &bags)?.as_slice(), [3.0, 0.0, 0.0, 0.0]);
            let plan = mean.par(par).plan(&sources, &bags)?;
            assert_eq!(plan.run(&sources, &bags)?.as_slice(), [3.0, 0.0, 0.0, 0.0]);
        }
        let sum = mean.reduction(Reduction::Add);
        let weights = [2.0f32, f32::NAN, f32::NAN, 10.0, f32::NAN, f32::NAN];
        assert_eq!(sum.run(&floats, &Bags::new(&ids, &offsets).weights(&weights))?.as_slice(), [44.0, 0.0]);
        let dyn_floats = DynView::from(&View::new(&floats, &[4])?);
        assert_eq!(sum.run(&dyn_floats, &Bags::new(&ids, &offsets))?.shape(), [2]);
        // The default row stands in, and a padding row is skipped, too.
        let other = mean.default_index(2).padding_index(3);
        assert_eq!(other.run(&floats, &Bags::new(&ids, &offsets))?.as_slice(), [2.0, 3.0]);
    }
    Ok(())
}

#[test]
fn bags_of_several_tables() -> Result<(), Error> {
    let floats = [1.0f32, 2.0, 3.0, 4.0];
    let (a, b) = (FusedRows::plain(View::new(&floats, &[4, 1])?)?, FusedRows::plain(View::new(&floats, &[2, 2])?)?);
    let (x, y) = ([0i64, 3, 9], [1i64, 1, -1]);
    let [x, y] = [(&x, 4), (&y, 2)].map(|(ids, n)| Checked::<i64>::new(ids, n, OutOfBounds::Zero));
    let (x, y) = (x?, y?);
    let (op, offsets) = (EmbeddingBag::new(Reduction::Add), [0u8, 2]);
    let both = tables::<f32>([&a, &b])?;
    let bags = [Bags::new(&x, &offsets), Bags::new(&y, &offsets)];
    assert_eq!(op.run(&both, &bags)?.as_slice(), [5.0, 6.0, 8.0, 0.0, 3.0, 4.0]);
    let plan = op.plan(&both, &bags)?;
    assert_eq!(plan.run(&both, &bags)?.as_slice(), [5.0, 6.0, 8.0, 0.0, 3.0, 4.0]);
    let swapped = [Bags::new(&y, &offsets), Bags::new(&x, &offsets)];
    for refused in [op.run(&both, &swapped), plan.run(&both, &swapped)] {
        let Err(Error::InTable { table: 0, error }) = refused else { panic!("positions of another table") };
        assert!(matches!(*error, Error::CheckedAxisMismatch { expected: 4, got: 2, .. }));
    }
    Ok(())
}

#[test]
fn positions_are_borrowed_or_owned() -> Result<(), Error> {
    let same = |ids: &dyn Fn() -> *const u8, checked: &View<'_, i32>| {
        std::ptr::eq(ids(), (&raw const *checked.get(&[0]).unwrap()).cast())
    };
    let (narrow, unsigned, wide) = ([2i32, 0, 1], [2u32, 0, 1], [2i64, 0, 1]);
    for policy in policies() {
        let checked = Checked::<i32>::new(&narrow, 3, policy)?;
        assert!(same(&|| narrow.as_ptr().cast(), &checked.positions()), "{policy:?}");
        let checked = Checked::<i32>::new(&unsigned, 3, policy)?;
        assert!(same(&|| unsigned.as_ptr().cast(), &checked.positions()), "{policy:?}");
        let checked = Checked::<i32>::new(&wide, 3, policy)?;
        assert!(!same(&|| wide.as_ptr().cast(), &checked.positions()), "{policy:?}");
        assert_eq!(checked.clone().positions().get(&[0]), Some(&2));
        let valid = Bitmap::new(&[0b111], 0, 3)?;
        let checked = Checked::<i32>::with_nulls(&narrow, valid, 3, policy)?;
        assert!(same(&|| narrow.as_ptr().cast(), &checked.positions()), "{policy:?}");
        let owned = checked.clone().into_owned()?;
        assert!(!same(&|| narrow.as_ptr().cast(), &owned.positions()), "{policy:?}");
        let marked = Checked::<i32>::with_nulls(&narrow, Bitmap::new(&[0b101], 0, 3)?, 3, policy)?.into_owned()?;
        for (owned, expected) in [(owned, [2, 0, 1]), (marked, [2, -1, 1])] {
            assert_eq!((owned.n(), owned.positions().shape()), (3, &[3][..]));
            assert_eq!([0, 1, 2].map(|at| *owned.positions().get(&[at]).unwrap()), expected, "{policy:?}");
            assert_eq!(
                Gather::new(0).run(&[5, 6, 7], &owned)?,
                Gather::new(0)
                    .out_of_bounds(OutOfBounds::Zero)
                    .negative_index(NegativeIndex::Reject)
                    .run(&[5, 6, 7], &expected)?
            );
        }
        assert_eq!((checked.n(), format!("{checked:?}").as_str()), (3, "Checked { n: 3, shape: [3] }"));
    }
    let reversed = View::strided(&narrow, &[3], &[-1], 2)?;
    let checked = Checked::<i32>::new(&reversed, 3, OutOfBounds::Error)?;
    assert_eq!(Gather::new(0).run(&[5, 6, 7], &checked)?.as_slice(), [6, 5, 7]);
    let odd = [0u8, 1, 0, 0, 0, 2, 0, 0, 0];
    let bytes = DynView::from_bytes(u32::DTYPE, &odd[1..], &[2])?;
    let expected = [1u32, 2].map(|id| if cfg!(target_endian = "little") { id } else { id << 24 });
    if let Ok(checked) = Checked::<i32>::new(&bytes, 3, OutOfBounds::Zero) {
        assert_eq!(checked.positions().get(&[0]), Some(&if expected[0] == 1 { 1 } else { -1 }));
    }
    Ok(())
}

#[test]
fn other_axes_and_tuples_are_refused() -> Result<(), Error> {
    let ids = Checked::<i32>::new(&[2i32, 0], 3, OutOfBounds::Error)?;
    let (three, four) = (vec![1.0f32; 3], vec![1.0f32; 4]);
    let updates = [1.0f32; 2];
    let is_other = |error: Error| {
        assert!(matches!(error, Error::CheckedAxisMismatch { expected: 4, got: 3, .. }), "{error}");
        assert!(error.to_string().ends_with("the axis has size 4; the positions were checked for 3"), "{error}");
    };
    let op = Gather::new(0);
    is_other(op.run(&four, &ids).unwrap_err());
    is_other(op.run_into(&four, &ids, &mut Tensor::default()).unwrap_err());
    is_other(op.plan(&four, &ids).unwrap_err());
    is_other(op.plan_any_count(&four, &ids).unwrap_err());
    is_other(op.nullable().run(&four, &ids, Nulls::default()).unwrap_err());
    is_other(op.nullable().plan(&four, &ids).unwrap_err());
    is_other(op.run_cloned(&four, &ids).unwrap_err());
    is_other(op.adjoint().run(&four, &ids, &updates).unwrap_err());
    is_other(op.adjoint().run_on(&mut four.clone()[..], &ids, &updates).unwrap_err());
    is_other(op.adjoint().plan(&four, &ids, &updates).unwrap_err());
    is_other(op.writer().run_cloned(&four, &ids, &updates).unwrap_err());
    is_other(GatherElements::new(0).run(&four, &ids).unwrap_err());
    is_other(ScatterElements::new(0).run(&four, &ids, &updates).unwrap_err());
    assert_eq!(op.will_need(&four, &ids).rows, 0);
    let sum = EmbeddingBag::new(Reduction::Add);
    is_other(sum.run(&four, &Bags::new(&ids, &[0u8])).unwrap_err());
    is_other(sum.plan(&four, &Bags::new(&ids, &[0u8])).unwrap_err());
    assert!(matches!(Gather::new(1).run(&four, &ids), Err(Error::AxisOutOfRange { axis: 1, .. })));

    // A plan takes positions of its axis alone.
    let wrong = Checked::<i32>::new(&[2i32, 0], 4, OutOfBounds::Error)?;
    let is_wrong = |error: Error| assert!(matches!(error, Error::CheckedAxisMismatch { expected: 3, got: 4, .. }));
    let plan = op.plan(&three, &ids)?;
    is_wrong(plan.run(&three, &wrong).unwrap_err());
    assert_eq!(plan.will_need(&three, &wrong).rows, 0);
    let nullable = op.nullable().plan(&three, &ids)?;
    is_wrong(nullable.run(&three, &wrong, Nulls::default()).unwrap_err());
    let plan = op.adjoint().plan(&three, &ids, &updates)?;
    is_wrong(plan.run(&three, &wrong, &updates).unwrap_err());
    let mut kept = three.clone();
    is_wrong(plan.run_on(&mut kept, &wrong, &updates).unwrap_err());
    assert_eq!(kept, three);
    let plan = sum.plan(&three, &Bags::new(&ids, &[0u8]))?;
    is_wrong(plan.run(&three, &Bags::new(&wrong, &[0u8])).unwrap_err());
    is_wrong(plan.run(&three, &Bags::planned(&wrong)).unwrap_err());
    is_wrong(
        Checked::<i64>::new(&wrong, 3, OutOfBounds::Zero)
            .map_err(|error| match error {
                Error::CheckedAxisMismatch { op, expected, got } => Error::CheckedAxisMismatch { op, expected, got },
                other => other,
            })
            .unwrap_err(),
    );

    let pair = View::new(&[2i32], &[1, 1])?;
    let pair = Checked::<i32>::new(&pair, 3, OutOfBounds::Error)?;
    let is_tuples = |error: Error| assert!(matches!(error, Error::CheckedTuples { .. }), "{error}");
    is_tuples(GatherNd::new().run(&three, &pair).unwrap_err());
    is_tuples(GatherNd::new().plan(&three, &pair).unwrap_err());
    is_tuples(GatherNd::new().nullable().run(&three, &pair, Nulls::default()).unwrap_err());
    is_tuples(GatherNd::new().adjoint().run(&zeros(&[3])?, &pair, &[1.0f32]).unwrap_err());
    is_tuples(ScatterNd::new().run(&three, &pair, &[1.0f32]).unwrap_err());
    Ok(())
}

#[test]
fn another_axis_is_refused_after_other_types_and_layouts() -> Result<(), Error> {
    let [three, four] = [3, 4].map(|n| Checked::<i32>::new(&[2i32, 0], n, OutOfBounds::Error));
    let (three, four) = (three?, four?);
    let (short, long, updates) = (vec![1.0f32; 3], vec![1.0f32; 4], [1.0f32; 2]);
    let is_of_type = |error: Error| assert!(matches!(error, Error::DTypeMismatch { .. }), "{error}");
    let (known, bytes) = (View::new(&long, &[4])?, View::new(&[1u8, 2], &[2])?);
    let (known, bytes, mut own) = (DynView::from(&known), DynView::from(&bytes), [0u8; 2]);
    let (op, mut own) = (Gather::new(0), ViewMut::new(&mut own, &[2])?);
    is_of_type(op.run_into(&known, &three, &mut DynViewMut::from(&mut own)).unwrap_err());
    is_of_type(op.adjoint().run(&known, &three, &bytes).unwrap_err());
    is_of_type(op.adjoint().plan(&known, &three, &bytes).unwrap_err());
    let lacks = op.adjoint().reduction(Reduction::Sub).run(&[true; 4], &three, &[true; 2]).unwrap_err();
    assert!(matches!(lacks, Error::ReductionUnavailable { .. }), "{lacks}");

    // A plan blames data of another size, not the indices that fit it.
    let is_of_data = |error: Error| {
        assert!(matches!(error, Error::PlanMismatch { argument: Argument::Data | Argument::Output, .. }), "{error}");
    };
    is_of_data(op.plan(&short, &three)?.run(&long, &four).unwrap_err());
    is_of_data(op.plan_any_count(&short, &three)?.run(&long, &four).unwrap_err());
    is_of_data(op.nullable().plan(&short, &three)?.run(&long, &four, Nulls::default()).unwrap_err());
    for plan in [op.adjoint().plan(&short, &three, &updates)?, op.adjoint().plan_any_count(&short, &three, &updates)?] {
        is_of_data(plan.run(&long, &four, &updates).unwrap_err());
        is_of_data(plan.run_on(&mut long.clone()[..], &four, &updates).unwrap_err());
        let other = plan.run(&short, &four, &updates).unwrap_err();
        assert!(matches!(other, Error::CheckedAxisMismatch { expected: 3, got: 4, .. }), "{other}");
    }
    let sum = EmbeddingBag::new(Reduction::Add);
    is_of_data(sum.plan(&short, &Bags::new(&three, &[0u8]))?.run(&long, &Bags::new(&four, &[0u8])).unwrap_err());
    // Offsets are numbers, whatever their axis.
    let offsets = Checked::<i32>::new(&[0i64, 1], 9, OutOfBounds::Error)?;
    assert_eq!(sum.run(&[1.0f32, 2.0, 4.0], &Bags::new(&three, &offsets))?.as_slice(), [4.0, 1.0]);
    Ok(())
}

#[test]
fn plans_for_positions_run_by_missing_ones() -> Result<(), Error> {
    let values = [1.0f32, 2.0, 4.0];
    let table = FusedRows::plain(View::new(&values, &[3, 1])?)?;
    let all = Checked::<i32>::new(&[2i32, 1, 0], 3, OutOfBounds::Zero)?;
    let some = Checked::<i32>::new(&[2i32, 9, -1], 3, OutOfBounds::Zero)?;
    assert_eq!(Gather::new(0).plan(&values, &all)?.run(&values, &some)?.as_slice(), [4.0, 0.0, 4.0]);
    let (mean, both) = (EmbeddingBag::new(Reduction::Mean), tables::<f32>([&table, &table])?);
    let [of_all, of_some] = [&all, &some].map(|ids| Bags::new(ids, &[0u8, 2]));
    let plan = mean.plan(&values, &of_all)?;
    assert_eq!(plan.run(&values, &of_some)?.as_slice(), [2.0, 4.0]);
    assert_eq!(plan.run(&values, &Bags::planned(&some))?.as_slice(), [2.0, 4.0]);
    let plan = EmbeddingBag::new(Reduction::Add).plan(&both, &[of_all, of_all])?;
    assert_eq!(plan.run(&both, &[of_some, of_all])?.as_slice(), [4.0, 6.0, 4.0, 1.0]);
    Ok(())
}

#[test]
fn bad_indices_are_refused_when_they_are_checked() -> Result<(), Error> {
    fn refused<X: Source<Kind: gather_core::IndexKind>>(ids: &X, n: usize) -> Error {
        Checked::<i32>::new(ids, n, OutOfBounds::Error).unwrap_err()
    }
    assert!(matches!(refused(&[0i64, 3, 9], 3), Error::IndexOutOfRange { position: 1, index: 3, dim: 3, .. }));
    assert!(matches!(refused(&[0i32, -4], 3), Error::IndexOutOfRange { position: 1, index: -4, .. }));
    assert!(matches!(refused(&[u64::MAX], 3), Error::IndexOutOfRange { index: 0xffff_ffff_ffff_ffff, .. }));
    assert!(matches!(refused(&[1i64 << 32], 3), Error::IndexOutOfRange { .. }));
    assert!(matches!(refused(&[0u8], 0), Error::IndexOutOfRange { dim: 0, .. }));
    for policy in [OutOfBounds::Clamp, OutOfBounds::Wrap] {
        assert!(matches!(Checked::<i64>::new(&[0u8], 0, policy), Err(Error::IndexOutOfRange { dim: 0, .. })));
        assert_eq!(Checked::<i64>::new(&[0u8; 0], 0, policy)?.positions().len(), 0);
    }
    assert_eq!(Checked::<i64>::new(&[0u8], 0, OutOfBounds::Zero)?.positions().get(&[0]), Some(&-1));
    let n = i32::MAX as usize;
    assert_eq!(Checked::<i32>::new(&[-1i64], n, OutOfBounds::Error)?.positions().get(&[0]), Some(&(i32::MAX - 1)));
    let long = Checked::<i32>::new(&[0u8], n + 1, OutOfBounds::Error).unwrap_err();
    assert!(matches!(long, Error::CheckedAxisTooLong { index: IndexType::I32, .. }));
    assert_eq!(long.to_string(), "an axis of size 2147483648; positions of type i32 allow at most 2147483647");
    #[cfg(target_pointer_width = "64")]
    {
        let n = i64::MAX as usize;
        assert_eq!(Checked::<i64>::new(&[-1i64], n, OutOfBounds::Error)?.positions().get(&[0]), Some(&(i64::MAX - 1)));
        assert_eq!(Checked::<i64>::new(&[1u64 << 40], n, OutOfBounds::Error)?.positions().get(&[0]), Some(&(1 << 40)));
        assert!(Checked::<i64>::new(&[0u8], n + 1, OutOfBounds::Zero).is_err());
    }
    let valid = Bitmap::new(&[0], 0, 2)?;
    let short = Checked::<i32>::with_nulls(&[0u8], valid, 3, OutOfBounds::Error);
    assert!(matches!(short, Err(Error::BitmapLengthMismatch { len: 2, rows: 1, .. })));
    let repeated = View::strided(&[1i32], &[1 << 20, 1 << 20, 1 << 20], &[0, 0, 0], 0)?;
    assert!(matches!(Checked::<i32>::new(&repeated, 3, OutOfBounds::Error), Err(Error::AllocationFailed { .. })));
    let mut out = [0u8; 2];
    let ids = Checked::<i32>::new(&[1i32, 0], 2, OutOfBounds::Error)?;
    let layout = Layout::strided(&[2], &[-1])?;
    let plan = Gather::new(0).plan_into(&[7u8, 8], &ids, &layout)?;
    plan.run_into(&[7u8, 8], &ids, &mut ViewMut::strided(&mut out, &[2], &[-1], 1)?)?;
    assert_eq!(out, [7, 8]);
    Ok(())
}

//! Plans for any number of indices give what a call on that number gives, through each of their doors.

use std::mem::MaybeUninit;

use gather_core::{
    Error, Gather, GatherElements, GatherNd, GatherOperator, Index, IndexAttributes, Layout, Level, Method, Op,
    OutOfBounds, Par, Plan, Spec, View, ViewMut,
};
use gather_tests::oracle::{self, BadIndex, Dense, Rules};

use crate::support::{RULES, Spread, available_levels, data, mixed, narrow, same_bits, view};

/// Below, at and above the number from which on calls have many indices, and the greatest that is planned for.
const COUNTS: [usize; 9] = [0, 1, 7, 32, 33, 64, 1000, 1024, 5000];

type Oracle<'a> = &'a dyn Fn(&Dense<i128>, Rules) -> Result<Dense<u32>, BadIndex>;

/// What plans are compared with: data in two layouts, and the oracle.
struct Case<'a> {
    data: &'a Dense<u32>,
    /// The shape of indices behind the first dimension.
    inner: &'a [usize],
    /// The sizes that the components of an index name.
    dims: &'a [usize],
    oracle: Oracle<'a>,
}

/// `count` indices: in range, or every 41st one too far.
fn indices(case: &Case<'_>, count: usize, bad: bool) -> Dense<i128> {
    let shape = [&[count], case.inner].concat();
    Dense::from_fn(&shape, |at| {
        let dim = case.dims[at % case.dims.len()];
        let far = bad && at % 41 == 40;
        if far { dim as i128 } else { (mixed(count as u64, at) % dim as u64) as i128 }
    })
}

fn same(expected: &Result<Dense<u32>, BadIndex>, got: Result<Vec<u32>, Error>, what: &dyn Fn() -> String) {
    same_bits(expected.as_ref().map(|expected| &expected.values[..]), got.as_deref(), what);
}

/// The doors of a plan that take views.
fn views<I: Index>(
    plan: &Plan<u32, I>,
    data: &View<'_, u32>,
    indices: &View<'_, I>,
    shape: &[usize],
    expected: &Result<Dense<u32>, BadIndex>,
    what: &dyn Fn() -> String,
) {
    let got = plan.run(data, indices);
    if let Ok(got) = &got {
        assert_eq!(got.shape(), shape, "{}", what());
    }
    same(expected, got.map(|got| got.into_vec()), what);
    let len = shape.iter().product();
    let mut out = vec![77; len];
    let ran = plan.run_into(data, indices, &mut ViewMut::new(&mut out, shape).unwrap());
    same(expected, ran.map(|()| out), what);
    let mut fresh = vec![MaybeUninit::uninit(); len];
    let ran = plan.run_into(data, indices, &mut ViewMut::new(&mut fresh, shape).unwrap());
    // SAFETY: `run_into` has succeeded.
    let got = ran.map(|()| fresh.iter().map(|value| unsafe { value.assume_init() }).collect());
    same(expected, got, what);
}

/// A call of a plan for any count, and what comes of it.
struct Call<I> {
    ids: Dense<I>,
    /// The same indices, each followed by a zero.
    pairs: Vec<I>,
    expected: Result<Dense<u32>, BadIndex>,
}

impl<I: Index + TryFrom<i128>> Call<I> {
    fn new(case: &Case<'_>, count: usize, bad: bool, rules: Rules) -> Self {
        let exact = indices(case, count, bad);
        let ids = narrow::<I>(&exact);
        let pairs = ids.values.iter().flat_map(|&id| [id, I::try_from(0).ok().unwrap()]).collect();
        Call { ids, pairs, expected: (case.oracle)(&exact, rules) }
    }
}

/// Runs plans of an operator for any count on every count.
fn check<A: IndexAttributes + Clone + std::fmt::Debug, I: Index + TryFrom<i128>>(
    op: &GatherOperator<A>,
    case: &Case<'_>,
    counts: &[usize],
) {
    let (table, spread) = (view(case.data), Spread::new(case.data));
    let spread = spread.view();
    for (negative, out, rules) in RULES {
        let both = |&count| [false, true].map(|bad| Call::<I>::new(case, count, bad, rules));
        let calls: Vec<Call<I>> = counts.iter().flat_map(both).collect();
        for level in available_levels() {
            let op = op.clone().negative_index(negative).out_of_bounds(out).level(level);
            // What is expected changes nothing but the plan.
            for expected_count in [1, 40, 3000] {
                let shape = [&[expected_count], case.inner].concat();
                let layout = Layout::contiguous(&shape).unwrap();
                let strides: Vec<isize> = layout.strides().iter().map(|stride| 2 * stride).collect();
                let apart = Layout::strided(&shape, &strides).unwrap();
                let plan = op.plan_any_count(&table, &Spec::<I>::from_layout(&layout)).unwrap();
                let spread_plan = op.plan_any_count(&spread, &Spec::<I>::from_layout(&apart)).unwrap();
                assert_eq!(plan.output_shape()[0], expected_count);
                for Call { ids, pairs, expected } in &calls {
                    let count = ids.shape[0];
                    let what = || format!("{op:?}, {count} {} planned for {expected_count}: {plan:?}", I::TYPE);
                    let mut out_shape = plan.output_shape().to_vec();
                    out_shape[0] = count;
                    views(&plan, &table, &view(ids), &out_shape, expected, &what);
                    let mut out = vec![77; out_shape.iter().product()];
                    let ran = plan.run_slices(&case.data.values, &ids.values, &mut out);
                    same(expected, ran.map(|()| out), &what);
                    let apart = View::strided(pairs, &ids.shape, &strides, 0).unwrap();
                    views(&spread_plan, &spread, &apart, &out_shape, expected, &what);
                }
            }
        }
    }
}

#[test]
fn gather_of_any_count() {
    for shape in [&[50][..], &[50, 3], &[50, 16], &[300, 2, 5]] {
        let data = data(shape, 1);
        for inner in [&[][..], &[3]] {
            let oracle = |indices: &Dense<i128>, rules| oracle::gather(&data, indices, 0, 0, rules, &0);
            let case = Case { data: &data, inner, dims: &shape[..1], oracle: &oracle };
            check::<_, i32>(&Gather::new(0), &case, &COUNTS[..7]);
            check::<_, u16>(&Gather::new(0).par(Par::Threads(3)), &case, &COUNTS[3..]);
        }
    }
    let data = data(&[200], 2);
    let oracle = |indices: &Dense<i128>, rules| oracle::gather(&data, indices, 0, 0, rules, &0);
    let case = Case { data: &data, inner: &[], dims: &[200], oracle: &oracle };
    check::<_, u8>(&Gather::new(0), &case, &COUNTS);
}

#[test]
fn gather_elements_of_any_count() {
    for shape in [&[50][..], &[50, 7], &[30, 5, 4]] {
        let data = data(shape, 3);
        let oracle = |indices: &Dense<i128>, rules| oracle::gather_elements(&data, indices, 0, rules, &0);
        let case = Case { data: &data, inner: &shape[1..], dims: &shape[..1], oracle: &oracle };
        check::<_, i32>(&GatherElements::new(0), &case, &COUNTS[..7]);
        check::<_, i64>(&GatherElements::new(0).par(Par::Threads(3)), &case, &COUNTS[3..]);
    }
}

/// Data beyond the second-level cache: for many indices a plan packs it into panels.
#[test]
fn panels_of_any_count() {
    let data = data(&[2000, 600], 4);
    let layout = Layout::contiguous(&[2000, 600]).unwrap();
    let plan = GatherElements::new(0)
        .plan_any_count(&Spec::<u32>::from_layout(&layout), &Spec::<i32>::from_layout(&layout))
        .unwrap();
    assert_eq!(plan.explain().method(), Method::Panels);
    let oracle = |indices: &Dense<i128>, rules| oracle::gather_elements(&data, indices, 0, rules, &0);
    let case = Case { data: &data, inner: &[600], dims: &[2000], oracle: &oracle };
    for count in [1, 32, 33, 500] {
        for bad in [false, true] {
            let exact = indices(&case, count, bad);
            let (ids, expected) = (narrow::<i32>(&exact), oracle(&exact, RULES[0].2));
            views(&plan, &view(&data), &view(&ids), &[count, 600], &expected, &|| format!("{count} rows"));
        }
    }
}

#[test]
fn gather_nd_of_any_count() {
    let shape = [10, 5, 3];
    let data = data(&shape, 5);
    for (inner, dims) in [
        (&[1][..], &shape[..1]),
        (&[2], &shape[..2]),
        (&[3], &shape[..3]),
        (&[4, 2], &shape[..2]),
        (&[2, 1], &shape[..1]),
    ] {
        let oracle = |indices: &Dense<i128>, rules| oracle::gather_nd(&data, indices, 0, rules, &0);
        let case = Case { data: &data, inner, dims, oracle: &oracle };
        check::<_, i32>(&GatherNd::new(), &case, &COUNTS[..7]);
        check::<_, u8>(&GatherNd::new().par(Par::Threads(3)), &case, &COUNTS[3..]);
    }
}

/// Every method that takes the plan.
#[test]
fn any_count_by_every_method() {
    let table = data(&[60, 16], 6);
    let column = data(&[60], 7);
    let mut taken = Vec::new();
    for &method in Method::ALL {
        for data in [&table, &column] {
            let layout = view(data).layout().clone();
            let oracle = |indices: &Dense<i128>, rules| oracle::gather(data, indices, 0, 0, rules, &0);
            let case = Case { data, inner: &[], dims: &[60], oracle: &oracle };
            let op = Gather::new(0).method(method);
            let one = Layout::contiguous(&[1]).unwrap();
            let plan = match op.plan_any_count(&Spec::<u32>::from_layout(&layout), &Spec::<u8>::from_layout(&one)) {
                Ok(plan) => plan,
                Err(error) => {
                    assert_eq!(error, Error::MethodUnavailable { op: Op::Gather, method });
                    continue;
                }
            };
            taken.push(method);
            for count in COUNTS {
                for bad in [false, true] {
                    let exact = indices(&case, count, bad);
                    let (ids, expected) = (narrow::<u8>(&exact), oracle(&exact, RULES[0].2));
                    let mut shape = data.shape.clone();
                    shape[0] = count;
                    views(&plan, &view(data), &view(&ids), &shape, &expected, &|| format!("{count} by {method}"));
                }
            }
        }
    }
    for method in [Method::Direct, Method::Blocks] {
        assert!(taken.contains(&method), "{method}: {taken:?}");
    }
}

#[test]
fn counts_that_are_not_free_are_refused() {
    fn refused<A: IndexAttributes + std::fmt::Debug>(
        op: &GatherOperator<A>,
        name: Op,
        data: &Layout,
        indices: &Layout,
    ) {
        let got = op.plan_any_count(&Spec::<u32>::from_layout(data), &Spec::<i32>::from_layout(indices)).unwrap_err();
        assert_eq!(
            got,
            Error::AnyCountUnavailable { op: name },
            "{op:?} of {:?} by {:?}",
            data.shape(),
            indices.shape()
        );
        assert!(op.plan(&Spec::<u32>::from_layout(data), &Spec::<i32>::from_layout(indices)).is_ok(), "{op:?}");
    }
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let strided = |shape: &[usize], strides: &[isize]| Layout::strided(shape, strides).unwrap();
    // Not the first dimension of the result.
    refused(&Gather::new(1), Op::Gather, &layout(&[4, 5]), &layout(&[3]));
    // Tied to data.
    refused(&Gather::new(1).batch_dims(1), Op::Gather, &layout(&[4, 5]), &layout(&[4, 3]));
    refused(&GatherElements::new(1), Op::GatherElements, &layout(&[4, 5]), &layout(&[4, 3]));
    refused(&GatherNd::new().batch_dims(1), Op::GatherNd, &layout(&[4, 5]), &layout(&[4, 3, 1]));
    // Tied to data that is repeated.
    let repeated = strided(&[2000, 5], &[0, 1]);
    refused(&Gather::new(1).batch_dims(1), Op::Gather, &repeated, &layout(&[2000, 3]));
    refused(&GatherElements::new(1), Op::GatherElements, &repeated, &layout(&[2000, 3]));
    refused(&GatherElements::new(1), Op::GatherElements, &repeated, &layout(&[7, 3]));
    refused(&GatherNd::new().batch_dims(1), Op::GatherNd, &repeated, &layout(&[2000, 3, 1]));
    // No dimension, or one that is repeated.
    refused(&Gather::new(0), Op::Gather, &layout(&[4, 5]), &layout(&[]));
    refused(&Gather::new(0), Op::Gather, &layout(&[4, 5]), &strided(&[3], &[0]));
    refused(&GatherNd::new(), Op::GatherNd, &layout(&[4, 5]), &layout(&[3, 0]));
    // Batch dimensions that come out as one.
    refused(&GatherNd::openvino5(2), Op::GatherNd, &layout(&[4, 5, 2]), &layout(&[4, 5, 1]));
}

#[test]
fn counts_of_data_without_elements_are_free() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    for out in [OutOfBounds::Error, OutOfBounds::Clamp, OutOfBounds::Wrap] {
        let op = Gather::new(0).out_of_bounds(out);
        let no_rows = op
            .plan_any_count(&Spec::<u32>::from_layout(&layout(&[0, 2])), &Spec::<i32>::from_layout(&layout(&[3])))
            .unwrap();
        assert_eq!(no_rows.run_slices(&[], &[], &mut []), Ok(()));
        let refused = no_rows.run_slices(&[], &[7; 40], &mut [0; 80]);
        assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 0, index: 7, dim: 0, .. })), "{refused:?}");
        let no_columns = op
            .plan_any_count(&Spec::<u32>::from_layout(&layout(&[3, 0])), &Spec::<i32>::from_layout(&layout(&[3])))
            .unwrap();
        assert_eq!(no_columns.run_slices(&[], &[1, -3], &mut []), Ok(()));
        assert_eq!(no_columns.run_slices(&[], &[1, 3], &mut []).is_err(), out == OutOfBounds::Error);
    }
    // Under `Zero` every index gives zeros.
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let plan = op
        .plan_any_count(&Spec::<u32>::from_layout(&layout(&[0, 2])), &Spec::<i32>::from_layout(&layout(&[3])))
        .unwrap();
    for count in [0, 1, 33, 2000] {
        let mut out = vec![7; 2 * count];
        plan.run_slices(&[], &vec![5; count], &mut out).unwrap();
        assert_eq!(out, vec![0; 2 * count]);
    }
}

#[test]
fn tensors_of_other_layouts_are_refused() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = Gather::new(0)
        .plan_any_count(&Spec::<u32>::from_layout(&layout(&[4, 2])), &Spec::<u8>::from_layout(&layout(&[5, 3])))
        .unwrap();
    let (values, ids) = ([7u32; 9], [0u8; 12]);
    let table = View::new(&values[..8], &[4, 2]).unwrap();
    let list = View::new(&ids, &[4, 3]).unwrap();
    let mut out = [0; 24];
    let mismatch = |got: Result<(), Error>| assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{got:?}");
    plan.run_into(&table, &list, &mut ViewMut::new(&mut out, &[4, 3, 2]).unwrap()).unwrap();
    mismatch(plan.run_into(&table, &list, &mut ViewMut::new(&mut out[..18], &[3, 3, 2]).unwrap()));
    mismatch(plan.run_into(&table, &list, &mut ViewMut::strided(&mut out, &[4, 3, 2], &[2, 8, 1], 0).unwrap()));
    mismatch(plan.run(&table, &View::new(&ids, &[3, 4]).unwrap()).map(drop));
    mismatch(plan.run(&table, &View::new(&ids, &[12]).unwrap()).map(drop));
    mismatch(plan.run(&table, &View::scalar(&ids[0])).map(drop));
    mismatch(plan.run(&table, &View::strided(&ids, &[2, 3], &[6, 1], 0).unwrap()).map(drop));
    mismatch(plan.run(&View::new(&values[..6], &[3, 2]).unwrap(), &list).map(drop));
    mismatch(plan.run_slices(&values, &ids, &mut out));
    mismatch(plan.run_slices(&values[..8], &ids[..11], &mut out[..22]));
    mismatch(plan.run_slices(&values[..8], &ids, &mut out[..23]));
    plan.run_slices(&values[..8], &ids[..6], &mut out[..12]).unwrap();
}

/// A layout of one index is contiguous whatever its stride; more of them in a slice are not.
#[test]
fn slices_are_refused_by_plans_for_indices_apart() {
    let table = [1u32, 2, 3, 4];
    let data = Layout::contiguous(&[4]).unwrap();
    for count in [0, 1] {
        let apart = Layout::strided(&[count], &[7]).unwrap();
        let plan =
            Gather::new(0).plan_any_count(&Spec::<u32>::from_layout(&data), &Spec::<i32>::from_layout(&apart)).unwrap();
        let mut out = [9; 3];
        let got = plan.run_slices(&table, &[1, 2, 3], &mut out);
        assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{got:?}");
        assert_eq!(out, [9; 3]);
        let mut ids = [100; 15];
        (ids[0], ids[7], ids[14]) = (3, 0, 1);
        let ids = View::strided(&ids, &[3], &[7], 0).unwrap();
        assert_eq!(plan.run(&View::new(&table, &[4]).unwrap(), &ids).unwrap().as_slice(), [4, 1, 2]);
    }
}

#[test]
fn a_level_that_is_forced_is_kept() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = Gather::new(0)
        .level(Level::Scalar)
        .plan_any_count(&Spec::<f32>::from_layout(&layout(&[64, 4])), &Spec::<i64>::from_layout(&layout(&[9])))
        .unwrap();
    assert!(plan.explain().to_string().contains("level scalar"), "{plan:?}");
    assert_eq!(plan.output_shape(), [9, 4]);
}

//! Plans for any count of updates against fresh calls.

use gather_core::{
    DynView, Element, Error, Gather, GatherElements, GatherNd, Index, IndexType, Layout, Par, Reduction,
    ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, Spec, Tensor, View, zeros,
};
use half::bf16;

use crate::scatter::{policies, under};
use crate::support::{available_levels, mixed};

const COUNTS: [usize; 8] = [0, 1, 2, 31, 33, 700, 1025, 3000];
/// What plans expect.
const EXPECTED: [usize; 3] = [0, 40, 2000];

fn contiguous(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

/// Small integers, whose sums are exact.
fn number(seed: u64, at: usize) -> i16 {
    (mixed(seed, at) % 7) as i16 - 3
}

/// Plans an operator for any count, and runs it on all of them: `inner` is what indices and updates have behind their
/// first dimension.
fn check<A, T, I>(op: &ScatterOperator<A>, shape: &[usize], [indices, updates]: [&[usize]; 2], make: impl Fn(i16) -> T)
where
    A: ScatterAttributes + Clone + std::fmt::Debug,
    T: Element + PartialEq + std::fmt::Debug,
    I: Index + TryFrom<i64>,
{
    let filled = |shape: &[usize], seed| {
        let values = (0..shape.iter().product()).map(|at| make(number(seed, at))).collect();
        Tensor::new(values, shape).unwrap()
    };
    let data = filled(shape, 1);
    let with = |count: usize, inner: &[usize]| [&[count], inner].concat();
    let most = shape.iter().copied().min().unwrap() as i64;
    // Indices with their shape, updates, and updates of another count. Bad indices in every other call.
    let calls = COUNTS.into_iter().enumerate().map(|(k, count)| {
        let ids = with(count, indices);
        let value = |at: usize| (mixed(7, at) % (most + (k % 2) as i64) as u64) as i64;
        let values = (0..ids.iter().product()).map(|at| I::try_from(value(at)).ok().unwrap());
        let values: Vec<I> = values.collect();
        (ids, values, filled(&with(count, updates), 3), filled(&with(count + 1, updates), 3))
    });
    let calls: Vec<_> = calls.collect();
    let from = data.view();
    for (policy, level) in
        policies().flat_map(|policy| available_levels().into_iter().map(move |level| (policy, level)))
    {
        let op = under(op.clone(), policy).level(level);
        let fresh: Vec<_> = calls
            .iter()
            .map(|(shape, ids, rows, _)| op.run(&from, &View::new(ids, shape).unwrap(), &rows.view()))
            .collect();
        for expected in EXPECTED {
            let (ids, rows) = (contiguous(&with(expected, indices)), contiguous(&with(expected, updates)));
            let plan = op
                .plan_any_count(
                    &Spec::<T>::new(shape).unwrap(),
                    &Spec::<I>::from_layout(&ids),
                    &Spec::<T>::from_layout(&rows),
                )
                .unwrap();
            let erased = op
                .clone()
                .plan_any_count(
                    &Spec::from_dtype(T::DTYPE, &Layout::contiguous(shape).unwrap()),
                    &Spec::from_dtype(I::TYPE.dtype(), &ids),
                    &Spec::from_dtype(T::DTYPE, &rows),
                )
                .unwrap();
            for ((ids_shape, ids, rows, more), fresh) in calls.iter().zip(&fresh) {
                let (ids, rows) = (View::new(ids, ids_shape).unwrap(), rows.view());
                let what = || format!("{op:?} of {shape:?}, {} of {expected}: {plan:?}", ids_shape[0]);
                assert_eq!(plan.run(&from, &ids, &rows), *fresh, "{}", what());
                let mut out = data.clone();
                let ran = plan.run_on(&mut out.view_mut(), &ids, &rows);
                assert_eq!(ran.is_err(), fresh.is_err(), "{}", what());
                assert_eq!(Some(&out), fresh.as_ref().ok().or(Some(&data)), "{}", what());
                let got = erased.run(&DynView::from(&from), &DynView::from(&ids), &DynView::from(&rows));
                assert_eq!(got.and_then(|got| got.downcast()), *fresh, "{}", what());

                let refused = plan.run(&from, &ids, &more.view());
                assert!(matches!(refused, Err(Error::PlanMismatch { .. })), "{}", what());
            }
        }
    }
}

/// A reduction of any kind: one by one, beside the destination or sorted.
const REDUCTIONS: [Reduction; 5] = [Reduction::None, Reduction::Add, Reduction::Mul, Reduction::Max, Reduction::Mean];

#[test]
fn slices_by_any_number_of_tuples() {
    for reduction in REDUCTIONS {
        for include_self in [true, false] {
            let nd = ScatterNd::new().reduction(reduction).include_self(include_self);
            check::<_, i32, u32>(&nd, &[20, 5], [&[1], &[5]], i32::from);
            check::<_, i64, i64>(&nd, &[20, 30], [&[2], &[]], i64::from);
            check::<_, f32, i32>(&nd, &[20, 3], [&[3, 1], &[3, 3]], f32::from);
            check::<_, bf16, u8>(&nd.par(Par::Threads(3)), &[90, 4], [&[1], &[4]], |n| bf16::from_f32(f32::from(n)));
        }
    }
}

#[test]
fn elements_by_any_number_of_rows_of_indices() {
    for reduction in REDUCTIONS {
        for include_self in [true, false] {
            let elements = ScatterElements::new(0).reduction(reduction).include_self(include_self);
            check::<_, i32, i64>(&elements, &[20], [&[], &[]], i32::from);
            check::<_, i64, u16>(&elements, &[20, 5], [&[5], &[5]], i64::from);
            check::<_, f32, i32>(&elements.par(Par::Threads(3)), &[9, 100], [&[100], &[100]], f32::from);
        }
    }
}

#[test]
fn gradients_of_any_number_of_ids() {
    let data = contiguous(&[50, 6]);
    for expected in EXPECTED {
        let (ids, gradient) = (contiguous(&[expected, 2]), contiguous(&[expected, 2, 6]));
        let plan = Gather::new(0)
            .adjoint()
            .plan_any_count(
                &Spec::<i64>::from_layout(&data),
                &Spec::<u32>::from_layout(&ids),
                &Spec::<i64>::from_layout(&gradient),
            )
            .unwrap();
        for count in COUNTS {
            let ids: Vec<u32> = (0..2 * count).map(|at| (mixed(3, at) % 50) as u32).collect();
            let gradient: Vec<i64> = (0..12 * count).map(|at| i64::from(number(5, at))).collect();
            let (ids, gradient) = (View::new(&ids, &[count, 2]), View::new(&gradient, &[count, 2, 6]));
            let (ids, gradient) = (ids.unwrap(), gradient.unwrap());
            let fresh = Gather::new(0).adjoint().run(&zeros(&[50, 6]).unwrap(), &ids, &gradient).unwrap();
            let mut out = Tensor::full(&[50, 6], 0).unwrap();
            plan.run_on(&mut out.view_mut(), &ids, &gradient).unwrap();
            assert_eq!(out, fresh, "{count} of {expected}");
        }
    }
}

/// Accumulators count updates in 32 bits: more of them are sorted, and refused where accumulators are forced.
#[test]
#[cfg(target_pointer_width = "64")]
fn more_updates_than_accumulators_count() {
    use gather_core::{Method, Op};

    // 2^32 - 1 updates, the first number that a note cannot count besides the destination.
    let (many, too_often) = ((1 << 16) + 1, (1 << 16) - 1);
    let layout = |shape: &[usize], strides: &[isize]| Layout::strided(shape, strides).unwrap();
    let (ids, updates) = (layout(&[32, many, 1], &[1, 0, 1]), layout(&[32, many], &[0, 0]));
    let mean = ScatterNd::new().reduction(Reduction::Mean).include_self(false).method(Method::Accumulated);
    let plan = mean
        .plan_any_count(
            &Spec::<i32>::new(&[1]).unwrap(),
            &Spec::<u32>::from_layout(&ids),
            &Spec::<i32>::from_layout(&updates),
        )
        .unwrap();
    let (ids, one) = (vec![0u32; many], [7]);
    for (count, fits) in [(3, true), (too_often, false)] {
        let ids = View::strided(&ids, &[count, many, 1], &[1, 0, 1], 0).unwrap();
        let updates = View::strided(&one, &[count, many], &[0, 0], 0).unwrap();
        let mut out = Tensor::full(&[1], 0).unwrap();
        let ran = plan.run_on(&mut out.view_mut(), &ids, &updates);
        let refused = Err(Error::MethodUnavailable { op: Op::ScatterNd, method: Method::Accumulated });
        assert_eq!((ran, out.as_slice()), if fits { (Ok(()), &[7][..]) } else { (refused, &[0][..]) });
    }
}

/// Indices whose first dimension is one of data's have a fixed count.
#[test]
fn a_fixed_count_is_said() {
    let (data, square) = ([6, 6], contiguous(&[6, 6]));
    let elements = ScatterElements::new(1).plan_any_count(
        &Spec::<f32>::new(&data).unwrap(),
        &Spec::<i32>::from_layout(&square),
        &Spec::<f32>::from_layout(&square),
    );
    assert!(matches!(elements, Err(Error::AnyCountUnavailable { .. })));
    let adjoint = GatherElements::new(1).adjoint().plan_any_count(
        &Spec::<f32>::from_layout(&square),
        &Spec::<i32>::from_layout(&square),
        &Spec::<f32>::from_layout(&square),
    );
    assert!(matches!(adjoint, Err(Error::AnyCountUnavailable { .. })));
    let (ids, gradient) = (contiguous(&[4]), contiguous(&[6, 4]));
    let columns = Gather::new(1).adjoint().plan_any_count(
        &Spec::<f32>::from_layout(&square),
        &Spec::<i32>::from_layout(&ids),
        &Spec::<f32>::from_layout(&gradient),
    );
    assert!(matches!(columns, Err(Error::AnyCountUnavailable { .. })));
    let tuples = GatherNd::new().batch_dims(1);
    let (ids, gradient) = (contiguous(&[6, 1]), contiguous(&[6]));
    let batches = tuples.adjoint().plan_any_count(
        &Spec::<f32>::from_layout(&square),
        &Spec::<i32>::from_layout(&ids),
        &Spec::<f32>::from_layout(&gradient),
    );
    assert!(matches!(batches, Err(Error::AnyCountUnavailable { .. })));
    // The rank of indices is checked before.
    let list = ScatterNd::new().plan_any_count(
        &Spec::<f32>::new(&data).unwrap(),
        &Spec::<i32>::from_layout(&contiguous(&[])),
        &Spec::<f32>::from_layout(&square),
    );
    assert!(list.is_err_and(|error| !matches!(error, Error::AnyCountUnavailable { .. })));
    let erased = ScatterElements::new(1).plan_any_count(
        &Spec::from_dtype(f32::DTYPE, &Layout::contiguous(&data).unwrap()),
        &Spec::from_dtype(IndexType::I32.dtype(), &square),
        &Spec::from_dtype(f32::DTYPE, &square),
    );
    assert!(matches!(erased, Err(Error::AnyCountUnavailable { .. })));
}

//! Plans for any count where nothing can be moved, against fresh calls: tables without rows or columns, indices without
//! elements, under every policy, for every kind of call.

use std::fmt::Debug;

use gather_core::{
    Bitmap, DynTensor, DynView, Element, Error, FusedRows, Gather, GatherElements, GatherNd, GatherOperator, Given,
    IndexAttributes, IndexType, Layout, NegativeIndex, Nulls, OutOfBounds, ScatterAttributes, ScatterElements,
    ScatterNd, ScatterOperator, ScatterOutOfBounds, Spec, Tensor, View, ViewMut, maps, rows, zeros,
};

use crate::support::RULES;

const COUNTS: [usize; 3] = [0, 1, 40];
/// What plans expect.
const EXPECTED: [usize; 2] = [0, 40];
/// Shapes without elements, and one with some: indices may be empty alone.
const SHAPES: [&[usize]; 10] =
    [&[0], &[4], &[0, 3], &[4, 0], &[4, 3], &[0, 0], &[0, 2, 3], &[4, 0, 3], &[4, 2, 0], &[4, 2, 3]];

/// Elements that tensors are made of.
const MEMORY: [u32; 4000] = [7; 4000];

/// The ids of a call: at least one of every kind, from some count on.
fn sample(shape: &[usize]) -> Vec<i64> {
    (0..shape.iter().product::<usize>() as i64).map(|at| if at == 2 { 90 } else { at % 3 - 1 }).collect()
}

fn with(count: usize, inner: &[usize]) -> Vec<usize> {
    [&[count], inner].concat()
}

fn contiguous(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).unwrap()
}

/// Runs a plan for every count as a fresh call is run: the same result, or the same error.
fn agree<P: Debug, R: PartialEq + Debug>(
    what: &str,
    inner: &[usize],
    plan_for: impl Fn(&Layout) -> Result<P, Error>,
    run: impl Fn(&P, &View<'_, i64>) -> Result<R, Error>,
    fresh: impl Fn(&View<'_, i64>) -> Result<R, Error>,
) {
    for expected in EXPECTED {
        let plan = plan_for(&contiguous(&with(expected, inner)));
        let plan = plan.unwrap_or_else(|error| panic!("{what}, indices [{expected}, {inner:?}]: {error}"));
        for count in COUNTS {
            let shape = with(count, inner);
            let ids = sample(&shape);
            let indices = View::new(&ids, &shape).unwrap();
            assert_eq!(run(&plan, &indices), fresh(&indices), "{what}, indices {shape:?} of {expected}: {plan:?}");
        }
    }
}

/// All kinds of calls of an operator along the first axis of data.
fn gathers<A: IndexAttributes + Copy + Debug>(op: GatherOperator<A>, shape: &[usize], inner: &[usize]) {
    let data = View::new(&MEMORY[..shape.iter().product()], shape).unwrap();
    for (negative, out_of_bounds, _) in RULES {
        let op = op.negative_index(negative).out_of_bounds(out_of_bounds);
        let what = format!("{op:?} of {shape:?}");
        let layout = data.layout();
        let fresh = |ids: &View<'_, i64>| op.run(&data, ids);
        let typed = |ids: &Layout| op.plan_any_count(&Spec::<u32>::from_layout(layout), &Spec::<i64>::from_layout(ids));
        agree(&what, inner, typed, |plan, ids| plan.run(&data, ids), fresh);
        agree(
            &what,
            inner,
            typed,
            |plan, ids| {
                let values = sample(ids.shape());
                let mut out = Tensor::full(&with(ids.shape()[0], &plan.output_shape()[1..]), 7).unwrap();
                plan.run_slices(&MEMORY[..data.len()], &values, out.as_mut_slice())?;
                Ok(out)
            },
            fresh,
        );
        agree(
            &what,
            inner,
            |ids| {
                op.plan_any_count(&Spec::from_dtype(u32::DTYPE, layout), &Spec::from_dtype(IndexType::I64.dtype(), ids))
            },
            |plan, ids| plan.run(&DynView::from(&data), &DynView::from(ids)).and_then(DynTensor::downcast),
            fresh,
        );
        let codes = vec![200u8; data.len()];
        let codes = View::new(&codes, shape).unwrap();
        let params = (Given::All(0.5), Given::All(100));
        agree(
            &what,
            inner,
            |ids| op.plan_any_count(&Spec::from_layout(layout).map(&maps::dequantize()), &Spec::from_layout(ids)),
            |plan, ids| plan.run(&codes.map(&maps::dequantize(), params), ids),
            |ids| op.run(&codes.map(&maps::dequantize(), params), ids),
        );
        let gradient = |ids: &Layout| {
            let shape = op.output_shape(layout.shape(), ids.shape()).unwrap();
            Tensor::full(&shape, 1u32).unwrap()
        };
        agree(
            &what,
            inner,
            |ids| {
                op.adjoint().plan_any_count(
                    &Spec::<u32>::from_layout(layout),
                    &Spec::<i64>::from_layout(ids),
                    &Spec::<u32>::from_layout(gradient(ids).view().layout()),
                )
            },
            |plan, ids| {
                let mut out = Tensor::full(shape, 0).unwrap();
                plan.run_on(&mut out.view_mut(), ids, &gradient(ids.layout()).view()).map(|()| out)
            },
            |ids| op.adjoint().run(&zeros(shape).unwrap(), ids, &gradient(ids.layout()).view()),
        );
        // Plans with nulls are for indices of one component.
        if shape.len() > 1 && inner.last() == Some(&2) {
            continue;
        }
        for null in [false, true] {
            let bits = [0xAA; 60];
            let nulls = |ids: &View<'_, i64>| Nulls {
                indices: null.then(|| Bitmap::new(&bits, 0, ids.len()).unwrap()),
                ..Nulls::default()
            };
            agree(
                &what,
                inner,
                |ids| op.nullable().plan_any_count(&data, &Spec::<i64>::from_layout(ids)),
                |plan, ids| plan.run(&data, ids, nulls(ids)),
                |ids| op.nullable().run(&data, ids, nulls(ids)),
            );
        }
    }
}

fn has_none(shape: &[usize]) -> bool {
    shape.contains(&0)
}

#[test]
fn gathers_plan_what_is_empty() {
    for shape in SHAPES {
        for inner in [&[][..], &[0], &[2], &[0, 2], &[2, 0]] {
            if has_none(shape) || has_none(inner) {
                gathers(Gather::new(0), shape, inner);
            }
        }
        for inner in [&[1][..], &[2, 1], &[0, 1], &[2], &[0, 2]] {
            if (has_none(shape) || has_none(inner)) && inner.last() <= Some(&shape.len()) {
                gathers(GatherNd::new(), shape, inner);
            }
        }
        let smaller: Vec<usize> = shape[1..].iter().map(|&n| n.min(1)).collect();
        for inner in [&shape[1..], &smaller, &vec![0; shape.len() - 1]] {
            if has_none(shape) || has_none(inner) {
                for op in [GatherElements::new(0), GatherElements::torch(0)] {
                    gathers(op, shape, inner);
                }
            }
        }
    }
}

#[test]
fn row_functions_and_fused_rows_plan_what_is_empty() {
    let memory = [1.5f32; 4000];
    for shape in SHAPES {
        let row: usize = shape[1..].iter().product();
        let data = View::new(&memory[..shape.iter().product()], shape).unwrap();
        let query = Given::All(&memory[..row]);
        let fused = FusedRows::plain(data.clone());
        for inner in [&[][..], &[0], &[2], &[2, 0]] {
            for (negative, out_of_bounds, _) in RULES {
                let gather = Gather::new(0).negative_index(negative).out_of_bounds(out_of_bounds);
                let what = format!("{gather:?} of {shape:?}");
                let dot = rows::dot().with_fill(-1.0);
                agree(
                    &what,
                    inner,
                    |ids| gather.plan_any_count(&Spec::from_layout(data.layout()).rows(&dot), &Spec::from_layout(ids)),
                    |plan, ids| plan.run(&data.rows(&dot, (query,)), ids),
                    |ids| gather.run(&data.rows(&dot, (query,)), ids),
                );
                let given = (Given::All(&[][..]), gather_core::Given::All(1.0));
                agree(
                    &what,
                    inner,
                    |ids| {
                        gather.plan_any_count(
                            &Spec::from_layout(data.layout()).rows(&rows::l2_normalize()),
                            &Spec::from_layout(ids),
                        )
                    },
                    |plan, ids| plan.run(&data.rows(&rows::l2_normalize(), given), ids),
                    |ids| gather.run(&data.rows(&rows::l2_normalize(), given), ids),
                );
                if let Ok(fused) = &fused {
                    agree(
                        &what,
                        inner,
                        |ids| gather.plan_any_count(&fused.to::<f32>(), &Spec::<i64>::from_layout(ids)),
                        |plan, ids| plan.run(&fused.to::<f32>(), ids),
                        |ids| gather.run(&fused.to::<f32>(), ids),
                    );
                }
            }
        }
    }
    assert!(FusedRows::plain(View::new(&memory[..0], &[0, 3]).unwrap()).is_ok());
}

/// A scatter along the first axis of data, whose updates have the shape that `updates` makes of that of indices.
fn scatters<A: ScatterAttributes + Copy + Debug>(
    op: ScatterOperator<A>,
    shape: &[usize],
    inner: &[usize],
    updates: impl Fn(&[usize]) -> Vec<usize>,
) {
    let data = View::new(&MEMORY[..shape.iter().product()], shape).unwrap();
    let rows = |ids: &Layout| Tensor::full(&updates(ids.shape()), 1u32).unwrap();
    for negative in [NegativeIndex::FromEnd, NegativeIndex::Reject] {
        use ScatterOutOfBounds::{Clamp, Drop, Error, Wrap};
        for out_of_bounds in [Error, Drop, Clamp, Wrap] {
            let op = op.negative_index(negative).out_of_bounds(out_of_bounds);
            let what = format!("{op:?} of {shape:?}");
            let fresh = |ids: &View<'_, i64>| op.run(&data, ids, &rows(ids.layout()).view());
            let typed = |ids: &Layout| {
                op.plan_any_count(
                    &Spec::<u32>::new(shape).unwrap(),
                    &Spec::<i64>::from_layout(ids),
                    &Spec::<u32>::from_layout(&contiguous(&updates(ids.shape()))),
                )
            };
            agree(&what, inner, typed, |plan, ids| plan.run(&data, ids, &rows(ids.layout()).view()), fresh);
            agree(
                &what,
                inner,
                typed,
                |plan, ids| {
                    let mut out = Tensor::full(shape, 7).unwrap();
                    plan.run_on(&mut out.view_mut(), ids, &rows(ids.layout()).view()).map(|()| out)
                },
                fresh,
            );
            agree(
                &what,
                inner,
                |ids| {
                    let rows = contiguous(&updates(ids.shape()));
                    op.plan_any_count(
                        &Spec::from_dtype(u32::DTYPE, &Layout::contiguous(shape).unwrap()),
                        &Spec::from_dtype(IndexType::I64.dtype(), ids),
                        &Spec::from_dtype(u32::DTYPE, &rows),
                    )
                },
                |plan, ids| {
                    let rows = rows(ids.layout());
                    let (data, ids, rows) = (DynView::from(&data), DynView::from(ids), rows.view());
                    plan.run(&data, &ids, &DynView::from(&rows)).and_then(DynTensor::downcast)
                },
                fresh,
            );
        }
    }
}

#[test]
fn scatters_plan_what_is_empty() {
    use gather_core::Reduction::{Add, Mean};
    for (shape, reduction) in SHAPES.into_iter().flat_map(|shape| [Add, Mean].map(|of| (shape, of))) {
        for inner in [&[1][..], &[2, 1], &[0, 1], &[2], &[0, 2]] {
            let components = inner[inner.len() - 1];
            if (has_none(shape) || has_none(inner)) && components <= shape.len() {
                let updates = |ids: &[usize]| [&ids[..ids.len() - 1], &shape[components..]].concat();
                scatters(ScatterNd::new().reduction(reduction), shape, inner, updates);
            }
        }
        for inner in [&shape[1..], &vec![0; shape.len() - 1]] {
            if has_none(shape) || has_none(inner) {
                for op in [ScatterElements::new(0), ScatterElements::torch(0, reduction)] {
                    scatters(op.reduction(reduction), shape, inner, <[usize]>::to_vec);
                }
            }
        }
    }
}

/// A count of an empty result may have more coordinates than any tensor: as a fresh call, it is refused.
#[test]
fn counts_that_no_result_has() {
    const COLUMNS: usize = 1 << (usize::BITS - 14);
    let data = View::<u32>::new(&[], &[5, 0, COLUMNS]).unwrap();
    let gather = Gather::new(0).out_of_bounds(OutOfBounds::Clamp);
    let plan = gather.plan_any_count(&data, &Spec::<u8>::from_layout(&contiguous(&[3]))).unwrap();
    for (count, fits) in [(1 << 12, true), (1 << 14, false)] {
        let ids = vec![0u8; count];
        let ids = View::new(&ids, &[count]).unwrap();
        let got = plan.run(&data, &ids);
        assert_eq!((&got, got.is_ok()), (&gather.run(&data, &ids), fits));
    }
    let mut out = ViewMut::<u32>::new(&mut [], &[3, 0, COLUMNS]).unwrap();
    assert_eq!(plan.run_into(&data, &View::new(&[0u8; 3], &[3]).unwrap(), &mut out), Ok(()));
}

//! Adjoints: the transpose of each gather. `<Gx, y> = <x, G'y>` in integers that wrap, where sums have no order.

use gather_core::{
    Argument, DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, GatherOperator, IndexAttributes,
    IndexType, Layout, OutOfBounds, Par, Reduction, ScatterElements, Spec, Tensor, View, ViewMut, zeros,
};
use gather_tests::oracle::Dense;
use gather_tests::policies::RULES;
use half::bf16;
use proptest::prelude::*;

use crate::support::{Spread, dense, mixed, view};

fn numbers(shape: &[usize], seed: u64) -> Dense<i64> {
    Dense::from_fn(shape, |at| mixed(seed, at) as i64)
}

/// Indices of an axis, a few out of range unless that is an error.
fn indices(shape: &[usize], dim: usize, seed: u64, out: OutOfBounds, from_end: bool) -> Dense<i64> {
    let (n, wild) = (dim as u64, if out == OutOfBounds::Error { 0 } else { 2 });
    Dense::from_fn(shape, |at| {
        let value = (mixed(seed, at) % (n + wild)) as i64;
        if from_end && value % 3 == 1 { value - dim as i64 } else { value }
    })
}

fn dot(a: &[i64], b: &[i64]) -> i64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
}

/// Checks the transpose of an operator on data and indices, by every door.
fn transposes<A: IndexAttributes + Clone>(op: &GatherOperator<A>, x: &Dense<i64>, indices: &Dense<i64>, seed: u64) {
    let gathered = op.run(&view(x), &view(indices)).unwrap();
    let y = numbers(gathered.shape(), seed ^ 77);
    let back = op.clone().adjoint().run(&zeros(&x.shape).unwrap(), &view(indices), &view(&y)).unwrap();
    assert_eq!(dot(gathered.as_slice(), &y.values), dot(&x.values, back.as_slice()));

    // Added to what is there; from and to strided memory; on three threads.
    let start = numbers(&x.shape, seed ^ 5);
    let sums: Vec<i64> = start.values.iter().zip(back.as_slice()).map(|(a, b)| a.wrapping_add(*b)).collect();
    let mut out = start.values.clone();
    let (spread_indices, spread_y) = (Spread::new(indices), Spread::new(&y));
    let mut view_mut = ViewMut::new(&mut out, &x.shape).unwrap();
    op.clone().par(Par::Threads(3)).adjoint().run_on(&mut view_mut, &spread_indices.view(), &spread_y.view()).unwrap();
    assert_eq!(out, sums);

    let mut out = start.values.clone();
    let mut view_mut = ViewMut::new(&mut out, &x.shape).unwrap();
    let (i, g) = (view(indices), view(&y));
    op.clone().adjoint().run_on(&mut DynViewMut::from(&mut view_mut), &DynView::from(&i), &DynView::from(&g)).unwrap();
    assert_eq!(out, sums);

    let mut out = start.values.clone();
    let layout = ViewMut::new(&mut out, &x.shape).unwrap().layout().clone();
    let plan = op.clone().adjoint().plan_into(&Spec::<i64>::from_layout(&layout), &i, &g, &layout).unwrap();
    plan.run_on(&mut ViewMut::new(&mut out, &x.shape).unwrap(), &i, &g).unwrap();
    assert_eq!(out, sums);

    let plan = op
        .clone()
        .adjoint()
        .plan_into(
            &Spec::from_dtype(i64::DTYPE, &layout),
            &Spec::from_dtype(IndexType::I64.dtype(), i.layout()),
            &Spec::from_dtype(i64::DTYPE, g.layout()),
            &layout,
        )
        .unwrap();
    let got = plan.run(&DynView::from(&view(&start)), &DynView::from(&i), &DynView::from(&g)).unwrap();
    assert_eq!(got.downcast::<i64>().unwrap().as_slice(), sums);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_gather(
        outer in 1usize..4, dim in 1usize..30, inner in 1usize..40, count in 0usize..600, policy in 0usize..8, seed: u64,
    ) {
        let (negative, out, rules) = RULES[policy];
        let op = Gather::new(1).negative_index(negative).out_of_bounds(out);
        let x = numbers(&[outer, dim, inner], seed);
        transposes(&op, &x, &indices(&[count], dim, seed, out, rules.from_end), seed);
        transposes(&op.batch_dims(1), &x, &indices(&[outer, count % 7, 3], dim, seed, out, rules.from_end), seed);
    }

    #[test]
    fn of_gather_elements(
        outer in 1usize..6, dim in 1usize..30, inner in 1usize..40, count in 0usize..60, policy in 0usize..8, seed: u64,
    ) {
        let (negative, out, rules) = RULES[policy];
        for axis in 0..3 {
            let mut shape = [outer, dim, inner];
            let x = numbers(&shape, seed);
            let size = std::mem::replace(&mut shape[axis], count);
            let op = GatherElements::new(axis as i64).negative_index(negative).out_of_bounds(out);
            transposes(&op, &x, &indices(&shape, size, seed, out, rules.from_end), seed);
        }
    }

    #[test]
    fn of_gather_nd(
        batch in 1usize..4, dim in 1usize..8, inner in 1usize..9, count in 0usize..120, policy in 0usize..8, seed: u64,
    ) {
        let (negative, out, rules) = RULES[policy];
        let op = GatherNd::new().negative_index(negative).out_of_bounds(out);
        let x = numbers(&[dim, dim, inner], seed);
        for tuple in 0..=2 {
            transposes(&op, &x, &indices(&[count, tuple], dim, seed, out, rules.from_end), seed);
        }
        let x = numbers(&[batch, 2, dim, inner], seed);
        let list = indices(&[batch, 2, count % 9, 1], dim, seed, out, rules.from_end);
        transposes(&op.batch_dims(2), &x, &list, seed);
        let merging = GatherNd::openvino5(2).negative_index(negative).out_of_bounds(out);
        transposes(&merging, &x, &list, seed);
    }

    #[test]
    fn a_permutation_and_its_scatter_are_the_identity(rows in 1usize..400, columns in 1usize..30, axis in 0i64..2, seed: u64) {
        let x = numbers(&[rows, columns], seed);
        let (n, other) = if axis == 0 { (rows, columns) } else { (columns, rows) };
        let mut orders: Vec<Vec<i64>> = Vec::new();
        for line in 0..other {
            let mut order: Vec<i64> = (0..n as i64).collect();
            order.sort_by_key(|&at| mixed(seed ^ line as u64, at as usize));
            orders.push(order);
        }
        let list = Dense::from_fn(&[rows, columns], |at| {
            let (row, column) = (at / columns, at % columns);
            if axis == 0 { orders[column][row] } else { orders[row][column] }
        });
        let gathered = GatherElements::new(axis).run(&view(&x), &view(&list)).unwrap();
        let zeros = Dense { shape: x.shape.clone(), values: vec![0; x.values.len()] };
        for reduction in [Reduction::None, Reduction::Add] {
            let op = ScatterElements::new(axis).reduction(reduction);
            prop_assert_eq!(dense(&op.run(&view(&zeros), &view(&list), &gathered.view()).unwrap()), x.clone());
        }
    }
}

#[test]
fn the_torch_presets_have_adjoints() {
    let (x, y, list) = ([5i64], [3i64], View::scalar(&0i32));
    transposes(
        &Gather::torch(0),
        &Dense { shape: vec![], values: x.to_vec() },
        &Dense { shape: vec![], values: vec![0] },
        1,
    );
    let back = GatherElements::torch(0).adjoint().run(&zeros(&[]).unwrap(), &list, &View::scalar(&y[0])).unwrap();
    assert_eq!((back.shape(), back.as_slice()), (&[][..], &[3][..]));
    // Indices without elements of any rank.
    let (none, no_ids): ([i64; 0], [i32; 0]) = ([], []);
    let none = View::new(&none, &[0, 4, 2]).unwrap();
    let back = GatherElements::torch(0)
        .adjoint()
        .run(&zeros(&[1]).unwrap(), &View::new(&no_ids, &[0, 4, 2]).unwrap(), &none)
        .unwrap();
    assert_eq!(back.as_slice(), [0]);
}

#[test]
fn gradients_of_half_precision_are_rounded_once() {
    let (ids, ones) = (vec![0u8; 600], vec![bf16::from_f32(1.0); 600]);
    let (ids, ones) = (View::new(&ids, &[600]).unwrap(), View::new(&ones, &[600]).unwrap());
    let sum: Tensor<bf16> = Gather::new(0).adjoint().run(&zeros(&[2]).unwrap(), &ids, &ones).unwrap();
    // Rounded after each addition, it would stay at 256.
    assert_eq!(sum.as_slice(), [bf16::from_f32(600.0), bf16::ZERO]);
}

#[test]
fn a_gradient_of_another_shape_is_refused() {
    let (ids, gradient) = ([0u8, 1], [0f32; 4]);
    let (ids, gradient) = (View::new(&ids, &[2]).unwrap(), View::new(&gradient, &[4]).unwrap());
    let got = Gather::new(0).adjoint().run(&zeros(&[3, 2]).unwrap(), &ids, &gradient).unwrap_err();
    let shapes = "data of shape [3, 2] and indices of shape [2] ask for [2, 2]";
    assert_eq!(got.to_string(), format!("gather: updates have shape [4]; {shapes}"));
    let mut table = [7.0f32; 6];
    let gradient = View::new(&[1f32; 4], &[2, 2]).unwrap();
    let ids = View::new(&[1i64, 9], &[2]).unwrap();
    let got = Gather::new(0).adjoint().run_on(&mut ViewMut::new(&mut table, &[3, 2]).unwrap(), &ids, &gradient);
    assert!(matches!(got, Err(Error::IndexOutOfRange { position: 1, index: 9, .. })), "{got:?}");
    assert_eq!(table, [7.0; 6]);
}

#[test]
fn dyn_plans_for_strided_tensors_run_in_place_only() {
    let (ids, gradient) = ([1u8, 1], [1.0f32, 2.0]);
    let (ids, gradient) = (View::new(&ids, &[2]).unwrap(), View::new(&gradient, &[2]).unwrap());
    let every_other = Layout::strided(&[2], &[2]).unwrap();
    let plan = Gather::new(0)
        .adjoint()
        .plan_into(
            &Spec::from_dtype(f32::DTYPE, &every_other),
            &Spec::from_dtype(IndexType::U8.dtype(), ids.layout()),
            &Spec::from_dtype(f32::DTYPE, gradient.layout()),
            &every_other,
        )
        .unwrap();
    let (ids, gradient) = (DynView::from(&ids), DynView::from(&gradient));
    let mut values = [0.5f32; 3];
    let mut out = ViewMut::strided(&mut values, &[2], &[2], 0).unwrap();
    plan.run_on(&mut DynViewMut::from(&mut out), &ids, &gradient).unwrap();
    assert_eq!(values, [0.5, 0.5, 3.5]);
    let data = View::new(&values[..2], &[2]).unwrap();
    let refused = plan.run(&DynView::from(&data), &ids, &gradient).unwrap_err();
    assert!(matches!(refused, Error::PlanMismatch { argument: Argument::Output, .. }), "{refused:?}");
}

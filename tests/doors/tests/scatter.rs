//! Scatters and adjoints, through every door: presets, settings, plans, types known at run time, elements of every
//! kind.

use gather_core::{
    DynTensor, DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, IndexType, Layout, Level, Method,
    NegativeIndex, Op, Par, Reduction, ScatterElements, ScatterNd, ScatterOutOfBounds, Spec, Tensor, View, ViewMut,
    scatter_elements, scatter_nd, zeros, zeros_dyn,
};

use crate::common::{Line, Packed, Point, Sample};

const DATA: [i32; 4] = [10, 20, 30, 40];
const IDS: [i64; 3] = [3, 0, 3];
const NEW: [i32; 3] = [1, 2, 4];

fn views() -> (View<'static, i32>, View<'static, i64>, View<'static, i32>) {
    (View::new(&DATA, &[4]).unwrap(), View::new(&IDS, &[3]).unwrap(), View::new(&NEW, &[3]).unwrap())
}

#[test]
fn presets() {
    let (data, ids, new) = views();
    let run = |op: ScatterElements| op.run(&data, &ids, &new).unwrap().into_vec();
    let (none, add) = ([12, 20, 30, 45], Reduction::Add);
    let replaced = [2, 20, 30, 4];
    for op in [
        ScatterElements::new(0),
        ScatterElements::onnx11(0),
        ScatterElements::onnx13(-1),
        ScatterElements::onnx16(0, Reduction::None),
        ScatterElements::onnx18(0, Reduction::None),
        ScatterElements::openvino12(0, Reduction::None, false),
        ScatterElements::torch(0, Reduction::None),
    ] {
        assert_eq!(run(op), replaced);
    }
    for op in [
        ScatterElements::onnx16(0, add),
        ScatterElements::onnx18(0, add),
        ScatterElements::openvino12(0, add, true),
        ScatterElements::torch(0, add),
    ] {
        assert_eq!((op.get_axis(), op.get_reduction()), (0, add));
        assert_eq!(run(op), none);
    }
    assert_eq!(run(ScatterElements::openvino12(0, add, false)), [2, 20, 30, 5]);
    assert_eq!(run(ScatterElements::openvino12(0, Reduction::Mean, true)), [6, 20, 30, 15]);
    assert_eq!(scatter_elements(&data, &ids, &new, 0, add).unwrap().as_slice(), none);

    let tuples = View::new(&IDS, &[3, 1]).unwrap();
    let run = |op: ScatterNd| op.run(&data, &tuples, &new).unwrap().into_vec();
    for op in [
        ScatterNd::new(),
        ScatterNd::default(),
        ScatterNd::onnx11(),
        ScatterNd::onnx13(),
        ScatterNd::onnx16(Reduction::None),
        ScatterNd::onnx18(Reduction::None),
        ScatterNd::openvino15(Reduction::None),
        ScatterNd::tensorflow(Reduction::None),
    ] {
        assert_eq!(run(op), replaced);
    }
    assert_eq!(run(ScatterNd::openvino15(Reduction::Sub)), [8, 20, 30, 35]);
    assert_eq!(scatter_nd(&data, &tuples, &new, add).unwrap().as_slice(), none);
    let batched = ScatterNd::new().batch_dims(1);
    assert_eq!(batched.get_batch_dims(), 1);
    let (data, ids) = (View::new(&DATA, &[2, 2]).unwrap(), View::new(&[1u8, 0], &[2, 1]).unwrap());
    let new = View::new(&NEW[..2], &[2]).unwrap();
    assert_eq!(batched.run(&data, &ids, &new).unwrap().as_slice(), [10, 1, 2, 40]);
}

#[test]
fn settings_are_kept() {
    let op = ScatterElements::new(0)
        .reduction(Reduction::Max)
        .include_self(false)
        .negative_index(NegativeIndex::Reject)
        .out_of_bounds(ScatterOutOfBounds::Drop)
        .skip_negative(true)
        .par(Par::Threads(2))
        .level(Level::Scalar)
        .method(Method::Grouped);
    assert_eq!((op.get_reduction(), op.get_include_self()), (Reduction::Max, false));
    assert!(op.get_skip_negative() && !ScatterElements::new(0).get_skip_negative());
    assert_eq!((op.get_negative_index(), op.get_out_of_bounds()), (NegativeIndex::Reject, ScatterOutOfBounds::Drop));
    assert_eq!(
        (op.get_par(), op.get_level(), op.get_method()),
        (Par::Threads(2), Some(Level::Scalar), Some(Method::Grouped))
    );
    let (data, _, new) = views();
    let got = op.run(&data, &View::new(&[-1i8, 3, 9], &[3]).unwrap(), &new).unwrap();
    assert_eq!(got.as_slice(), [10, 20, 30, 2]);
    assert_eq!(op.output_shape(&[4], &[3], &[3]).unwrap(), [4]);
    assert_eq!(
        Reduction::ALL.iter().map(|reduction| reduction.name()).collect::<Vec<_>>().join(" "),
        "none add sub mul min max mean"
    );
}

#[test]
fn in_place_into_and_planned() {
    let (data, ids, new) = views();
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let sums = [12, 20, 30, 45];
    let mut out = [0; 4];
    op.run_into(&data, &ids, &new, &mut ViewMut::new(&mut out, &[4]).unwrap()).unwrap();
    assert_eq!(out, sums);
    let mut out = DATA;
    op.run_on(&mut ViewMut::new(&mut out, &[4]).unwrap(), &ids, &new).unwrap();
    assert_eq!(out, sums);

    let plan = op.plan(&Spec::<i32>::new(&[4]).unwrap(), &ids, &new).unwrap();
    // The fallback of x86-64 runs all others as blocks.
    let falls_back = cfg!(all(target_arch = "x86_64", not(gather_whole_scalar))) && Level::preferred() == Level::Scalar;
    let method = if falls_back { Method::Blocks } else { Method::Chunks };
    assert_eq!((plan.output_shape(), plan.explain().method()), (&[4][..], method));
    assert_eq!(plan.run(&data, &ids, &new).unwrap().as_slice(), sums);
    let mut out = [0; 4];
    plan.run_into(&data, &ids, &new, &mut ViewMut::new(&mut out, &[4]).unwrap()).unwrap();
    assert_eq!(out, sums);
    // A plan for every other element, from the last to the first.
    let layout = Layout::strided(&[4], &[-2]).unwrap();
    let plan = op.plan_into(&Spec::<i32>::from_layout(&layout), &ids, &new, &layout).unwrap();
    let mut out = [40, 9, 30, 9, 20, 9, 10];
    plan.run_on(&mut ViewMut::strided(&mut out, &[4], &[-2], 6).unwrap(), &ids, &new).unwrap();
    assert_eq!(out, [45, 9, 30, 9, 20, 9, 12]);
    assert!(matches!(plan.run(&data, &ids, &new), Err(Error::PlanMismatch { .. })));
}

#[test]
fn types_known_at_run_time() {
    let (data, ids, new) = views();
    let (a, i, v) = (DynView::from(&data), DynView::from(&ids), DynView::from(&new));
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let sums = [12, 20, 30, 45];
    assert_eq!(op.run(&a, &i, &v).unwrap().downcast::<i32>().unwrap().as_slice(), sums);
    let plan = op
        .plan(
            &Spec::from_dtype(i32::DTYPE, &Layout::contiguous(&[4]).unwrap()),
            &Spec::from_dtype(IndexType::I64.dtype(), ids.layout()),
            &Spec::from_dtype(i32::DTYPE, new.layout()),
        )
        .unwrap();
    assert_eq!((plan.output_shape(), plan.explain().bytes()), (&[4][..], 12));
    assert_eq!(plan.run(&a, &i, &v).unwrap().downcast::<i32>().unwrap().as_slice(), sums);
    for planned in [false, true] {
        let mut out = [0; 4];
        let mut typed = ViewMut::new(&mut out, &[4]).unwrap();
        let out_view = &mut DynViewMut::from(&mut typed);
        if planned { plan.run_into(&a, &i, &v, out_view) } else { op.run_into(&a, &i, &v, out_view) }.unwrap();
        assert_eq!(out, sums);
        let mut out = DATA;
        let mut typed = ViewMut::new(&mut out, &[4]).unwrap();
        let out_view = &mut DynViewMut::from(&mut typed);
        if planned { plan.run_on(out_view, &i, &v) } else { op.run_on(out_view, &i, &v) }.unwrap();
        assert_eq!(out, sums);
    }
    let refused = plan.run(&a, &v, &v);
    assert!(matches!(refused, Err(Error::DTypeMismatch { .. })), "{refused:?}");
}

/// Plans for lists of any length, of which calls have three.
#[test]
fn any_count() {
    let (data, ids, new) = views();
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let (sums, some) = ([12, 20, 30, 45], Layout::contiguous(&[1000]).unwrap());
    let plan = op
        .plan_any_count(
            &Spec::<i32>::new(&[4]).unwrap(),
            &Spec::<i64>::from_layout(&some),
            &Spec::<i32>::from_layout(&some),
        )
        .unwrap();
    assert_eq!(plan.run(&data, &ids, &new).unwrap().as_slice(), sums);
    let plan = op
        .plan_any_count(
            &Spec::from_dtype(i32::DTYPE, &Layout::contiguous(&[4]).unwrap()),
            &Spec::from_dtype(IndexType::I64.dtype(), &some),
            &Spec::from_dtype(i32::DTYPE, &some),
        )
        .unwrap();
    let got = plan.run(&DynView::from(&data), &DynView::from(&ids), &DynView::from(&new)).unwrap();
    assert_eq!(got.downcast::<i32>().unwrap().as_slice(), sums);
    let plan = Gather::new(0)
        .adjoint()
        .plan_any_count(&data, &Spec::<i64>::from_layout(&some), &Spec::<i32>::from_layout(&some))
        .unwrap();
    let mut out = DATA;
    plan.run_on(&mut ViewMut::new(&mut out, &[4]).unwrap(), &ids, &new).unwrap();
    assert_eq!(out, sums);
    let tied = Layout::contiguous(&[2, 2]).unwrap();
    let refused = ScatterElements::new(1).plan_any_count(
        &Spec::<i32>::new(&[2, 2]).unwrap(),
        &Spec::<i64>::from_layout(&tied),
        &Spec::<i32>::from_layout(&tied),
    );
    assert!(matches!(refused, Err(Error::AnyCountUnavailable { op: Op::ScatterElements })));
}

/// Rows of elements of a kind are replaced, at every level and by every method.
fn replaced<T: Sample>() {
    let data: Vec<T> = (0..15).map(T::sample).collect();
    let new: Vec<T> = (20..29).map(T::sample).collect();
    let (data, new) = (View::new(&data, &[5, 3]).unwrap(), View::new(&new, &[3, 3]).unwrap());
    let ids = View::new(&[4u8, 0, 4], &[3, 1]).unwrap();
    let mut expected: Vec<T> = (0..15).map(T::sample).collect();
    expected[..3].copy_from_slice(&[23, 24, 25].map(T::sample));
    expected[12..].copy_from_slice(&[26, 27, 28].map(T::sample));
    for &level in Level::ALL.iter().filter(|level| level.is_available()) {
        for method in [Method::Direct, Method::Blocks, Method::Grouped] {
            let op = ScatterNd::new().level(level).method(method);
            assert_eq!(op.run(&data, &ids, &new).unwrap().as_slice(), expected);
        }
    }
    assert_eq!(ScatterNd::new().run_cloned(&data, &ids, &new).unwrap().as_slice(), expected);
    let refused = ScatterNd::new().reduction(Reduction::Mean).run_cloned(&data, &ids, &new);
    assert!(matches!(refused, Err(Error::ReductionUnavailable { op: Op::ScatterNd, dtype: None, .. })));
}

#[test]
fn elements_of_every_kind() {
    replaced::<u8>();
    replaced::<u16>();
    replaced::<u32>();
    replaced::<Point>();
    replaced::<Packed>();
    replaced::<Line>();
}

gather_core::reduce_kernels! {
    /// Digits, one after the other: the order of updates shows.
    static DIGITS = |kept: i32, new: i32| -> i32 { kept * 10 + new };
}

#[test]
fn reductions_of_ones_own() {
    let (data, ids, new) = views();
    let op = ScatterElements::new(0);
    let digits = [102, 20, 30, 4014];
    assert_eq!(op.reduce_by(&DIGITS).run(&data, &ids, &new).unwrap().as_slice(), digits);
    let first = op.include_self(false).reduce_by(&DIGITS).run(&data, &ids, &new).unwrap();
    assert_eq!(first.as_slice(), [2, 20, 30, 14]);
    let mut tensor = Tensor::default();
    op.reduce_by(&DIGITS).run_into(&data, &ids, &new, &mut tensor).unwrap();
    assert_eq!(tensor.as_slice(), digits);
    let mut out = DATA;
    op.reduce_by(&DIGITS).run_on(&mut ViewMut::new(&mut out, &[4]).unwrap(), &ids, &new).unwrap();
    assert_eq!(out, digits);
    for method in [Method::Direct, Method::Grouped, Method::Accumulated] {
        let op = op.method(method).par(Par::Threads(3));
        let plan = op.reduce_by(&DIGITS).plan(&Spec::<i32>::new(&[4]).unwrap(), &ids, &new).unwrap();
        assert_eq!(plan.run(&data, &ids, &new).unwrap().as_slice(), digits);
    }
    assert_eq!(DIGITS.name(), "DIGITS");
}

#[test]
fn writers() {
    let (table, rows) = ([7, 8, 9, 10], View::new(&NEW, &[3]).unwrap());
    let (ids, tuples) = (View::new(&IDS, &[3]).unwrap(), View::new(&IDS, &[3, 1]).unwrap());
    // The last of equal ids wins.
    let mut written = table;
    IDS.iter().zip(NEW).for_each(|(&id, new)| written[id.rem_euclid(4) as usize] = new);
    let data = View::new(&table, &[4]).unwrap();
    assert_eq!(Gather::new(0).writer().run(&data, &ids, &rows).unwrap().as_slice(), written);
    assert_eq!(GatherElements::new(0).writer().run(&data, &ids, &rows).unwrap().as_slice(), written);
    assert_eq!(GatherNd::new().writer().run(&data, &tuples, &rows).unwrap().as_slice(), written);
    let (plan, mut place) = (Gather::new(0).writer().plan(&data, &ids, &rows).unwrap(), table);
    plan.run_on(&mut ViewMut::new(&mut place, &[4]).unwrap(), &ids, &rows).unwrap();
    assert_eq!(place, written);
    // Negative ids are dropped; others out of range are errors, and nothing is written.
    let store = Gather::new(0).writer().skip_negative(true);
    let mut place = table;
    store.run_on(&mut ViewMut::new(&mut place, &[4]).unwrap(), &[-1i64, 2, -7], &rows).unwrap();
    assert_eq!(place, [7, 8, NEW[1], 10]);
    store.run_on(&mut ViewMut::new(&mut place, &[4]).unwrap(), &[-1i64, 2, 4], &rows).unwrap_err();
    assert_eq!(place, [7, 8, NEW[1], 10]);
}

#[test]
fn adjoints() {
    let (ids, gradient) = (View::new(&IDS, &[3]).unwrap(), View::new(&NEW, &[3]).unwrap());
    let sums = [2, 0, 0, 5];
    let tuples = View::new(&IDS, &[3, 1]).unwrap();
    assert_eq!(Gather::new(0).adjoint().run(&zeros(&[4]).unwrap(), &ids, &gradient).unwrap().as_slice(), sums);
    assert_eq!(GatherElements::new(0).adjoint().run(&zeros(&[4]).unwrap(), &ids, &gradient).unwrap().as_slice(), sums);
    assert_eq!(GatherNd::new().adjoint().run(&zeros(&[4]).unwrap(), &tuples, &gradient).unwrap().as_slice(), sums);
    let mut again = Tensor::new(vec![7; 2], &[2]).unwrap();
    let mut column = [7; 8];
    let mut strided = ViewMut::strided(&mut column, &[4], &[2], 0).unwrap();
    Gather::new(0).adjoint().run_into(&zeros(&[4]).unwrap(), &ids, &gradient, &mut again).unwrap();
    Gather::new(0).adjoint().run_into(&zeros(&[4]).unwrap(), &ids, &gradient, &mut strided).unwrap();
    assert_eq!((again.as_slice(), column), (&sums[..], [2, 7, 0, 7, 0, 7, 5, 7]));
    let (dyn_ids, dyn_gradient) = (DynView::from(&ids), DynView::from(&gradient));
    let fresh =
        Gather::new(0).adjoint().run(&zeros_dyn(dyn_gradient.dtype(), &[4]).unwrap(), &dyn_ids, &dyn_gradient).unwrap();
    assert_eq!(fresh.downcast::<i32>().unwrap().as_slice(), sums);
    let mut again = DynTensor::empty(i32::DTYPE);
    Gather::new(0)
        .adjoint()
        .run_into(&zeros_dyn(dyn_gradient.dtype(), &[4]).unwrap(), &dyn_ids, &dyn_gradient, &mut again)
        .unwrap();
    assert_eq!(again.downcast::<i32>().unwrap().as_slice(), sums);
    let other = Gather::new(0).adjoint().run_into(
        &zeros_dyn(dyn_gradient.dtype(), &[4]).unwrap(),
        &dyn_ids,
        &dyn_gradient,
        &mut DynViewMut::from(&mut ViewMut::new(&mut [0u8; 4], &[4]).unwrap()),
    );
    assert_eq!(other.unwrap_err(), Error::DTypeMismatch { expected: i32::DTYPE, got: u8::DTYPE });
    let refused = Gather::new(0).adjoint().run_into(
        &zeros(&[4]).unwrap(),
        &ids,
        &gradient,
        &mut ViewMut::new(&mut [0; 5], &[5]).unwrap(),
    );
    assert!(matches!(refused, Err(Error::ShapeMismatch { .. })));
    let mut out = DATA;
    let mut view = ViewMut::new(&mut out, &[4]).unwrap();
    Gather::new(0).adjoint().run_on(&mut view, &ids, &gradient).unwrap();
    Gather::new(0)
        .adjoint()
        .run_on(&mut DynViewMut::from(&mut view), &DynView::from(&ids), &DynView::from(&gradient))
        .unwrap();
    let layout = Layout::contiguous(&[4]).unwrap();
    let plan =
        Gather::new(0).adjoint().plan_into(&Spec::<i32>::from_layout(&layout), &ids, &gradient, &layout).unwrap();
    plan.run_on(&mut view, &ids, &gradient).unwrap();
    let plan = Gather::new(0)
        .adjoint()
        .plan_into(
            &Spec::from_dtype(i32::DTYPE, &layout),
            &Spec::from_dtype(IndexType::I64.dtype(), ids.layout()),
            &Spec::from_dtype(i32::DTYPE, gradient.layout()),
            &layout,
        )
        .unwrap();
    plan.run_on(&mut DynViewMut::from(&mut view), &DynView::from(&ids), &DynView::from(&gradient)).unwrap();
    assert_eq!(out, [18, 20, 30, 60]);
}

//! Kernels of one's own for scatters: which of them runs, and for which data types.

use gather_core::{
    DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, IndexType, KernelKey, Layout, Level, Method,
    Op, Par, Reduction, Registry, ScatterElements, ScatterNd, Spec, View, ViewMut,
};
use gather_tests::oracle::Dense;

use crate::support::{is_fallback, view};

/// A type that the built-in kernels do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Element)]
#[repr(C)]
struct Point([u16; 3]);

gather_core::kernels! {
    /// Both scatters, for nests of one loop, and of any number.
    static OWN;
    elements: [f32, Point];
    indices: [u8, i32];
    ranks: 1, any;
    ops: [scatter_elements, scatter_nd];
}

gather_core::kernels! {
    /// ScatterNd alone, for nests of any rank: their kernel has another name than the built-in one of two loops.
    static TUPLES;
    elements: [f32];
    indices: [i32];
    ranks: any;
    ops: [scatter_nd];
}

gather_core::kernels! {
    /// Gathers alone.
    static GATHERS;
    elements: [Point];
    indices: [i32];
    ranks: any;
    ops: [gather];
}

fn key(op: Op, element: gather_core::DType, rank: usize) -> KernelKey {
    KernelKey { op, dtype: element, index: Some(IndexType::I32), rank, level: Level::Scalar }
}

#[test]
fn a_set_is_listed_and_selected() {
    let builtin = Registry::builtin();
    let registry = builtin.clone().with(&OWN);
    let levels = Level::ALL
        .iter()
        .filter(|&&level| builtin.select(&KernelKey { level, ..key(Op::ScatterNd, f32::DTYPE, 1) }).is_some());
    let levels = levels.count();
    // Where pointers have 32 bits, `isize` is listed with `i32`.
    let indices = if cfg!(target_pointer_width = "32") { 3 } else { 2 };
    // 2 operators x 2 data types x 2 ranks for each index type; operators share all other kernels.
    assert_eq!(registry.kernels().count() - builtin.kernels().count(), levels * indices * 2 * 2 * 2);
    // A level that is a fallback has one for each index type.
    let shared = if is_fallback(Level::Scalar) { 2 } else { 0 };
    assert_eq!(OWN.function_count(), levels * 2 * 2 - shared);
    for op in [Op::ScatterElements, Op::ScatterNd] {
        for (rank, expected) in [(1, "scatter_i32_r1__scalar"), (2, "scatter_i32_rn__scalar")] {
            let row = registry.select(&key(op, Point::DTYPE, rank)).unwrap();
            assert_eq!((row.name, row.rank, row.op), (expected, (rank == 1).then_some(1), op));
            assert!(builtin.select(&key(op, Point::DTYPE, rank)).is_none());
        }
        let named = registry.kernels().filter(|row| row.dtype == Point::DTYPE && row.op == op);
        assert_eq!(named.count(), levels * indices * 2);
    }
    assert!(registry.select(&key(Op::Gather, Point::DTYPE, 1)).is_none());
    assert!(
        registry.select(&KernelKey { index: Some(IndexType::I64), ..key(Op::ScatterNd, Point::DTYPE, 1) }).is_none()
    );
}

#[test]
fn a_set_runs_what_it_lists_and_the_built_in_kernels_run_the_rest() {
    static REGISTRY: Registry = Registry::builtin().with(&TUPLES);
    // Two loops, since rows of updates are not contiguous.
    let (data, row) = (Layout::contiguous(&[4, 3]).unwrap(), Layout::strided(&[2, 3], &[9, 2]).unwrap());
    let (tuples, ids) = (Layout::contiguous(&[2, 1]).unwrap(), Layout::contiguous(&[2, 3]).unwrap());
    let list = Layout::contiguous(&[2]).unwrap();
    let (ty, index) = (f32::DTYPE, IndexType::I32);
    let nd = ScatterNd::new().level(Level::Scalar);
    let elements = ScatterElements::new(0).level(Level::Scalar);
    let own = nd
        .registry(&REGISTRY)
        .plan(
            &Spec::from_dtype(ty, &Layout::contiguous(&[4, 3]).unwrap()),
            &Spec::from_dtype(index.dtype(), &tuples),
            &Spec::from_dtype(ty, &row),
        )
        .unwrap();
    let builtin = elements
        .registry(&REGISTRY)
        .plan(
            &Spec::from_dtype(ty, &Layout::contiguous(&[4, 3]).unwrap()),
            &Spec::from_dtype(index.dtype(), &ids),
            &Spec::from_dtype(ty, &row),
        )
        .unwrap();
    let other = nd
        .registry(&REGISTRY)
        .plan(
            &Spec::from_dtype(ty, &Layout::contiguous(&[4, 3]).unwrap()),
            &Spec::from_dtype(IndexType::U8.dtype(), &tuples),
            &Spec::from_dtype(ty, &row),
        )
        .unwrap();
    assert_eq!(own.explain().kernel(), "scatter_i32_rn__scalar");
    assert_eq!(builtin.explain().kernel(), "scatter_i32_r2__scalar");
    assert_eq!(other.explain().kernel(), "scatter_u8_r2__scalar");
    // Adjoints run by the kernels of the scatter that does as much.
    let gather = Gather::new(0)
        .level(Level::Scalar)
        .registry(&REGISTRY)
        .adjoint()
        .plan_into(
            &Spec::from_dtype(ty, &data),
            &Spec::from_dtype(index.dtype(), &list),
            &Spec::from_dtype(ty, &row),
            &data,
        )
        .unwrap();
    let gather_nd = GatherNd::new().level(Level::Scalar);
    let gather_nd = gather_nd
        .registry(&REGISTRY)
        .adjoint()
        .plan_into(
            &Spec::from_dtype(ty, &data),
            &Spec::from_dtype(index.dtype(), &tuples),
            &Spec::from_dtype(ty, &row),
            &data,
        )
        .unwrap();
    let gather_elements = GatherElements::new(0).level(Level::Scalar);
    let gather_elements = gather_elements
        .registry(&REGISTRY)
        .adjoint()
        .plan_into(
            &Spec::from_dtype(ty, &data),
            &Spec::from_dtype(index.dtype(), &ids),
            &Spec::from_dtype(ty, &row),
            &data,
        )
        .unwrap();
    assert_eq!(gather.explain().kernel(), "scatter_i32_rn__scalar");
    assert_eq!(gather_nd.explain().kernel(), "scatter_i32_rn__scalar");
    assert_eq!(gather_elements.explain().kernel(), "scatter_i32_r2__scalar");

    let (values, new) = ([0.5f32; 12], (0..16).map(|at| at as f32).collect::<Vec<_>>());
    let (values, new) = (View::new(&values, &[4, 3]).unwrap(), View::strided(&new, &[2, 3], &[9, 2], 0).unwrap());
    let ids = [2i32, 0];
    let ids = View::new(&ids, &[2, 1]).unwrap();
    let got = own.run(&DynView::from(&values), &DynView::from(&ids), &DynView::from(&new)).unwrap();
    let expected = [9.0, 11.0, 13.0, 0.5, 0.5, 0.5, 0.0, 2.0, 4.0, 0.5, 0.5, 0.5];
    assert_eq!(got.downcast::<f32>().unwrap().as_slice(), expected);
}

#[test]
fn panels_run_by_the_kernel_of_the_loops_on_one() {
    // Three loops are left, of which one goes from panel to panel.
    let (data, ids) = ([2usize, 300, 64], Layout::contiguous(&[2, 200, 64]).unwrap());
    let updates = Layout::strided(&[2, 200, 64], &[12801, 64, 1]).unwrap();
    let op = ScatterElements::new(1).reduction(Reduction::Add).level(Level::Scalar);
    let plan = |op: ScatterElements| {
        op.plan(&Spec::<f32>::new(&data).unwrap(), &Spec::<i32>::from_layout(&ids), &Spec::<f32>::from_layout(&updates))
            .unwrap()
    };
    let (panels, blocks) = (plan(op.method(Method::Panels)), plan(op.method(Method::Blocks)));
    assert_eq!(panels.explain().kernel(), "scatter_i32_r2__scalar", "{panels:?}");
    assert_eq!(blocks.explain().kernel(), "scatter_i32_r3__scalar", "{blocks:?}");
    let start: Vec<f32> = (0..2 * 300 * 64).map(|at| (at % 11) as f32).collect();
    let list: Vec<i32> = (0..2 * 200 * 64).map(|at| at * 7919 % 300).collect();
    let new: Vec<f32> = (0..12801 + 12800).map(|at| (at % 13) as f32).collect();
    let (start, list) = (View::new(&start, &data).unwrap(), View::new(&list, &[2, 200, 64]).unwrap());
    let new = View::strided(&new, &[2, 200, 64], &[12801, 64, 1], 0).unwrap();
    let [panels, blocks] = [panels, blocks].map(|plan| plan.run(&start, &list, &new).unwrap());
    assert_eq!(panels.as_slice(), blocks.as_slice());
}

/// All loops are checked before the first panel is written.
#[test]
fn panels_are_checked_before_they_are_written() {
    let (start, shape) = (Dense::from_fn(&[2, 300, 64], |at| (at % 11) as f32), [2usize, 200, 64]);
    let new = Dense::from_fn(&shape, |at| (at % 13) as f32);
    for bad in [5, 200 * 64 - 1, 200 * 64, 2 * 200 * 64 - 1] {
        let list = Dense::from_fn(&shape, |at| if at == bad { 300i32 } else { (at * 7919 % 300) as i32 });
        for par in [Par::Seq, Par::Threads(3)] {
            let mut values = start.values.clone();
            let mut out = ViewMut::new(&mut values, &start.shape).unwrap();
            let op = ScatterElements::new(1).reduction(Reduction::Add).method(Method::Panels).par(par);
            let error = op.run_on(&mut out, &view(&list), &view(&new)).unwrap_err();
            assert!(matches!(error, Error::IndexOutOfRange { position, index: 300, .. } if position == bad), "{error}");
            assert!(values == start.values, "{op:?} with a bad index at {bad} has written");
        }
    }
}

#[test]
fn data_types_are_those_that_a_set_knows() {
    let (data, new) = ([Point([1, 2, 3]), Point([4, 5, 6])], [Point([7, 8, 9])]);
    let (data, new) = (View::new(&data, &[2]).unwrap(), View::new(&new, &[1]).unwrap());
    let (a, u) = (DynView::from(&data), DynView::from(&new));
    let ids = [1i32];
    let (list, tuples) = (View::new(&ids, &[1]).unwrap(), View::new(&ids, &[1, 1]).unwrap());
    let (i, t) = (DynView::from(&list), DynView::from(&tuples));
    let mut out = [Point([0; 3]); 2];
    let mut out = ViewMut::new(&mut out, &[2]).unwrap();
    let (elements, nd) = (ScatterElements::new(0), ScatterNd::new());
    // OWN lists the types; GATHERS does, but no scatters, for which the built-in kernels stand in.
    for registry in const { [&Registry::builtin().with(&OWN), &Registry::builtin().with(&GATHERS)] } {
        for got in [elements.registry(registry).run(&a, &i, &u), nd.registry(registry).run(&a, &t, &u)] {
            assert_eq!(got.unwrap().downcast::<Point>().unwrap().as_slice(), [Point([1, 2, 3]), Point([7, 8, 9])]);
        }
        let added = elements.reduction(Reduction::Add).registry(registry).run(&a, &i, &u);
        assert!(matches!(added, Err(Error::ReductionUnavailable { dtype: Some(_), .. })), "{added:?}");
    }
    let unknown = |op| Error::UnknownDType { op, dtype: Point::DTYPE };
    assert_eq!(elements.run(&a, &i, &u).unwrap_err(), unknown(Op::ScatterElements));
    let mut to = DynViewMut::from(&mut out);
    assert_eq!(nd.run_into(&a, &t, &u, &mut to).unwrap_err(), unknown(Op::ScatterNd));
    assert_eq!(elements.run_on(&mut to, &i, &u).unwrap_err(), unknown(Op::ScatterElements));
    assert_eq!(Gather::new(0).adjoint().run_on(&mut to, &i, &u).unwrap_err(), unknown(Op::Gather));
    let (list, new) = (list.layout(), new.layout());
    let planned = elements.plan(
        &Spec::from_dtype(Point::DTYPE, &Layout::contiguous(&[2]).unwrap()),
        &Spec::from_dtype(IndexType::I32.dtype(), list),
        &Spec::from_dtype(Point::DTYPE, new),
    );
    assert_eq!(planned.unwrap_err(), unknown(Op::ScatterElements));
    let layout = Layout::contiguous(&[2]).unwrap();
    let planned = GatherNd::new().adjoint().plan_into(
        &Spec::from_dtype(Point::DTYPE, &layout),
        &Spec::from_dtype(IndexType::I32.dtype(), tuples.layout()),
        &Spec::from_dtype(Point::DTYPE, new),
        &layout,
    );
    assert_eq!(planned.unwrap_err(), unknown(Op::GatherNd));
    // A tensor of indices that is none comes first.
    let wrong = elements.run(&a, &u, &u);
    assert!(matches!(wrong, Err(Error::NotAnIndexType { .. })), "{wrong:?}");
}

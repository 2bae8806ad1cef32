//! Doors by name, each on a few elements of [`N`] bytes.

use std::fmt::Debug;

use gather_core::{
    Bags, BatchToSpace, DepthMode, DepthToSpace, DynTensor, DynView, DynViewMut, Element, EmbeddingBag, Error, Gather,
    GatherElements, GatherNd, Given, Index, IndexType, Layout, Method, OutOfBounds, Par, Plain, Reduction, Registry,
    ScatterElements, ScatterNd, ScatterOutOfBounds, SpaceAttributes, SpaceOperator, SpaceToBatch, SpaceToDepth, Spec,
    Tensor, View, ViewMut, batch_to_space, depth_to_space, gather, gather_elements, gather_nd, rows, rows_into,
    scatter_elements, scatter_nd, space_to_batch, space_to_depth, zeros,
};

use super::LARGE as N;

type Huge = [u8; N];

gather_core::kernels! {
    /// Kernels for all operators.
    static SET;
    elements: [Huge];
    indices: [i32];
    ranks: any;
    ops: [gather, scatter_elements, scatter_nd, space_to_batch, depth_to_space, space_to_depth];
}

gather_core::specialize! {
    static DECLARED = [refused::<Huge, i32>, filled::<Huge, i32>, clamped::<Huge>, tuples::<Huge>, blocks::<Huge>];
    fn refused<T: Element, I: Index> = gather(axis = 0) (T[_, 1], I[_]);
    fn filled<T: Element, I: Index> = gather(axis = 0, out_of_bounds = zero) (T[3], I[_]);
    fn clamped<T: Element> = gather_elements(axis = 0, out_of_bounds = clamp) (T[3], i32[2]);
    fn tuples<T: Element> = gather_nd(out_of_bounds = wrap) (T[_], i32[_, 1]);
    fn blocks<T: Element> = batch_to_space(block = [1, 2]) (T[2, _]);
}

/// The greatest value that closures take and give.
type Greatest = [u8; 16 << 10];

gather_core::map_kernels! {
    static TAKES = |value: Greatest| -> u8 { value[1] };
    static GIVES = |value: u8| -> Greatest { [value; 16 << 10] };
    static BOTH = |value: Greatest, twice: Greatest| -> Greatest { if twice[0] == 0 { value } else { twice } };
}

gather_core::reduce_kernels! {
    static LAST = |_kept: Greatest, new: Greatest| -> Greatest { new };
}

/// The tests, each for a process of its own.
pub(super) const NAMED: &[(&str, fn())] = &[
    ("functions_of_gathers", functions_of_gathers),
    ("rows_of_slices", rows_of_slices),
    ("plans_for_any_count_and_slices", plans_for_any_count_and_slices),
    ("gathers_of_types_known_at_run_time", gathers_of_types_known_at_run_time),
    ("threads_help", threads_help),
    ("padded_blocks", padded_blocks),
    ("blocks_of_depth", blocks_of_depth),
    ("blocks_into_depth", blocks_into_depth),
    ("blocks_into_space", blocks_into_space),
    ("scatters_of_elements", scatters_of_elements),
    ("scatters_of_slices", scatters_of_slices),
    ("functions_of_scatters", functions_of_scatters),
    ("adjoints", adjoints),
    ("bags", bags),
    ("functions_of_declared_shapes", functions_of_declared_shapes),
    ("kernels_of_declared_shapes", kernels_of_declared_shapes),
    ("elements_that_are_no_arrays", elements_that_are_no_arrays),
    ("tensors", tensors),
    ("elements_that_are_copied", elements_that_are_copied),
    ("closures_of_maps", closures_of_maps),
    ("closures_of_reductions", closures_of_reductions),
];

/// An element that is no array.
#[derive(Clone, Copy, Element)]
#[repr(transparent)]
#[element(zero = Derived([7; N]))]
struct Derived(Huge);

/// Elements, each filled with one byte.
fn filled_with<const COUNT: usize>(values: [u8; COUNT]) -> Vec<Huge> {
    let mut bytes = vec![0; COUNT * N];
    bytes.chunks_exact_mut(N).zip(values).for_each(|(element, value)| element.fill(value));
    let (elements, rest) = bytes.as_chunks::<N>();
    assert!(rest.is_empty());
    elements.to_vec()
}

/// Checks that elements are filled with these bytes.
#[track_caller]
fn check<const COUNT: usize>(got: &[Huge], expected: [u8; COUNT]) {
    assert_eq!(got.len(), COUNT);
    assert!(got == filled_with(expected), "other bytes than {expected:?}");
}

#[track_caller]
fn refuses<T>(got: Result<T, Error>, expected: impl Fn(&Error) -> bool) {
    let error = got.err().expect("an error");
    assert!(expected(&error), "{error:?}");
}

fn unwrap<T, E: Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error:?}"),
    }
}

fn view<T>(values: &[T]) -> View<'_, T> {
    unwrap(View::new(values, &[values.len()]))
}

fn layout(shape: &[usize]) -> Layout {
    unwrap(Layout::contiguous(shape))
}

fn registry() -> &'static Registry {
    const { &Registry::builtin().with(&SET) }
}

fn downcast(tensor: DynTensor) -> Vec<Huge> {
    unwrap(tensor.downcast()).into_vec()
}

fn functions_of_gathers() {
    let data = filled_with([1, 2, 3]);
    let tuples = unwrap(View::new(&[2i64, 0], &[2, 1]));
    check(unwrap(gather(&view(&data), &view(&[2u8, 0]), 0)).as_slice(), [3, 1]);
    check(unwrap(gather_elements(&view(&data), &view(&[2i16, 0]), 0)).as_slice(), [3, 1]);
    check(unwrap(gather_nd(&view(&data), &tuples)).as_slice(), [3, 1]);
}

fn rows_of_slices() {
    let data = filled_with([1, 2, 3]);
    let mut out = filled_with([0, 0]);
    unwrap(rows_into(&data, 1, &[2u32, 0], &mut out));
    check(&out, [3, 1]);
    check(&unwrap(rows(&data, 1, &[1u32])), [2]);
}

fn plans_for_any_count_and_slices() {
    let data = filled_with([1, 2, 3]);
    let mut out = filled_with([0, 0]);
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let plan =
        unwrap(op.plan_any_count(&Spec::<Huge>::from_layout(&layout(&[3])), &Spec::<i32>::from_layout(&layout(&[0]))));
    unwrap(plan.run_slices(&data, &[2, 5], &mut out));
    check(&out, [3, 0]);
    check(unwrap(plan.run(&view(&data), &view(&[1]))).as_slice(), [2]);
    let reversed = unwrap(Layout::strided(&[2], &[-1]));
    let plan = unwrap(op.plan_into(
        &Spec::<Huge>::from_layout(&layout(&[3])),
        &Spec::<i32>::from_layout(&layout(&[2])),
        &reversed,
    ));
    unwrap(plan.run_into(&view(&data), &view(&[2, 5]), &mut unwrap(ViewMut::strided(&mut out, &[2], &[-1], 1))));
    check(&out, [0, 3]);
    assert_eq!(op.will_need(&view(&data), &view(&[2, 0])), plan.will_need(&view(&data), &view(&[2, 0])));
}

fn gathers_of_types_known_at_run_time() {
    let data = filled_with([1, 2, 3]);
    let ids = [2, 5];
    let (registry, op) = (registry(), Gather::new(0).out_of_bounds(OutOfBounds::Zero));
    let (data, ids) = (view(&data), view(&ids));
    let (data, ids) = (DynView::from(&data), DynView::from(&ids));
    let plan = unwrap(op.registry(registry).plan(&data, &ids));
    check(&downcast(unwrap(plan.run(&data, &ids))), [3, 0]);
    for planned in [false, true] {
        let mut out = filled_with([7, 7]);
        let mut typed = unwrap(ViewMut::new(&mut out, &[2]));
        let written = &mut DynViewMut::from(&mut typed);
        unwrap(if planned {
            plan.run_into(&data, &ids, written)
        } else {
            op.registry(registry).run_into(&data, &ids, written)
        });
        check(&out, [3, 0]);
    }
}

/// On two threads, which help with as little as this.
fn threads_help() {
    let data = filled_with([1, 2, 3]);
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).par(Par::Threads(2));
    check(unwrap(op.run(&view(&data), &view(&[2, 5]))).as_slice(), [3, 0]);
}

/// Goes through the doors of an operator that rearranges space.
fn rearranges<A: SpaceAttributes + Clone, const COUNT: usize>(
    op: &SpaceOperator<A>,
    (data, shape): (&[Huge], &[usize]),
    out_shape: &[usize],
    expected: [u8; COUNT],
) {
    let data = unwrap(View::new(data, shape));
    check(unwrap(op.run(&data)).as_slice(), expected);
    let mut out = filled_with([9; COUNT]);
    unwrap(op.run_into(&data, &mut unwrap(ViewMut::new(&mut out, out_shape))));
    check(&out, expected);
    unwrap(op.run_into(
        &data,
        &mut unwrap(ViewMut::new(&mut Vec::with_capacity(COUNT).spare_capacity_mut()[..COUNT], out_shape)),
    ));
    let plan = unwrap(op.plan(&data));
    check(unwrap(plan.run(&data)).as_slice(), expected);
    unwrap(plan.run_into(
        &data,
        &mut unwrap(ViewMut::new(&mut Vec::with_capacity(COUNT).spare_capacity_mut()[..COUNT], out_shape)),
    ));
    let mut out = filled_with([9; COUNT]);
    unwrap(plan.run_into(&data, &mut unwrap(ViewMut::new(&mut out, out_shape))));
    check(&out, expected);
    let (own, erased) = (op.clone().registry(registry()), DynView::from(&data));
    check(&downcast(unwrap(own.run(&erased))), expected);
    let plan = unwrap(own.plan(&erased));
    check(&downcast(unwrap(plan.run(&erased))), expected);
    let mut out = filled_with([9; COUNT]);
    let mut typed = unwrap(ViewMut::new(&mut out, out_shape));
    unwrap(plan.run_into(&erased, &mut DynViewMut::from(&mut typed)));
    check(&out, expected);
}

fn padded_blocks() {
    let data = filled_with([1]);
    rearranges(&SpaceToBatch::new(&[1, 2], &[0, 1], &[0, 0]), (&data, &[1, 1]), &[2, 1], [0, 1]);
    let data = unwrap(View::new(&data, &[1, 1]));
    check(unwrap(space_to_batch(&data, &[1, 2], &[0, 1], &[0, 0])).as_slice(), [0, 1]);
}

fn blocks_of_depth() {
    let data = filled_with([1, 2]);
    rearranges(&DepthToSpace::new(2, DepthMode::Dcr), (&data, &[1, 2, 1]), &[1, 1, 2], [1, 2]);
    let tall = unwrap(View::new(&data, &[1, 2, 1]));
    check(unwrap(depth_to_space(&tall, 2, DepthMode::Crd)).as_slice(), [1, 2]);
}

fn blocks_into_depth() {
    let data = filled_with([1, 2]);
    rearranges(&SpaceToDepth::new(2, DepthMode::Dcr), (&data, &[1, 1, 2]), &[1, 2, 1], [1, 2]);
    let wide = unwrap(View::new(&data, &[1, 1, 2]));
    check(unwrap(space_to_depth(&wide, 2, DepthMode::Crd)).as_slice(), [1, 2]);
}

fn blocks_into_space() {
    let data = filled_with([1, 2]);
    let tall = unwrap(View::new(&data, &[2, 1]));
    check(unwrap(batch_to_space(&tall, &[1, 2], &[0, 0], &[0, 0])).as_slice(), [1, 2]);
}

/// Goes through the doors of a scatter whose second update is dropped.
macro_rules! scatters {
    ($op:expr, $indices:expr) => {{
        let (op, indices) = ($op.out_of_bounds(ScatterOutOfBounds::Drop), $indices);
        let (data, new) = (filled_with([1, 2]), filled_with([5, 6]));
        let (data, new) = (view(&data), view(&new));
        check(unwrap(op.run(&data, &indices, &new)).as_slice(), [1, 5]);
        let mut out = filled_with([9, 9]);
        unwrap(op.run_into(&data, &indices, &new, &mut unwrap(ViewMut::new(&mut out, &[2]))));
        check(&out, [1, 5]);
        let mut out = filled_with([3, 4]);
        unwrap(op.run_on(&mut unwrap(ViewMut::new(&mut out, &[2])), &indices, &new));
        check(&out, [3, 5]);
        let plan = unwrap(op.plan(&Spec::<Huge>::new(&[2]).unwrap(), &indices, &new));
        check(unwrap(plan.run(&data, &indices, &new)).as_slice(), [1, 5]);
        unwrap(plan.run_into(&data, &indices, &new, &mut unwrap(ViewMut::new(&mut out, &[2]))));
        check(&out, [1, 5]);
        unwrap(plan.run_on(&mut unwrap(ViewMut::new(&mut out, &[2])), &indices, &new));
        check(unwrap(op.run_cloned(&data, &indices, &new)).as_slice(), [1, 5]);
        let by = |reduction| unwrap(op.clone().reduction(reduction).run(&data, &indices, &new));
        for (reduction, second) in [
            (Reduction::Add, 7),
            (Reduction::Sub, 253),
            (Reduction::Mul, 10),
            (Reduction::Min, 2),
            (Reduction::Max, 5),
            (Reduction::Mean, 3),
        ] {
            check(by(reduction).as_slice(), [1, second]);
        }
        let registry = registry();
        let (data, indices, new) = (DynView::from(&data), DynView::from(&indices), DynView::from(&new));
        check(&downcast(unwrap(op.registry(registry).run(&data, &indices, &new))), [1, 5]);
        let mut typed = unwrap(ViewMut::new(&mut out, &[2]));
        let written = &mut DynViewMut::from(&mut typed);
        unwrap(op.registry(registry).run_into(&data, &indices, &new, written));
        unwrap(op.registry(registry).run_on(written, &indices, &new));
        let (ids, updates) = (indices.layout(), new.layout());
        let plan = unwrap(op.registry(registry).plan(
            &Spec::from_dtype(Huge::DTYPE, &Layout::contiguous(&[2]).unwrap()),
            &Spec::from_dtype(IndexType::I32.dtype(), ids),
            &Spec::from_dtype(Huge::DTYPE, updates),
        ));
        check(&downcast(unwrap(plan.run(&data, &indices, &new))), [1, 5]);
        unwrap(plan.run_into(&data, &indices, &new, written));
        unwrap(plan.run_on(written, &indices, &new));
        check(&out, [1, 5]);
    }};
}

fn scatters_of_elements() {
    scatters!(ScatterElements::new(0), view(&[1, 7]));
}

fn scatters_of_slices() {
    scatters!(ScatterNd::new(), unwrap(View::new(&[1, 7], &[2, 1])));
}

fn functions_of_scatters() {
    let (data, new) = (filled_with([1, 2]), filled_with([5]));
    let (data, new, tuple) = (view(&data), view(&new), unwrap(View::new(&[1], &[1, 1])));
    check(unwrap(scatter_elements(&data, &view(&[1]), &new, 0, Reduction::None)).as_slice(), [1, 5]);
    check(unwrap(scatter_nd(&data, &tuple, &new, Reduction::None)).as_slice(), [1, 5]);
}

fn adjoints() {
    let gradient = filled_with([1, 2]);
    let (gradient, ids) = (view(&gradient), view(&[1, 0]));
    let tuples = unwrap(View::new(&[1, 0], &[2, 1]));
    check(unwrap(Gather::new(0).adjoint().run(&zeros(&[3]).unwrap(), &ids, &gradient)).as_slice(), [2, 1, 0]);
    check(unwrap(GatherElements::new(0).adjoint().run(&zeros(&[3]).unwrap(), &ids, &gradient)).as_slice(), [2, 1, 0]);
    check(unwrap(GatherNd::new().adjoint().run(&zeros(&[3]).unwrap(), &tuples, &gradient)).as_slice(), [2, 1, 0]);
    let (op, registry) = (Gather::new(0), registry());
    let mut memory = filled_with([7, 7, 7]);
    let mut out = unwrap(ViewMut::new(&mut memory, &[3]));
    unwrap(op.adjoint().run_on(&mut out, &ids, &gradient));
    let plan = unwrap(op.adjoint().plan_into(&Spec::from_layout(out.layout()), &ids, &gradient, out.layout()));
    unwrap(plan.run_on(&mut out, &ids, &gradient));
    let plan = op.registry(registry).adjoint().plan_into(
        &Spec::from_dtype(Huge::DTYPE, out.layout()),
        &Spec::from_dtype(IndexType::I32.dtype(), ids.layout()),
        &Spec::from_dtype(Huge::DTYPE, gradient.layout()),
        out.layout(),
    );
    let (ids, gradient) = (DynView::from(&ids), DynView::from(&gradient));
    unwrap(unwrap(plan).run_on(&mut DynViewMut::from(&mut out), &ids, &gradient));
    unwrap(op.registry(registry).adjoint().run_on(&mut DynViewMut::from(&mut out), &ids, &gradient));
    check(&memory, [15, 11, 7]);
}

fn bags() {
    let data = filled_with([1, 2]);
    let (data, ids) = (view(&data), unwrap(View::new(&[1, 0], &[1, 2])));
    let bags = Bags::packed(&ids);
    let is_refused = |error: &Error| matches!(error, Error::ReductionUnavailable { .. });
    for reduction in [Reduction::None, Reduction::Sub, Reduction::Mul] {
        refuses(EmbeddingBag::new(reduction).run(&data, &bags), is_refused);
    }
    let one = [(Reduction::Add, 3), (Reduction::Mean, 1), (Reduction::Max, 2), (Reduction::Min, 1)];
    for (reduction, expected) in one {
        let op = EmbeddingBag::new(reduction).out_of_bounds(OutOfBounds::Zero).default_index(1);
        check(unwrap(op.run(&data, &bags)).as_slice(), [expected]);
        let mut out = filled_with([7]);
        unwrap(op.run_into(&data, &bags, &mut unwrap(ViewMut::new(&mut out, &[1]))));
        check(&out, [expected]);
        let plan = unwrap(op.plan(&data, &bags));
        check(unwrap(plan.run(&data, &Bags::planned(&ids))).as_slice(), [expected]);
        let (data, ids) = (DynView::from(&data), DynView::from(&ids));
        check(&downcast(unwrap(op.run(&data, &Bags::packed(&ids)))), [expected]);
        let plan = unwrap(op.plan(&Spec::from_dtype(Huge::DTYPE, data.layout()), &Bags::packed(&ids)));
        check(&downcast(unwrap(plan.run(&data, &Bags::planned(&ids)))), [expected]);
    }
}

fn functions_of_declared_shapes() {
    let data = filled_with([1, 2, 3]);
    let mut out = filled_with([9, 9]);
    unwrap(refused(&data, &[2i32, 0], &mut out));
    check(&out, [3, 1]);
    refuses(refused(&data, &[2u8, 3], &mut out), |error| matches!(error, Error::IndexOutOfRange { index: 3, .. }));
    unwrap(filled(&data, &[3i64, 1], &mut out));
    check(&out, [0, 2]);
    unwrap(clamped(&data, &[7, -7], &mut out));
    check(&out, [3, 1]);
    unwrap(tuples(&data, &[5, 3], &mut out));
    check(&out, [3, 1]);
    unwrap(blocks(&data[..2], &mut out));
    check(&out, [1, 2]);
}

fn kernels_of_declared_shapes() {
    let data = filled_with([1, 2, 3]);
    let registry = const { &Registry::builtin().with(&DECLARED) };
    let (data, column) = (view(&data), unwrap(View::new(&data, &[3, 1])));
    let (data, column) = (DynView::from(&data), DynView::from(&column));
    let (ids, pairs) = (view(&[2, 3]), unwrap(View::new(&[2, 3], &[2, 1])));
    let (ids, pairs) = (DynView::from(&ids), DynView::from(&pairs));
    let out_of_range = |error: &Error| matches!(error, Error::IndexOutOfRange { index: 3, .. });
    refuses(Gather::new(0).registry(registry).run(&column, &ids), out_of_range);
    let zero = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    check(&downcast(unwrap(zero.registry(registry).run(&data, &ids))), [3, 0]);
    let clamp = GatherElements::new(0).out_of_bounds(OutOfBounds::Clamp);
    check(&downcast(unwrap(clamp.registry(registry).run(&data, &ids))), [3, 3]);
    let wrap = GatherNd::new().out_of_bounds(OutOfBounds::Wrap);
    check(&downcast(unwrap(wrap.registry(registry).run(&data, &pairs))), [3, 1]);
    let two = filled_with([1, 2]);
    let two = unwrap(View::new(&two, &[2, 1]));
    let op = BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]);
    check(&downcast(unwrap(op.registry(registry).run(&DynView::from(&two)))), [1, 2]);
}

/// Goes through doors that fill, with a table of no rows: `mine` gives the bytes of an element.
fn fills<T: Element>(value: u8, mine: impl Fn(&T) -> &[u8]) {
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let (data, ids) = (view::<T>(&[]), view(&[1u8, 0, 2]));
    let three = unwrap(op.run(&data, &ids)).into_vec();
    assert!(three.len() == 3 && three.iter().all(|element| mine(element).iter().all(|&byte| byte == value)));
    let mut out = unwrap(op.run(&data, &view(&[7u64]))).into_vec();
    unwrap(filled(&three, &[9], &mut out));
    assert!(mine(&out[0]) == mine(&three[0]));
    let erased = (DynView::from(&data), DynView::from(&ids));
    refuses(op.run(&erased.0, &erased.1), |error| matches!(error, Error::UnknownDType { .. }));
}

fn elements_that_are_no_arrays() {
    fills::<Derived>(7, |element| &element.0);
    fills::<Plain<[[u8; 4096]; 4096]>>(0, |element| element.0.as_flattened());
}

fn tensors() {
    let tensor = unwrap(Tensor::new(filled_with([1, 2]), &[2]));
    assert_eq!(tensor.view().get(&[1]).map(|element| element[N - 1]), Some(2));
    let tensor = tensor.clone();
    let flat = tensor.into_flattened();
    assert_eq!((flat.shape(), flat.as_slice()[N]), (&[2, N][..], 2));
}

fn elements_that_are_copied() {
    let data = filled_with([1, 2, 3]);
    let (data, ids, fill) = (view(&data), view(&[2, 5]), filled_with([8]));
    let op = Gather::new(0);
    check(unwrap(op.run_cloned_or(&data, &view(&[2, 0]), &fill[0])).as_slice(), [3, 1]);
    let zero = op.out_of_bounds(OutOfBounds::Zero);
    check(unwrap(zero.run_cloned_or(&data, &ids, &fill[0])).as_slice(), [3, 8]);
    let padded = SpaceToBatch::new(&[1, 2], &[0, 1], &[0, 0]);
    let column = filled_with([1]);
    check(unwrap(padded.run_cloned_or(&unwrap(View::new(&column, &[1, 1])), &fill[0])).as_slice(), [8, 1]);
    let tall = filled_with([1, 2]);
    let tall = unwrap(View::new(&tall, &[2, 1]));
    check(unwrap(BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]).run_cloned(&tall)).as_slice(), [1, 2]);
}

fn closures_of_maps() {
    let data = vec![1; 2 * size_of::<Greatest>()];
    let (data, ids) = (view(data.as_chunks().0), view(&[1, 0, 1]));
    let op = Gather::new(0);
    assert_eq!(unwrap(op.run(&data.map(&TAKES, ()), &ids)).as_slice(), [1, 1, 1]);
    let given = unwrap(op.run(&view(&[3, 4]).map(&GIVES, ()), &ids));
    assert!(given.as_slice().iter().zip([4, 3, 4]).all(|(given, value)| given.iter().all(|&byte| byte == value)));
    let rows = unwrap(View::new(given.as_slice(), &[1, 3]));
    let both = |param| unwrap(GatherNd::new().run(&rows.map(&BOTH, (param,)), &unwrap(View::new(&[0], &[1, 1]))));
    let zeros = vec![0; 3 * size_of::<Greatest>()];
    for param in [Given::PerElement(zeros.as_chunks().0), Given::PerRow(&zeros.as_chunks().0[..1])] {
        assert!(both(param).as_slice() == given.as_slice());
    }
}

fn closures_of_reductions() {
    let data = vec![1; 2 * size_of::<Greatest>()];
    let new = vec![2; 2 * size_of::<Greatest>()];
    let (data, new) = (view(data.as_chunks().0), view(new.as_chunks().0));
    let last = |element: &Greatest, value: u8| element.iter().all(|&byte| byte == value);
    for method in [Method::Direct, Method::Blocks, Method::Chunks, Method::Grouped] {
        let op = ScatterElements::new(0).method(method);
        let out = unwrap(op.reduce_by(&LAST).run(&data, &view(&[1, 1]), &new));
        assert!(last(&out.as_slice()[0], 1) && last(&out.as_slice()[1], 2));
    }
    let ids = unwrap(View::new(&[0, 1], &[1, 2]));
    let out = unwrap(EmbeddingBag::new(Reduction::None).reduce_by(&LAST).run(&data, &Bags::packed(&ids)));
    assert!(last(&out.as_slice()[0], 1));
}

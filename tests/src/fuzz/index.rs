//! What the cases of the index operators share: running a call through every door and comparing with the oracle.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{DynView, DynViewMut, Element, Error, Index, Layout, Method, Plan, Spec, Tensor, View};

use super::draw::{self, Tuning};
use super::elements::{ElementKind, Sample, Word, WordKind};
use super::index_op::IndexOp;
use super::judge::{Expected, OnPanic, misaligned};
use super::memory::{Guarded, Place};
use super::nulls;
use super::{Outcome, shapes};
use crate::oracle::{Dense, Rules};

/// A model of an operator: its shape rules, and the oracle.
pub(super) trait Model: Debug {
    /// The operator with these attributes. It keeps its policies unless `tuning` has others.
    fn operator(&self) -> IndexOp;
    /// The shape of the result, or why there is none.
    fn shape(&self, data: &[usize], indices: &[usize]) -> std::result::Result<Vec<usize>, Error>;
    /// The one axis that indices run along; none where tuples have not one component.
    fn axis(&self, data: &[usize], indices: &[usize]) -> Option<usize>;
    /// The size of the axis that an index refers to, by the last coordinate of the index.
    fn dim(&self, data: &[usize], last: usize) -> usize;
    /// The elements of the result. Both shapes are known to fit.
    fn values(
        &self,
        data: &Dense<Option<usize>>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> std::result::Result<Dense<Option<usize>>, Error>;
}

/// A case with everything that was drawn for it.
#[derive(Debug)]
struct Case {
    op: IndexOp,
    method: Option<Method>,
    data: Place,
    indices: Place,
    index_memory: Vec<i128>,
    out: Place,
    /// The position in data of every element of the result; `None` is the fill value.
    expected: std::result::Result<Dense<Option<usize>>, Error>,
    /// The same where some indices and elements are null.
    nulls: Option<nulls::Given>,
}

/// Runs a model on shapes through every door, with drawn types, layouts, policies, levels, methods and threads.
pub(super) fn run(u: &mut Unstructured<'_>, model: &impl Model, data: &[usize], indices: &[usize]) -> Result<Outcome> {
    let tuning = Tuning::draw(u)?;
    let (element, word) = (u.arbitrary::<ElementKind>()?, u.arbitrary::<WordKind>()?);
    let shape = model.shape(data, indices);
    let data = Place::draw(u, data, true)?;
    let indices = Place::draw(u, indices, true)?;
    let out = Place::draw(u, shape.as_deref().unwrap_or(&[1]), false)?;
    let index_memory = draw::indices(u, &indices, word, tuning.rules, |last| model.dim(&data.shape, last))?;
    let positions = |place: &Place| place.positions();
    let read = positions(&indices);
    let read = Dense { values: read.values.iter().map(|&at| index_memory[at]).collect(), shape: read.shape };
    let op = model.operator().tuned(&tuning);
    let nulls = match &shape {
        Ok(_) if draw::one_in(u, 2)? => nulls::Given::draw(u, (&op, model), &data, &read, tuning.rules)?,
        _ => None,
    };
    let expected = shape.and_then(|_| {
        let from = positions(&data);
        let from = Dense { shape: from.shape, values: from.values.into_iter().map(Some).collect() };
        model.values(&from, &read, tuning.rules)
    });
    let outcome = Outcome::of(&expected);
    let case = Case { op, method: tuning.method, data, indices, index_memory, out, expected, nulls };
    with_element!(element, T => with_word!(word, I => check::<T, I>(&case)));
    Ok(outcome)
}

/// Compares every door with what is expected.
fn check<T: Sample, I: Word>(case: &Case) {
    let _shown = OnPanic(case);
    let data_memory: Vec<T> = (0..case.data.len as u64).map(T::sample).collect();
    let index_memory: Vec<I> = case.index_memory.iter().map(|&index| I::of(index)).collect();
    let (data, indices) = (case.data.view(&data_memory), case.indices.view(&index_memory));
    let expected = Expected::new(&case.expected, &data_memory);
    expected.is_shape(case.op.output_shape(&case.data.shape, &case.indices.shape));
    let op = with_method(case, &data, &indices);

    expected.is("run", op.run(&data, &indices));
    // A method may take a row-major output and refuse another.
    let given = if case.method.is_some() && refuses(&op, &data, &indices, &case.out) { &case.op } else { &op };
    expected.is_written("run_into", &case.out, &|out| given.run_into(&data, &indices, out), &|out| {
        op.run_into(&data, &indices, out)
    });
    let (erased, list) = (DynView::from(&data), DynView::from(&indices));
    expected.is_dyn("run_dyn", op.run(&erased, &list));
    expected.is_laid("run_dyn_into", &case.out, &|out| given.run_into(&erased, &list, &mut DynViewMut::from(out)));
    match op.plan(&erased, &list) {
        Ok(plan) => {
            expected.is_dyn("plan_dyn, run", plan.run(&erased, &list));
            expected.is_laid("plan_dyn, run_into", &Place::dense(plan.output_shape()), &|out| {
                plan.run_into(&erased, &list, &mut DynViewMut::from(out))
            });
        }
        Err(error) => expected.is("plan_dyn", Err(error)),
    }
    let out_layout = Layout::strided(&case.out.shape, &case.out.strides).expect("the layout of a place");
    match given.plan_into(&data, &indices, &out_layout) {
        Ok(plan) => {
            expected.is_laid("plan_into, run_into", &case.out, &|out| plan.run_into(&data, &indices, out));
        }
        Err(error) => expected.is("plan_into", Err(error)),
    }
    any_count(case, &op, (&data, &indices), (&data_memory, &index_memory), &expected);
    if case.data.is_dense() && case.indices.is_dense() {
        let (data, indices) = (misaligned(&data_memory), misaligned(&index_memory));
        let (data, indices) = (data.view(&case.data.shape), indices.view(&case.indices.shape));
        expected.is_dyn("run_dyn on misaligned bytes", op.run(&data, &indices));
    }
    match op.plan(&data, &indices) {
        Ok(plan) => {
            let dense = Place::dense(plan.output_shape());
            assert!(!plan.explain().to_string().is_empty());
            expected.is("plan.run", plan.run(&data, &indices));
            slices("plan.run_slices", case, &plan, (&data_memory, &index_memory), &expected);
            expected.is_written("plan.run_into", &dense, &|out| plan.run_into(&data, &indices, out), &|out| {
                plan.run_into(&data, &indices, out)
            });
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    cloned(case, &indices);
    if let Some(nulls) = &case.nulls {
        nulls.check(&case.op, (&data, &indices), &data_memory);
    }
}

/// Runs a plan on slices, where the tensors are whole slices; else it must refuse them.
fn slices<T: Sample, I: Word>(
    door: &str,
    case: &Case,
    plan: &Plan<T, I>,
    (data, indices): (&[T], &[I]),
    expected: &Expected<T>,
) {
    if !case.data.is_dense() || !case.indices.is_dense() {
        return;
    }
    let place = Place::dense(case.expected.as_ref().map_or(plan.output_shape(), |expected| &expected.shape));
    let mut guarded = Guarded::<T>::new(&place);
    let ran = plan.run_slices(data, indices, &mut guarded.memory);
    expected.is(door, ran.and_then(|()| Tensor::new(guarded.memory, &place.shape)));
}

/// Runs a plan for any count, where the first dimension of indices is free.
fn any_count<T: Sample, I: Word>(
    case: &Case,
    op: &IndexOp,
    (data, indices): (&View<'_, T>, &View<'_, I>),
    memory: (&[T], &[I]),
    expected: &Expected<T>,
) {
    let plan = op.plan_any_count(data, indices);
    let plan = match (plan, &case.expected) {
        (Ok(plan), _) => plan,
        // What is planned for another count may take no such method.
        (Err(Error::AnyCountUnavailable { .. }), Ok(_) | Err(Error::IndexOutOfRange { .. })) => return,
        (Err(Error::MethodUnavailable { .. }), _) if case.method.is_some() => return,
        (Err(error), _) => return expected.is("plan_any_count", Err(error)),
    };
    expected.is("plan_any_count, run", plan.run(data, indices));
    slices("plan_any_count, run_slices", case, &plan, memory, expected);
    let dense = Place::dense(plan.output_shape());
    expected.is_written("plan_any_count, run_into", &dense, &|out| plan.run_into(data, indices, out), &|out| {
        plan.run_into(data, indices, out)
    });
    // The same plan, made for another count.
    let mut shape = indices.shape().to_vec();
    shape[0] = if shape[0] > 40 { 3 } else { 700 };
    let other = Layout::strided(&shape, indices.layout().strides()).expect("a few more indices");
    let plan = op.plan_any_count(data, &Spec::<I>::from_layout(&other));
    match plan {
        Ok(plan) => expected.is("plan_any_count of another, run", plan.run(data, indices)),
        Err(error) => {
            let refused = matches!(error, Error::MethodUnavailable { .. }) && case.method.is_some();
            assert!(refused || matches!(error, Error::IndicesShapeMismatch { .. }), "another count: {error}");
        }
    }
}

/// The operator with the drawn method forced if that method takes the case, and without it if not. A method takes a
/// case through all doors or through none.
fn with_method<T: Element, I: Index>(case: &Case, data: &View<'_, T>, indices: &View<'_, I>) -> IndexOp {
    let Some(method) = case.method else { return case.op.clone() };
    let forced = case.op.clone().method(method);
    match forced.run(data, indices) {
        Err(error @ Error::MethodUnavailable { .. }) => {
            assert_ne!(method, Method::Direct, "it takes any shape");
            assert_eq!(forced.plan(data, indices).unwrap_err(), error);
            case.op.clone()
        }
        _ => forced,
    }
}

/// Whether the operator's method refuses an output of this layout. Also checks that a refused output is left untouched.
fn refuses<T: Sample, I: Index>(op: &IndexOp, data: &View<'_, T>, indices: &View<'_, I>, out: &Place) -> bool {
    let mut guarded = Guarded::<T>::new(out);
    let ran = op.run_into(data, indices, &mut out.view_mut(&mut guarded.memory));
    let refused = matches!(ran, Err(Error::MethodUnavailable { .. }));
    assert!(!refused || guarded.is_intact(out, true), "a refused call has written");
    refused
}

/// The same for a cloned type: each element owns memory that identifies it.
fn cloned<I: Index>(case: &Case, indices: &View<'_, I>) {
    type Owned = Option<Box<usize>>;
    let memory: Vec<Owned> = (0..case.data.len).map(|at| Some(Box::new(at))).collect();
    let got = case.op.run_cloned(&case.data.view(&memory), indices);
    match (&case.expected, got) {
        (Ok(expected), Ok(got)) => {
            let values: Vec<Option<usize>> = got.as_slice().iter().map(|value| value.as_deref().copied()).collect();
            assert_eq!((got.shape(), values), (&expected.shape[..], expected.values.clone()), "run_cloned");
        }
        (expected, got) => assert_eq!(got.err(), expected.as_ref().err().cloned(), "run_cloned"),
    }
}

/// Runs a model on absurd shapes and layouts: inference and planning give what they must, or refuse.
pub(super) fn infer(u: &mut Unstructured<'_>, model: &impl Model) -> Result<Outcome> {
    let (data, indices) = (shapes::wild(u)?, shapes::wild(u)?);
    let strides = |u: &mut Unstructured<'_>, rank: usize| (0..rank).map(|_| draw::wild_stride(u)).collect();
    let (data_strides, index_strides): (Result<Vec<_>>, Result<Vec<_>>) =
        (strides(u, data.len()), strides(u, indices.len()));
    let (data_strides, index_strides) = (data_strides?, index_strides?);
    let tuning = Tuning::draw(u)?;
    let word = u.arbitrary::<WordKind>()?;

    let op = model.operator().tuned(&tuning);
    let case = (&op, &data, &indices, &data_strides, &index_strides);
    let _shown = OnPanic(&case);
    let expected = shapes::inferred(&[&data, &indices], || model.shape(&data, &indices));
    assert_eq!(op.output_shape(&data, &indices).map(|shape| shape.to_vec()), expected);
    let outcome = Outcome::of(&expected);
    let layouts =
        Layout::strided(&data, &data_strides).and_then(|d| Ok((d, Layout::strided(&indices, &index_strides)?)));
    let (data, indices) = match layouts {
        Ok(layouts) => layouts,
        Err(error) => {
            assert_eq!(Err(error), expected.map(drop));
            return Ok(outcome);
        }
    };
    let op = tuning.method.map_or(op.clone(), |method| op.clone().method(method));
    with_word!(word, I => {
        let plan = op.plan(&Spec::<u64>::from_layout(&data), &Spec::<I>::from_layout(&indices));
        shapes::planned::<u64>(&expected, tuning.method, plan.map(|plan| {
            (plan.output_shape().to_vec(), plan.explain().to_string())
        }));
    });
    Ok(outcome)
}

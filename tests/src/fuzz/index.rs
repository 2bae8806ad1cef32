//! What the cases of the index operators have in common: every face of a call against the oracle.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use arbitrary::{Result, Unstructured};
use gather_core::{
    DynTensor, DynView, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Plan, Registry, Shape,
    Strategy, Tensor, View, ViewMut,
};

use super::draw::{self, Tuning};
use super::elements::{ElementKind, OWN, Sample, Word, WordKind};
use super::judge::{Expected, OnPanic, misaligned};
use super::memory::{Guarded, Place};
use super::{Outcome, shapes};
use crate::oracle::{Dense, Rules};

/// What an operator ought to do: its rules of shapes, and the oracle.
pub(super) trait Model: Debug {
    /// The operator with these attributes, which keeps its policies unless `tuning` has others.
    fn operator(&self) -> IndexOp;
    /// The shape of the result, or why there is none.
    fn shape(&self, data: &[usize], indices: &[usize]) -> std::result::Result<Vec<usize>, Error>;
    /// The size that an index is for, by the last coordinate of its place.
    fn dim(&self, data: &[usize], last: usize) -> usize;
    /// The elements of the result; both shapes are known to fit.
    fn values(
        &self,
        data: &Dense<Option<usize>>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> std::result::Result<Dense<Option<usize>>, Error>;
}

/// An index operator.
#[derive(Clone, Debug)]
pub(super) enum IndexOp {
    Gather(Gather),
    Elements(GatherElements),
    Nd(GatherNd),
}

macro_rules! with_op {
    ($chosen:expr, $op:ident => $body:expr) => {
        match $chosen {
            IndexOp::Gather($op) => $body,
            IndexOp::Elements($op) => $body,
            IndexOp::Nd($op) => $body,
        }
    };
}

impl From<Gather> for IndexOp {
    fn from(op: Gather) -> Self {
        IndexOp::Gather(op)
    }
}

impl From<GatherElements> for IndexOp {
    fn from(op: GatherElements) -> Self {
        IndexOp::Elements(op)
    }
}

impl From<GatherNd> for IndexOp {
    fn from(op: GatherNd) -> Self {
        IndexOp::Nd(op)
    }
}

type Ran<T> = std::result::Result<T, Error>;

impl IndexOp {
    fn tuned(self, tuning: &Tuning) -> Self {
        with_op!(self, op => op
            .negative_index(tuning.negative)
            .out_of_bounds(tuning.out_of_bounds)
            .par(tuning.par)
            .level(tuning.level)
            .into())
    }

    fn strategy(self, strategy: Strategy) -> Self {
        with_op!(self, op => op.strategy(strategy).into())
    }

    fn output_shape(&self, data: &[usize], indices: &[usize]) -> Ran<Shape> {
        with_op!(self, op => op.output_shape(data, indices))
    }

    fn plan<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Ran<Plan<T, I>> {
        with_op!(self, op => op.plan(data, indices))
    }

    fn run<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Ran<Tensor<T>> {
        with_op!(self, op => op.run(data, indices))
    }

    fn run_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut ViewMut<'_, T>,
    ) -> Ran<()> {
        with_op!(self, op => op.run_into(data, indices, out))
    }

    fn run_uninit<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut ViewMut<'_, MaybeUninit<T>>,
    ) -> Ran<()> {
        with_op!(self, op => op.run_uninit(data, indices, out))
    }

    fn run_cloned<T: Clone + Default, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Ran<Tensor<T>> {
        with_op!(self, op => op.run_cloned(data, indices))
    }

    fn run_dyn(&self, data: &DynView<'_>, indices: &DynView<'_>) -> Ran<DynTensor> {
        with_op!(self, op => op.run_dyn(&Registry::builtin().with(&OWN), data, indices))
    }
}

/// A case with all that is drawn for it.
#[derive(Debug)]
struct Case {
    op: IndexOp,
    strategy: Option<Strategy>,
    data: Place,
    indices: Place,
    index_memory: Vec<i128>,
    out: Place,
    /// The data position of every element of the result, or the fill.
    expected: std::result::Result<Dense<Option<usize>>, Error>,
}

/// Runs a model on shapes: through every face, on drawn types, layouts, policies, levels, strategies and threads.
pub(super) fn run(u: &mut Unstructured<'_>, model: &impl Model, data: &[usize], indices: &[usize]) -> Result<Outcome> {
    let tuning = Tuning::draw(u)?;
    let (element, word) = (u.arbitrary::<ElementKind>()?, u.arbitrary::<WordKind>()?);
    let shape = model.shape(data, indices);
    let data = Place::draw(u, data, true)?;
    let indices = Place::draw(u, indices, true)?;
    let out = Place::draw(u, shape.as_deref().unwrap_or(&[1]), false)?;
    let index_memory = draw::indices(u, &indices, word, tuning.rules, |last| model.dim(&data.shape, last))?;
    let positions = |place: &Place| place.positions();
    let expected = shape.and_then(|_| {
        let from = positions(&data);
        let from = Dense { shape: from.shape, values: from.values.into_iter().map(Some).collect() };
        let read = positions(&indices);
        let read = Dense { values: read.values.iter().map(|&at| index_memory[at]).collect(), shape: read.shape };
        model.values(&from, &read, tuning.rules)
    });
    let outcome = Outcome::of(&expected);
    let op = model.operator().tuned(&tuning);
    let case = Case { op, strategy: tuning.strategy, data, indices, index_memory, out, expected };
    with_element!(element, T => with_word!(word, I => check::<T, I>(&case)));
    Ok(outcome)
}

/// Holds every face against what is expected.
fn check<T: Sample, I: Word>(case: &Case) {
    let _shown = OnPanic(case);
    let data_memory: Vec<T> = (0..case.data.len as u64).map(T::sample).collect();
    let index_memory: Vec<I> = case.index_memory.iter().map(|&index| I::of(index)).collect();
    let (data, indices) = (case.data.view(&data_memory), case.indices.view(&index_memory));
    let expected = Expected::new(&case.expected, &data_memory);
    expected.is_shape(case.op.output_shape(&case.data.shape, &case.indices.shape));
    let op = strategic(case, &data, &indices);

    expected.is("run", op.run(&data, &indices));
    // A strategy may take a row-major output and refuse another.
    let given = if case.strategy.is_some() && refuses(&op, &data, &indices, &case.out) { &case.op } else { &op };
    expected.is_written("run_into", &case.out, &|out| given.run_into(&data, &indices, out), &|out| {
        op.run_uninit(&data, &indices, out)
    });
    expected.is_dyn("run_dyn", op.run_dyn(&DynView::from(&data), &DynView::from(&indices)));
    if case.data.is_dense() && case.indices.is_dense() {
        let (data, indices) = (misaligned(&data_memory), misaligned(&index_memory));
        let (data, indices) = (data.view(&case.data.shape), indices.view(&case.indices.shape));
        expected.is_dyn("run_dyn on misaligned bytes", op.run_dyn(&data, &indices));
    }
    match op.plan::<T, I>(data.layout(), indices.layout()) {
        Ok(plan) => {
            let dense = Place::dense(plan.output_shape());
            assert!(!plan.explain().to_string().is_empty());
            expected.is("plan.run", plan.run(&data, &indices));
            expected.is_written("plan.run_into", &dense, &|out| plan.run_into(&data, &indices, out), &|out| {
                plan.run_uninit(&data, &indices, out)
            });
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    cloned(case, &indices);
}

/// The operator with the strategy that is to be forced, if it takes the case: then through all faces, else through none.
fn strategic<T: Element, I: Index>(case: &Case, data: &View<'_, T>, indices: &View<'_, I>) -> IndexOp {
    let Some(strategy) = case.strategy else { return case.op.clone() };
    let forced = case.op.clone().strategy(strategy);
    match forced.run(data, indices) {
        Err(error @ Error::StrategyUnavailable { .. }) => {
            assert_ne!(strategy, Strategy::Direct, "it takes any shape");
            assert_eq!(forced.plan::<T, I>(data.layout(), indices.layout()).unwrap_err(), error);
            case.op.clone()
        }
        _ => forced,
    }
}

/// Whether an operator has a strategy that does not take an output of this layout; that it then leaves it alone.
fn refuses<T: Sample, I: Index>(op: &IndexOp, data: &View<'_, T>, indices: &View<'_, I>, out: &Place) -> bool {
    let mut guarded = Guarded::<T>::new(out);
    let ran = op.run_into(data, indices, &mut out.view_mut(&mut guarded.memory));
    let refused = matches!(ran, Err(Error::StrategyUnavailable { .. }));
    assert!(!refused || guarded.is_intact(out, true), "a refused call has written");
    refused
}

/// The same for a type that is cloned: each element owns the memory that says which it is.
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

/// Runs a model on shapes and layouts that nothing real has: inference and plans are as they should, or refuse.
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
    let op = tuning.strategy.map_or(op.clone(), |strategy| op.clone().strategy(strategy));
    with_word!(word, I => {
        shapes::planned::<u64>(&expected, tuning.strategy, op.plan::<u64, I>(&data, &indices).map(|plan| {
            (plan.output_shape().to_vec(), plan.explain().to_string())
        }));
    });
    Ok(outcome)
}

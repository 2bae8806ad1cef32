//! Cases of the operators that rearrange space: what they share.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{DynView, DynViewMut, Error, Layout, Registry, SpaceAttributes, SpaceOperator, Spec, Tensor, View};

use super::elements::{ElementKind, OWN, Sample, WordKind};
use super::judge::{Expected, OnPanic, misaligned};
use super::memory::Place;
use super::{Outcome, draw, shapes};
use crate::oracle::Dense;

pub(super) type Shaped = std::result::Result<Vec<usize>, Error>;

/// The same operator, made in another way, or why it is refused.
pub(super) type Other<A> = (&'static str, std::result::Result<SpaceOperator<A>, Error>);

/// An operator with what it must do.
pub(super) trait Model: Debug {
    type Attributes: SpaceAttributes + Clone + Debug;

    fn operator(&self) -> SpaceOperator<Self::Attributes>;

    /// The same operator, made in other ways.
    fn others(&self, word: WordKind) -> Vec<Other<Self::Attributes>>;

    /// The shape of the result, or why there is none.
    fn shape(&self, data: &[usize]) -> Shaped;

    /// The position in data of each element of the result; `None` where it is padded. The parameters are known to fit.
    fn values(&self, data: &Dense<Option<usize>>) -> Dense<Option<usize>>;

    /// Runs the operator by cloning, on elements none of which is padding.
    fn cloned(&self, data: &View<'_, Option<Box<usize>>>) -> std::result::Result<Tensor<Option<Box<usize>>>, Error>;
}

#[derive(Debug)]
struct Case<'a, M: Model> {
    model: &'a M,
    op: SpaceOperator<M::Attributes>,
    word: WordKind,
    data: Place,
    out: Place,
    expected: std::result::Result<Dense<Option<usize>>, Error>,
}

/// Runs an operator through every door and compares with the oracle.
pub(super) fn run<M: Model>(u: &mut Unstructured<'_>, model: &M, data: &[usize]) -> Result<Outcome> {
    let (element, word) = (u.arbitrary::<ElementKind>()?, u.arbitrary::<WordKind>()?);
    let op = model.operator().par(draw::par(u)?).level(draw::level(u)?);
    let shape = model.shape(data).and_then(|shape| {
        // Wrong parameters may leave more elements than a case may have.
        let len = shapes::product(&shape, 1).filter(|&len| len <= MOST);
        len.map(|_| shape.clone()).ok_or(Error::TooManyElements { shape: shape.into() })
    });
    let large = matches!(&shape, Err(Error::TooManyElements { shape }) if shapes::product(shape, 1).is_some());
    if large {
        return Err(arbitrary::Error::IncorrectFormat);
    }
    let data = Place::draw(u, data, true)?;
    let out = Place::draw(u, shape.as_deref().unwrap_or(&[1]), false)?;
    let expected = shape.map(|_| {
        let Dense { shape, values } = data.positions();
        model.values(&Dense { shape, values: values.into_iter().map(Some).collect() })
    });
    let outcome = Outcome::of(&expected);
    let case = Case { model, op, word, data, out, expected };
    with_element!(element, T => check::<M, T>(&case));
    Ok(outcome)
}

/// The most elements that wrong parameters may ask for.
const MOST: usize = 1 << 16;

/// Compares every door with what is expected.
fn check<M: Model, T: Sample>(case: &Case<'_, M>) {
    let _shown = OnPanic(case);
    let memory: Vec<T> = (0..case.data.len as u64).map(T::sample).collect();
    let data = case.data.view(&memory);
    let op = &case.op;
    let expected = Expected::new(&case.expected, &memory);

    expected.is_shape(op.output_shape(&case.data.shape));
    expected.is("run", op.run(&data));
    expected.is_written("run_into", &case.out, &|out| op.run_into(&data, out), &|out| op.run_into(&data, out));
    static REGISTRY: Registry = Registry::builtin().with(&OWN);
    let (own, erased) = (op.clone().registry(&REGISTRY), DynView::from(&data));
    expected.is_dyn("run_dyn", own.run(&erased));
    expected.is_laid("run_dyn_into", &case.out, &|out| own.run_into(&erased, &mut DynViewMut::from(out)));
    match own.plan(&erased) {
        Ok(plan) => {
            expected.is_dyn("plan_dyn, run", plan.run(&erased));
            expected.is_laid("plan_dyn, run_into", &Place::dense(plan.output_shape()), &|out| {
                plan.run_into(&erased, &mut DynViewMut::from(out))
            });
        }
        Err(error) => expected.is("plan_dyn", Err(error)),
    }
    let out_layout = Layout::strided(&case.out.shape, &case.out.strides).expect("the layout of a place");
    match op.plan_into(&data, &out_layout) {
        Ok(plan) => expected.is_laid("plan_into, run_into", &case.out, &|out| plan.run_into(&data, out)),
        Err(error) => expected.is("plan_into", Err(error)),
    }
    if case.data.is_dense() {
        let data = misaligned(&memory);
        let got = own.run(&data.view(&case.data.shape));
        expected.is_dyn("run_dyn on misaligned bytes", got);
    }
    match op.plan(&data) {
        Ok(plan) => {
            assert!(!plan.explain().to_string().is_empty());
            expected.is("plan.run", plan.run(&data));
            if case.data.is_dense() {
                let mut out: Vec<T> =
                    (0..plan.output_shape().iter().product::<usize>() as u64).map(T::sample).collect();
                let ran = plan.run_slices(&memory, &mut out);
                expected.is("plan.run_slices", ran.and_then(|()| Tensor::new(out, plan.output_shape())));
            }
            let dense = Place::dense(plan.output_shape());
            expected.is_written("plan.run_into", &dense, &|out| plan.run_into(&data, out), &|out| {
                plan.run_into(&data, out)
            });
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    for (door, other) in case.model.others(case.word) {
        expected.is(door, other.and_then(|op| op.par(case.op.get_par()).run(&data)));
    }
    cloned(case);
}

/// The same for a cloned type: each element owns memory that identifies it.
fn cloned<M: Model>(case: &Case<'_, M>) {
    let memory: Vec<Option<Box<usize>>> = (0..case.data.len).map(|at| Some(Box::new(at))).collect();
    let got = case.model.cloned(&case.data.view(&memory));
    let values =
        |got: &Tensor<Option<Box<usize>>>| got.as_slice().iter().map(|value| value.as_deref().copied()).collect();
    let got = got.map(|got| (got.shape().to_vec(), values(&got)));
    let expected = case.expected.as_ref().map(|expected| (expected.shape.clone(), expected.values.clone()));
    assert_eq!(got, expected.map_err(Error::clone), "run_cloned");
}

/// Checks inference and planning on absurd shapes and layouts.
pub(super) fn infer<M: Model>(u: &mut Unstructured<'_>, model: &M, data: &[usize]) -> Result<Outcome> {
    let strides = data.iter().map(|_| draw::wild_stride(u)).collect::<Result<Vec<_>>>()?;
    let op = model.operator();
    let case = (&op, &data, &strides);
    let _shown = OnPanic(&case);
    let expected = shapes::inferred(&[data], || model.shape(data));
    assert_eq!(op.output_shape(data).map(|shape| shape.to_vec()), expected);
    match Layout::strided(data, &strides) {
        Ok(layout) => shapes::planned::<u32>(
            &expected,
            None,
            op.plan(&Spec::<u32>::from_layout(&layout))
                .map(|plan| (plan.output_shape().to_vec(), plan.explain().to_string())),
        ),
        Err(error) => assert_eq!(Err(error), expected.as_ref().map(drop).map_err(Error::clone)),
    }
    Ok(Outcome::of(&expected))
}

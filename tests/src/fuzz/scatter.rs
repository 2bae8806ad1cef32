//! Cases of ScatterElements and ScatterNd: drawn as those of the gathers that read where they write, with updates, a
//! reduction, and a destination that is changed in place.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{
    DynView, DynViewMut, Error, Layout, Method, Op, Reduction, Registry, ScatterAttributes, ScatterElements, ScatterNd,
    ScatterOperator, Spec, View, ViewMut,
};

use super::draw::{self, Tuning};
use super::elements::{Sample, Word, WordKind, mixed};
use super::index::Model;
use super::judge::{Expected, OnPanic};
use super::memory::{Guarded, Place};
use super::{Outcome, gather_elements, gather_nd};
use crate::oracle::{Dense, Rule, Rules};
use crate::policies::of_scatters;

gather_core::kernels! {
    /// Kernels of some types and ranks, beside the built-in ones of the others.
    static OWN;
    elements: [u8, i32, f32, f64];
    indices: [u8, i32, i64];
    ranks: 1..=2, any;
    ops: [scatter_elements, scatter_nd];
}

/// Runs ScatterElements through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn scatter_elements(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let (mut model, data, indices) = gather_elements::Attributes::with_shapes(u)?;
    model.equal = false;
    let op = ScatterElements::new(model.axis);
    run(u, Op::ScatterElements, op, &model, (&data, &indices))
}

/// Runs ScatterNd through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn scatter_nd(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let (mut model, data, indices) = gather_nd::Attributes::with_shapes(u)?;
    model.flatten = false;
    let op = if model.components { ScatterNd::onnx18(Reduction::None) } else { ScatterNd::new() };
    run(u, Op::ScatterNd, op.batch_dims(model.batch_dims), &model, (&data, &indices))
}

/// Elements with a reduction that the plain loop has too.
pub(super) trait Number: Sample + PartialEq + Debug {
    fn number(at: u64) -> Self;
    fn combine(reduction: Reduction, kept: Self, new: Self) -> Self;
}

macro_rules! numbers {
    ($($ty:ident: $at:ident => $value:expr, $add:expr, $sub:expr, $mul:expr;)*) => {$(
        impl Number for $ty {
            fn number($at: u64) -> Self {
                $value
            }

            fn combine(reduction: Reduction, kept: Self, new: Self) -> Self {
                match reduction {
                    Reduction::Add => $add(kept, new),
                    Reduction::Sub => $sub(kept, new),
                    Reduction::Mul => $mul(kept, new),
                    Reduction::Min => if new < kept { new } else { kept },
                    Reduction::Max => if new > kept { new } else { kept },
                    Reduction::None => new,
                    other => unreachable!("{other} is not drawn"),
                }
            }
        }
    )*};
}
numbers! {
    u8: at => mixed(at) as u8, u8::wrapping_add, u8::wrapping_sub, u8::wrapping_mul;
    f32: at => (mixed(at) % 4001) as f32 / 8.0 - 250.0, |a, b| a + b, |a, b| a - b, |a, b| a * b;
}

/// A case with everything that was drawn for it.
#[derive(Debug)]
struct Case<A> {
    op: ScatterOperator<A>,
    method: Option<Method>,
    data: Place,
    indices: Place,
    updates: Place,
    out: Place,
    index_memory: Vec<i128>,
    /// For each element of the result, the positions of the updates that go there, in order.
    expected: std::result::Result<Dense<(usize, Vec<usize>)>, Error>,
}

fn run<A: ScatterAttributes + Clone + Debug>(
    u: &mut Unstructured<'_>,
    name: Op,
    op: ScatterOperator<A>,
    model: &impl Model,
    (data, indices): (&[usize], &[usize]),
) -> Result<Outcome> {
    let tuning = Tuning::draw(u)?;
    let word = u.arbitrary::<WordKind>()?;
    // Means have no order of their own: they are compared elsewhere.
    let ordered = Reduction::ALL.iter().copied().filter(|&reduction| reduction != Reduction::Mean);
    let reduction = *u.choose(&ordered.collect::<Vec<_>>())?;
    // An axis without positions has none to stand for another index: such calls are tested by hand.
    let skips = draw::one_in(u, 3)? && !data.contains(&0);
    let shape = model.shape(data, indices).map_err(|error| renamed(error, name));
    let mut updates = shape.clone().unwrap_or_else(|_| indices.to_vec());
    let mistaken = draw::one_in(u, 40)?;
    if mistaken {
        updates.push(1);
    }
    let shape = shape.and_then(|expected| {
        let (op, got) = (name, updates[..].into());
        if mistaken {
            let (data, indices) = (data.into(), indices.into());
            Err(Error::UpdatesShapeMismatch { op, data, indices, expected: expected[..].into(), got })
        } else {
            Ok(expected)
        }
    });
    let data = Place::draw(u, data, true)?;
    let indices = Place::draw(u, indices, true)?;
    let updates = Place::draw(u, &updates, true)?;
    let out = Place::draw(u, &data.shape, false)?;
    let index_memory = draw::indices(u, &indices, word, tuning.rules, |last| model.dim(&data.shape, last))?;
    let expected = shape.and_then(|shape| {
        // Where each update goes is where the gather would read.
        let numbers = Dense::from_fn(&data.shape, Some);
        let read = indices.positions();
        let read = |of: fn(i128) -> i128| Dense {
            values: read.values.iter().map(|&at| of(index_memory[at])).collect(),
            shape: read.shape.clone(),
        };
        let values = |of, rules| model.values(&numbers, &read(of), rules).map_err(|error| renamed(error, name));
        let to = if skips {
            // Where no index is negative, those in range; and none where one is, whatever the others are.
            let out_of_range = if tuning.rules.out_of_range == Rule::Zero { Rule::Zero } else { Rule::Error };
            let mut to = values(|index| index.max(0), Rules { from_end: false, out_of_range })?;
            let kept = values(|index| index.min(0), Rules { from_end: false, out_of_range: Rule::Zero })?;
            to.values.iter_mut().zip(&kept.values).for_each(|(to, kept)| *to = kept.and(*to));
            to
        } else {
            values(|index| index, tuning.rules)?
        };
        assert_eq!(to.shape, shape);
        let mut from: Vec<(usize, Vec<usize>)> =
            data.positions().values.into_iter().map(|at| (at, Vec::new())).collect();
        for (to, update) in to.values.iter().zip(updates.positions().values) {
            if let Some(to) = to {
                from[*to].1.push(update);
            }
        }
        Ok(Dense { shape: data.shape.clone(), values: from })
    });
    let outcome = Outcome::of(&expected);
    let bounds = of_scatters(tuning.rules.out_of_range);
    let op = op.reduction(reduction).negative_index(tuning.negative).out_of_bounds(bounds).skip_negative(skips);
    let op = op.par(tuning.par).level(tuning.level);
    let method = tuning.method.filter(|&method| match method {
        Method::Direct | Method::Blocks | Method::Prefetched | Method::Grouped => true,
        Method::Accumulated => reduction != Reduction::None,
        _ => false,
    });
    let case = Case { op, method, data, indices, updates, out, index_memory, expected };
    let bytes = u.arbitrary()?;
    with_word!(word, I => if bytes { check::<u8, I, A>(&case) } else { check::<f32, I, A>(&case) });
    Ok(outcome)
}

/// An error of the gather as that of the scatter.
fn renamed(error: Error, op: Op) -> Error {
    match error {
        Error::AxisOutOfRange { axis, rank, .. } => Error::AxisOutOfRange { op, axis, rank },
        Error::BatchDimsOutOfRange { batch_dims, min, max, .. } => {
            Error::BatchDimsOutOfRange { op, batch_dims, min, max }
        }
        Error::BatchMismatch { dim, data, indices, .. } => Error::BatchMismatch { op, dim, data, indices },
        Error::RankOutOfRange { argument, rank, min, max, .. } => {
            Error::RankOutOfRange { op, argument, rank, min, max }
        }
        Error::IndicesShapeMismatch { dim, indices, data, .. } => {
            Error::IndicesShapeMismatch { op, dim, indices, data }
        }
        Error::TupleLengthOutOfRange { len, min, max, .. } => Error::TupleLengthOutOfRange { op, len, min, max },
        Error::IndexOutOfRange { position, index, axis, dim, negative, .. } => {
            Error::IndexOutOfRange { op, position, index, axis, dim, negative }
        }
        other => other,
    }
}

/// Compares every door with what is expected.
fn check<T: Number, I: Word, A: ScatterAttributes + Clone + Debug>(case: &Case<A>) {
    let _shown = OnPanic(case);
    let memory = |place: &Place, seed: u64| (0..place.len as u64).map(|at| T::number(at ^ seed)).collect::<Vec<T>>();
    let (data_memory, update_memory) = (memory(&case.data, 0), memory(&case.updates, 1 << 40));
    let index_memory: Vec<I> = case.index_memory.iter().map(|&index| I::of(index)).collect();
    let (data, indices) = (case.data.view(&data_memory), case.indices.view(&index_memory));
    let updates = case.updates.view(&update_memory);
    let reduction = case.op.get_reduction();
    let element = |(at, from): &(usize, Vec<usize>)| {
        from.iter().fold(data_memory[*at], |kept, &from| T::combine(reduction, kept, update_memory[from]))
    };
    let expected: Expected<T> = Expected::from(case.expected.as_ref().map_err(Error::clone).map(|expected| Dense {
        shape: expected.shape.clone(),
        values: expected.values.iter().map(element).collect(),
    }));
    expected.is_shape(case.op.output_shape(&case.data.shape, &case.indices.shape, &case.updates.shape));
    let op = case.method.map_or_else(|| case.op.clone(), |method| case.op.clone().method(method));

    expected.is("run", op.run(&data, &indices, &updates));
    expected.is_laid("run_into", &case.out, &|out| op.run_into(&data, &indices, &updates, out));
    let begin = |out: &mut ViewMut<'_, T>| {
        // No update at all copies data.
        let (no_tuple, no_update) = (View::new(&[0u8; 0], &[0, 0]), View::new(&[], &[&[0], data.shape()].concat()));
        ScatterNd::new().run_into(&data, &no_tuple?, &no_update?, out)
    };
    if case.expected.is_ok() {
        expected.is_laid("run_on", &case.out, &|out| {
            begin(out)?;
            op.run_on(out, &indices, &updates)
        });
    } else {
        let mut guarded = Guarded::<T>::new(&case.out);
        let ran = op.run_on(&mut case.out.view_mut(&mut guarded.memory), &indices, &updates);
        assert!(guarded.is_intact(&case.out, true), "changed before an error");
        assert_eq!(ran, case.expected.as_ref().map(|_| ()).map_err(Error::clone), "run_on");
    }
    static REGISTRY: Registry = Registry::builtin().with(&OWN);
    let own = op.clone().registry(&REGISTRY);
    let (a, i, v) = (DynView::from(&data), DynView::from(&indices), DynView::from(&updates));
    expected.is_dyn("run_dyn", own.run(&a, &i, &v));
    let run_dyn_into = |out: &mut ViewMut<'_, T>| own.run_into(&a, &i, &v, &mut DynViewMut::from(out));
    expected.is_laid("run_dyn_into", &case.out, &run_dyn_into);
    let out_layout = Layout::strided(&case.out.shape, &case.out.strides).expect("the layout of a place");
    match op.plan_into(&Spec::<T>::from_layout(&out_layout), &indices, &updates, &out_layout) {
        Ok(plan) => {
            assert!(!plan.explain().to_string().is_empty());
            expected.is_laid("plan_on, run_into", &case.out, &|out| plan.run_into(&data, &indices, &updates, out));
        }
        Err(error) => expected.is("plan_on", Err(error)),
    }
    match op.plan(&Spec::<T>::new(data.shape()).unwrap(), &indices, &updates) {
        Ok(plan) => expected.is("plan, run", plan.run(&data, &indices, &updates)),
        Err(error) => expected.is("plan", Err(error)),
    }
    if reduction == Reduction::None && matches!(case.method, None | Some(Method::Direct)) {
        expected.is("run_cloned", op.run_cloned(&data, &indices, &updates));
    }
}

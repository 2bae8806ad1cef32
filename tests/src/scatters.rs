//! Runs a case of a scatter through every door: fresh, into an output, in place, planned, type-erased.

#![forbid(unsafe_code)]

use gather_core::{
    DynTensor, DynViewMut, Element, Error, Index, Op, Reduction, ScatterAttributes, ScatterElements, ScatterNd,
    ScatterOperator, Shape, Spec, Tensor, View, ViewMut,
};

use crate::cases::{Case, Expected};
use crate::faces::{Outcome, compare, downcast, erased};
use crate::values::{Held, TensorData, Values};

/// A scatter with its attributes.
#[derive(Clone, Debug)]
pub enum Scatter {
    /// ScatterElements.
    Elements(ScatterElements),
    /// ScatterNd.
    Nd(ScatterNd),
}

/// Runs a case.
#[must_use]
pub fn run(case: &Case) -> Outcome {
    let rejects = matches!(case.expected, Expected::Error { from_shapes: true, .. });
    let operator = match operator(case) {
        Ok(Some(operator)) => operator,
        // The specification has no such reduction.
        Ok(None) if rejects => return Outcome::Passed,
        Ok(None) => return Outcome::Failed("an unknown reduction".into()),
        Err(message) => return Outcome::Failed(message),
    };
    let checked = std::panic::catch_unwind(|| match &operator {
        Scatter::Elements(op) => check(case, op),
        Scatter::Nd(op) => check(case, op),
    });
    match checked {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(message)) => Outcome::Failed(message),
        Err(_) => Outcome::Failed("panicked".into()),
    }
}

/// The operator of a case, by its profile; `None` for a reduction that the profile has not.
fn operator(case: &Case) -> Result<Option<Scatter>, String> {
    let (axis, name) = (case.attr("axis"), case.words.get("reduction").map_or("none", |name| name));
    let Some(reduction) = Reduction::ALL.iter().copied().find(|reduction| reduction.name() == name) else {
        return Ok(None);
    };
    if case.profile.starts_with("onnx") && matches!(reduction, Reduction::Sub | Reduction::Mean) {
        return Ok(None);
    }
    Ok(Some(match (case.op.as_str(), case.profile.as_str()) {
        ("scatter_elements", "onnx11") => Scatter::Elements(ScatterElements::onnx11(axis)),
        ("scatter_elements", "onnx16") => Scatter::Elements(ScatterElements::onnx16(axis, reduction)),
        ("scatter_elements", "onnx18") => Scatter::Elements(ScatterElements::onnx18(axis, reduction)),
        ("scatter_elements", "openvino12") => Scatter::Elements(ScatterElements::openvino12(axis, reduction, true)),
        ("scatter_elements", "torch") => Scatter::Elements(ScatterElements::torch(axis, reduction)),
        ("scatter_nd", "onnx11") => Scatter::Nd(ScatterNd::onnx11()),
        ("scatter_nd", "onnx16") => Scatter::Nd(ScatterNd::onnx16(reduction)),
        ("scatter_nd", "onnx18") => Scatter::Nd(ScatterNd::onnx18(reduction)),
        ("scatter_nd", "openvino15") => Scatter::Nd(ScatterNd::openvino15(reduction)),
        (op, profile) => return Err(format!("unknown profile {profile} of {op}")),
    }))
}

/// The three tensors of a case.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    data: &'a TensorData,
    indices: &'a TensorData,
    updates: &'a TensorData,
}

fn check<A: ScatterAttributes>(case: &Case, op: &ScatterOperator<A>) -> Result<(), String> {
    let inputs = Inputs { data: case.input("data")?, indices: case.input("indices")?, updates: case.input("updates")? };
    let same_types = inputs.data.dtype == inputs.updates.dtype;
    if same_types {
        let inferred = op.output_shape(&inputs.data.shape, &inputs.indices.shape, &inputs.updates.shape);
        check_shape(&case.expected, inferred)?;
        for (door, got) in inputs.run_typed(op)? {
            compare(door, &case.expected, got)?;
        }
    } else if !matches!(case.expected, Expected::Error { .. }) {
        return Err("the types of data and updates differ".into());
    }
    for (door, got) in inputs.run_dyn(op)? {
        compare(door, &case.expected, got)?;
    }
    Ok(())
}

fn check_shape(expected: &Expected, inferred: Result<Shape, Error>) -> Result<(), String> {
    match (expected, inferred) {
        (Expected::Error { from_shapes: true, .. }, Err(_)) | (Expected::Error { from_shapes: false, .. }, Ok(_)) => {
            Ok(())
        }
        (Expected::Tensor(tensor) | Expected::Shape(tensor), Ok(shape)) if shape == *tensor.shape => Ok(()),
        (expected, inferred) => Err(format!("expected {expected:?}, got {inferred:?} from inference")),
    }
}

/// What each door gave.
type Ran = Result<Vec<(&'static str, Result<TensorData, Error>)>, String>;

impl Inputs<'_> {
    fn run_typed<A: ScatterAttributes>(self, op: &ScatterOperator<A>) -> Ran {
        with_values!(self.data.values.as_ref().ok_or("no data")?,
            data => self.with_indices(op, data),
            data => self.clones(op, data)
        )
    }

    fn with_indices<T: Element + Held, A: ScatterAttributes>(self, op: &ScatterOperator<A>, data: &[T]) -> Ran
    where
        Values: From<Vec<T>>,
    {
        macro_rules! typed {
            ($($variant:ident)*) => {
                match &self.indices.values {
                    $(Some(Values::$variant(values)) => self.every_door(op, data, values),)*
                    Some(_) if self.indices.shape.contains(&0) => self.every_door::<T, i64, A>(op, data, &[]),
                    _ => Err(format!("{} cannot index", self.indices.dtype)),
                }
            };
        }
        typed!(I8 I16 I32 I64 U8 U16 U32 U64)
    }

    fn every_door<T: Element + Held, I: Index, A: ScatterAttributes>(
        self,
        op: &ScatterOperator<A>,
        data: &[T],
        indices: &[I],
    ) -> Ran
    where
        Values: From<Vec<T>>,
    {
        let updates = T::of(self.updates.values.as_ref().ok_or("no updates")?).ok_or("updates of another type")?;
        let text = |error: Error| error.to_string();
        let shape = &self.data.shape;
        let view = View::new(data, shape).map_err(text)?;
        let indices = View::new(indices, &self.indices.shape).map_err(text)?;
        let updates = View::new(updates, &self.updates.shape).map_err(text)?;
        let back = |values: Vec<T>| TensorData {
            dtype: self.data.dtype.clone(),
            shape: shape.clone(),
            values: Some(Values::from(values)),
        };
        let fresh = op.run(&view, &indices, &updates).map(|out| back(out.into_vec()));

        let mut into = vec![T::ZERO; data.len()];
        let ran = op.run_into(&view, &indices, &updates, &mut ViewMut::new(&mut into, shape).map_err(text)?);
        if ran.is_err() && into.iter().any(|value| crate::values::bytes(&[*value]) != crate::values::bytes(&[T::ZERO]))
        {
            return Err("an output was written before an error".into());
        }
        let into = ran.map(|()| back(into));

        let mut on = data.to_vec();
        let ran = op.run_on(&mut ViewMut::new(&mut on, shape).map_err(text)?, &indices, &updates);
        if ran.is_err() && crate::values::bytes(&on) != crate::values::bytes(data) {
            return Err("a tensor was changed before an error".into());
        }
        let on = ran.map(|()| back(on));

        let planned = op.plan(&Spec::<T>::new(shape).unwrap(), &indices, &updates);
        let planned = planned.and_then(|plan| plan.run(&view, &indices, &updates));
        let planned = planned.map(|out: Tensor<T>| back(out.into_vec()));
        Ok(vec![("fresh", fresh), ("into", into), ("in place", on), ("planned", planned)])
    }

    fn clones<A: ScatterAttributes>(self, op: &ScatterOperator<A>, data: &[String]) -> Ran {
        let updates = String::of(self.updates.values.as_ref().ok_or("no updates")?).ok_or("updates of another type")?;
        match &self.indices.values {
            Some(Values::I64(indices)) => self.clones_by(op, data, updates, indices),
            Some(Values::I32(indices)) => self.clones_by(op, data, updates, indices),
            _ => Err("indices of other types than i64 and i32".into()),
        }
    }

    fn clones_by<I: Index, A: ScatterAttributes>(
        self,
        op: &ScatterOperator<A>,
        data: &[String],
        updates: &[String],
        indices: &[I],
    ) -> Ran {
        let text = |error: Error| error.to_string();
        let out = op.run_cloned(
            &View::new(data, &self.data.shape).map_err(text)?,
            &View::new(indices, &self.indices.shape).map_err(text)?,
            &View::new(updates, &self.updates.shape).map_err(text)?,
        );
        let back = |out: Tensor<String>| TensorData {
            dtype: self.data.dtype.clone(),
            shape: out.shape().to_vec(),
            values: Some(Values::from(out.into_vec())),
        };
        Ok(vec![("cloned", out.map(back))])
    }

    fn run_dyn<A: ScatterAttributes>(self, op: &ScatterOperator<A>) -> Ran {
        let (Some(data), Some(indices), Some(updates)) =
            (erased(self.data)?, erased(self.indices)?, erased(self.updates)?)
        else {
            return Ok(Vec::new());
        };
        let back = |out: DynTensor| {
            let shape = out.shape().to_vec();
            let values = self.data.values.as_ref().ok_or("no data")?;
            let values = with_values!(values,
                like => downcast(out, like),
                _strings => return Err("strings have no type-erased form".to_owned()));
            Ok(TensorData { dtype: self.data.dtype.clone(), shape, values: Some(values) })
        };
        let fresh = op.run(&data, &indices, &updates);

        let before = with_values!(self.data.values.as_ref().ok_or("no data")?,
            values => crate::values::bytes(values).to_vec(),
            _strings => Vec::new());
        let mut bytes = before.clone();
        let mut on =
            DynViewMut::from_bytes(data.dtype(), &mut bytes, data.shape()).map_err(|error| error.to_string())?;
        let ran = op.run_on(&mut on, &indices, &updates);
        let as_fresh = match (&ran, &fresh) {
            (Ok(()), Ok(fresh)) => fresh.as_bytes() == bytes,
            (Err(mine), Err(theirs)) => mine == theirs && bytes == before,
            _ => false,
        };
        if !as_fresh {
            return Err(format!("dyn: {fresh:?} fresh, but {ran:?} in place"));
        }
        let fresh = match fresh {
            Ok(out) => Ok(back(out)?),
            Err(error) => Err(error),
        };
        Ok(vec![("dyn", fresh)])
    }
}

impl Scatter {
    /// The name of the operator.
    #[must_use]
    pub fn op(&self) -> Op {
        match self {
            Scatter::Elements(_) => Op::ScatterElements,
            Scatter::Nd(_) => Op::ScatterNd,
        }
    }
}

//! Runs a case through the typed and the type-erased doors.

#![forbid(unsafe_code)]

mod chunks;
mod space;

use gather_core::{
    DynTensor, DynView, Element, Error, Gather, GatherElements, GatherNd, Index, Op, Shape, Tensor, View,
};

pub use self::space::Space;

use crate::cases::{Case, Expected};
use crate::scatters;
use crate::values::{TensorData, Values};

/// An operator with its attributes.
#[derive(Clone, Debug)]
pub enum Operator {
    /// Gather.
    Gather(Gather),
    /// GatherElements.
    GatherElements(GatherElements),
    /// GatherNd.
    GatherNd(GatherNd),
    /// An operator that rearranges space.
    Space(Space),
}

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both doors gave what was expected.
    Passed,
    /// A door gave something else, or panicked.
    Failed(String),
    /// The case was not run, for this reason.
    Skipped(&'static str),
}

/// Whether a case also runs on data that is divided into chunks.
#[must_use]
pub fn is_divided(case: &Case) -> bool {
    let operator = operator(case);
    let divided =
        |operator| matches!(operator, Prepared::Ready(operator) if chunks::along_rows(case, &operator).is_some());
    !case.strict && !case.op.starts_with("scatter") && operator.is_ok_and(divided)
}

/// Runs a case.
#[must_use]
pub fn run(case: &Case) -> Outcome {
    if case.strict {
        return Outcome::Skipped(
            "only a type constraint of one specification is broken, and this library takes more types",
        );
    }
    if case.op.starts_with("scatter") {
        return scatters::run(case);
    }
    let operator = match operator(case) {
        Ok(Prepared::Ready(operator)) => operator,
        Ok(Prepared::Unknown) => return Outcome::Skipped("the operator does not exist yet"),
        Ok(Prepared::Refused(_)) if matches!(case.expected, Expected::Error { .. }) => {
            return Outcome::Passed;
        }
        Ok(Prepared::Refused(error)) => return Outcome::Failed(format!("refused: {error}")),
        Err(message) => return Outcome::Failed(message),
    };
    let checked = std::panic::catch_unwind(|| check(case, &operator));
    match checked {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(message)) => Outcome::Failed(message),
        Err(_) => Outcome::Failed("panicked".into()),
    }
}

/// The operator that attributes and parameters describe, if there is one.
enum Prepared {
    /// An operator.
    Ready(Operator),
    /// The parameter tensors were refused.
    Refused(Error),
    /// There is no such operator.
    Unknown,
}

/// The operator of a case, by its profile.
fn operator(case: &Case) -> Result<Prepared, String> {
    let (axis, batch_dims) = (case.attr("axis"), case.attr("batch_dims"));
    Ok(Prepared::Ready(match (case.op.as_str(), case.profile.as_str()) {
        ("gather", "openvino8") => Operator::Gather(Gather::openvino8(axis, batch_dims)),
        ("gather", "onnx11") => Operator::Gather(Gather::onnx11(axis)),
        ("gather", "onnx13") => Operator::Gather(Gather::onnx13(axis)),
        ("gather", "tf") => Operator::Gather(Gather::tensorflow(axis, batch_dims)),
        ("gather", "torch") => Operator::Gather(Gather::torch(axis)),
        ("gather_elements", "onnx11") => Operator::GatherElements(GatherElements::onnx11(axis)),
        ("gather_elements", "onnx13" | "onnx13-wide") => Operator::GatherElements(GatherElements::onnx13(axis)),
        ("gather_elements", "openvino6") => Operator::GatherElements(GatherElements::openvino6(axis)),
        ("gather_elements", "torch") => Operator::GatherElements(GatherElements::torch(axis)),
        ("gather_nd", "tf") => Operator::GatherNd(GatherNd::tensorflow(batch_dims)),
        ("gather_nd", "onnx11") => Operator::GatherNd(GatherNd::onnx11()),
        ("gather_nd", "onnx12") => Operator::GatherNd(GatherNd::onnx12(batch_dims)),
        ("gather_nd", "onnx13") => Operator::GatherNd(GatherNd::onnx13(batch_dims)),
        ("gather_nd", "openvino5") => Operator::GatherNd(GatherNd::openvino5(batch_dims)),
        ("gather_nd", "openvino8") => Operator::GatherNd(GatherNd::openvino8(batch_dims)),
        ("gather" | "gather_elements" | "gather_nd", profile) => {
            return Err(format!("unknown profile {profile}"));
        }
        _ => match Space::of(case)? {
            Some(Ok(operator)) => Operator::Space(operator),
            Some(Err(error)) => return Ok(Prepared::Refused(error)),
            None => return Ok(Prepared::Unknown),
        },
    }))
}

fn check(case: &Case, operator: &Operator) -> Result<(), String> {
    let data = case.input("data")?;
    let indices = case.inputs.get("indices");
    let inferred = operator.output_shape(&data.shape, indices.map(|indices| &indices.shape[..]));
    match (&case.expected, &inferred) {
        (Expected::Error { from_shapes: true, .. }, Err(_)) => {}
        (Expected::Error { from_shapes: true, reason }, Ok(shape)) => {
            return Err(format!("expected an error ({reason}), got shape {shape:?} from inference"));
        }
        (Expected::Error { from_shapes: false, .. }, Ok(_)) => {}
        (Expected::Error { from_shapes: false, reason }, Err(error)) => {
            return Err(format!("expected an error of values ({reason}), got one of shapes: {error}"));
        }
        (Expected::Tensor(tensor) | Expected::Shape(tensor), inferred) => {
            if inferred.as_ref().map(|shape| &shape[..]) != Ok(&tensor.shape[..]) {
                return Err(format!("expected shape {:?}, got {inferred:?} from inference", tensor.shape));
            }
        }
    }
    if let Expected::Shape(tensor) = &case.expected
        && tensor.dtype != data.dtype
    {
        return Err(format!("expected dtype {}, the operator gives {}", tensor.dtype, data.dtype));
    }
    let has_values = |tensor: &TensorData| tensor.values.is_some();
    if !has_values(data) || !indices.is_none_or(has_values) {
        return match case.expected {
            Expected::Tensor(_) => Err("a case without input values".into()),
            _ => Ok(()),
        };
    }
    let typed = operator.run_typed(data, indices)?;
    compare("typed", &case.expected, typed)?;
    if let Some(erased) = operator.run_dyn(data, indices)? {
        compare("dyn", &case.expected, erased)?;
    }
    match (chunks::along_rows(case, operator), indices) {
        (Some(gather), Some(indices)) => chunks::check(case, gather, data, indices),
        _ => Ok(()),
    }
}

pub(crate) fn compare(door: &str, expected: &Expected, got: Result<TensorData, Error>) -> Result<(), String> {
    match (expected, got) {
        (Expected::Error { .. }, Err(_)) => Ok(()),
        (Expected::Error { reason, .. }, Ok(tensor)) => {
            Err(format!("{door}: expected an error ({reason}), got {tensor:?}"))
        }
        (Expected::Tensor(tensor) | Expected::Shape(tensor), Err(error)) => {
            Err(format!("{door}: expected shape {:?}, got the error: {error}", tensor.shape))
        }
        (Expected::Shape(tensor), Ok(got)) if tensor.shape == got.shape => Ok(()),
        (Expected::Tensor(tensor), Ok(got)) if tensor.shape == got.shape && same(tensor, &got) => Ok(()),
        (Expected::Tensor(tensor) | Expected::Shape(tensor), Ok(got)) => {
            Err(format!("{door}: expected {tensor:?}, got {got:?}"))
        }
    }
}

fn same(a: &TensorData, b: &TensorData) -> bool {
    match (&a.values, &b.values) {
        (Some(a), Some(b)) => a.same_bits(b),
        _ => false,
    }
}

type Ran = Result<Result<TensorData, Error>, String>;

impl Operator {
    /// Shape inference.
    ///
    /// # Errors
    /// Those of the operator.
    pub fn output_shape(&self, data: &[usize], indices: Option<&[usize]>) -> Result<Shape, Error> {
        let indices = indices.unwrap_or_default();
        match self {
            Operator::Gather(op) => op.output_shape(data, indices),
            Operator::GatherElements(op) => op.output_shape(data, indices),
            Operator::GatherNd(op) => op.output_shape(data, indices),
            Operator::Space(op) => op.output_shape(data),
        }
    }

    fn run_typed(&self, data: &TensorData, indices: Option<&TensorData>) -> Ran {
        let values = data.values.as_ref().ok_or("no data")?;
        with_values!(values,
            values => {
                let view = View::new(values, &data.shape).map_err(|error| error.to_string())?;
                let run = Plain { operator: self, data: &view };
                Ok(run.with_indices(indices)?.map(|out| TensorData {
                    dtype: data.dtype.clone(),
                    shape: out.shape().to_vec(),
                    values: Some(Values::from(out.into_vec())),
                }))
            },
            values => {
                let view = View::new(values, &data.shape).map_err(|error| error.to_string())?;
                let run = Strings { operator: self, data: &view };
                Ok(run.with_indices(indices)?.map(|out| TensorData {
                    dtype: data.dtype.clone(),
                    shape: out.shape().to_vec(),
                    values: Some(Values::from(out.into_vec())),
                }))
            }
        )
    }

    fn run_dyn(
        &self,
        data: &TensorData,
        indices: Option<&TensorData>,
    ) -> Result<Option<Result<TensorData, Error>>, String> {
        let Some(view) = erased(data)? else {
            return Ok(None);
        };
        let indices = match indices {
            Some(indices) => erased(indices)?,
            None => None,
        };
        let out = match (self, indices) {
            (Operator::Gather(op), Some(indices)) => op.run(&view, &indices),
            (Operator::GatherElements(op), Some(indices)) => op.run(&view, &indices),
            (Operator::GatherNd(op), Some(indices)) => op.run(&view, &indices),
            (Operator::Space(op), None) => op.run_dyn(&view),
            _ => return Err("indices that are missing, or not wanted".into()),
        };
        let back = |out: DynTensor| {
            let shape = out.shape().to_vec();
            let values = match data.values.as_ref().ok_or("no data")? {
                Values::Str(_) => return Err("strings have no type-erased form".to_owned()),
                values => with_values!(values,
                    like => downcast(out, like),
                    _strings => return Err("strings have no type-erased form".to_owned())),
            };
            Ok(TensorData { dtype: data.dtype.clone(), shape, values: Some(values) })
        };
        match out {
            Ok(out) => Ok(Some(Ok(back(out)?))),
            Err(error) => Ok(Some(Err(error))),
        }
    }

    /// The name of the operator.
    #[must_use]
    pub fn op(&self) -> Op {
        match self {
            Operator::Gather(_) => Op::Gather,
            Operator::GatherElements(_) => Op::GatherElements,
            Operator::GatherNd(_) => Op::GatherNd,
            Operator::Space(op) => op.op(),
        }
    }
}

pub(crate) fn downcast<T: Element>(out: DynTensor, _like: &[T]) -> Values
where
    Values: From<Vec<T>>,
{
    Values::from(out.downcast::<T>().expect("the data type that went in").into_vec())
}

pub(crate) fn erased(tensor: &TensorData) -> Result<Option<DynView<'_>>, String> {
    let values = tensor.values.as_ref().ok_or("no values")?;
    values.dyn_view(&tensor.shape).transpose().map_err(|error| error.to_string())
}

/// A call with typed data, once for each index type.
trait WithIndices {
    type Item;

    fn run<I: Index>(&self, indices: &View<'_, I>) -> Result<Tensor<Self::Item>, Error>;
    fn run_alone(&self) -> Result<Tensor<Self::Item>, Error>;

    fn with_indices(&self, indices: Option<&TensorData>) -> Result<Result<Tensor<Self::Item>, Error>, String> {
        let Some(indices) = indices else {
            return Ok(self.run_alone());
        };
        macro_rules! typed {
            ($($variant:ident)*) => {
                match &indices.values {
                    $(Some(Values::$variant(values)) => {
                        let view = View::new(values, &indices.shape).map_err(|error| error.to_string())?;
                        Ok(self.run(&view))
                    })*
                    Some(_) if indices.shape.contains(&0) => {
                        // There are no indices to read, so any type will do.
                        let view = View::<i64>::new(&[], &indices.shape).map_err(|error| error.to_string())?;
                        Ok(self.run(&view))
                    }
                    _ => Err(format!("{} cannot index", indices.dtype)),
                }
            };
        }
        typed!(I8 I16 I32 I64 U8 U16 U32 U64)
    }
}

struct Plain<'a, T> {
    operator: &'a Operator,
    data: &'a View<'a, T>,
}

impl<T: Element> WithIndices for Plain<'_, T> {
    type Item = T;

    fn run<I: Index>(&self, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        match self.operator {
            Operator::Gather(op) => op.run(self.data, indices),
            Operator::GatherElements(op) => op.run(self.data, indices),
            Operator::GatherNd(op) => op.run(self.data, indices),
            Operator::Space(op) => op.run(self.data),
        }
    }

    fn run_alone(&self) -> Result<Tensor<T>, Error> {
        self.run::<i64>(&View::scalar(&0))
    }
}

struct Strings<'a> {
    operator: &'a Operator,
    data: &'a View<'a, String>,
}

impl WithIndices for Strings<'_> {
    type Item = String;

    fn run<I: Index>(&self, indices: &View<'_, I>) -> Result<Tensor<String>, Error> {
        match self.operator {
            Operator::Gather(op) => op.run_cloned(self.data, indices),
            Operator::GatherElements(op) => op.run_cloned(self.data, indices),
            Operator::GatherNd(op) => op.run_cloned(self.data, indices),
            Operator::Space(op) => op.run_cloned(self.data),
        }
    }

    fn run_alone(&self) -> Result<Tensor<String>, Error> {
        self.run::<i64>(&View::scalar(&0))
    }
}

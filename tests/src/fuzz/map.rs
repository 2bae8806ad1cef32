//! Cases of maps: gathering with a conversion must equal converting each element that the oracle gathers.

use arbitrary::{Result, Unstructured};
use gather_core::{Error, Given, Map, Op, Params};

use super::draw::{self, Tuning};
use super::elements::{Sample, Word, WordKind, mixed};
use super::index::Model;
use super::index_op::IndexOp;
use super::judge::{Expected, OnPanic};
use super::memory::Place;
use super::{Outcome, gather, gather_elements, gather_nd};
use crate::oracle::{self, Dense};

gather_core::map_kernels! {
    /// To a wider type, by two parameters.
    pub(crate) static DEQUANTIZE = |code: u8, scale: f32, zero: u8| -> f32 {
        (f32::from(code) - f32::from(zero)) * scale
    };
    /// To a narrower type.
    pub(crate) static QUANTIZE = |value: f32, scale: f32| -> i16 { (value * scale) as i16 };
    /// To a type of the same size.
    pub(crate) static SPREAD = |value: u64, by: u64| -> u64 { value.wrapping_mul(by) };
}

/// Runs the map doors and compares with converting each element that the oracle gathers.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn map(u: &mut Unstructured<'_>) -> Result<Outcome> {
    match u.int_in_range(0..=3)? {
        0 => {
            let (model, data, indices) = gather_elements::Attributes::with_shapes(u)?;
            run(u, &model, &data, &indices, Op::GatherElements)
        }
        1 => {
            let (model, data, indices) = gather_nd::Attributes::with_shapes(u)?;
            run(u, &model, &data, &indices, Op::GatherNd)
        }
        _ => {
            let (model, data, indices) = gather::Attributes::with_shapes(u)?;
            run(u, &model, &data, &indices, Op::Gather)
        }
    }
}

/// Runs a model with a map through every door.
fn run(u: &mut Unstructured<'_>, model: &impl Model, data: &[usize], indices: &[usize], name: Op) -> Result<Outcome> {
    let tuning = Tuning::draw(u)?;
    let word = u.arbitrary::<WordKind>()?;
    let shape = model.shape(data, indices);
    // Tuples that have not one component stand for no one row.
    let axis = model.axis(data, indices);
    let rows = axis.and_then(|axis| data.get(axis)).copied().unwrap_or(1);
    let data = Place::draw(u, data, true)?;
    let indices = Place::draw(u, indices, true)?;
    let out = Place::draw(u, shape.as_deref().unwrap_or(&[1]), false)?;
    let index_memory = draw::indices(u, &indices, word, tuning.rules, |last| model.dim(&data.shape, last))?;
    let op = model.operator().tuned(&tuning);
    let per_row: [bool; 2] = u.arbitrary()?;
    let missing = usize::from(draw::one_in(u, 24)?);

    let positions = data.positions();
    let coordinates = oracle::coords(&data.shape)
        .map(|coords| Some(axis.and_then(|axis| coords.get(axis).copied()).unwrap_or(0)))
        .collect();
    let read = indices.positions();
    let read = Dense { values: read.values.iter().map(|&at| index_memory[at]).collect(), shape: read.shape };
    let found = |values| model.values(&Dense { shape: data.shape.clone(), values }, &read, tuning.rules);
    let elements = shape.and_then(|_| {
        let elements = found(positions.values.into_iter().map(Some).collect())?;
        let from = found(coordinates)?;
        let values = elements.values.into_iter().zip(from.values).map(|(at, row)| at.zip(row)).collect();
        Ok(Dense { shape: elements.shape, values })
    });
    let case = Case { op, name, axis, data, indices, index_memory, out, rows: rows + missing, elements };
    let outcome = match u.int_in_range(0..=2)? {
        0 => with_word!(word, I => {
            let (scales, zeros) = (case.parameter(float), case.parameter(|at| mixed(at) as u8));
            let given = (given(per_row[0], &scales), given(per_row[1], &zeros));
            let at = |row| (value(per_row[0], &scales, row), value(per_row[1], &zeros, row));
            case.check::<u8, f32, _, I>(&DEQUANTIZE, given, &per_row, &|code, row| {
                let (scale, zero) = at(row);
                (f32::from(code) - f32::from(zero)) * scale
            })
        }),
        1 => with_word!(word, I => {
            let scales = case.parameter(float);
            case.check::<f32, i16, _, I>(&QUANTIZE, (given(per_row[0], &scales),), &per_row[..1], &|number, row| {
                (number * value(per_row[0], &scales, row)) as i16
            })
        }),
        _ => with_word!(word, I => {
            let factors = case.parameter(mixed);
            case.check::<u64, u64, _, I>(&SPREAD, (given(per_row[0], &factors),), &per_row[..1], &|number, row| {
                number.wrapping_mul(value(per_row[0], &factors, row))
            })
        }),
    };
    Ok(outcome)
}

fn float(at: u64) -> f32 {
    (mixed(at) as u16).into()
}

/// A parameter of a call: a value per row, or the first value for all.
fn given<V: Copy>(per_row: bool, values: &[V]) -> Given<'_, V> {
    if per_row { Given::PerRow(values) } else { Given::All(values[0]) }
}

fn value<V: Copy>(per_row: bool, values: &[V], row: usize) -> V {
    values[if per_row { row } else { 0 }]
}

#[derive(Debug)]
struct Case {
    op: IndexOp,
    name: Op,
    axis: Option<usize>,
    data: Place,
    indices: Place,
    index_memory: Vec<i128>,
    out: Place,
    /// The number of values of a per-row parameter: one per row, except by a deliberate mistake.
    rows: usize,
    /// The position in data and the row of every element of the result; `None` is the fill value.
    elements: std::result::Result<Dense<Option<(usize, usize)>>, Error>,
}

impl Case {
    /// The values of a parameter; at least one.
    fn parameter<V>(&self, value: impl Fn(u64) -> V) -> Vec<V> {
        (0..self.rows.max(1) as u64).map(value).collect()
    }

    /// Compares every door with what is expected.
    fn check<T: Sample, U: Sample, P: Params, I: Word>(
        &self,
        map: &Map<T, U, P>,
        given: P::Given<'_>,
        per_row: &[bool],
        convert: &dyn Fn(T, usize) -> U,
    ) -> Outcome {
        let _shown = OnPanic(self);
        let memory: Vec<T> = (0..self.data.len as u64).map(T::sample).collect();
        let index_memory: Vec<I> = self.index_memory.iter().map(|&index| I::of(index)).collect();
        let (data, indices) = (self.data.view(&memory), self.indices.view(&index_memory));
        let expected = self.expected(map, per_row, |(at, row)| convert(memory[at], row));
        let outcome = Outcome::of(&expected);
        let expected = Expected::from(expected);
        expected.is("run_map", self.op.run(&data.map(map, given), &indices));
        expected.is_written(
            "run_map_into",
            &self.out,
            &|out| self.op.run_into(&data.map(map, given), &indices, out),
            &|out| self.op.run_into(&data.map(map, given), &indices, out),
        );
        match self.op.plan(&data.map(map, given), &indices) {
            Ok(plan) => {
                let dense = Place::dense(plan.output_shape());
                assert!(!plan.explain().to_string().is_empty());
                expected.is("plan_map, run", plan.run(&data.map(map, given), &indices));
                expected.is_written(
                    "plan_map, run_into",
                    &dense,
                    &|out| plan.run_into(&data.map(map, given), &indices, out),
                    &|out| plan.run_into(&data.map(map, given), &indices, out),
                );
            }
            Err(error) => expected.is("plan_map", Err(error)),
        }
        outcome
    }

    fn expected<T, U: Sample, P: Params>(
        &self,
        map: &Map<T, U, P>,
        per_row: &[bool],
        element: impl Fn((usize, usize)) -> U,
    ) -> std::result::Result<Dense<U>, Error> {
        let dim = self.axis.and_then(|axis| self.data.shape.get(axis).copied());
        // Errors of shapes come first, those of indices last.
        let shapes_fit = matches!(self.elements, Ok(_) | Err(Error::IndexOutOfRange { .. }));
        let wrong = per_row.iter().position(|&per_row| per_row && dim != Some(self.rows.max(1)));
        if let (true, Some(at)) = (shapes_fit, wrong) {
            let (op, parameter, len) = (self.name, map.params()[at], self.rows.max(1));
            return Err(Error::MapParameterLengthMismatch {
                op,
                map: map.name(),
                parameter,
                len,
                axis: self.axis.unwrap_or(0),
                dim: dim.unwrap_or(0),
            });
        }
        let elements = self.elements.as_ref().map_err(Error::clone)?;
        let values = elements.values.iter().map(|from| from.map_or(U::ZERO, &element)).collect();
        Ok(Dense { shape: elements.shape.clone(), values })
    }
}

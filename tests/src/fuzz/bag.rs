//! Cases of EmbeddingBag: tables, indices and offsets in any memory, some offsets that descend or exceed, rows that are
//! left out or stand in, and weights.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{
    Argument, Bags, DynView, DynViewMut, EmbeddingBag, Error, Given, Index, IndexKind, Map, NegativeIndex, Op,
    Reducible, Reduction, Source, Spec, View, map_kernels,
};

use super::Outcome;
use super::draw::{self, Tuning, one_in};
use super::elements::{Word, WordKind};
use super::judge::{Expected, OnPanic};
use super::memory::Place;
use super::scatter::Number;
use crate::oracle::{self, BadIndex, BagRows, Dense};

/// A case with everything that was drawn for it.
#[derive(Debug)]
struct Case {
    op: EmbeddingBag,
    tuning: Tuning,
    data: Place,
    indices: Place,
    index_memory: Vec<i128>,
    /// `None` for packed bags.
    offsets: Option<(Place, Vec<i64>)>,
    weights: Option<Place>,
    out: Place,
    /// How the two parameters of the map are given.
    given: [HowGiven; 2],
    /// Where bags begin and end, and the rows that are left out and stand in.
    expected: std::result::Result<(Vec<usize>, BagRows), Error>,
}

/// Runs EmbeddingBag through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn embedding_bag(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let tuning = Tuning::draw(u)?;
    let word = u.arbitrary::<WordKind>()?;
    let rank = u.int_in_range(1..=3)?;
    let data = draw::dims(u, rank, 600)?;
    let packed = u.arbitrary()?;
    let indices = if packed { draw::dims(u, 2, 900)? } else { draw::dims(u, 1, 900)? };
    let count = indices.iter().product::<usize>();
    let its_end = u.arbitrary()?;
    let offsets = if packed { None } else { Some(draw_offsets(u, count)?) };
    let bounds = match &offsets {
        None => Ok((0..=indices[0]).map(|bag| bag * indices[1]).collect()),
        Some(offsets) => bounds(offsets, count, its_end),
    };
    let reduction = *u.choose(&[Reduction::Add, Reduction::Max, Reduction::Min])?;
    let dim = data[0] as i64;
    let padding = if one_in(u, 3)? { Some(draw::attribute(u, -dim, dim - 1)?) } else { None };
    let default = if one_in(u, 3)? { Some(draw::attribute(u, 0, dim - 1)?) } else { None };
    let (skips_negative, skips_out_of_range) = (one_in(u, 4)?, one_in(u, 4)?);
    let mut weights = (reduction == Reduction::Add && u.arbitrary()?).then(|| indices.clone());
    let mistaken = weights.is_some() && one_in(u, 40)?;
    weights.iter_mut().filter(|_| mistaken).for_each(|shape| shape.push(1));

    let bags = bounds.as_ref().map_or(0, |bounds: &Vec<usize>| bounds.len() - 1);
    let expected = bounds.and_then(|bounds| {
        let padding = row(Argument::PaddingIndex, padding, NegativeIndex::FromEnd, data[0])?;
        let default = row(Argument::DefaultIndex, default, NegativeIndex::Reject, data[0])?;
        let rows = BagRows { padding, default, skips_negative, skips_out_of_range };
        match &weights {
            Some(got) if mistaken => {
                let (expected, got) = (indices[..].into(), got[..].into());
                Err(Error::ShapeMismatch { op: Op::EmbeddingBag, argument: Argument::Weights, expected, got })
            }
            _ => Ok((bounds, rows)),
        }
    });
    let op = EmbeddingBag::new(reduction).negative_index(tuning.negative).out_of_bounds(tuning.out_of_bounds);
    let op = op.padding_index(padding).default_index(default).include_last_offset(its_end);
    let op = op.skip_negative(skips_negative).skip_out_of_range(skips_out_of_range);
    let indices = Place::draw(u, &indices, true)?;
    let offsets = match offsets {
        None => None,
        Some(values) => {
            let place = Place::draw(u, &[values.len()], false)?;
            let mut memory = vec![-7; place.len];
            place.positions().values.iter().zip(&values).for_each(|(&at, &value)| memory[at] = value);
            Some((place, memory))
        }
    };
    let data_place = Place::draw(u, &data, true)?;
    let row_major = data_place.view(&vec![0u8; data_place.len]).layout().is_contiguous();
    let case = Case {
        given: [HowGiven::draw(u, row_major)?, HowGiven::draw(u, row_major)?],
        index_memory: draw::indices(u, &indices, word, tuning.rules, |_| data[0])?,
        out: Place::draw(u, &[&[bags], &data[1..]].concat(), false)?,
        data: data_place,
        weights: weights.map(|shape| Place::draw(u, &shape, true)).transpose()?,
        op: op.par(tuning.par).level(tuning.level),
        tuning,
        indices,
        offsets,
        expected,
    };
    let bytes = u.arbitrary()?;
    with_word!(word, I => if bytes { check::<u8, I>(&case, &BYTES) } else { check::<f32, I>(&case, &SINGLES) })
}

map_kernels! {
    /// Bytes by two parameters, each of which shows in the result.
    static BYTES = |value: u8, by: u8, plus: u8| -> u8 { value.wrapping_mul(by).wrapping_add(plus) };
    /// Numbers by two parameters.
    static SINGLES = |value: f32, by: f32, plus: f32| -> f32 { value * by + plus };
}

/// How a parameter is given.
#[derive(Clone, Copy, Debug)]
enum HowGiven {
    Once,
    ByRow,
    ByElement,
}

impl HowGiven {
    fn draw(u: &mut Unstructured<'_>, row_major: bool) -> Result<Self> {
        let given = *u.choose(&[HowGiven::Once, HowGiven::ByRow, HowGiven::ByElement])?;
        // By element, data is to be row-major.
        Ok(if matches!(given, HowGiven::ByElement) && !row_major { HowGiven::ByRow } else { given })
    }

    /// Its values for data of a shape.
    fn values<T: Number>(self, shape: &[usize], seed: u64) -> Vec<T> {
        let count = match self {
            HowGiven::Once => 1,
            HowGiven::ByRow => shape[0],
            HowGiven::ByElement => shape.iter().product(),
        };
        (0..count as u64).map(|at| T::number(at ^ seed)).collect()
    }

    fn param<T: Copy>(self, values: &[T]) -> Given<'_, T> {
        match self {
            HowGiven::Once => Given::All(values[0]),
            HowGiven::ByRow => Given::PerRow(values),
            HowGiven::ByElement => Given::PerElement(values),
        }
    }

    /// Which of the values is that of an element, by its place in row-major order.
    fn at(self, element: usize, row: usize) -> usize {
        match self {
            HowGiven::Once => 0,
            HowGiven::ByRow => element / row,
            HowGiven::ByElement => element,
        }
    }
}

/// A map with the values of its parameters.
struct Mapped<'a, T> {
    map: &'a Map<T, T, (T, T)>,
    given: [HowGiven; 2],
    values: [Vec<T>; 2],
}

impl<T: Number> Mapped<'_, T> {
    fn params(&self) -> (Given<'_, T>, Given<'_, T>) {
        (self.given[0].param(&self.values[0]), self.given[1].param(&self.values[1]))
    }

    /// The converted table.
    fn convert(&self, data: &Dense<T>) -> Dense<T> {
        let row = data.shape[1..].iter().product::<usize>().max(1);
        let value = |(at, &value): (usize, &T)| {
            let [by, plus] = [0, 1].map(|k| self.values[k][self.given[k].at(at, row)]);
            T::combine(Reduction::Add, T::combine(Reduction::Mul, value, by), plus)
        };
        Dense { values: data.values.iter().enumerate().map(value).collect(), shape: data.shape.clone() }
    }
}

/// Ascending offsets into `count` indices; sometimes one offset is anything.
fn draw_offsets(u: &mut Unstructured<'_>, count: usize) -> Result<Vec<i64>> {
    let bags = u.int_in_range(0..=9)?;
    let mut offsets = Vec::with_capacity(bags);
    for _ in 0..bags {
        offsets.push(u.int_in_range(0..=count)? as i64);
    }
    offsets.sort_unstable();
    offsets.iter_mut().take(1).for_each(|first| *first = 0);
    if bags > 0 && one_in(u, 16)? {
        let at = u.choose_index(bags)?;
        offsets[at] = draw::attribute(u, -1, count as i64 + 1)?;
    }
    Ok(offsets)
}

/// Where bags begin and end.
fn bounds(offsets: &[i64], count: usize, its_end: bool) -> std::result::Result<Vec<usize>, Error> {
    if its_end && offsets.is_empty() {
        return Err(Error::NoOffsets);
    }
    let mut bounds = Vec::new();
    for (position, &offset) in offsets.iter().enumerate() {
        let (min, max) = if position == 0 { (0, 0) } else { (bounds[position - 1], count) };
        if offset < min as i64 || offset > max as i64 {
            return Err(Error::BagOffsetOutOfRange { position, offset: offset.into(), min, max });
        }
        bounds.push(offset as usize);
    }
    if !its_end || bounds.is_empty() {
        bounds.push(if bounds.is_empty() { 0 } else { count });
    }
    Ok(bounds)
}

/// The row that an attribute names.
fn row(
    argument: Argument,
    index: Option<i64>,
    negative: NegativeIndex,
    dim: usize,
) -> std::result::Result<Option<usize>, Error> {
    let Some(index) = index else { return Ok(None) };
    let rows: Vec<usize> = (0..dim)
        .filter(|&row| {
            let from_end = row as i64 - dim as i64;
            index == row as i64 || (negative == NegativeIndex::FromEnd && index == from_end)
        })
        .collect();
    match rows[..] {
        [row] => Ok(Some(row)),
        _ => Err(Error::RowOutOfRange { argument, index, dim }),
    }
}

/// Compares every door with what is expected.
fn check<T: Number + Reducible<Number = T>, I: Word>(case: &Case, map: &Map<T, T, (T, T)>) -> Result<Outcome> {
    let _shown = OnPanic(case);
    let memory = |place: &Place, seed: u64| (0..place.len as u64).map(|at| T::number(at ^ seed)).collect::<Vec<T>>();
    let data_memory = memory(&case.data, 0);
    let weight_memory = case.weights.as_ref().map(|place| memory(place, 1 << 40));
    let index_memory: Vec<I> = case.index_memory.iter().map(|&index| I::of(index)).collect();
    let (data, indices) = (case.data.view(&data_memory), case.indices.view(&index_memory));
    let weights = case.weights.as_ref().zip(weight_memory.as_ref()).map(|(place, memory)| place.view(memory));
    let dense = |place: &Place, memory: &[T]| Dense {
        values: place.positions().values.into_iter().map(|at| memory[at]).collect(),
        shape: place.shape.clone(),
    };
    let table = dense(&case.data, &data_memory);
    let given_weights = case.weights.as_ref().zip(weight_memory.as_ref());
    let given_weights = given_weights.map(|(place, memory)| dense(place, memory).values);
    let expect = |table: &Dense<T>| {
        let (bounds, rows) = case.expected.clone()?;
        expect(case, table, given_weights.as_deref(), &bounds, rows)
    };
    let values = [0, 1].map(|k| case.given[k].values(&case.data.shape, (k as u64 + 2) << 40));
    let mapped = Mapped { map, given: case.given, values };
    let converted = Expected::from(expect(&mapped.convert(&table)));
    let expected = expect(&table);
    let outcome = Outcome::of(&expected);
    let expected = [&Expected::from(expected), &converted];
    let inferred =
        case.op.output_shape(data.shape(), indices.shape(), case.offsets.as_ref().map(|(place, _)| place.shape[0]));
    match &case.expected {
        Ok(_) | Err(Error::NoOffsets) => expected[0].is_shape(inferred),
        // Neither offsets nor rows nor weights are known to it.
        Err(_) => assert!(inferred.is_ok(), "output_shape: {inferred:?}"),
    }
    match &case.offsets {
        None => {
            let bags = Bags::packed(&indices);
            doors(case, expected, &mapped, &data, (&indices, weights.as_ref()), &bags);
        }
        Some((place, memory)) => {
            let offsets = place.view(memory);
            doors(case, expected, &mapped, &data, (&indices, weights.as_ref()), &Bags::new(&indices, &offsets));
        }
    }
    Ok(outcome)
}

/// What the oracle gives for a table.
fn expect<T: Number>(
    case: &Case,
    table: &Dense<T>,
    weights: Option<&[T]>,
    bounds: &[usize],
    rows: BagRows,
) -> std::result::Result<Dense<T>, Error> {
    let read = case.indices.positions();
    let indices = Dense { values: read.values.iter().map(|&at| case.index_memory[at]).collect(), shape: read.shape };
    let reduction = case.op.get_reduction();
    let reduce = |terms: &[(usize, T)]| {
        let value = |&(at, value): &(usize, T)| match weights {
            Some(weights) => T::combine(Reduction::Mul, value, weights[at]),
            None => value,
        };
        let terms = terms.iter().map(value);
        match reduction {
            Reduction::Add => terms.fold(T::ZERO, |sum, new| T::combine(reduction, sum, new)),
            _ => terms.reduce(|kept, new| T::combine(reduction, kept, new)).expect("a term"),
        }
    };
    let found = oracle::embedding_bag(table, &indices, bounds, case.tuning.rules, rows, &T::ZERO, reduce);
    found.map_err(|BadIndex { position, index }| {
        let (op, dim, negative) = (Op::EmbeddingBag, table.shape[0], case.tuning.negative);
        Error::IndexOutOfRange { op, position, index, axis: 0, dim, negative }
    })
}

/// `converted` is what is expected where the map converts rows first.
fn doors<T: Number + Reducible<Number = T>, I: Index, O: Source<Kind: IndexKind>>(
    case: &Case,
    [expected, converted]: [&Expected<T>; 2],
    mapped: &Mapped<'_, T>,
    data: &View<'_, T>,
    (indices, weights): (&View<'_, I>, Option<&View<'_, T>>),
    bags: &Bags<'_, View<'_, I>, O>,
) {
    let op = &case.op;
    let bags = bags.weights(weights);
    expected.is("run", op.run(data, &bags));
    if case.expected.is_ok() {
        expected.is_written("run_into", &case.out, &|out| op.run_into(data, &bags, out), &|out| {
            op.run_into(data, &bags, out)
        });
    }
    match op.plan(data, &bags) {
        Ok(plan) => {
            assert!(!plan.explain().to_string().is_empty());
            expected.is("plan, run in planned bags", plan.run(data, &Bags::planned(indices).weights(weights)));
            expected.is("plan, run with bags", plan.run(data, &bags));
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    let (map, params) = (mapped.map, mapped.params());
    converted.is("map, run", op.run(&data.map(map, params), &bags));
    if case.expected.is_ok() {
        converted.is_written(
            "map, run_into",
            &case.out,
            &|out| op.run_into(&data.map(map, params), &bags, out),
            &|out| op.run_into(&data.map(map, params), &bags, out),
        );
    }
    match op.plan(&Spec::from_layout(data.layout()).map(map), &bags) {
        Ok(plan) => {
            converted.is(
                "map, plan, run in planned bags",
                plan.run(&data.map(map, params), &Bags::planned(indices).weights(weights)),
            );
            converted.is("map, plan, run with bags", plan.run(&data.map(map, params), &bags));
        }
        Err(error) => converted.is("map, plan", Err(error)),
    }
    let (a, i, w) = (DynView::from(data), DynView::from(indices), weights.map(DynView::from));
    let offsets = case.offsets.as_ref().map(|(place, memory)| place.view(memory));
    let offsets = offsets.as_ref().map(DynView::from);
    let bags = offsets.as_ref().map_or_else(|| Bags::packed(&i), |offsets| Bags::new(&i, offsets));
    let bags = bags.weights(w.as_ref());
    expected.is_dyn("dyn, run", op.run(&a, &bags));
    let planned = op.plan(&a, &bags);
    expected.is_dyn(
        "dyn, plan, run with bags",
        planned.as_ref().map_err(Clone::clone).and_then(|plan| plan.run(&a, &bags)),
    );
    expected.is_dyn(
        "dyn, plan, run in planned bags",
        planned.and_then(|plan| plan.run(&a, &Bags::planned(&i).weights(w.as_ref()))),
    );
    if case.expected.is_ok() {
        expected.is_laid("dyn, run_into", &case.out, &|out| op.run_into(&a, &bags, &mut DynViewMut::from(out)));
    }
}

//! Cases of chunks whose rows are converted, computed, decoded or reduced: each call is compared with the same call on
//! one tensor, to the bit; NaN equals NaN.

use std::fmt::Debug;

use arbitrary::{Result, Unstructured};
use gather_core::{
    AdviceStats, Bags, Codes, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, Given, IndexKind, Nulls, Reduction,
    Residency, Source, TableOf, Tensor, Validity, View, chunks, maps, row_kernels, rows,
};

use super::chunks::Divided;
use super::draw::{self, one_in};
use super::elements::mixed;
use super::judge::OnPanic;
use super::map::DEQUANTIZE;
use super::memory::Place;
use super::nulls::Bits;
use super::scatter::Number;
use super::{MOST_OUT, Outcome};
use crate::fused;

type Ran = std::result::Result<Tensor<f32>, Error>;

row_kernels! {
    /// A row in another order, by a value per call, index or row and by a row per call or row.
    static TURNED = |row: &[f32], out: &mut [f32], by: f32, more: &[f32]| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = row[row.len() - 1 - at] * by + more[at];
        }
    };
}

/// Compares results of a call on chunks and of the same call on one tensor.
#[track_caller]
fn agree(door: &str, got: Ran, expected: &Ran) {
    match (got, expected) {
        (Ok(got), Ok(expected)) => {
            assert_eq!(got.shape(), expected.shape(), "{door}");
            let values = got.as_slice().iter().zip(expected.as_slice());
            let differs = values.clone().position(|(&got, &expected)| !fused::same(got, expected));
            assert_eq!(differs, None, "{door}: the first that differs");
        }
        (got, expected) => assert_eq!(got.err().as_ref(), expected.as_ref().err(), "{door}"),
    }
}

/// Requests the pages of a call on chunks and of the same call on one tensor.
pub(super) fn same_pages<S, T, X>(op: &Gather, divided: &S, whole: &T, indices: &X)
where
    S: Source<Kind: gather_core::GatheredBy<gather_core::GatherAttributes>>,
    T: Source<Kind: gather_core::GatheredBy<gather_core::GatherAttributes>>,
    X: Source<Kind: IndexKind>,
{
    let told = op.will_need(divided, indices);
    assert_eq!(told.rows, op.will_need(whole, indices).rows, "rows whose pages are needed");
    let Ok(plan) = op.plan(divided, indices) else { return assert_eq!(told, AdviceStats::default()) };
    assert_eq!(plan.will_need(divided, indices), told);
    // A file that no row lies in: nothing else is requested.
    let file = [0u8; 3];
    let mut residency = Residency::new([&file[..]]);
    let known = plan.will_need_in(divided, indices, &mut residency);
    assert!(known.rows == told.rows && known.ranges <= 1, "{known:?}, {told:?}");
}

/// Compares every door of a gather of chunks with the same of one tensor.
fn same<S, T>(u: &mut Unstructured<'_>, case: &Divided, divided: &S, whole: &T) -> Result<Outcome>
where
    S: TableOf<Gather, f32>,
    T: TableOf<Gather, f32>,
{
    let list: Vec<i64> = case.index_memory.iter().map(|&index| index as i64).collect();
    let (op, indices) = (&case.op, case.indices.view(&list));
    let expected = op.run(whole, &indices);
    agree("run", op.run(divided, &indices), &expected);
    let plan = op.plan(divided, &indices);
    match &plan {
        Ok(plan) => {
            agree("plan", plan.run(divided, &indices), &expected);
            if let Ok(expected) = &expected {
                assert_eq!(plan.output_shape(), expected.shape());
                let mut out = Tensor::full(expected.shape(), 9.0).expect("a small result");
                let ran = plan.run_into(divided, &indices, &mut out).map(|()| out);
                agree("plan, run_into", ran, &Ok(expected.clone()));
            }
        }
        Err(error) => assert_eq!(Some(error), expected.as_ref().err(), "plan"),
    }
    if let Some(method) = case.tuning.method {
        let forced = op.method(method).run(divided, &indices);
        if !matches!(forced, Err(Error::MethodUnavailable { .. })) {
            agree("method", forced, &expected);
        }
    }
    let (of_indices, of_rows) = (Bits::draw(u, case.indices.shape.iter().product())?, Bits::draw(u, case.shape()[0])?);
    let nulls = Nulls { indices: Some(of_indices.bitmap()), data: Some(of_rows.bitmap()) };
    let [got, wanted] = [op.nullable().run(divided, &indices, nulls), op.nullable().run(whole, &indices, nulls)];
    let bits = |valid: &Option<Validity>| valid.as_ref().map(|valid| valid.as_bytes().to_vec());
    match (&got, &wanted) {
        (Ok((_, got)), Ok((_, wanted))) => assert_eq!(bits(got), bits(wanted), "nulls"),
        (got, wanted) => assert_eq!(got.as_ref().err(), wanted.as_ref().err(), "nulls"),
    }
    agree("nulls", got.map(|(rows, _)| rows), &wanted.map(|(rows, _)| rows));
    same_pages(op, divided, whole, &indices);
    Ok(Outcome::of(&expected))
}

/// How the values of a parameter are given for a chunk.
#[derive(Clone, Copy, Debug)]
enum HowGiven {
    Once,
    ByRow,
    ByElement,
}

/// The values of a parameter for each chunk, given in a way of its own, and for each element of the whole table.
#[derive(Debug)]
struct Parameter<T> {
    of_chunks: Vec<(HowGiven, Vec<T>)>,
    of_elements: Vec<T>,
}

impl<T: Number> Parameter<T> {
    fn draw(u: &mut Unstructured<'_>, divided: &Divided, seed: u64) -> Result<Self> {
        let width = divided.row.iter().product::<usize>();
        let mut parameter = Parameter { of_chunks: Vec::new(), of_elements: Vec::new() };
        for (part, rows) in divided.parts.iter().zip(divided.ranges()) {
            let how = *u.choose(&[HowGiven::ByRow, HowGiven::Once, HowGiven::ByElement])?;
            // By element, data is row-major.
            let how = if part.is_dense() { how } else { HowGiven::ByRow };
            let count = match how {
                HowGiven::Once => 1,
                HowGiven::ByRow => rows.len(),
                HowGiven::ByElement => rows.len() * width,
            };
            let first = parameter.of_elements.len();
            let values: Vec<T> = (0..count).map(|at| T::number((first + at) as u64 ^ seed)).collect();
            parameter.of_elements.extend((0..rows.len() * width).map(|at| match how {
                HowGiven::Once => values[0],
                HowGiven::ByRow => values[at / width],
                HowGiven::ByElement => values[at],
            }));
            parameter.of_chunks.push((how, values));
        }
        Ok(parameter)
    }

    fn of_chunk(&self, chunk: usize) -> Given<'_, T> {
        let (how, values) = &self.of_chunks[chunk];
        match how {
            HowGiven::Once => Given::All(values[0]),
            HowGiven::ByRow => Given::PerRow(values),
            HowGiven::ByElement => Given::PerElement(values),
        }
    }
}

/// Maps with parameters of their own for each chunk.
pub(super) fn mapped(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let rank = u.int_in_range(0..=3)?;
    let row = draw::dims(u, rank, 300)?;
    let case = Divided::draw(u, row)?;
    let (mut scales, zeros) = (Parameter::<f32>::draw(u, &case, 1 << 40)?, Parameter::<u8>::draw(u, &case, 2 << 40)?);
    let misfit = if one_in(u, 24)? { Some(u.choose_index(case.parts.len())?) } else { None };
    if let Some(chunk) = misfit {
        scales.of_chunks[chunk] = (HowGiven::ByRow, vec![1.0; case.parts[chunk].shape[0] + 1]);
    }
    let shown = (&case, &scales, &zeros);
    let _shown = OnPanic(&shown);
    let memory = case.memory(|at| mixed(at) as u8);
    let (views, whole, shape) = (case.views(&memory), case.whole(&memory), case.shape());
    let given = |chunk| (scales.of_chunk(chunk), zeros.of_chunk(chunk));
    let parts: Vec<_> = views.iter().enumerate().map(|(chunk, view)| view.map(&DEQUANTIZE, given(chunk))).collect();
    let divided = chunks(&parts);
    if let Some(expected) = misfit {
        match divided.map(drop) {
            Err(Error::InChunk { chunk, error }) => {
                assert_eq!(chunk, expected, "{error}");
                assert!(matches!(*error, Error::MapParameterLengthMismatch { .. }), "{error}");
            }
            got => panic!("{got:?}"),
        }
        return Ok(Outcome::Refused);
    }
    let whole = View::new(&whole, &shape).expect("the whole table");
    let given = (Given::PerElement(&scales.of_elements[..]), Given::PerElement(&zeros.of_elements[..]));
    same(u, &case, &divided.expect("chunks that fit"), &whole.map(&DEQUANTIZE, given))
}

/// Row functions of elements and of what maps make of them.
pub(super) fn by_rows(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let row = draw::dims(u, 1, 300)?;
    let width = row[0];
    let case = Divided::draw(u, row)?;
    let (shape, per_row, count) = (case.shape(), u.int_in_range(0..=2)?, case.indices.shape.iter().product());
    let numbers = |len: usize, seed: u64| (0..len as u64).map(|at| f32::number(at ^ seed)).collect::<Vec<_>>();
    let (more, by) = (numbers(shape[0] * width, 1 << 40), numbers(shape[0].max(count).max(1), 2 << 40));
    let query = numbers(width, 3 << 40);
    let more = if one_in(u, 2)? { Given::All(&query[..]) } else { Given::PerRow(&more[..]) };
    let by = match per_row {
        0 => Given::All(2.5),
        1 => Given::PerRow(&by[..shape[0]]),
        _ => Given::PerIndex(&by[..count]),
    };
    let codes = case.memory(|at| mixed(at) as u8);
    let floats = case.memory(f32::number);
    let shown = (&case, &more, &by);
    let _shown = OnPanic(&shown);
    let (code_views, views) = (case.views(&codes), case.views(&floats));
    let (codes, floats) = (case.whole(&codes), case.whole(&floats));
    let whole = View::new(&floats, &shape).expect("the whole table");
    let dot = (Given::All(&query[..]),);
    match u.int_in_range(0..=2)? {
        0 => {
            let divided = chunks(&views).expect("chunks").rows(&TURNED, (by, more));
            same(u, &case, &divided, &whole.rows(&TURNED, (by, more)))
        }
        1 => {
            let divided = chunks(&views).expect("chunks").rows(&rows::dot(), dot);
            same(u, &case, &divided, &whole.rows(&rows::dot(), dot))
        }
        _ => {
            let whole = View::new(&codes, &shape).expect("the whole table");
            let given = (Given::All(0.5), Given::All(7));
            let parts: Vec<_> = code_views.iter().map(|view| view.map(&DEQUANTIZE, given)).collect();
            let divided = chunks(&parts).expect("chunks").rows(&TURNED, (by, more));
            same(u, &case, &divided, &whole.map(&DEQUANTIZE, given).rows(&TURNED, (by, more)))
        }
    }
}

/// Blocks with scales and zero points of their own for each chunk, and fused rows.
pub(super) fn decoded(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if one_in(u, 3)? {
        return of_fused_rows(u);
    }
    let codes = *u.choose(Codes::ALL)?;
    let block_size = *u.choose(&[16, 32, 64, 1 << 20])?;
    let width = u.int_in_range(1..=40)?;
    let mut case = Divided::draw(u, vec![width])?;
    // Blocks are row-major.
    case.parts.iter_mut().for_each(|part| *part = Place::dense(&part.shape));
    let shape = case.shape();
    let blocks = (width * codes.per_byte()).div_ceil(block_size);
    let packed = blocks.div_ceil(codes.per_byte());
    // Pairs have their zero points in one list, whatever the rows.
    let takes_zeros = matches!(codes, Codes::Bits2 | Codes::Bits4 | Codes::Bits8);
    let has_zeros = takes_zeros && u.arbitrary()?;
    let shown = (&case, codes, block_size, has_zeros);
    let _shown = OnPanic(&shown);
    let memory = case.memory(|at| mixed(at) as u8);
    let (views, whole) = (case.views(&memory), case.whole(&memory));
    let whole = View::new(&whole, &shape).expect("the whole table");
    let scales: Vec<f32> = (0..(shape[0] * blocks) as u64).map(f32::number).collect();
    let zeros: Vec<u8> = (0..(shape[0] * packed) as u64).map(mixed).map(|noise| noise as u8).collect();
    let params: Vec<_> = case
        .ranges()
        .map(|rows| {
            let scales = View::new(&scales[rows.start * blocks..rows.end * blocks], &[rows.len(), blocks]);
            let zeros = View::new(&zeros[rows.start * packed..rows.end * packed], &[rows.len(), packed]);
            (scales.expect("scales"), zeros.expect("zero points"))
        })
        .collect();
    let parts: Vec<_> = views
        .iter()
        .zip(&params)
        .map(|(view, (scales, zeros))| {
            let blocks = view.blocks(codes, block_size, scales);
            if has_zeros { blocks.zero_points(zeros) } else { blocks }
        })
        .collect();
    let scales = View::new(&scales, &[shape[0], blocks]).expect("scales");
    let zeros = View::new(&zeros, &[shape[0], packed]).expect("zero points");
    let whole = whole.blocks(codes, block_size, &scales);
    let whole = if has_zeros { whole.zero_points(&zeros) } else { whole };
    let divided = chunks(&parts).expect("chunks of blocks");
    if one_in(u, 3)? {
        let query = vec![0.25f32; width * codes.per_byte()];
        let dot = (Given::All(&query[..]),);
        return same(u, &case, &divided.rows(&rows::dot(), dot), &whole.rows(&rows::dot(), dot));
    }
    same(u, &case, &divided, &whole)
}

fn of_fused_rows(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let (format, columns) = (*u.choose(FusedFormat::ALL)?, u.int_in_range(0..=70)?);
    let bytes = format.row_bytes(columns).expect("few columns");
    let case = Divided::draw(u, vec![bytes])?;
    let shown = (&case, format, columns);
    let _shown = OnPanic(&shown);
    let rows = case.shape()[0];
    let all = fused::rows(format, columns, rows, |at| mixed(at as u64));
    let memory = case.memory(|at| all.get(at as usize).copied().unwrap_or(at as u8));
    let (views, whole) = (case.views(&memory), case.whole(&memory));
    let whole = FusedRows::new(View::new(&whole, &[rows, bytes]).expect("all rows"), format, columns).expect("rows");
    let parts = views.into_iter().map(|view| FusedRows::new(view, format, columns));
    let parts: Vec<_> = parts.collect::<std::result::Result<_, _>>().expect("rows of the format");
    let parts: Vec<_> = parts.iter().map(|part| part.to::<f32>()).collect();
    same(u, &case, &chunks(&parts).expect("chunks of fused rows"), &whole.to::<f32>())
}

/// Bags of rows of elements and of what a map makes of them.
pub(super) fn in_bags(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let rank = u.int_in_range(0..=2)?;
    let row = draw::dims(u, rank, 100)?;
    let mut case = Divided::draw(u, row)?;
    let (width, shape) = (case.row.iter().product::<usize>().max(1), case.shape());
    let is_packed = u.arbitrary()?;
    let of_indices = draw::dims(u, if is_packed { 2 } else { 1 }, 300.min(MOST_OUT / width).max(1))?;
    case.indices = Place::draw(u, &of_indices, true)?;
    let rules = case.tuning.rules;
    case.index_memory = draw::indices(u, &case.indices, case.word, rules, |_| shape[0])?;
    let count = of_indices.iter().product::<usize>();
    let mut offsets = vec![0i64; u.int_in_range(1..=6)?];
    for offset in &mut offsets[1..] {
        *offset = u.int_in_range(0..=count)? as i64;
    }
    offsets.sort_unstable();
    if one_in(u, 24)? {
        offsets.push(count as i64 + 1);
    }
    let reduction = *u.choose(&[Reduction::Add, Reduction::Mean, Reduction::Max, Reduction::Min])?;
    let dim = shape[0] as i64;
    let padding = if one_in(u, 3)? { Some(draw::attribute(u, -dim, dim - 1)?) } else { None };
    let default = if one_in(u, 3)? { Some(draw::attribute(u, 0, dim - 1)?) } else { None };
    let op = EmbeddingBag::new(reduction)
        .negative_index(case.tuning.negative)
        .out_of_bounds(case.tuning.out_of_bounds)
        .par(case.tuning.par)
        .level(case.tuning.level)
        .padding_index(padding)
        .default_index(default)
        .skip_negative(one_in(u, 4)?);
    let scales = Parameter::<f32>::draw(u, &case, 1 << 40)?;
    let has_weights = reduction == Reduction::Add && u.arbitrary()?;
    let shown = (&case, &op, &offsets, &scales, has_weights);
    let _shown = OnPanic(&shown);
    let list: Vec<i64> = case.index_memory.iter().map(|&index| index as i64).collect();
    let indices = case.indices.view(&list);
    let weights: Vec<f32> = (0..count as u64).map(f32::number).collect();
    let weights = View::new(&weights, &of_indices).expect("a weight for each index");
    let offsets = View::new(&offsets, &[offsets.len()]).expect("a list");
    let bags = if is_packed { Bags::packed(&indices) } else { Bags::new(&indices, &offsets) };
    let bags = bags.weights(has_weights.then_some(&weights));
    if u.arbitrary()? {
        let memory = case.memory(f32::number);
        let (views, whole) = (case.views(&memory), case.whole(&memory));
        let whole = View::new(&whole, &shape).expect("the whole table");
        return Ok(same_bags(&op, &chunks(&views).expect("chunks"), &whole, &bags));
    }
    let memory = case.memory(|at| mixed(at) as u8);
    let (views, whole) = (case.views(&memory), case.whole(&memory));
    let whole = View::new(&whole, &shape).expect("the whole table");
    let map = maps::dequantize::<u8>();
    let given = |chunk| (scales.of_chunk(chunk), Given::All(9));
    let parts: Vec<_> = views.iter().enumerate().map(|(chunk, view)| view.map(&map, given(chunk))).collect();
    let whole = whole.map(&map, (Given::PerElement(&scales.of_elements[..]), Given::All(9)));
    Ok(same_bags(&op, &chunks(&parts).expect("chunks"), &whole, &bags))
}

/// Compares every door of bags of chunks with the same of one tensor.
fn same_bags<S, T>(
    op: &EmbeddingBag,
    divided: &S,
    whole: &T,
    bags: &Bags<'_, View<'_, i64>, View<'_, i64>, View<'_, f32>>,
) -> Outcome
where
    S: gather_core::BagTableOf<f32, f32>,
    T: gather_core::BagTableOf<f32, f32>,
{
    let expected = op.run(whole, bags);
    agree("bags, run", op.run(divided, bags), &expected);
    let told = op.will_need(divided, bags);
    assert_eq!(told.rows, op.will_need(whole, bags).rows, "rows whose pages are needed");
    let file = [0u8; 3];
    let mut residency = Residency::new([&file[..]]);
    match op.plan(divided, bags) {
        Ok(plan) => {
            agree("bags, plan", plan.run(divided, bags), &expected);
            assert_eq!(plan.will_need(divided, bags), told);
            let known = plan.will_need_in(divided, bags, &mut residency);
            assert!(known.rows == told.rows && known.ranges <= 1, "{known:?}, {told:?}");
        }
        Err(error) => assert_eq!(Some(&error), expected.as_ref().err(), "bags, plan"),
    }
    Outcome::of(&expected)
}

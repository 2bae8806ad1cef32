//! Cases of chunks: rows of sources of any lengths, as one table. Moves are compared with the oracle; what converts,
//! computes or reduces rows is in `chunks_converted`.

use arbitrary::{Result, Unstructured};
use gather_core::{
    Append, Argument, Checked, DynView, DynViewMut, Error, Gather, Index, IndexPolicy, Layout, Method, NegativeIndex,
    Op, OutOfBounds, Spec, Tensor, View, ViewMut, chunks,
};

use super::chunks_converted::{self, same_pages};
use super::draw::{self, Tuning, one_in};
use super::elements::{ElementKind, Sample, Word, WordKind, mixed};
use super::index_op::REGISTRY;
use super::judge::{Expected, OnPanic};
use super::memory::{Guarded, Place};
use super::{MOST_DATA, MOST_OUT, Outcome};
use crate::oracle::{self, BadIndex, Dense};

/// Chunks of a case, and the indices into their rows.
#[derive(Debug)]
pub(super) struct Divided {
    pub(super) op: Gather,
    pub(super) tuning: Tuning,
    /// The shape of a row.
    pub(super) row: Vec<usize>,
    /// The place of each chunk in memory of its own.
    pub(super) parts: Vec<Place>,
    pub(super) word: WordKind,
    pub(super) indices: Place,
    pub(super) index_memory: Vec<i128>,
}

/// Runs calls on chunks, and compares them with the oracle or with calls on one tensor.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn chunked(u: &mut Unstructured<'_>) -> Result<Outcome> {
    match u.int_in_range(0..=6)? {
        0..=2 => moved(u),
        3 => chunks_converted::mapped(u),
        4 => chunks_converted::by_rows(u),
        5 => chunks_converted::decoded(u),
        _ => chunks_converted::in_bags(u),
    }
}

/// The rows of each chunk: none, or many; of no chunk, or of many.
pub(super) fn lengths(u: &mut Unstructured<'_>, room: usize) -> Result<Vec<usize>> {
    let count = *u.choose(&[2, 3, 5, 1, 2, 9, 40, 200])?;
    let (most, seed) = (*u.choose(&[3u64, 1, 9, 70])?, u64::from(u.arbitrary::<u16>()?) << 32);
    let are_equal = one_in(u, 4)?;
    let mut left = room;
    let length = |at| {
        let drawn = if are_equal { most } else { mixed(seed + at) % (most + 1) };
        let rows = left.min(drawn as usize);
        left -= rows;
        rows
    };
    Ok((0..count).map(length).collect())
}

impl Divided {
    /// Draws chunks of rows of a shape, and indices.
    pub(super) fn draw(u: &mut Unstructured<'_>, row: Vec<usize>) -> Result<Self> {
        let (tuning, word) = (Tuning::draw(u)?, u.arbitrary::<WordKind>()?);
        let width = row.iter().product::<usize>().max(1);
        let lengths = lengths(u, MOST_DATA / width)?;
        let total = lengths.iter().sum::<usize>();
        let index_rank = u.int_in_range(0..=3)?;
        let indices = draw::dims(u, index_rank, MOST_OUT / width)?;
        let indices = Place::draw(u, &indices, true)?;
        let index_memory = draw::indices(u, &indices, word, tuning.rules, |_| total)?;
        let parts = lengths.into_iter().map(|rows| place(u, rows, &row)).collect::<Result<_>>()?;
        let op = Gather::new(if one_in(u, 2)? { 0 } else { -1 - row.len() as i64 });
        let op = op.negative_index(tuning.negative).out_of_bounds(tuning.out_of_bounds);
        let op = op.par(tuning.par).level(tuning.level).registry(&REGISTRY);
        Ok(Divided { op, tuning, row, parts, word, indices, index_memory })
    }

    /// The number of chunks with rows.
    fn with_rows(&self) -> usize {
        self.parts.iter().filter(|part| part.shape[0] > 0).count()
    }

    /// The rows of each chunk: from, to.
    pub(super) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.parts.iter().scan(0, |end, part| {
            *end += part.shape[0];
            Some(*end - part.shape[0]..*end)
        })
    }

    /// The shape of the whole table.
    pub(super) fn shape(&self) -> Vec<usize> {
        [&[self.parts.iter().map(|part| part.shape[0]).sum()], &self.row[..]].concat()
    }

    /// The memory of each chunk: values by the position in the memory of all.
    pub(super) fn memory<T>(&self, value: impl Fn(u64) -> T) -> Vec<Vec<T>> {
        let mut first = 0;
        let memory = |part: &Place| {
            first += part.len;
            (first - part.len..first).map(|at| value(at as u64)).collect()
        };
        self.parts.iter().map(memory).collect()
    }

    /// The position of each element of the whole table in the memory of all chunks.
    pub(super) fn positions(&self) -> Dense<usize> {
        let mut first = 0;
        let positions = self.parts.iter().flat_map(|part| {
            first += part.len;
            part.positions().values.into_iter().map(|at| at + first - part.len).collect::<Vec<_>>()
        });
        Dense { values: positions.collect(), shape: self.shape() }
    }

    /// The whole table in row-major order.
    pub(super) fn whole<T: Copy>(&self, memory: &[Vec<T>]) -> Vec<T> {
        let memory = memory.concat();
        self.positions().values.into_iter().map(|at| memory[at]).collect()
    }

    pub(super) fn views<'a, T>(&self, memory: &'a [Vec<T>]) -> Vec<View<'a, T>> {
        self.parts.iter().zip(memory).map(|(part, memory)| part.view(memory)).collect()
    }
}

/// The place of a chunk: its rows are contiguous, and lie in order, apart, backwards, over each other or in one place.
fn place(u: &mut Unstructured<'_>, rows: usize, row: &[usize]) -> Result<Place> {
    let mut place = Place::dense(&[&[rows], row].concat());
    let width = row.iter().product::<usize>() as isize;
    let step = match u.int_in_range(0..=9)? {
        0..=4 => return Ok(place),
        5..=6 => width + u.int_in_range(1..=3)?,
        7 => -width,
        8 => 0,
        _ => 1,
    };
    place.strides[0] = step;
    if place.len > 0 {
        let span = step.unsigned_abs() * (rows - 1);
        (place.offset, place.len) = (if step < 0 { span } else { 0 }, span + width as usize);
    }
    Ok(place)
}

/// A case of elements that are moved.
#[derive(Debug)]
struct Case {
    divided: Divided,
    out: Place,
    /// The position in all memory of every element of the result; `None` is the fill value.
    expected: std::result::Result<Dense<Option<usize>>, Error>,
    /// The chunk whose rows have another shape.
    misfit: Option<usize>,
}

impl Case {
    /// The drawn output. Several chunks write whole rows, and refuse an output whose rows are not contiguous before
    /// anything is written: then a row-major output.
    fn out_of<T: Sample>(&self, run: impl FnOnce(&mut ViewMut<'_, T>) -> std::result::Result<(), Error>) -> Place {
        let lead = self.out.shape.len() - self.divided.row.len();
        let row = Layout::strided(&self.out.shape[lead..], &self.out.strides[lead..]).expect("a layout of the case");
        if row.is_contiguous() || self.out.shape.contains(&0) || self.divided.with_rows() < 2 {
            return self.out.clone();
        }
        let mut guarded = Guarded::<T>::new(&self.out);
        let ran = run(&mut self.out.view_mut(&mut guarded.memory));
        assert_eq!(ran, Err(Error::RowsNotContiguous { op: Op::Gather, argument: Argument::Output }));
        assert!(guarded.is_intact(&self.out, true), "a refused call has written");
        Place::dense(&self.out.shape)
    }
}

fn moved(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let (element, rank) = (u.arbitrary::<ElementKind>()?, u.int_in_range(0..=3)?);
    let row = draw::dims(u, rank, 300)?;
    let mut divided = Divided::draw(u, row)?;
    if one_in(u, 40)? {
        divided.parts.clear();
    }
    let shape = [&divided.indices.shape[..], &divided.row].concat();
    let out = Place::draw(u, &shape, false)?;
    let positions = divided.positions();
    let data = Dense { values: positions.values.into_iter().map(Some).collect(), shape: positions.shape };
    let read = divided.indices.positions();
    let read = Dense {
        values: read.values.iter().map(|&at| divided.index_memory[at]).collect(),
        shape: divided.indices.shape.clone(),
    };
    let (dim, negative) = (data.shape[0], divided.tuning.negative);
    let expected = oracle::gather(&data, &read, 0, 0, divided.tuning.rules, &None);
    let expected = expected.map_err(|bad| out_of_range(bad, dim, negative));
    let misfit = if divided.parts.len() > 1 && one_in(u, 24)? {
        Some(1 + u.choose_index(divided.parts.len() - 1)?)
    } else {
        None
    };
    let case = Case { divided, out, expected, misfit };
    Ok(with_element!(element, T => match case.divided.word {
        WordKind::U8 => check::<T, u8>(&case),
        WordKind::I32 => check::<T, i32>(&case),
        // Other types are known at run time.
        word => with_word!(word, I => {
            let list: Vec<I> = case.divided.index_memory.iter().map(|&index| I::of(index)).collect();
            check_dyn::<T>(&case, &DynView::from(&case.divided.indices.view(&list)))
        }),
    }))
}

fn out_of_range(BadIndex { position, index }: BadIndex, dim: usize, negative: NegativeIndex) -> Error {
    Error::IndexOutOfRange { op: Op::Gather, position, index, axis: 0, dim, negative }
}

/// Checks the error of chunks that are none, or one of which does not fit. Returns whether there is one.
fn is_refused<T: Sample>(case: &Case, views: &[View<'_, T>]) -> bool {
    if views.is_empty() {
        assert_eq!(chunks(views).map(drop), Err(Error::NoChunks));
        return true;
    }
    let Some(chunk) = case.misfit else { return false };
    let mut views = views.to_vec();
    views[chunk] = View::new(&[], &[&[0], &case.divided.row[..], &[1]].concat()).expect("no element");
    match chunks(&views).map(drop).unwrap_err() {
        Error::InChunk { chunk: got, error } => {
            assert_eq!((got, matches!(*error, Error::ShapeMismatch { .. })), (chunk, true), "{error}");
        }
        error => panic!("{error}"),
    }
    true
}

/// The operator with the drawn method, if the method takes chunks.
fn with_method<T: Sample>(case: &Case, run: impl Fn(&Gather) -> std::result::Result<T, Error>) -> Gather {
    let op = case.divided.op;
    let Some(method) = case.divided.tuning.method else { return op };
    match run(&op.method(method)) {
        Err(Error::MethodUnavailable { .. }) => {
            assert_ne!(method, Method::Direct, "it takes any shape");
            op
        }
        _ => op.method(method),
    }
}

/// Compares every door of typed calls with what is expected.
fn check<T: Sample, I: Word>(case: &Case) -> Outcome {
    let (_shown, divided) = (OnPanic(case), &case.divided);
    let memory = divided.memory(T::sample);
    let list: Vec<I> = divided.index_memory.iter().map(|&index| I::of(index)).collect();
    let (views, indices) = (divided.views(&memory), divided.indices.view(&list));
    if is_refused(case, &views) {
        return Outcome::Refused;
    }
    let expected = Expected::new(&case.expected, &memory.concat());
    let data = chunks(&views).expect("chunks of one row shape");
    assert_eq!(data.shape(), divided.shape());
    let op = with_method(case, |op| op.run(&data, &indices).map(|_| T::ZERO));
    expected.is("run", op.run(&data, &indices));
    // A method may take a row-major output and refuse another.
    let given = divided.op;
    let out = case.out_of::<T>(|out| given.run_into(&data, &indices, out));
    expected.is_written("run_into", &out, &|out| given.run_into(&data, &indices, out), &|out| {
        op.run_into(&data, &indices, out)
    });
    let plan = op.plan(&data, &indices).expect("a plan of the case");
    let dense = Place::dense(plan.output_shape());
    assert!(!plan.explain().to_string().is_empty());
    expected.is("plan, run", plan.run(&data, &indices));
    expected.is_written("plan, run_into", &dense, &|out| plan.run_into(&data, &indices, out), &|out| {
        plan.run_into(&data, &indices, out)
    });
    checked(&op, (&data, &indices), case, &expected);
    // The layout of one chunk is part of a plan.
    if divided.with_rows() > 1 || divided.parts.iter().all(Place::is_dense) {
        let whole = Spec::<T>::new(&divided.shape()).expect("a small shape").chunks(divided.with_rows());
        let ahead = given.plan(&whole, &Spec::<I>::from_layout(indices.layout())).expect("a plan ahead");
        expected.is("plan ahead, run", ahead.run(&data, &indices));
    }
    any_count(&op, (&data, &indices), &expected);
    let of_one = divided.whole(&memory);
    let of_one = View::new(&of_one, &divided.shape()).expect("the whole table");
    same_pages(&given, &data, &of_one, &indices);
    check_dyn::<T>(case, &DynView::from(&indices))
}

/// Runs by checked indices, planned and behind old contents, and by pairs of chunks and rows.
fn checked<T: Sample, I: Word>(
    op: &Gather,
    (data, indices): (&gather_core::ChunksView<'_, T>, &View<'_, I>),
    case: &Case,
    expected: &Expected<T>,
) {
    let policy = IndexPolicy { negative: op.get_negative_index(), out_of_bounds: op.get_out_of_bounds() };
    let rows = data.shape()[0];
    if rows == 0 {
        return;
    }
    let ids = match Checked::<i64>::new(indices, rows, policy) {
        Ok(ids) => ids,
        Err(error) => return expected.is("checked", Err(error)),
    };
    let narrow = Checked::<i32>::new(&ids, rows, OutOfBounds::Error).expect("positions");
    expected.is("checked, run", op.run(data, &ids));
    expected.is("checked to 32 bits, run", op.run(data, &narrow));
    expected.is("checked, plan", op.plan(data, &ids).and_then(|plan| plan.run(data, &ids)));
    let mut all = vec![T::sample(7)];
    let ran = op.run_into(data, &narrow, &mut Append(&mut all));
    let shape = [indices.shape(), &case.divided.row[..]].concat();
    expected.is("append", ran.and_then(|()| Tensor::new(all.split_off(1), &shape)));
    let positions = ids.positions();
    let ranges: Vec<_> = case.divided.ranges().collect();
    let list = Place::dense(positions.shape()).positions();
    let pair = |at: usize| {
        let coords = coordinates(at, positions.shape());
        let position = usize::try_from(*positions.get(&coords)?).ok()?;
        let source = ranges.iter().position(|range| range.contains(&position))?;
        Some((source, position - ranges[source].start))
    };
    if let Some(pairs) = list.values.iter().map(|&at| pair(at)).collect::<Option<Vec<_>>>() {
        let (sources, rows): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let pairs: Checked<'_, i64> = data.pairs(&sources, &rows).expect("rows of their chunks");
        let got = op.run(data, &pairs).and_then(|rows| Tensor::new(rows.into_vec(), &shape));
        expected.is("pairs, run", got);
    }
}

/// The coordinates of an element of a row-major tensor.
fn coordinates(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut coords = vec![0; shape.len()];
    for (coord, &n) in coords.iter_mut().zip(shape).rev() {
        (*coord, at) = (at % n, at / n);
    }
    coords
}

/// Runs a plan that was made for another count, if the first dimension of indices is free.
fn any_count<T: Sample, I: Index>(
    op: &Gather,
    (data, indices): (&gather_core::ChunksView<'_, T>, &View<'_, I>),
    expected: &Expected<T>,
) {
    let mut shape = indices.shape().to_vec();
    shape.iter_mut().take(1).for_each(|count| *count = if *count > 40 { 3 } else { 700 });
    let other = Layout::strided(&shape, indices.layout().strides()).expect("a few more indices");
    match op.plan_any_count(data, &Spec::<I>::from_layout(&other)) {
        Ok(plan) => expected.is("plan_any_count, run", plan.run(data, indices)),
        Err(error) => {
            let refused = matches!(error, Error::MethodUnavailable { .. } | Error::AnyCountUnavailable { .. });
            assert!(refused || matches!(error, Error::IndicesShapeMismatch { .. }), "plan_any_count: {error}");
        }
    }
}

/// Compares every door of calls on types known at run time with what is expected.
fn check_dyn<T: Sample>(case: &Case, indices: &DynView<'_>) -> Outcome {
    let (_shown, divided) = (OnPanic(case), &case.divided);
    let memory = divided.memory(T::sample);
    let views = divided.views(&memory);
    if is_refused(case, &views) {
        return Outcome::Refused;
    }
    let expected = Expected::new(&case.expected, &memory.concat());
    let views: Vec<DynView<'_>> = views.iter().map(DynView::from).collect();
    let data = chunks(&views).expect("chunks of one row shape");
    let op = with_method(case, |op| op.run(&data, indices).map(|_| T::ZERO));
    expected.is_dyn("dyn, run", op.run(&data, indices));
    let given = divided.op;
    let out = case.out_of::<T>(|out| given.run_into(&data, indices, &mut DynViewMut::from(out)));
    expected.is_laid("dyn, run_into", &out, &|out| given.run_into(&data, indices, &mut DynViewMut::from(out)));
    let plan = op.plan(&data, indices).expect("a plan of the case");
    expected.is_dyn("dyn, plan, run", plan.run(&data, indices));
    expected.is_laid("dyn, plan, run_into", &Place::dense(plan.output_shape()), &|out| {
        plan.run_into(&data, indices, &mut DynViewMut::from(out))
    });
    Outcome::of(&case.expected)
}

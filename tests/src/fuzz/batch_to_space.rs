//! Cases of BatchToSpace.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, BatchToSpace, DynView, Error, Layout, Level, Op, Par, Registry, View};

use super::elements::{ElementKind, OWN, Sample, WordKind};
use super::judge::{Expected, OnPanic, misaligned};
use super::memory::Place;
use super::{MOST_OUT, Outcome, draw, shapes};
use crate::oracle::{self, Dense};

#[derive(Debug)]
struct Parameters {
    block: Vec<i64>,
    begin: Vec<i64>,
    end: Vec<i64>,
}

type Shaped = std::result::Result<Vec<usize>, Error>;

/// BatchToSpace through every face against the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn batch_to_space(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        return infer(u);
    }
    let rank = draw::rank(u)?;
    let rank = if draw::one_in(u, 24)? { rank } else { rank.max(2) };
    // Before its blocks are taken apart.
    let image = draw::dims(u, rank, MOST_OUT)?;
    let mut parameters = Parameters { block: vec![1; rank], begin: vec![0; rank], end: vec![0; rank] };
    let mut data = image.clone();
    for (k, &dim) in image.iter().enumerate().skip(1) {
        // Blocks that levels have ways of their own for, and others.
        let block = *u.choose(&[1, 2, 4, 3, 8, 2, 1, 5])?;
        let room = MOST_OUT / data.iter().map(|&dim| dim.max(1)).product::<usize>().max(1);
        let block = if block > room { 1 } else { block };
        data[0] *= block;
        parameters.block[k] = draw::attribute(u, block as i64, block as i64)?;
        let size = (dim * block) as i64;
        parameters.begin[k] = crop(u, size)?;
        parameters.end[k] = crop(u, size - parameters.begin[k].clamp(0, size))?;
    }
    if draw::one_in(u, 60)? {
        parameters.spoil(u)?;
    }
    run(u, &parameters, &data)
}

/// Mostly nothing, or little; sometimes all that there is.
fn crop(u: &mut Unstructured<'_>, size: i64) -> Result<i64> {
    match u.int_in_range(0..=3)? {
        0..=1 => Ok(0),
        2 => draw::attribute(u, 0, size.min(3)),
        _ => draw::attribute(u, 0, size),
    }
}

impl Parameters {
    fn operator(&self) -> BatchToSpace {
        BatchToSpace::new(&self.block, &self.begin, &self.end)
    }

    /// Changes an entry, or the length of a list.
    fn spoil(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let list = match u.int_in_range(0..=2)? {
            0 => &mut self.block,
            1 => &mut self.begin,
            _ => &mut self.end,
        };
        match list.first_mut() {
            Some(first) if u.arbitrary()? => *first = u.arbitrary::<i8>()?.into(),
            Some(_) if u.arbitrary()? => list.truncate(1),
            _ => list.push(1),
        }
        Ok(())
    }

    /// The shape of the result, or why there is none.
    fn shape(&self, data: &[usize]) -> Shaped {
        let (op, rank) = (Op::BatchToSpace, data.len());
        if rank < 2 {
            return Err(Error::Rank { op, argument: Argument::Data, rank, min: 2, max: usize::MAX });
        }
        let lists = [
            (Argument::BlockShape, &self.block, 1),
            (Argument::CropsBegin, &self.begin, 0),
            (Argument::CropsEnd, &self.end, 0),
        ];
        for (argument, list, min) in lists {
            if list.len() != rank {
                return Err(Error::ParameterLength { argument, len: list.len(), rank });
            }
            // The first stands for the batch, which has neither blocks nor crops.
            let max = |dim: usize| if dim == 0 { min } else { i64::MAX };
            if let Some(dim) = (0..rank).find(|&dim| list[dim] < min || list[dim] > max(dim)) {
                return Err(Error::Parameter { argument, dim, value: list[dim], min, max: max(dim) });
            }
        }
        let product = self.block.iter().try_fold(1u128, |product, &block| {
            product.checked_mul(block as u128).filter(|&product| product <= usize::MAX as u128)
        });
        let batch = data[0];
        let product = product.map(|product| product as usize);
        let Some(divisor) = product.filter(|&product| batch.is_multiple_of(product)) else {
            return Err(Error::BatchNotDivisible { batch, product });
        };
        let mut shape = vec![batch / divisor];
        for (dim, &len) in data.iter().enumerate().skip(1) {
            let (begin, end) = (self.begin[dim], self.end[dim]);
            let size = len as u128 * self.block[dim] as u128;
            let size = (size <= usize::MAX as u128).then_some(size as usize);
            let left = size.and_then(|size| usize::try_from(size as i128 - i128::from(begin) - i128::from(end)).ok());
            shape.push(left.ok_or(Error::CropsTooLarge { dim, begin, end, size })?);
        }
        Ok(shape)
    }

    /// The data position of each element of the result; the shape is known to fit.
    fn values(&self, data: &Place) -> Dense<Option<usize>> {
        let sizes = |list: &[i64]| list.iter().map(|&entry| entry as usize).collect::<Vec<_>>();
        let from =
            oracle::batch_to_space(&data.positions(), &sizes(&self.block), &sizes(&self.begin), &sizes(&self.end));
        Dense { shape: from.shape, values: from.values.into_iter().map(Some).collect() }
    }
}

#[derive(Debug)]
struct Case<'a> {
    parameters: &'a Parameters,
    word: WordKind,
    par: Par,
    level: Level,
    data: Place,
    out: Place,
    expected: std::result::Result<Dense<Option<usize>>, Error>,
}

fn run(u: &mut Unstructured<'_>, parameters: &Parameters, data: &[usize]) -> Result<Outcome> {
    let (element, word) = (u.arbitrary::<ElementKind>()?, u.arbitrary::<WordKind>()?);
    let (par, level) = (draw::par(u)?, draw::level(u)?);
    let shape = parameters.shape(data).and_then(|shape| {
        // Crops may be wrong in a way that leaves more than there is room for.
        shapes::product(&shape, 1).map(|_| shape.clone()).ok_or(Error::TooManyElements { shape: shape.into() })
    });
    let data = Place::draw(u, data, true)?;
    let out = Place::draw(u, shape.as_deref().unwrap_or(&[1]), false)?;
    let expected = shape.map(|_| parameters.values(&data));
    let outcome = Outcome::of(&expected);
    let case = Case { parameters, word, par, level, data, out, expected };
    with_element!(element, T => check::<T>(&case));
    Ok(outcome)
}

/// Holds every face against what is expected.
fn check<T: Sample>(case: &Case<'_>) {
    let _shown = OnPanic(case);
    let memory: Vec<T> = (0..case.data.len as u64).map(T::sample).collect();
    let data = case.data.view(&memory);
    let op = case.parameters.operator().par(case.par).level(case.level);
    let expected = Expected::new(&case.expected, &memory);

    expected.is_shape(op.output_shape(&case.data.shape));
    expected.is("run", op.run(&data));
    expected.is_written("run_into", &case.out, &|out| op.run_into(&data, out), &|out| op.run_uninit(&data, out));
    expected.is_dyn("run_dyn", op.run_dyn(&Registry::builtin().with(&OWN), &DynView::from(&data)));
    if case.data.is_dense() {
        let data = misaligned(&memory);
        let got = op.run_dyn(&Registry::builtin().with(&OWN), &data.view(&case.data.shape));
        expected.is_dyn("run_dyn on misaligned bytes", got);
    }
    match op.plan::<T>(data.layout()) {
        Ok(plan) => {
            assert!(!plan.explain().to_string().is_empty());
            expected.is("plan.run", plan.run(&data));
            let dense = Place::dense(plan.output_shape());
            expected.is_written("plan.run_into", &dense, &|out| plan.run_into(&data, out), &|out| {
                plan.run_uninit(&data, out)
            });
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    expected.is("from_tensors", from_tensors(case).and_then(|op| op.run(&data)));
    cloned(case);
}

/// The operator from parameters as tensors, of a type that they fit in.
fn from_tensors(case: &Case<'_>) -> std::result::Result<BatchToSpace, Error> {
    let Parameters { block, begin, end } = case.parameters;
    let all = || block.iter().chain(begin).chain(end).map(|&entry| i128::from(entry));
    let fits = all().all(|entry| case.word.wrap(entry) == entry);
    let word = if fits { case.word } else { WordKind::I64 };
    with_word!(word, I => {
        let list = |entries: &[i64]| entries.iter().map(|&entry| entry as I).collect::<Vec<I>>();
        let (block, begin, end) = (list(block), list(begin), list(end));
        let view = |list| View::new(list, &[list.len()]).expect("a list has its length");
        let (block, begin, end) = (view(&block), view(&begin), view(&end));
        BatchToSpace::from_tensors(&DynView::from(&block), &DynView::from(&begin), &DynView::from(&end))
    })
}

/// The same for a type that is cloned: each element owns the memory that says which it is.
fn cloned(case: &Case<'_>) {
    let memory: Vec<Box<usize>> = (0..case.data.len).map(Box::new).collect();
    let got = case.parameters.operator().run_cloned(&case.data.view(&memory));
    let got = got.map(|got| (got.shape().to_vec(), got.as_slice().iter().map(|value| Some(**value)).collect()));
    let expected = case.expected.as_ref().map(|expected| (expected.shape.clone(), expected.values.clone()));
    assert_eq!(got, expected.map_err(Error::clone), "run_cloned");
}

/// Inference and plans on shapes and layouts that nothing real has.
fn infer(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let data = shapes::wild(u)?;
    let rank = data.len();
    let strides = (0..rank).map(|_| draw::wild_stride(u)).collect::<Result<Vec<_>>>()?;
    let mut parameters = Parameters { block: vec![1; rank], begin: vec![0; rank], end: vec![0; rank] };
    for k in 1..rank {
        parameters.block[k] = draw::attribute(u, 1, 4)?;
        parameters.begin[k] = draw::attribute(u, 0, 4)?;
        parameters.end[k] = draw::attribute(u, 0, 4)?;
    }
    if draw::one_in(u, 8)? {
        parameters.spoil(u)?;
    }
    let op = parameters.operator();
    let case = (&op, &data, &strides);
    let _shown = OnPanic(&case);
    let expected = shapes::inferred(&[&data], || parameters.shape(&data));
    assert_eq!(op.output_shape(&data).map(|shape| shape.to_vec()), expected);
    match Layout::strided(&data, &strides) {
        Ok(layout) => shapes::planned::<u32>(
            &expected,
            None,
            op.plan::<u32>(&layout).map(|plan| (plan.output_shape().to_vec(), plan.explain().to_string())),
        ),
        Err(error) => assert_eq!(Err(error), expected.as_ref().map(drop).map_err(Error::clone)),
    }
    Ok(Outcome::of(&expected))
}

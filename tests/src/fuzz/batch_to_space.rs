//! Cases of BatchToSpace.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, BatchToSpace, DynView, DynViewMut, Error, Layout, Level, Op, Par, Registry, Tensor, View};

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

/// Runs BatchToSpace through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn batch_to_space(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        return infer(u);
    }
    let rank = draw::rank(u)?;
    let rank = if draw::one_in(u, 24)? { rank } else { rank.max(2) };
    // The shape of the result before it is divided into blocks.
    let image = draw::dims(u, rank, MOST_OUT)?;
    let mut parameters = Parameters { block: vec![1; rank], begin: vec![0; rank], end: vec![0; rank] };
    let mut data = image.clone();
    for (k, &dim) in image.iter().enumerate().skip(1) {
        // Blocks that some levels have special code for, and others.
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

/// A crop: mostly none or a small one, sometimes all of the dimension.
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

    /// The same as TensorFlow has it, where the entries of the batch are what they must be.
    fn behind_batch(&self) -> Option<BatchToSpace> {
        let Parameters { block, begin, end } = self;
        let ([1, block @ ..], [0, begin @ ..], [0, end @ ..]) = (&block[..], &begin[..], &end[..]) else { return None };
        let crops: Vec<[i64; 2]> = begin.iter().zip(end).map(|(&begin, &end)| [begin, end]).collect();
        (block.len() == begin.len() && begin.len() == end.len()).then(|| BatchToSpace::tensorflow(block, &crops))
    }

    /// Breaks an entry, or the length of a list.
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
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 2, max: usize::MAX });
        }
        let lists = [
            (Argument::BlockShape, &self.block, 1),
            (Argument::CropsBegin, &self.begin, 0),
            (Argument::CropsEnd, &self.end, 0),
        ];
        for (argument, list, min) in lists {
            if list.len() != rank {
                return Err(Error::ParameterLengthMismatch { argument, len: list.len(), rank });
            }
            // The first entry belongs to the batch, which has neither a block nor crops.
            let max = |dim: usize| if dim == 0 { min } else { i64::MAX };
            if let Some(dim) = (0..rank).find(|&dim| list[dim] < min || list[dim] > max(dim)) {
                return Err(Error::ParameterOutOfRange { argument, dim, value: list[dim], min, max: max(dim) });
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

    /// The position in data of each element of the result. The parameters are known to fit.
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
        // Wrong crops may leave more elements than a case may have.
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

/// Compares every door with what is expected.
fn check<T: Sample>(case: &Case<'_>) {
    let _shown = OnPanic(case);
    let memory: Vec<T> = (0..case.data.len as u64).map(T::sample).collect();
    let data = case.data.view(&memory);
    let op = case.parameters.operator().par(case.par).level(case.level);
    let expected = Expected::new(&case.expected, &memory);

    expected.is_shape(op.output_shape(&case.data.shape));
    expected.is("run", op.run(&data));
    expected.is_written("run_into", &case.out, &|out| op.run_into(&data, out), &|out| op.run_uninit(&data, out));
    let (registry, erased) = (Registry::builtin().with(&OWN), DynView::from(&data));
    expected.is_dyn("run_dyn", op.run_dyn(&registry, &erased));
    expected.is_laid("run_dyn_into", &case.out, &|out| op.run_dyn_into(&registry, &erased, &mut DynViewMut::from(out)));
    match op.plan_dyn(&registry, T::DTYPE, data.layout()) {
        Ok(plan) => {
            expected.is_dyn("plan_dyn, run", plan.run(&erased));
            expected.is_laid("plan_dyn, run_into", &Place::dense(plan.output_shape()), &|out| {
                plan.run_into(&erased, &mut DynViewMut::from(out))
            });
        }
        Err(error) => expected.is("plan_dyn", Err(error)),
    }
    let out_layout = Layout::strided(&case.out.shape, &case.out.strides).expect("the layout of a place");
    match op.plan_into::<T>(data.layout(), &out_layout) {
        Ok(plan) => expected.is_laid("plan_into, run_into", &case.out, &|out| plan.run_into(&data, out)),
        Err(error) => expected.is("plan_into", Err(error)),
    }
    if let Some(op) = case.parameters.behind_batch().filter(|_| case.parameters.block.len() == case.data.shape.len()) {
        let op = op.par(case.par).level(case.level);
        expected.is("tensorflow", op.run(&data));
    }
    if case.data.is_dense() {
        let data = misaligned(&memory);
        let got = op.run_dyn(&Registry::builtin().with(&OWN), &data.view(&case.data.shape));
        expected.is_dyn("run_dyn on misaligned bytes", got);
    }
    match op.plan::<T>(data.layout()) {
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
                plan.run_uninit(&data, out)
            });
        }
        Err(error) => expected.is("plan", Err(error)),
    }
    expected.is("from_tensors", from_tensors(case).and_then(|op| op.run(&data)));
    cloned(case);
}

/// The operator from parameter tensors, of a type in which their values fit.
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

/// The same for a cloned type: each element owns memory that identifies it.
fn cloned(case: &Case<'_>) {
    let memory: Vec<Box<usize>> = (0..case.data.len).map(Box::new).collect();
    let got = case.parameters.operator().run_cloned(&case.data.view(&memory));
    let got = got.map(|got| (got.shape().to_vec(), got.as_slice().iter().map(|value| Some(**value)).collect()));
    let expected = case.expected.as_ref().map(|expected| (expected.shape.clone(), expected.values.clone()));
    assert_eq!(got, expected.map_err(Error::clone), "run_cloned");
}

/// Checks inference and planning on absurd shapes and layouts.
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

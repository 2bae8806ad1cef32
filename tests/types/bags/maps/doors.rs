//! Calls of bags with maps through every door, and the plain loop over converted rows.

use std::mem::MaybeUninit;

use gather_core::{
    Bags, Element, EmbeddingBag, Error, Map, OutOfBounds, Par, Params, Reducible, Reduction, Spec, Tensor, View,
    ViewMut,
};
use gather_tests::oracle::{self, BadIndex, BagRows, Dense, Rules};
use gather_tests::policies::negative;
use half::f16;

use crate::support::{available_levels, mixed, narrow, same_bits, view};

/// A number with the arithmetic of bags.
pub(super) trait Value: Element + Reducible<Number = Self> {
    fn reduce(reduction: Reduction, weights: Option<&[Self]>, terms: &[(usize, Self)]) -> Self;
    fn weight(at: usize) -> Self;
}

/// The greatest or the least of numbers without NaN, of equal ones the first.
fn extreme<V: Value + PartialOrd>(reduction: Reduction, terms: &[(usize, V)]) -> V {
    let wins = |new: V, kept: V| if reduction == Reduction::Max { new > kept } else { new < kept };
    terms.iter().map(|&(_, x)| x).reduce(|kept, new| if wins(new, kept) { new } else { kept }).unwrap()
}

/// The sum in `f32`, in order.
fn sum(terms: impl Iterator<Item = (usize, f32)>, weight: impl Fn(usize) -> Option<f32>) -> f32 {
    terms.fold(0.0, |sum, (at, x)| sum + weight(at).map_or(x, |weight| x * weight))
}

impl Value for f32 {
    fn reduce(reduction: Reduction, weights: Option<&[f32]>, terms: &[(usize, f32)]) -> f32 {
        match reduction {
            Reduction::Add => sum(terms.iter().copied(), |at| weights.map(|weights| weights[at])),
            Reduction::Mean => sum(terms.iter().copied(), |_| None) / terms.len() as f32,
            _ => extreme(reduction, terms),
        }
    }
    fn weight(at: usize) -> f32 {
        (mixed(5, at) % 1000) as f32 / 300.0 - 1.5
    }
}

impl Value for f16 {
    fn reduce(reduction: Reduction, weights: Option<&[f16]>, terms: &[(usize, f16)]) -> f16 {
        let singles = terms.iter().map(|&(at, x)| (at, x.to_f32()));
        match reduction {
            Reduction::Add => f16::from_f32(sum(singles, |at| weights.map(|weights| weights[at].to_f32()))),
            Reduction::Mean => f16::from_f32(sum(singles, |_| None) / terms.len() as f32),
            _ => extreme(reduction, terms),
        }
    }
    fn weight(at: usize) -> f16 {
        f16::from_f32(f32::weight(at))
    }
}

impl Value for u64 {
    fn reduce(reduction: Reduction, weights: Option<&[u64]>, terms: &[(usize, u64)]) -> u64 {
        let term = |&(at, x): &(usize, u64)| weights.map_or(x, |weights| x.wrapping_mul(weights[at]));
        match reduction {
            Reduction::Add => terms.iter().map(term).fold(0, u64::wrapping_add),
            Reduction::Mean => (terms.iter().map(|&(_, x)| u128::from(x)).sum::<u128>() / terms.len() as u128) as u64,
            _ => extreme(reduction, terms),
        }
    }
    fn weight(at: usize) -> u64 {
        mixed(5, at)
    }
}

/// A map with what is given for its parameters, and what it makes of an element of data: its value, its row and its
/// place in row-major order.
pub(super) struct Mapped<'a, T, U: Reducible, P: Params> {
    pub(super) map: &'a Map<T, U, P>,
    pub(super) given: P::Given<'a>,
    pub(super) values: &'a dyn Fn(T, usize, usize) -> Vec<U::Number>,
}

impl<T: Copy, U: Reducible, P: Params> Mapped<'_, T, U, P> {
    /// The converted table, whose last dimension is that of the values of an element.
    fn table(&self, data: &Dense<T>) -> Dense<U::Number> {
        let row = data.shape[1..].iter().product::<usize>().max(1);
        let values = data.values.iter().enumerate().flat_map(|(at, &x)| (self.values)(x, at / row, at)).collect();
        Dense { values, shape: [&data.shape[..], &[size_of::<U>() / size_of::<U::Number>()]].concat() }
    }
}

/// How rows fall into bags, and which bags there are of them.
pub(super) struct Case<'a> {
    pub(super) indices: &'a Dense<i128>,
    pub(super) bounds: &'a [usize],
    pub(super) reduction: Reduction,
    pub(super) weighted: bool,
    pub(super) rows: BagRows,
    pub(super) rules: Rules,
    pub(super) out_of_bounds: OutOfBounds,
}

impl Case<'_> {
    fn op(&self) -> EmbeddingBag {
        let op = EmbeddingBag::new(self.reduction).negative_index(negative(self.rules)).include_last_offset(true);
        let named = |row: Option<usize>| row.map(|row| row as i64);
        let op = op.padding_index(named(self.rows.padding)).default_index(named(self.rows.default));
        op.out_of_bounds(self.out_of_bounds)
    }
}

/// Compares every door with the plain loop over converted rows.
pub(super) fn holds<T: Element, U: Reducible<Number: Value>, P: Params>(
    mapped: &Mapped<'_, T, U, P>,
    (data, laid): (&Dense<T>, &View<'_, T>),
    case: &Case<'_>,
) {
    let count = case.indices.values.len();
    let weights: Vec<U::Number> = (0..count).map(U::Number::weight).collect();
    let reduce =
        |terms: &[(usize, U::Number)]| U::Number::reduce(case.reduction, case.weighted.then_some(&weights[..]), terms);
    let (table, zero) = (mapped.table(data), <U::Number as Element>::ZERO);
    let expected = oracle::embedding_bag(&table, case.indices, case.bounds, case.rules, case.rows, &zero, reduce);
    let expected = expected.map(|expected| expected.values);
    let list = narrow::<i32>(case.indices);
    let offsets: Vec<u32> = case.bounds.iter().map(|&bound| bound as u32).collect();
    let (ids, offsets) = (view(&list), View::new(&offsets, &[offsets.len()]).unwrap());
    let weights = View::new(&weights, &[count]).unwrap();
    let weights = case.weighted.then_some(&weights);
    let bags = Bags::new(&ids, &offsets).weights(weights);
    for level in available_levels() {
        for par in [Par::Seq, Par::Threads(2)] {
            let op = case.op().level(level).par(par);
            doors(mapped, &op, laid, &bags, (&ids, weights), &expected);
        }
    }
}

fn doors<T: Element, U: Reducible<Number: Value>, P: Params>(
    &Mapped { map, given, .. }: &Mapped<'_, T, U, P>,
    op: &EmbeddingBag,
    data: &View<'_, T>,
    bags: &Bags<'_, View<'_, i32>, View<'_, u32>, View<'_, U::Number>>,
    (ids, weights): (&View<'_, i32>, Option<&View<'_, U::Number>>),
    expected: &Result<Vec<U::Number>, BadIndex>,
) {
    let what = |door: &str| format!("{door}: {} {op:?} {:?} {:?}", map.name(), data.shape(), ids.shape());
    let same = |got: Result<Vec<U>, Error>, door: &str| same_bits(expected.as_deref(), got.as_deref(), || what(door));
    same(op.run(&data.map(map, given), bags).map(Tensor::into_vec), "fresh");
    let plan = op.plan(&Spec::from_layout(data.layout()).map(map), bags).unwrap();
    let shape = plan.output_shape().to_vec();
    same(plan.run(&data.map(map, given), &Bags::planned(ids).weights(weights)).map(Tensor::into_vec), "planned");
    let mut out = Tensor::full(&shape, U::ZERO).unwrap();
    same(
        plan.run_into(&data.map(map, given), &Bags::planned(ids).weights(weights), &mut out.view_mut())
            .map(|()| out.into_vec()),
        "planned into",
    );

    let nothing = View::new(&[0i32; 0], &[1, 0]).unwrap();
    let of_others = op.plan(&Spec::from_layout(data.layout()).map(map), &Bags::packed(&nothing)).unwrap();
    same(of_others.run(&data.map(map, given), bags).map(Tensor::into_vec), "planned for other bags");
    let mut out = Tensor::full(&shape, U::ZERO).unwrap();
    let ran = of_others.run_into(&data.map(map, given), bags, &mut out.view_mut());
    same(ran.map(|()| out.into_vec()), "planned for other bags, into");

    // The dimensions of the output the other way round.
    let strides: Vec<isize> = (0..shape.len()).map(|d| shape[..d].iter().product::<usize>() as isize).collect();
    let mut out = vec![U::ZERO; shape.iter().product()];
    let ran = op.run_into(&data.map(map, given), bags, &mut ViewMut::strided(&mut out, &shape, &strides, 0).unwrap());
    let back = View::strided(&out, &shape, &strides, 0).unwrap();
    let in_order = oracle::coords(&shape).map(|at| *back.get(&at).unwrap());
    same(ran.map(|()| in_order.collect()), "strided");

    let mut fresh = vec![MaybeUninit::new(U::ZERO); shape.iter().product()];
    let ran = op.run_into(&data.map(map, given), bags, &mut ViewMut::new(&mut fresh, &shape).unwrap());
    let written = View::new(&fresh, &shape).unwrap();
    let values = |_| oracle::coords(&shape).map(|at| known(written.get(&at).unwrap())).collect();
    same(ran.map(values), "uninit");
}

/// What a value of memory is that was known before, and may have been written since.
fn known<U: Copy>(value: &MaybeUninit<U>) -> U {
    // SAFETY: the test wrote a value there before the call.
    unsafe { value.assume_init() }
}

//! Negative indices that are skipped, while others out of range are errors: what is written is what is written if all
//! of them are dropped.

use std::fmt::Debug;

use gather_core::{
    DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, Index, Method, NegativeIndex, Par,
    Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, ScatterOutOfBounds, Spec, View, ViewMut,
};
use half::f16;

use crate::scatter::hostile::{SIX, elements as scattered};
use crate::support::{levels, mixed};

gather_core::reduce_kernels! {
    /// No order but the right one gives the same.
    static LATER = |kept: i32, new: i32| -> i32 { 2 * kept + new };
}

const METHODS: [Option<Method>; 8] = [
    None,
    Some(Method::Direct),
    Some(Method::Blocks),
    Some(Method::Chunks),
    Some(Method::Prefetched),
    Some(Method::Panels),
    Some(Method::Accumulated),
    Some(Method::Grouped),
];

/// The shapes of a call, and the sizes of the axes that the components of a tuple go along: one, if there are no
/// tuples.
#[derive(Clone, Copy, Debug)]
struct Shapes {
    data: &'static [usize],
    indices: &'static [usize],
    updates: &'static [usize],
    dims: &'static [usize],
}

impl Shapes {
    /// Indices in range, of which some are negative: -1, or anything.
    fn indices(&self, seed: u64) -> Vec<i128> {
        let negative = [-1, -1, -1, -2, -(1 << 7), -(1 << 15), -(1 << 31), -(1 << 63)];
        let index = |at: usize| match mixed(seed, at) {
            x if x % 7 == 0 => negative[(x / 7 % if seed.is_multiple_of(2) { 3 } else { 8 }) as usize],
            x => i128::from(x / 7 % self.dims[at % self.dims.len()] as u64),
        };
        (0..self.indices.iter().product()).map(index).collect()
    }
}

/// Elements with values for tests.
trait Number: Element + PartialEq + Debug {
    fn of(at: usize) -> Self;
}

impl Number for i32 {
    fn of(at: usize) -> Self {
        (mixed(3, at) % 1000) as i32
    }
}

impl Number for f16 {
    fn of(at: usize) -> Self {
        f16::from_f32((mixed(4, at) % 64) as f32 / 8.0)
    }
}

fn numbers<T: Number>(shape: &[usize], seed: usize) -> Vec<T> {
    (0..shape.iter().product()).map(|at| T::of(at + seed)).collect()
}

/// Runs an operator by every method and level, on one thread and on several, through every public method, and compares
/// it with the one that drops.
fn check<T: Number, I: Index + TryFrom<i128>, A: ScatterAttributes + Copy + Debug>(
    op: ScatterOperator<A>,
    shapes: Shapes,
    list: &[i128],
) {
    let Some(ids) = list.iter().map(|&index| I::try_from(index).ok()).collect::<Option<Vec<I>>>() else { return };
    let place = |at: usize| shapes.dims[at % shapes.dims.len()] as i128;
    let bad = list.iter().enumerate().find(|&(at, &index)| index >= place(at)).map(|(at, &index)| (at, index));
    let (values, updates) = (numbers::<T>(shapes.data, 0), numbers::<T>(shapes.updates, 7));
    let data = View::new(&values, shapes.data).unwrap();
    let (ids, updates) = (View::new(&ids, shapes.indices).unwrap(), View::new(&updates, shapes.updates).unwrap());
    let skipping = op.skip_negative(true);
    let dropping = op.negative_index(NegativeIndex::Reject).out_of_bounds(ScatterOutOfBounds::Drop);
    let kept = dropping.level(gather_core::Level::Scalar).par(Par::Seq).run(&data, &ids, &updates).unwrap();
    for (method, level) in METHODS.iter().flat_map(|&method| levels().map(move |level| (method, level))) {
        for par in [Par::Seq, Par::Threads(3)].into_iter().take(if method.is_none() { 2 } else { 1 }) {
            let [skipping, dropping] = [skipping, dropping].map(|op| {
                let op = op.level(level).par(par);
                method.map_or(op, |method| op.method(method))
            });
            let what = || format!("{skipping:?}, {shapes:?}, {}, {}, {bad:?}", T::DTYPE, I::TYPE);
            let refused = dropping.plan(&data, &ids, &updates).err();
            let compare = |got: Result<(), Error>, out: &[T]| match (got, &refused) {
                (Ok(()), None) => assert!(bad.is_none() && out == kept.as_slice(), "{}", what()),
                (Err(Error::IndexOutOfRange { position, index, negative, .. }), None) => {
                    assert_eq!((Some((position, index)), negative), (bad, NegativeIndex::Reject), "{}", what());
                    assert!(out.is_empty() || out == values, "written before an error: {}", what());
                }
                (got, _) => assert_eq!(got.err(), refused, "{}", what()),
            };
            let fresh = skipping.run(&data, &ids, &updates);
            compare(fresh.clone().map(drop), fresh.as_ref().map_or(&[], |out| out.as_slice()));
            let in_place = |run: &dyn Fn(&mut ViewMut<'_, T>) -> Result<(), Error>| {
                let mut out = values.clone();
                let ran = run(&mut ViewMut::new(&mut out, shapes.data).unwrap());
                compare(ran, &out);
            };
            in_place(&|out| skipping.run_on(out, &ids, &updates));
            in_place(&|out| skipping.run_into(&data, &ids, &updates, out));
            let (i, u) = (DynView::from(&ids), DynView::from(&updates));
            in_place(&|out| skipping.run_on(&mut DynViewMut::from(out), &i, &u));
            let spec = Spec::<T>::new(shapes.data).unwrap();
            let plans = [skipping.plan(&spec, &ids, &updates), skipping.plan_any_count(&spec, &ids, &updates)];
            for plan in plans.into_iter().filter(|plan| !matches!(plan, Err(Error::AnyCountUnavailable { .. }))) {
                match plan {
                    Ok(plan) => {
                        in_place(&|out| plan.run_on(out, &ids, &updates));
                        in_place(&|out| plan.run_into(&data, &ids, &updates, out));
                    }
                    Err(error) => assert_eq!(Some(error), refused, "{}", what()),
                }
            }
        }
    }
}

/// Checks lists without an index that is out of range, and with one at some places.
fn every_list<T: Number, A: ScatterAttributes + Copy + Debug>(op: ScatterOperator<A>, shapes: Shapes) {
    for seed in [2, 3] {
        let list = shapes.indices(seed);
        check::<T, i64, A>(op, shapes, &list);
        check::<T, i32, A>(op, shapes, &list);
        check::<T, i16, A>(op, shapes, &list);
        let components = shapes.dims.len();
        for (place, component) in [(0, 0), (list.len() / 2, components - 1), (list.len() - components, 0)] {
            let mut list = list.clone();
            let place = place / components * components + component;
            let dim = shapes.dims[component] as i128;
            list[place] = [dim, 1 << 32, i128::from(i64::MAX)][(seed as usize + place) % 3];
            check::<T, i64, A>(op, shapes, &list);
        }
    }
    // No unsigned index is negative.
    let list: Vec<i128> = shapes.indices(3).into_iter().map(|index| index.max(0)).collect();
    check::<T, u64, A>(op, shapes, &list);
    check::<T, u64, A>(op, shapes, &[&list[..list.len() - 1], &[i128::from(u64::MAX)]].concat());
}

fn reductions() -> impl Iterator<Item = (Reduction, bool)> {
    let all = Reduction::ALL.iter().flat_map(|&reduction| [(reduction, true), (reduction, false)]);
    all.filter(|&(reduction, include_self)| include_self || matches!(reduction, Reduction::Mean | Reduction::Max))
}

const LISTS: Shapes = Shapes { data: &[70], indices: &[1400], updates: &[1400], dims: &[70] };
const ROWS: Shapes = Shapes { data: &[70, 5], indices: &[600], updates: &[600, 5], dims: &[70] };
const TUPLES: Shapes = Shapes { data: &[70, 9], indices: &[600, 2], updates: &[600], dims: &[70, 9] };

#[test]
fn elements() {
    for (reduction, include_self) in reductions() {
        let along = |axis| ScatterElements::new(axis).reduction(reduction).include_self(include_self);
        every_list::<i32, _>(along(0), LISTS);
        let columns = Shapes { data: &[70, 40], indices: &[50, 40], updates: &[50, 40], dims: &[70] };
        every_list::<i32, _>(along(0), columns);
        let lines = Shapes { data: &[20, 70], indices: &[20, 90], updates: &[20, 90], dims: &[70] };
        every_list::<f16, _>(along(1), lines);
    }
}

#[test]
fn rows_by_tuples() {
    for (reduction, include_self) in reductions() {
        let op = ScatterNd::new().reduction(reduction).include_self(include_self);
        every_list::<i32, _>(op, Shapes { indices: &[600, 1], ..ROWS });
        every_list::<f16, _>(op, TUPLES);
    }
}

#[test]
fn adjoints_of_the_gathers() {
    for (reduction, include_self) in reductions() {
        let adjoint = Gather::new(0).adjoint().reduction(reduction).include_self(include_self);
        every_list::<i32, _>(adjoint, ROWS);
    }
    let lines = Shapes { data: &[20, 70], indices: &[20, 90], updates: &[20, 90], dims: &[70] };
    every_list::<i32, _>(GatherElements::new(1).adjoint(), lines);
    every_list::<f16, _>(GatherNd::new().adjoint(), TUPLES);
    let batches = Shapes { data: &[8, 70, 3], indices: &[8, 40], updates: &[8, 40, 3], dims: &[70] };
    every_list::<i32, _>(Gather::new(1).batch_dims(1).adjoint(), batches);
}

#[test]
fn reductions_of_ones_own_and_clones() {
    let op = ScatterElements::new(0).skip_negative(true);
    for own in [op.reduce_by(&LATER), ScatterElements::new(0).reduce_by(&LATER).skip_negative(true)] {
        let run = |ids: &[i64]| own.run(&[1, 2, 3], ids, &[1, 5, 7]).map(|out| out.into_vec());
        assert!(own.get_skip_negative());
        assert_eq!(run(&[0, -9, 0]).unwrap(), [13, 2, 3]);
        assert!(matches!(run(&[0, -9, 3]), Err(Error::IndexOutOfRange { position: 2, index: 3, .. })));
    }
    let names = ["a", "b"].map(String::from);
    let (data, new) = (View::new(&names[..1], &[1]).unwrap(), View::new(&names, &[2]).unwrap());
    let clones = |ids: [i64; 2]| op.run_cloned(&data, &View::new(&ids, &[2]).unwrap(), &new);
    assert_eq!(clones([-1, -2]).unwrap().as_slice(), ["a"]);
    assert_eq!(clones([-1, 0]).unwrap().as_slice(), ["b"]);
    assert!(matches!(clones([-1, 1]), Err(Error::IndexOutOfRange { index: 1, .. })));
}

/// Policies that move an index have no effect.
#[test]
fn policies_beside_it() {
    let run = |policy, ids: &[i64]| {
        let op = ScatterElements::new(0).reduction(Reduction::Add).out_of_bounds(policy).skip_negative(true);
        assert_eq!((op.get_out_of_bounds(), op.get_skip_negative()), (policy, true));
        let mut out = [10, 20, 30];
        op.run_on(&mut out, ids, &[1, 2, 4]).map(|()| out).map_err(|error| error.to_string())
    };
    let far = "scatter_elements: index 3 at position 2 is out of range for axis 0 of size 3";
    for policy in [ScatterOutOfBounds::Error, ScatterOutOfBounds::Clamp, ScatterOutOfBounds::Wrap] {
        assert_eq!(run(policy, &[2, -1, i64::MIN]), Ok([10, 20, 31]));
        assert_eq!(run(policy, &[2, -1, 3]), Err(far.to_owned()));
    }
    assert_eq!(run(ScatterOutOfBounds::Drop, &[2, -1, 3]), Ok([10, 20, 31]));
    // Before `skip_negative` as after it.
    let op = ScatterElements::torch(0, Reduction::None).skip_negative(true).negative_index(NegativeIndex::FromEnd);
    assert_eq!(op.run(&[10, 20, 30], &[-1i8, 0], &[1, 2]).unwrap().as_slice(), [2, 20, 30]);
}

#[test]
fn only_negative_indices_are_skipped() {
    let op = ScatterElements::new(0).reduction(Reduction::Add).skip_negative(true);
    let new = (&[1, 1][..], &[2][..]);
    for index in [-1, -2, -6, -7, i64::from(i32::MIN), i64::MIN] {
        assert_eq!(scattered(&op, (SIX, &[6]), (&[0, index], &[2]), new).unwrap(), [2, 2, 3, 4, 5, 6], "{index}");
    }
    for index in [6, i64::from(u32::MAX), (1 << 32) + 1, i64::MAX] {
        let got = scattered(&op, (SIX, &[6]), (&[-1, index], &[2]), new).unwrap_err();
        assert_eq!(got, format!("scatter_elements: index {index} at position 1 is out of range for axis 0 of size 6"));
    }
    for index in [6, u64::MAX, 1 << 63] {
        assert!(scattered(&op, (SIX, &[6]), (&[0, index], &[2]), new).unwrap_err().contains(&format!("{index}")));
    }
    assert!(scattered(&op, (SIX, &[6]), (&[0, u8::MAX], &[2]), new).is_err());
    assert_eq!(scattered(&op, (SIX, &[6]), (&[0, i8::MIN], &[2]), new).unwrap(), [2, 2, 3, 4, 5, 6]);
    // An axis without positions, updates without elements, and no updates at all.
    let (none, one): (&[i32], _) = (&[], (&[1][..], &[1][..]));
    assert_eq!(scattered(&op, (none, &[0]), (&[-1i64], &[1]), one).unwrap(), none);
    assert!(scattered(&op, (none, &[0]), (&[0i64], &[1]), one).is_err());
    assert_eq!(scattered(&op, (SIX, &[6]), (&[0i64; 0], &[0]), (none, &[0])).unwrap(), SIX);
    let nd = ScatterNd::new().skip_negative(true);
    let nothing = |ids: &[i64]| {
        let (data, new) = (View::new(none, &[3, 0]).unwrap(), View::new(none, &[1, 0]).unwrap());
        nd.run(&data, &View::new(ids, &[1, 1]).unwrap(), &new).is_ok()
    };
    assert!(nothing(&[-1]) && !nothing(&[3]));
    // A tuple is skipped for one of its indices; the others are checked all the same.
    let tuples = |ids: &[i64]| {
        let (data, new) = (View::new(SIX, &[2, 3]).unwrap(), View::new(&[9], &[1]).unwrap());
        nd.run(&data, &View::new(ids, &[1, 2]).unwrap(), &new).map(|out| out.into_vec())
    };
    assert_eq!(tuples(&[-1, 2]).unwrap(), SIX);
    assert_eq!(tuples(&[1, i64::MIN]).unwrap(), SIX);
    assert_eq!(tuples(&[1, 2]).unwrap(), [1, 2, 3, 4, 5, 9]);
    for ids in [[-1, 3], [2, -1]] {
        assert!(matches!(tuples(&ids), Err(Error::IndexOutOfRange { index: 2..=3, .. })));
    }
}

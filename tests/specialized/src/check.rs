//! What is checked of a declaration.

use std::cell::Cell;

use gather_core::{
    BatchToSpace, DynView, DynViewMut, Error, Gather, GatherElements, GatherNd, GatherOperator, Index, IndexAttributes,
    NegativeIndex, Op, OutOfBounds, Registry, View, ViewMut,
};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, BadIndex, Dense, Rule, Rules};

use crate::Declaration;
use crate::sample::{Id, Random, Sample};

/// Calls of each declaration, with open sizes and indices of their own.
const CALLS: usize = 8;

/// Bytes of an output from which on the dispatcher may keep its own kernels.
const LARGE: usize = 16 << 10;

/// Checks declarations and counts them.
pub struct Check {
    random: Random,
    memory: [Guarded; 3],
    /// Declarations so far.
    pub declarations: usize,
    /// Calls so far.
    pub calls: usize,
    /// Calls so far that were refused for an index.
    pub refused: usize,
    /// Calls of the dispatcher so far.
    pub dispatched: usize,
    /// Those of them for which it took the declared kernel.
    pub picked: usize,
}

impl Default for Check {
    fn default() -> Self {
        let memory = [(); 3].map(|()| Guarded::new(1 << 16));
        Check {
            random: Random(0x2545_f491_4f6c_dd1d),
            memory,
            declarations: 0,
            calls: 0,
            refused: 0,
            dispatched: 0,
            picked: 0,
        }
    }
}

/// What the oracle says of a call.
type Expected<T> = Result<Dense<T>, BadIndex>;

impl Check {
    /// Checks one.
    pub fn declaration<T: Sample, I: Id>(&mut self, declared: &Declaration<T, I>) {
        self.declarations += 1;
        for call in 0..CALLS {
            let [data, indices] = self.shapes(declared, call);
            // Beside a size of 0 the first open one could be anything.
            let unclear = |declared: &[usize], shape: &[usize]| {
                let first = declared.iter().position(|&n| n == 0);
                shape.contains(&0) && first.is_some_and(|first| shape[first] != 0)
            };
            if unclear(declared.data, &data) || unclear(declared.indices, &indices) {
                continue;
            }
            let data = Dense::from_fn(&data, T::sample);
            let indices = self.indices(declared, &data.shape, &indices, call % 2 == 1);
            let expected = expected(declared, &data, &indices);
            for side in Side::ALL {
                self.call(declared, declared.on_slices, side, (&data, &indices), &expected);
                if let Some(on_arrays) = declared.on_arrays {
                    self.call(declared, on_arrays, side, (&data, &indices), &expected);
                }
                let picked = Cell::new(false);
                let shapes = [&data.shape[..], &indices.shape];
                let dispatched = |data: &[T], indices: &[I], _: &[usize], out: &mut [T]| {
                    by_dispatcher(declared, shapes, (data, indices), out, &picked)
                };
                self.call(declared, dispatched, side, (&data, &indices), &expected);
                self.dispatched += 1;
                self.picked += usize::from(picked.get());
                let is_known = !declared.data.contains(&0) && !declared.indices.contains(&0);
                let bytes = expected.as_ref().map_or(usize::MAX, |dense| size_of_val(&dense.values[..]));
                assert!(picked.get() || !is_known || bytes >= LARGE, "{}", declared.text);
            }
            self.lengths(declared, &data, &indices, &expected);
        }
    }

    /// Shapes with numbers in place of open sizes. Those of one dimension agree.
    fn shapes<T, I>(&mut self, declared: &Declaration<T, I>, call: usize) -> [Vec<usize>; 2] {
        let (mut data, mut indices) = (declared.data.to_vec(), declared.indices.to_vec());
        let product: usize = declared.block.iter().product::<usize>().max(1);
        let empty = call == CALLS - 1 && self.random.one_in(2);
        for dim in 0..data.len() {
            if data[dim] != 0 {
                continue;
            }
            let least = match declared.op {
                Op::GatherElements => indices[dim],
                Op::BatchToSpace => declared.begin[dim] + declared.end[dim],
                _ => 0,
            };
            data[dim] = match (declared.op, dim) {
                (Op::BatchToSpace, 0) => product * (1 + self.random.below(3)),
                (Op::Gather | Op::GatherNd, _) if dim < declared.batch_dims && indices[dim] != 0 => indices[dim],
                _ if empty && least == 0 => 0,
                _ => least + 1 + self.random.below(6),
            };
        }
        for dim in 0..indices.len() {
            if indices[dim] != 0 {
                continue;
            }
            indices[dim] = match declared.op {
                Op::GatherElements if dim != declared.axis => {
                    self.random.below(data[dim] + 1).max(usize::from(!empty && data[dim] > 0))
                }
                Op::Gather | Op::GatherNd if dim < declared.batch_dims => data[dim],
                _ if empty => 0,
                // Sometimes more than the loops take.
                _ if call == 2 => 3000 / data.iter().product::<usize>().clamp(1, 3000) + 90,
                _ => 1 + self.random.below(20),
            };
        }
        [data, indices]
    }

    fn indices<T, I: Id>(
        &mut self,
        declared: &Declaration<T, I>,
        data: &[usize],
        shape: &[usize],
        wild: bool,
    ) -> Dense<I> {
        let components = if declared.op == Op::GatherNd { shape[shape.len() - 1] } else { 1 };
        let axis = if declared.op == Op::GatherNd { declared.batch_dims } else { declared.axis };
        let rules = rules(declared);
        Dense::from_fn(shape, |at| {
            let wild = wild && self.random.one_in(4);
            self.random.index(data[axis + at % components], rules, wild)
        })
    }

    /// Makes a call between guard pages, and compares it with the oracle and the operator.
    fn call<T: Sample, I: Id>(
        &mut self,
        declared: &Declaration<T, I>,
        function: impl Fn(&[T], &[I], &[usize], &mut [T]) -> Result<(), Error>,
        side: Side,
        (data, indices): (&Dense<T>, &Dense<I>),
        expected: &Expected<T>,
    ) {
        self.calls += 1;
        let by_operator = by_operator(declared, data, indices);
        let len = match (&by_operator, expected) {
            (Ok(values), _) => values.len(),
            (_, Ok(dense)) => dense.values.len(),
            _ => output_len(declared, data, indices),
        };
        let [data_memory, index_memory, out_memory] = &mut self.memory;
        let slice = data_memory.place_copy(side, 0, &data.values);
        let index_slice = index_memory.place_copy(side, 0, &indices.values);
        let out = out_memory.place(side, 0, len, |_| T::sample(77));
        let found = function(slice, index_slice, &open(declared, &data.shape, &indices.shape), out);
        let what = || format!("{}, data {:?}, indices {:?}", declared.text, data.shape, indices);
        match (&found, expected) {
            (Ok(()), Ok(dense)) => assert_eq!(*out, dense.values[..], "{}", what()),
            (Err(Error::IndexOutOfRange { position, index, .. }), Err(bad)) => {
                self.refused += 1;
                assert_eq!((*position, *index), (bad.position, bad.index), "{}", what());
            }
            (found, expected) => panic!("{found:?}, and the oracle {expected:?}: {}", what()),
        }
        assert_eq!(found, by_operator.map(drop), "{}", what());
    }

    /// Slices of other lengths are refused before anything is written.
    fn lengths<T: Sample, I: Index>(
        &mut self,
        declared: &Declaration<T, I>,
        data: &Dense<T>,
        indices: &Dense<I>,
        expected: &Expected<T>,
    ) {
        let Ok(expected) = expected else { return };
        let sizes = open(declared, &data.shape, &indices.shape);
        let mut out = vec![T::sample(77); expected.values.len() + 1];
        let before = out.clone();
        let longer: Vec<T> = data.values.iter().copied().chain([T::sample(0)]).collect();
        let all = expected.values.len();
        let wrong: [(&[T], usize); 3] = [(&data.values, all + 1), (&data.values, all.wrapping_sub(1)), (&longer, all)];
        for (data, len) in wrong {
            if len == usize::MAX || len == all && !is_fixed(declared) {
                continue;
            }
            let found = (declared.on_slices)(data, &indices.values, &sizes, &mut out[..len]);
            assert!(matches!(found, Err(Error::LengthMismatch { .. })), "{}: {found:?}", declared.text);
            assert_eq!(out, before, "{}", declared.text);
        }
    }
}

/// Whether one element more of data fits no open size.
fn is_fixed<T, I>(declared: &Declaration<T, I>) -> bool {
    !declared.data.contains(&0) || declared.data.iter().product::<usize>() > 1
}

/// The sizes that a call gives: all open ones but the first of each tensor.
fn open<T, I>(declared: &Declaration<T, I>, data: &[usize], indices: &[usize]) -> Vec<usize> {
    let of = |declared: &[usize], shape: &[usize]| -> Vec<usize> {
        declared.iter().zip(shape).filter(|(declared, _)| **declared == 0).map(|(_, &n)| n).skip(1).collect()
    };
    [of(declared.data, data), of(declared.indices, indices)].concat()
}

fn rules<T, I>(declared: &Declaration<T, I>) -> Rules {
    let out_of_range = match declared.out_of_bounds {
        OutOfBounds::Zero => Rule::Zero,
        OutOfBounds::Clamp => Rule::Clamp,
        OutOfBounds::Wrap => Rule::Wrap,
        _ => Rule::Error,
    };
    Rules { from_end: !declared.rejects, out_of_range }
}

fn expected<T: Sample, I: Id>(declared: &Declaration<T, I>, data: &Dense<T>, indices: &Dense<I>) -> Expected<T> {
    let values = indices.values.iter().map(|&value| value.into()).collect();
    let indices = Dense { shape: indices.shape.clone(), values };
    let Declaration { axis, batch_dims, block, begin, end, .. } = *declared;
    match declared.op {
        Op::Gather => oracle::gather(data, &indices, axis, batch_dims, rules(declared), &T::ZERO),
        Op::GatherElements => oracle::gather_elements(data, &indices, axis, rules(declared), &T::ZERO),
        Op::GatherNd => oracle::gather_nd(data, &indices, batch_dims, rules(declared), &T::ZERO),
        _ => Ok(oracle::batch_to_space(data, block, begin, end)),
    }
}

/// What the operator itself says.
fn by_operator<T: Sample, I: Index>(
    declared: &Declaration<T, I>,
    data: &Dense<T>,
    indices: &Dense<I>,
) -> Result<Vec<T>, Error> {
    let (axis, batch_dims) = (declared.axis as i64, declared.batch_dims as i64);
    let data = View::new(&data.values, &data.shape)?;
    let run = |result: Result<gather_core::Tensor<T>, Error>| result.map(gather_core::Tensor::into_vec);
    if declared.op == Op::BatchToSpace {
        let list = |entries: &[usize]| entries.iter().map(|&entry| entry as i64).collect::<Vec<_>>();
        let op = BatchToSpace::new(&list(declared.block), &list(declared.begin), &list(declared.end));
        return run(op.run(&data));
    }
    let indices = View::new(&indices.values, &indices.shape)?;
    match declared.op {
        Op::GatherElements => run(with_policy(GatherElements::new(axis), declared).run(&data, &indices)),
        Op::GatherNd => run(with_policy(GatherNd::new().batch_dims(batch_dims), declared).run(&data, &indices)),
        _ => run(with_policy(Gather::new(axis).batch_dims(batch_dims), declared).run(&data, &indices)),
    }
}

/// What the run-time dispatcher says that has the declaration's set, and whether it takes the declared kernel.
fn by_dispatcher<T: Sample, I: Index>(
    declared: &Declaration<T, I>,
    [data_shape, index_shape]: [&[usize]; 2],
    (data, indices): (&[T], &[I]),
    out: &mut [T],
    picked: &Cell<bool>,
) -> Result<(), Error> {
    let registry: &'static Registry = Box::leak(Box::new(Registry::builtin().with(declared.set)));
    let (axis, batch_dims) = (declared.axis as i64, declared.batch_dims as i64);
    let data = View::new(data, data_shape)?;
    let dyn_data = DynView::from(&data);
    if declared.op == Op::BatchToSpace {
        let list = |entries: &[usize]| entries.iter().map(|&entry| entry as i64).collect::<Vec<_>>();
        let op = BatchToSpace::new(&list(declared.block), &list(declared.begin), &list(declared.end));
        let op = op.registry(registry);
        let plan = op.plan(&dyn_data)?;
        picked.set(is_declared(plan.explain().kernel()));
        let mut out = ViewMut::new(out, plan.output_shape())?;
        return op.run_into(&dyn_data, &mut DynViewMut::from(&mut out));
    }
    let indices = View::new(indices, index_shape)?;
    let dyn_indices = DynView::from(&indices);
    macro_rules! run {
        ($op:expr) => {{
            let op = with_policy($op, declared);
            let plan = op.registry(registry).plan(&dyn_data, &dyn_indices)?;
            picked.set(is_declared(plan.explain().kernel()));
            let mut out = ViewMut::new(out, plan.output_shape())?;
            op.registry(registry).run_into(&dyn_data, &dyn_indices, &mut DynViewMut::from(&mut out))
        }};
    }
    match declared.op {
        Op::GatherElements => run!(GatherElements::new(axis)),
        Op::GatherNd => run!(GatherNd::new().batch_dims(batch_dims)),
        _ => run!(Gather::new(axis).batch_dims(batch_dims)),
    }
}

/// Whether a kernel is that of a declaration, all of which declare `f`.
fn is_declared(kernel: &str) -> bool {
    kernel.starts_with("f ")
}

fn with_policy<A: IndexAttributes, T, I>(op: GatherOperator<A>, declared: &Declaration<T, I>) -> GatherOperator<A> {
    let negative = if declared.rejects { NegativeIndex::Reject } else { NegativeIndex::FromEnd };
    op.negative_index(negative).out_of_bounds(declared.out_of_bounds)
}

/// The elements of the output of a call that is refused.
fn output_len<T, I>(declared: &Declaration<T, I>, data: &Dense<T>, indices: &Dense<I>) -> usize {
    let Declaration { axis, batch_dims, .. } = *declared;
    let (d, i) = (&data.shape, &indices.shape);
    match declared.op {
        Op::Gather => [&d[..axis], &i[batch_dims..], &d[axis + 1..]].concat().iter().product(),
        Op::GatherElements => i.iter().product(),
        _ => {
            let (components, outer) = i.split_last().expect("a tuple");
            [outer, &d[batch_dims + components..]].concat().iter().product()
        }
    }
}

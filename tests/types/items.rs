//! Elements of several numbers: bags, scatters and adjoints of them give the bits of the flattened table, through every
//! face.

use std::fmt::Debug;

use gather_core::{
    Bags, DType, DynTensor, DynView, DynViewMut, Element, EmbeddingBag, Error, Gather, GatherElements, GatherNd,
    Layout, Method, OutOfBounds, Par, Reduction, Registry, ScatterElements, ScatterNd, ScatterOutOfBounds, Spec,
    Tensor, View, ViewMut, zeros, zeros_dyn,
};
use gather_tests::oracle::Dense;
use half::{bf16, f16};

use crate::support::{levels, mixed, view};

/// A row of a recommender's table.
#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
#[element(numbers = f32)]
struct Item {
    embedding: [f32; 61],
    bias: Bias,
    age: f32,
}

/// A part of it.
#[derive(Clone, Copy, Debug, Element)]
#[repr(transparent)]
#[element(numbers = f32)]
struct Bias(f32);

#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
#[element(numbers = f16)]
struct Halves {
    first: [[f16; 2]; 3],
    last: f16,
}

#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
#[element(numbers = i16)]
struct Counts {
    clicks: i16,
    views: i16,
}

/// It says nothing of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Silent {
    x: f32,
    y: f32,
}

/// An element that is made of numbers, which a test takes for the numbers.
trait Many: Element<Number: Debug> + Debug {
    const COUNT: usize;
    fn of(make: &mut dyn FnMut() -> Self::Number) -> Self;
    fn numbers(&self) -> Vec<Self::Number>;
    fn number(at: usize) -> Self::Number;
}

impl Many for Item {
    const COUNT: usize = 63;
    fn of(make: &mut dyn FnMut() -> f32) -> Self {
        Item { embedding: std::array::from_fn(|_| make()), bias: Bias(make()), age: make() }
    }
    fn numbers(&self) -> Vec<f32> {
        [&self.embedding[..], &[self.bias.0, self.age]].concat()
    }
    fn number(at: usize) -> f32 {
        (mixed(1, at) as i16) as f32 / 300.0
    }
}

impl Many for Halves {
    const COUNT: usize = 7;
    fn of(make: &mut dyn FnMut() -> f16) -> Self {
        Halves { first: std::array::from_fn(|_| std::array::from_fn(|_| make())), last: make() }
    }
    fn numbers(&self) -> Vec<f16> {
        [self.first.as_flattened(), &[self.last]].concat()
    }
    fn number(at: usize) -> f16 {
        f16::from_f32((mixed(2, at) as i8) as f32 / 3.0)
    }
}

impl Many for Counts {
    const COUNT: usize = 2;
    fn of(make: &mut dyn FnMut() -> i16) -> Self {
        Counts { clicks: make(), views: make() }
    }
    fn numbers(&self) -> Vec<i16> {
        vec![self.clicks, self.views]
    }
    fn number(at: usize) -> i16 {
        mixed(3, at) as i16
    }
}

impl Many for [bf16; 5] {
    const COUNT: usize = 5;
    fn of(make: &mut dyn FnMut() -> bf16) -> Self {
        std::array::from_fn(|_| make())
    }
    fn numbers(&self) -> Vec<bf16> {
        self.to_vec()
    }
    fn number(at: usize) -> bf16 {
        bf16::from_f32((mixed(4, at) as i8) as f32 / 3.0)
    }
}

impl Many for [Bias; 1] {
    const COUNT: usize = 1;
    fn of(make: &mut dyn FnMut() -> f32) -> Self {
        [Bias(make())]
    }
    fn numbers(&self) -> Vec<f32> {
        vec![self[0].0]
    }
    fn number(at: usize) -> f32 {
        Item::number(at)
    }
}

gather_core::kernels! {
    static SET;
    elements: [Item, Halves, Counts, Fives, Biases];
    indices: [i32];
    ranks: any;
    ops: [gather, scatter_elements, scatter_nd];
}

type Fives = [bf16; 5];
type Biases = [Bias; 1];

const ALL: [Reduction; 6] =
    [Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Min, Reduction::Max, Reduction::Mean];

fn items<T: Many>(shape: &[usize], seed: usize) -> Dense<T> {
    let mut at = seed * 1000;
    Dense::from_fn(shape, |_| {
        T::of(&mut || {
            at += 1;
            T::number(at)
        })
    })
}

/// The numbers of elements, along one more dimension.
fn flat<T: Many>(dense: &Dense<T>) -> Dense<T::Number> {
    let values = dense.values.iter().flat_map(T::numbers).collect();
    Dense { values, shape: [&dense.shape[..], &[T::COUNT]].concat() }
}

#[track_caller]
fn assert_flat<T: Many>(got: &[T], expected: &[T::Number], what: &dyn Debug) {
    let got: Vec<T::Number> = got.iter().flat_map(T::numbers).collect();
    assert!(bits(&got) == bits(expected), "{what:?}");
}

/// Numbers as text, which tells all values apart but NaNs.
fn bits<N: Debug>(numbers: &[N]) -> Vec<String> {
    numbers.iter().map(|number| format!("{number:?}")).collect()
}

/// A result of a dynamic call is that of a typed one, or its error.
#[track_caller]
fn assert_dyn<T: Many>(got: Result<DynTensor, Error>, expected: &Result<Tensor<T::Number>, Error>, what: &dyn Debug) {
    match (got, expected) {
        (Ok(got), Ok(expected)) => {
            assert_flat::<T>(got.downcast::<T>().unwrap().as_slice(), expected.as_slice(), what);
        }
        (got, expected) => assert_eq!(got.map(drop).is_err(), expected.is_err(), "{what:?}"),
    }
}

fn bags_of<T: Many>() {
    let table = items::<T>(&[9, 3], 1);
    let flattened = flat(&table);
    let (data, numbers) = (view(&table), view(&flattened));
    let ids: Vec<i32> = (0..700).map(|at| (mixed(5, at) % 9) as i32).collect();
    let (ids, ends) = (View::new(&ids, &[700]).unwrap(), [0i64, 4, 4, 5, 640]);
    let ends = View::new(&ends, &[5]).unwrap();
    let weights: Vec<T::Number> = (0..700).map(T::number).collect();
    let weights = View::new(&weights, &[700]).unwrap();
    for level in levels() {
        for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max, Reduction::Min] {
            for op in [
                EmbeddingBag::new(reduction),
                EmbeddingBag::new(reduction).padding_index(3).par(Par::Threads(3)),
                EmbeddingBag::new(reduction).default_index(8).out_of_bounds(OutOfBounds::Zero),
            ] {
                let op = op.level(level);
                for weighted in [false, true] {
                    let bags = Bags::new(&ids, &ends).weights(weighted.then_some(&weights));
                    let expected = op.run(&numbers, &bags);
                    let got = op.run(&data, &bags);
                    let plan = op.plan(&data, &bags);
                    let (d, i, o, w) =
                        (DynView::from(&data), DynView::from(&ids), DynView::from(&ends), DynView::from(&weights));
                    let dynamic = Bags::new(&i, &o);
                    let dynamic = dynamic.weights(weighted.then_some(&w));
                    assert_dyn::<T>(op.run(&d, &dynamic), &expected, &op);
                    let (Ok(expected), Ok(got)) = (&expected, &got) else {
                        assert_eq!((got.err(), plan.map(drop).err()), (expected.clone().err(), expected.err()));
                        continue;
                    };
                    assert_eq!(got.shape(), [5, 3]);
                    assert_flat(got.as_slice(), expected.as_slice(), &op);
                    let given = weighted.then_some(&weights);
                    let planned = plan.unwrap();
                    assert_flat(
                        planned.run(&data, &Bags::planned(&ids).weights(given)).unwrap().as_slice(),
                        expected.as_slice(),
                        &op,
                    );
                    assert_flat(planned.run(&data, &bags).unwrap().as_slice(), expected.as_slice(), &op);
                    let dyn_plan = op.plan(&d, &dynamic).unwrap();
                    let run = dyn_plan.run(&d, &Bags::planned(&i).weights(weighted.then_some(&w)));
                    assert_dyn::<T>(run, &Ok(expected.clone()), &op);
                    // Columns in another order, into every second row.
                    let turned = View::strided(&table.values, &[9, 3], &[3, -1], 2).unwrap();
                    let mut out = items::<T>(&[5, 2, 3], 7);
                    let mut into = ViewMut::strided(&mut out.values, &[5, 3], &[6, -1], 2).unwrap();
                    op.run_into(&turned, &bags, &mut into).unwrap();
                    let rows: Vec<T> = out.values.chunks(3).step_by(2).flatten().copied().collect();
                    assert_flat(&rows, expected.as_slice(), &op);
                }
            }
        }
    }
}

#[test]
fn bags() {
    bags_of::<Item>();
    bags_of::<Halves>();
    bags_of::<Counts>();
    bags_of::<Fives>();
    bags_of::<Biases>();
}

#[test]
fn a_bag_is_what_the_loop_makes() {
    let table = items::<Item>(&[6], 3);
    let (ids, weights) = ([5i64, 0, 5, 2], [0.5f32, 1.5, -2.0, 3.0]);
    let packed = View::new(&ids, &[1, 4]).unwrap();
    let weighted = View::new(&weights, &[1, 4]).unwrap();
    let sums = EmbeddingBag::new(Reduction::Add).run(&view(&table), &Bags::packed(&packed).weights(&weighted));
    let mut expected = vec![0.0f32; Item::COUNT];
    for (&id, weight) in ids.iter().zip(weights) {
        for (sum, number) in expected.iter_mut().zip(table.values[id as usize].numbers()) {
            *sum += number * weight;
        }
    }
    assert_flat(sums.unwrap().as_slice(), &expected, &"weighted sum");
}

fn scatters_of<T: Many>() {
    let (data, new) = (items::<T>(&[5, 3], 1), items::<T>(&[40, 3], 2));
    let (flat_data, flat_new) = (flat(&data), flat(&new));
    let (a, b) = (view(&data), view(&flat_data));
    let rows: Vec<i32> = (0..40).map(|at| (mixed(6, at) % 6) as i32).collect();
    let rows = View::new(&rows, &[40, 1]).unwrap();
    let (registry, i) = (const { &Registry::builtin().with(&SET) }, DynView::from(&rows));
    let methods = [None, Some(Method::Direct), Some(Method::Grouped), Some(Method::Accumulated), Some(Method::Panels)];
    for (reduction, include_self) in ALL.into_iter().flat_map(|reduction| [(reduction, true), (reduction, false)]) {
        for (method, par) in methods.into_iter().flat_map(|method| [(method, Par::Seq), (method, Par::Threads(3))]) {
            let op = ScatterNd::new().reduction(reduction).include_self(include_self).par(par);
            let op = op.out_of_bounds(ScatterOutOfBounds::Drop);
            let expected = op.run(&b, &rows, &view(&flat_new));
            let op = method.into_iter().fold(op, |op, method| op.method(method));
            let got = op.run(&a, &rows, &view(&new));
            let Ok(got) = got else {
                assert!(matches!(got, Err(Error::MethodUnavailable { .. })), "{got:?}");
                continue;
            };
            let expected = expected.unwrap();
            assert_flat(got.as_slice(), expected.as_slice(), &op);
            let (layout, updates) = (rows.layout(), view(&new));
            let plan = op.plan(&Spec::<T>::new(&[5, 3]).unwrap(), &Spec::<i32>::from_layout(layout), &updates).unwrap();
            assert_flat(plan.run(&a, &rows, &updates).unwrap().as_slice(), expected.as_slice(), &op);
            if let Ok(plan) =
                op.plan_any_count(&Spec::<T>::new(&[5, 3]).unwrap(), &Spec::<i32>::from_layout(layout), &updates)
            {
                assert_flat(plan.run(&a, &rows, &updates).unwrap().as_slice(), expected.as_slice(), &op);
            }
            let (d, u) = (DynView::from(&a), DynView::from(&updates));
            assert_dyn::<T>(op.registry(registry).run(&d, &i, &u), &Ok(expected.clone()), &op);
            let mut on = data.clone();
            let mut on_view = ViewMut::new(&mut on.values, &[5, 3]).unwrap();
            op.registry(registry).run_on(&mut DynViewMut::from(&mut on_view), &i, &u).unwrap();
            assert_flat(&on.values, expected.as_slice(), &op);
        }
    }
    // Element by element: of the flattened tensor, each number has the index of its element.
    let picks = Dense { values: (0..120).map(|at| (mixed(7, at) % 5) as i64).collect(), shape: vec![40, 3] };
    let each = Dense {
        values: picks.values.iter().flat_map(|&pick| vec![pick; T::COUNT]).collect(),
        shape: vec![40, 3, T::COUNT],
    };
    for reduction in ALL {
        for (method, par) in methods.into_iter().flat_map(|method| [(method, Par::Seq), (method, Par::Threads(3))]) {
            let op = ScatterElements::new(0).reduction(reduction).par(par);
            let expected = op.run(&b, &view(&each), &view(&flat_new)).unwrap();
            let op = method.into_iter().fold(op, |op, method| op.method(method));
            match op.run(&a, &view(&picks), &view(&new)) {
                Ok(got) => assert_flat(got.as_slice(), expected.as_slice(), &op),
                Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
            }
        }
    }
    // Without a reduction elements are moved, as ever.
    let last = ScatterElements::new(0);
    let expected = last.run(&b, &view(&each), &view(&flat_new)).unwrap();
    assert_flat(last.run(&a, &view(&picks), &view(&new)).unwrap().as_slice(), expected.as_slice(), &last);
}

#[test]
fn scatters() {
    scatters_of::<Item>();
    scatters_of::<Halves>();
    scatters_of::<Counts>();
    scatters_of::<Fives>();
    scatters_of::<Biases>();
}

fn adjoints_of<T: Many>() {
    let terms = items::<T>(&[40, 3], 4);
    let flattened = flat(&terms);
    let rows: Vec<i32> = (0..40).map(|at| (mixed(8, at) % 5) as i32).collect();
    let (list, tuples) = (View::new(&rows, &[40]).unwrap(), View::new(&rows, &[40, 1]).unwrap());
    let expected = Gather::new(0).adjoint().run(&zeros(&[5, 3, T::COUNT]).unwrap(), &list, &view(&flattened)).unwrap();
    let (gradient, registry) = (view(&terms), const { &Registry::builtin().with(&SET) });
    let (op, nd) = (Gather::new(0), GatherNd::new());
    assert_flat(
        op.adjoint().run(&zeros(&[5, 3]).unwrap(), &list, &gradient).unwrap().as_slice(),
        expected.as_slice(),
        &op,
    );
    assert_flat(
        nd.adjoint().run(&zeros(&[5, 3]).unwrap(), &tuples, &gradient).unwrap().as_slice(),
        expected.as_slice(),
        &nd,
    );
    let (i, g) = (DynView::from(&list), DynView::from(&gradient));
    assert_dyn::<T>(
        op.registry(registry).adjoint().run(&zeros_dyn(g.dtype(), &[5, 3]).unwrap(), &i, &g),
        &Ok(expected.clone()),
        &op,
    );
    // Into columns that are turned around, in plans and on what another batch has left.
    let mut sums = Dense::from_fn(&[5, 3], |_| T::ZERO);
    let layout = Layout::strided(&[5, 3], &[3, -1]).unwrap();
    let turned = View::strided(&terms.values, &[40, 3], &[3, -1], 2).unwrap();
    let plan = op.adjoint().plan_into(&Spec::<T>::from_layout(&layout), &list, &turned, &layout).unwrap();
    plan.run_on(&mut ViewMut::strided(&mut sums.values, &[5, 3], &[3, -1], 2).unwrap(), &list, &turned).unwrap();
    assert_flat(&sums.values, expected.as_slice(), &op);
    let picks = Dense { values: (0..120).map(|at| (mixed(9, at) % 5) as i64).collect(), shape: vec![40, 3] };
    let each = Dense {
        values: picks.values.iter().flat_map(|&pick| vec![pick; T::COUNT]).collect(),
        shape: vec![40, 3, T::COUNT],
    };
    let op = GatherElements::new(0);
    let expected = op.adjoint().run(&zeros(&[5, 3, T::COUNT]).unwrap(), &view(&each), &view(&flattened)).unwrap();
    assert_flat(
        op.adjoint().run(&zeros(&[5, 3]).unwrap(), &view(&picks), &gradient).unwrap().as_slice(),
        expected.as_slice(),
        &op,
    );
}

#[test]
fn adjoints() {
    adjoints_of::<Item>();
    adjoints_of::<Halves>();
    adjoints_of::<Counts>();
    adjoints_of::<Fives>();
    adjoints_of::<Biases>();
}

#[test]
fn other_types_are_refused() {
    let (table, ids) = ([Silent { x: 1.0, y: 2.0 }; 2], [0u8, 1]);
    let (table, list) = (View::new(&table, &[2]).unwrap(), View::new(&ids, &[2]).unwrap());
    let ids = View::new(&ids, &[1, 2]).unwrap();
    let refused = |dtype: DType, error: Error| assert!(error.to_string().ends_with(&format!("of {dtype}")), "{error}");
    let sum = EmbeddingBag::new(Reduction::Add);
    refused(Silent::DTYPE, sum.run(&table, &Bags::packed(&ids)).unwrap_err());
    refused(Silent::DTYPE, Gather::new(0).adjoint().run(&zeros(&[2]).unwrap(), &list, &table).unwrap_err());
    let pairs = [[Silent { x: 1.0, y: 2.0 }; 2]; 2];
    let pairs = View::new(&pairs, &[2]).unwrap();
    refused(<[Silent; 2]>::DTYPE, sum.run(&pairs, &Bags::packed(&ids)).unwrap_err());
    // Weights are numbers, at run time too.
    let items = items::<Counts>(&[2], 1);
    let (items, weights) = (view(&items), View::new(&[1i32, 2], &[1, 2]).unwrap());
    let (d, i, w) = (DynView::from(&items), DynView::from(&ids), DynView::from(&weights));
    let expected = Error::DTypeMismatch { expected: i16::DTYPE, got: i32::DTYPE };
    assert_eq!(sum.run(&d, &Bags::packed(&i).weights(&w)).unwrap_err(), expected);
}

//! What must not change a single byte of a result: threads, levels, methods, planning once or for each call, and
//! cutting a tensor along any axis and concatenating the parts.

use gather_core::{
    BatchToSpace, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Level, Method, NegativeIndex,
    OutOfBounds, Par, Spec, Tensor, View, ViewMut,
};
use gather_tests::oracle::Dense;
use gather_tests::values::bytes;

use crate::support::{RULES, Spread, data, gathers, levels, mixed, table_entries, view};

/// Indices from `-dim` to `dim - 1`.
fn indices(shape: &[usize], dim: usize, seed: u64) -> Dense<i32> {
    Dense::from_fn(shape, |at| (mixed(seed, at) % (2 * dim as u64)) as i32 - dim as i32)
}

/// What the index operators share.
trait Tuned: Clone + std::fmt::Debug {
    fn tuned(&self, par: Par, level: Level, method: Option<Method>) -> Self;
    fn call<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error>;
    fn call_into(&self, data: &View<'_, u32>, indices: &View<'_, i32>, out: &mut ViewMut<'_, u32>);
}

macro_rules! tuned {
    ($($op:ident)*) => {$(
        impl Tuned for $op {
            fn tuned(&self, par: Par, level: Level, method: Option<Method>) -> Self {
                let op = self.clone().par(par).level(level);
                match method {
                    Some(method) => op.method(method),
                    None => op,
                }
            }

            fn call<T: Element, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
            ) -> Result<Tensor<T>, Error> {
                self.run(data, indices)
            }

            fn call_into(&self, data: &View<'_, u32>, indices: &View<'_, i32>, out: &mut ViewMut<'_, u32>) {
                self.run_into(data, indices, out).unwrap();
            }
        }
    )*};
}
tuned!(Gather GatherElements GatherNd);

/// Runs an operator in every way there is. Returns the methods that accepted the call.
fn every_way<T: Element>(op: &impl Tuned, data: &Dense<T>, indices: &Dense<i32>) -> Vec<Method> {
    let plain = op.tuned(Par::Seq, Level::Scalar, Some(Method::Direct));
    let expected = plain.call(&view(data), &view(indices)).unwrap();
    let (spread_data, spread_indices) = (Spread::new(data), Spread::new(indices));
    let same = |got: &Tensor<T>, op: &dyn std::fmt::Debug| {
        assert_eq!(got.shape(), expected.shape());
        assert!(bytes(got.as_slice()) == bytes(expected.as_slice()), "{op:?} on {:?} {:?}", data.shape, indices.shape);
    };
    let mut taken = Vec::new();
    for level in levels() {
        for par in (1..=8).map(Par::Threads).chain([Par::Seq, Par::Auto]) {
            let op = op.tuned(par, level, None);
            same(&op.call(&view(data), &view(indices)).unwrap(), &op);
            same(&op.call(&spread_data.view(), &spread_indices.view()).unwrap(), &op);
            // Forced methods are cut for threads in the same ways, so that a few thread counts are enough.
            let forced = matches!(par, Par::Seq | Par::Threads(3 | 8));
            for &method in Method::ALL.iter().filter(|_| forced) {
                let op = op.tuned(par, level, Some(method));
                match op.call(&view(data), &view(indices)) {
                    Ok(got) => {
                        same(&got, &op);
                        taken.push(method);
                    }
                    Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
                }
            }
        }
    }
    taken.dedup();
    taken
}

fn small<T: Element>(element: impl Fn(usize) -> T + Copy) -> Vec<Method> {
    let mut taken = Vec::new();
    for (seed, outer, dim, inner) in [(1, 1, 5, 1), (2, 3, 7, 1), (3, 2, 40, 9), (4, 4, 2, 70)] {
        for (negative, out) in [(NegativeIndex::FromEnd, OutOfBounds::Zero), (NegativeIndex::Reject, OutOfBounds::Wrap)]
        {
            let table = Dense::from_fn(&[outer, dim, inner], element);
            let gather = Gather::new(1).negative_index(negative).out_of_bounds(out);
            taken.extend(every_way(&gather, &table, &indices(&[90], dim + 1, seed)));
            let elements = GatherElements::new(1).negative_index(negative).out_of_bounds(out);
            taken.extend(every_way(&elements, &table, &indices(&[outer, 30, inner], dim + 1, seed)));
            let nd = GatherNd::new().negative_index(negative).out_of_bounds(out);
            taken.extend(every_way(&nd, &table, &indices(&[65, 2], outer.min(dim) + 1, seed)));
        }
    }
    taken
}

#[test]
fn small_calls_give_the_same_in_every_way() {
    let mut taken = small(|at| mixed(1, at) as u8);
    taken.extend(small(|at| mixed(2, at) as u32));
    taken.extend(small(|at| mixed(3, at)));
    taken.extend(small(|at| [mixed(4, at) as u8; 3]));
    let gathered = levels().any(gathers);
    let tables = levels().any(|level| table_entries(level, 1) > 0);
    for (method, expected) in [
        (Method::Direct, true),
        (Method::Blocks, true),
        (Method::Chunks, true),
        (Method::Gathered, gathered),
        (Method::Table, tables),
        (Method::Panels, true),
        (Method::Streamed, cfg!(target_arch = "x86_64")),
        (Method::Interleaved, false),
        (Method::Deinterleaved, false),
    ] {
        assert_eq!(taken.contains(&method), expected, "{method}");
    }
}

/// Calls that are large enough for the library to choose threads by itself.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn big_calls_give_the_same_in_every_way() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        let (table, list) = (data(&[2, 1000, 40], 1), indices(&[9000], 1000, 2));
        let plan = Gather::new(1)
            .plan(&Spec::<u32>::from_layout(view(&table).layout()), &Spec::<i32>::from_layout(view(&list).layout()))
            .unwrap();
        assert!(plan.explain().tasks() > 1, "{}", plan.explain());
        every_way(&Gather::new(1), &table, &list);
        every_way(&GatherElements::new(0), &data(&[700, 900], 3), &indices(&[700, 900], 700, 4));
        every_way(&GatherNd::new(), &data(&[60, 50, 8], 5), &indices(&[70_000, 2], 50, 6));

        let images = data(&[6, 400, 450], 7);
        let op = BatchToSpace::new(&[1, 2, 3], &[0, 1, 2], &[0, 0, 4]);
        let expected = op.clone().par(Par::Seq).level(Level::Scalar).run(&view(&images)).unwrap();
        let spread = Spread::new(&images);
        for level in levels() {
            for par in (1..=8).map(Par::Threads).chain([Par::Auto]) {
                let op = op.clone().par(par).level(level);
                assert_eq!(op.run(&view(&images)).unwrap(), expected, "{op:?}");
                assert_eq!(op.run(&spread.view()).unwrap(), expected, "{op:?}");
            }
        }
    });
}

/// Shape, strides and offset of the part of a row-major tensor from `from` to `to` along an axis.
fn part(shape: &[usize], axis: usize, from: usize, to: usize) -> (Vec<usize>, Vec<isize>, usize) {
    let strides = Layout::contiguous(shape).unwrap().strides().to_vec();
    let mut part = shape.to_vec();
    part[axis] = to - from;
    let offset = from * strides[axis] as usize;
    (part, strides, offset)
}

/// A part of a dense tensor.
fn view_of<T>(dense: &Dense<T>, axis: usize, from: usize, to: usize) -> View<'_, T> {
    let (shape, strides, offset) = part(&dense.shape, axis, from, to);
    View::strided(&dense.values, &shape, &strides, offset).unwrap()
}

/// Cuts the tensors of a call along one axis each, and runs the call on the parts, into parts of one output.
fn in_parts(
    op: &impl Tuned,
    (table, table_axis): (&Dense<u32>, Option<usize>),
    (list, list_axis): (&Dense<i32>, Option<usize>),
    out_axis: usize,
) {
    let whole = op.call(&view(table), &view(list)).unwrap();
    let dim = whole.shape()[out_axis];
    for cut in [0, 1, dim / 2, dim] {
        let mut memory = vec![!0; whole.len()];
        for (from, to) in [(0, cut), (cut, dim)] {
            let table = table_axis.map_or_else(|| view(table), |axis| view_of(table, axis, from, to));
            let list = list_axis.map_or_else(|| view(list), |axis| view_of(list, axis, from, to));
            let (shape, strides, offset) = part(whole.shape(), out_axis, from, to);
            op.call_into(&table, &list, &mut ViewMut::strided(&mut memory, &shape, &strides, offset).unwrap());
        }
        assert!(memory == whole.as_slice(), "{op:?} of {:?} cut at {cut} along {out_axis}", table.shape);
    }
}

#[test]
fn parts_side_by_side_are_the_whole() {
    let table = data(&[4, 6, 5, 7], 1);
    for axis in 0..4 {
        let list = indices(&[3, 8], table.shape[axis], 2);
        let op = Gather::new(axis as i64);
        // Along the other axes of data, and along those of indices.
        for cut in (0..4).filter(|&cut| cut != axis) {
            in_parts(&op, (&table, Some(cut)), (&list, None), if cut < axis { cut } else { cut + 1 });
        }
        for cut in 0..2 {
            in_parts(&op, (&table, None), (&list, Some(cut)), axis + cut);
        }
        // GatherElements steps through data and indices together, except along its axis.
        let list = indices(&table.shape, table.shape[axis], 3);
        let op = GatherElements::new(axis as i64);
        for cut in 0..4 {
            in_parts(&op, (&table, (cut != axis).then_some(cut)), (&list, Some(cut)), cut);
        }
    }
    // Batch dimensions of both.
    let list = indices(&[4, 6, 9], 5, 4);
    for cut in 0..2 {
        in_parts(&Gather::new(2).batch_dims(2), (&table, Some(cut)), (&list, Some(cut)), cut);
    }
    let tuples = indices(&[4, 11, 2], 5, 5);
    in_parts(&GatherNd::new().batch_dims(1), (&table, Some(0)), (&tuples, Some(0)), 0);
    in_parts(&GatherNd::new().batch_dims(1), (&table, None), (&tuples, Some(1)), 1);
    in_parts(&GatherNd::new().batch_dims(1), (&table, Some(3)), (&tuples, None), 2);
}

#[test]
fn parts_of_batch_to_space_are_the_whole() {
    let images = data(&[12, 5, 4, 6], 1);
    let op = BatchToSpace::new(&[1, 3, 2, 1], &[0, 2, 1, 0], &[0, 1, 1, 0]);
    let whole = op.run(&view(&images)).unwrap();
    // The last dimension has no block.
    for cut in [0, 1, 3, 6] {
        let mut memory = vec![!0; whole.len()];
        for (from, to) in [(0, cut), (cut, 6)] {
            let (shape, strides, offset) = part(whole.shape(), 3, from, to);
            let mut out = ViewMut::strided(&mut memory, &shape, &strides, offset).unwrap();
            op.run_into(&view_of(&images, 3, from, to), &mut out).unwrap();
        }
        assert_eq!(memory, whole.as_slice());
    }
}

#[test]
fn plans_that_are_used_again_give_what_fresh_calls_give() {
    let shapes = [&[5, 8, 3][..], &[5, 4, 3], &[9, 2], &[7]];
    let [table, square, tuples, list] = shapes.map(|shape| Layout::contiguous(shape).unwrap());
    for (negative, out, _) in RULES {
        let gather = Gather::new(1).negative_index(negative).out_of_bounds(out);
        let elements = GatherElements::new(1).negative_index(negative).out_of_bounds(out);
        let nd = GatherNd::new().negative_index(negative).out_of_bounds(out);
        let space = BatchToSpace::new(&[1, 5, 1], &[0, 3, 0], &[0, 2, 1]);
        let gather_plan = gather.plan(&Spec::<u32>::from_layout(&table), &Spec::<i32>::from_layout(&list)).unwrap();
        let elements_plan =
            elements.plan(&Spec::<u32>::from_layout(&table), &Spec::<i32>::from_layout(&square)).unwrap();
        let nd_plan = nd.plan(&Spec::<u32>::from_layout(&table), &Spec::<i32>::from_layout(&tuples)).unwrap();
        let space_plan = space.plan(&Spec::<u32>::from_layout(&table)).unwrap();
        for round in 0..200 {
            // Every other round has indices out of range, so that failing and succeeding calls alternate.
            let dim = if round % 2 == 0 { 4 } else { 9 };
            let (table, list) = (data(shapes[0], round), indices(shapes[3], dim, round));
            let (square, tuples) = (indices(shapes[1], dim, round), indices(shapes[2], dim, round));
            let table = view(&table);
            assert_eq!(gather_plan.run(&table, &view(&list)), gather.run(&table, &view(&list)));
            assert_eq!(elements_plan.run(&table, &view(&square)), elements.run(&table, &view(&square)));
            assert_eq!(nd_plan.run(&table, &view(&tuples)), nd.run(&table, &view(&tuples)));
            assert_eq!(space_plan.run(&table), space.run(&table));
        }
    }
}

//! The same bits for any number of threads. Sums of floats show every change of their order.

use gather_core::{
    Error, Gather, Method, Par, Reduction, ScatterElements, ScatterNd, ScatterOperator, Spec, Tensor, View, zeros,
};
use gather_core::{Index, ScatterAttributes};

use crate::support::mixed;

fn floats(len: usize, seed: u64) -> Vec<f32> {
    (0..len).map(|at| (mixed(seed, at) % 10_007) as f32 / 97.0 - 50.0).collect()
}

/// Indices below `dim`; the lower ones come more often.
fn skewed(len: usize, dim: usize, seed: u64) -> Vec<u32> {
    (0..len)
        .map(|at| ((mixed(seed, at) % dim as u64) * (mixed(seed ^ 1, at) % dim as u64) / dim as u64) as u32)
        .collect()
}

/// Runs on one thread, and on many: all results are the same.
fn same<A: ScatterAttributes + Clone + Send + Sync, I: Index>(
    op: &ScatterOperator<A>,
    (data, data_shape): (&[f32], &[usize]),
    (indices, index_shape): (&[I], &[usize]),
    (updates, update_shape): (&[f32], &[usize]),
) -> Tensor<f32> {
    let data = View::new(data, data_shape).unwrap();
    let (indices, updates) = (View::new(indices, index_shape).unwrap(), View::new(updates, update_shape).unwrap());
    let alone = op.clone().par(Par::Seq).run(&data, &indices, &updates).unwrap();
    let bits = |tensor: &Tensor<f32>| tensor.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for threads in [2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for par in [Par::Threads(threads), Par::Threads(64), Par::Auto] {
            let others = [Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched, Method::Panels];
            let beside = [Method::Grouped, Method::Accumulated];
            for method in core::iter::once(None).chain(others.into_iter().chain(beside).map(Some)) {
                let op = op.clone().par(par);
                let op = method.map_or(op.clone(), |method| op.method(method));
                let got = match pool.install(|| op.run(&data, &indices, &updates)) {
                    Err(Error::MethodUnavailable { .. }) if method.is_some() => continue,
                    got => got.unwrap(),
                };
                assert!(bits(&got) == bits(&alone), "{threads} threads, {par:?}, {method:?}");
            }
        }
    }
    alone
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn destinations_are_dealt_out() {
    let (data, updates, list) = (floats(3000, 1), floats(40_000, 2), skewed(40_000, 3000, 3));
    for reduction in [Reduction::None, Reduction::Add, Reduction::Max, Reduction::Mean] {
        let op = ScatterElements::new(0).reduction(reduction);
        same(&op, (&data, &[3000]), (&list, &[40_000]), (&updates, &[40_000]));
    }
    // Rows of 3 elements, and of a line and more, which are dealt out to several threads.
    for row in [3, 16, 25] {
        let op = ScatterNd::new().reduction(Reduction::Add);
        let (dim, count) = (3000 / row, 40_000 / row);
        let list = skewed(count, dim, 4);
        same(&op, (&data[..dim * row], &[dim, row]), (&list, &[count, 1]), (&updates[..count * row], &[count, row]));
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn rows_are_cut() {
    let (data, updates, list) = (floats(50 * 1333, 1), floats(200 * 1333, 2), skewed(200, 50, 3));
    for reduction in [Reduction::None, Reduction::Add, Reduction::Mean] {
        let op = ScatterNd::new().reduction(reduction);
        same(&op, (&data, &[50, 1333]), (&list, &[200, 1]), (&updates, &[200, 1333]));
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn free_loops_are_cut() {
    let (data, updates) = (floats(40 * 60, 1), floats(700 * 60, 2));
    let list = skewed(700 * 60, 40, 3);
    for reduction in [Reduction::None, Reduction::Add, Reduction::Mean] {
        let op = ScatterElements::new(0).reduction(reduction);
        same(&op, (&data, &[40, 60]), (&list, &[700, 60]), (&updates, &[700, 60]));
        // Rows of whole lines, cut where lines begin.
        let (data, list, updates) = (&data[..40 * 48], &list[..800 * 48], &updates[..800 * 48]);
        same(&op, (data, &[40, 48]), (list, &[800, 48]), (updates, &[800, 48]));
    }
    let op = ScatterElements::new(1).reduction(Reduction::Add);
    same(&op, (&data, &[60, 40]), (&list, &[60, 700]), (&updates, &[60, 700]));
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn updates_out_of_range_are_dropped_on_every_thread() {
    let (data, updates) = (floats(100, 1), floats(5000, 2));
    let list: Vec<i64> = (0..5000).map(|at| (mixed(3, at) % 300) as i64 - 150).collect();
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let op = op.out_of_bounds(gather_core::ScatterOutOfBounds::Drop);
    let got = same(&op, (&data, &[100]), (&list, &[5000]), (&updates, &[5000]));
    let mut expected = data;
    for (&to, new) in list.iter().zip(updates) {
        let to = if to < 0 { to + 100 } else { to };
        if let Some(kept) = usize::try_from(to).ok().and_then(|to| expected.get_mut(to)) {
            *kept += new;
        }
    }
    assert_eq!(got.as_slice(), expected);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn gradients_are_the_same_on_any_number_of_threads() {
    let (gradient, ids) = (floats(6000 * 20, 1), skewed(6000, 300, 2));
    let (gradient, ids) = (View::new(&gradient, &[6000, 20]).unwrap(), View::new(&ids, &[6000]).unwrap());
    let alone = Gather::new(0).par(Par::Seq).adjoint().run(&zeros(&[300, 20]).unwrap(), &ids, &gradient).unwrap();
    for threads in [2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let op = Gather::new(0).par(Par::Threads(threads));
        assert_eq!(pool.install(|| op.adjoint().run(&zeros(&[300, 20]).unwrap(), &ids, &gradient)).unwrap(), alone);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn large_destinations_are_packed_into_panels() {
    let (rows, columns) = (2000, 600);
    let (data, updates) = (floats(rows * columns, 1), floats(rows * columns, 2));
    let list = skewed(rows * columns, rows, 3);
    let layout = gather_core::Layout::contiguous(&[rows, columns]).unwrap();
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let plan = op
        .plan(
            &Spec::<f32>::new(&[rows, columns]).unwrap(),
            &Spec::<u32>::from_layout(&layout),
            &Spec::<f32>::from_layout(&layout),
        )
        .unwrap();
    assert_eq!(plan.explain().method(), Method::Panels);
    let packed = same(&op, (&data, &[rows, columns]), (&list, &[rows, columns]), (&updates, &[rows, columns]));
    let view = |values| View::new(values, &[rows, columns]).unwrap();
    let list = View::new(&list, &[rows, columns]).unwrap();
    let blocks = op.method(Method::Blocks).run(&view(&data), &list, &view(&updates)).unwrap();
    assert_eq!(packed, blocks);
}

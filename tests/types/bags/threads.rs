//! The same bits for any number of threads, and for every way that work is cut. Sums of floats show every change of
//! their order.

use gather_core::{Bags, EmbeddingBag, Error, Par, Reduction, Tensor, View};

use crate::support::mixed;

fn floats(len: usize, seed: u64) -> Vec<f32> {
    (0..len).map(|at| (mixed(seed, at) % 10_007) as f32 / 97.0 - 50.0).collect()
}

fn bits(tensor: &Tensor<f32>) -> Vec<u32> {
    tensor.as_slice().iter().map(|x| x.to_bits()).collect()
}

/// Runs on one thread, and on many: all results are those of the plain loop.
fn same(rows: usize, columns: usize, lengths: &[usize]) {
    let count = lengths.iter().sum();
    let table = floats(rows * columns, 1);
    let ids: Vec<u32> = (0..count).map(|at| (mixed(2, at) % rows as u64) as u32).collect();
    let mut end = 0;
    let offsets: Vec<i64> = lengths
        .iter()
        .map(|len| {
            end += len;
            (end - len) as i64
        })
        .collect();
    let weights = floats(count, 3);
    let mut expected = Vec::new();
    for (&start, &len) in offsets.iter().zip(lengths) {
        let mut sums = vec![0.0f32; columns];
        for at in start as usize..start as usize + len {
            let row = &table[ids[at] as usize * columns..][..columns];
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * weights[at]);
        }
        expected.extend(sums.into_iter().map(f32::to_bits));
    }
    let (table, weights) = (View::new(&table, &[rows, columns]).unwrap(), View::new(&weights, &[count]).unwrap());
    let (ids, offsets) = (View::new(&ids, &[count]).unwrap(), View::new(&offsets, &[lengths.len()]).unwrap());
    let bags = Bags::new(&ids, &offsets).weights(&weights);
    let op = EmbeddingBag::torch(Reduction::Add);
    assert!(bits(&op.par(Par::Seq).run(&table, &bags).unwrap()) == expected, "alone: {lengths:.20?}");
    for threads in [2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for par in [Par::Threads(threads), Par::Threads(64), Par::Auto] {
            let got = pool.install(|| op.par(par).run(&table, &bags)).unwrap();
            assert!(bits(&got) == expected, "{threads} threads, {par:?}: {columns} of {lengths:.20?}");
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn bags_are_dealt_out() {
    let skewed: Vec<usize> = (0..900).map(|bag| (mixed(7, bag) % 9 * (mixed(8, bag) % 9)) as usize).collect();
    for columns in [1, 3, 16, 33, 200] {
        same(5000, columns, &skewed);
        same(5000, columns, &[40; 300]);
    }
    // Far rows, which are prefetched, in bags of many parts.
    same(60_000, 40, &[700, 0, 3000, 1, 513, 512, 511, 1024, 1025, 2]);
    same(20_000, 300, &[3, 100, 900, 0, 20]);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn columns_are_cut_where_one_bag_is_most_of_the_work() {
    for columns in [64, 100, 333, 768] {
        same(500, columns, &[2000]);
        same(500, columns, &[10, 0, 5000, 3]);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn there_may_be_more_threads_than_work() {
    for lengths in [&[][..], &[0], &[0, 0, 0], &[1], &[0, 2, 0]] {
        for columns in [1, 50] {
            same(10, columns, lengths);
        }
    }
}

#[test]
fn the_first_bad_index_is_found_whichever_thread_meets_one() {
    let (table, mut ids) = (floats(1000, 1), vec![1i32; 40_000]);
    (ids[31_000], ids[39_999]) = (1000, -1001);
    let table = View::new(&table, &[1000, 1]).unwrap();
    for par in [Par::Seq, Par::Threads(2), Par::Threads(7)] {
        let ids = View::new(&ids, &[400, 100]).unwrap();
        let error = EmbeddingBag::new(Reduction::Max).par(par).run(&table, &Bags::packed(&ids)).unwrap_err();
        assert!(matches!(error, Error::IndexOutOfRange { position: 31_000, index: 1000, .. }), "{error}");
    }
}

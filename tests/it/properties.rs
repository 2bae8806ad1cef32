//! Properties: what must hold between calls, on random shapes and values.

use gather_core::{BatchToSpace, Gather, GatherElements, GatherNd, Par, Tensor, View};
use gather_tests::oracle::{self, Dense};
use proptest::prelude::*;

use crate::support::{Spread, available_levels, data, dense, mixed, view};

fn indices(shape: &[usize], dim: usize, seed: u64) -> Dense<i64> {
    Dense::from_fn(shape, |at| (mixed(seed, at) % (2 * dim as u64)) as i64 - dim as i64)
}

fn run_gather(data: &Dense<u32>, indices: &Dense<i64>, axis: usize) -> Tensor<u32> {
    Gather::new(axis as i64).run(&view(data), &view(indices)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gathering_twice_is_gathering_the_composed_indices(
        outer in 1usize..5, dim in 1usize..40, inner in 1usize..20, first in 1usize..700, second in 1usize..50, seed: u64,
    ) {
        let table = data(&[outer, dim, inner], seed);
        let (a, b) = (indices(&[first], dim, seed ^ 1), indices(&[second], first, seed ^ 2));
        let twice = run_gather(&dense(&run_gather(&table, &a, 1)), &b, 1);
        let at = |index: i64| a.values[index.rem_euclid(first as i64) as usize];
        let composed = Dense { shape: vec![second], values: b.values.iter().map(|&index| at(index)).collect() };
        prop_assert_eq!(twice, run_gather(&table, &composed, 1));
    }

    #[test]
    fn a_permutation_and_its_inverse_are_the_identity(n in 1usize..600, inner in 1usize..70, seed: u64) {
        let table = data(&[n, inner], seed);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&at| mixed(seed, at));
        let mut inverse = vec![0i64; n];
        for (at, &from) in order.iter().enumerate() {
            inverse[from] = at as i64;
        }
        let order = Dense { shape: vec![n], values: order.iter().map(|&at| at as i64).collect() };
        let inverse = Dense { shape: vec![n], values: inverse };
        let back = run_gather(&dense(&run_gather(&table, &order, 0)), &inverse, 0);
        prop_assert_eq!(back.as_slice(), &table.values[..]);
    }

    #[test]
    fn gather_is_gather_elements_on_repeated_indices_and_gather_nd_on_tuples(
        rows in 1usize..30, dim in 1usize..30, count in 1usize..600, seed: u64,
    ) {
        let table = data(&[rows, dim], seed);
        let list = indices(&[count], dim, seed ^ 1);
        let gathered = run_gather(&table, &list, 1);
        let repeated = Dense::from_fn(&[rows, count], |at| list.values[at % count]);
        let elements = GatherElements::new(1).run(&view(&table), &view(&repeated)).unwrap();
        prop_assert_eq!(&gathered, &elements);
        let tuples = Dense::from_fn(&[rows, count, 2], |at| match at % 2 {
            0 => (at / 2 / count) as i64,
            _ => list.values[at / 2 % count],
        });
        prop_assert_eq!(&gathered, &GatherNd::new().run(&view(&table), &view(&tuples)).unwrap());
    }

    #[test]
    fn every_number_of_threads_and_every_level_give_the_same(
        outer in 1usize..6, dim in 1usize..50, inner in 1usize..30, count in 1usize..1500, seed: u64,
    ) {
        let table = data(&[outer, dim, inner], seed);
        let list = indices(&[count], dim, seed ^ 1);
        let (spread_table, spread_list) = (Spread::new(&table), Spread::new(&list));
        let expected = run_gather(&table, &list, 1);
        for threads in 1..=8 {
            for level in available_levels() {
                let op = Gather::new(1).par(Par::Threads(threads)).level(level);
                prop_assert_eq!(&op.run(&view(&table), &view(&list)).unwrap(), &expected);
                prop_assert_eq!(&op.run(&spread_table.view(), &spread_list.view()).unwrap(), &expected);
            }
        }
    }

    #[test]
    fn batch_to_space_undoes_the_blocks_taken_apart(
        batch in 1usize..3, h in 1usize..6, w in 1usize..40, c in 1usize..9,
        bh in 1usize..4, bw in 1usize..9, threads in 1usize..9, seed: u64,
    ) {
        // SpaceToBatch by its definition: block (i, j) of the image is batch i * bw + j.
        let image = data(&[batch, h * bh, w * bw, c], seed);
        let apart = Dense::from_fn(&[bh * bw * batch, h, w, c], |at| {
            let (c_at, rest) = (at % c, at / c);
            let (w_at, rest) = (rest % w, rest / w);
            let (h_at, rest) = (rest % h, rest / h);
            let (n, block) = (rest % batch, rest / batch);
            image.at(&[n, h_at * bh + block / bw, w_at * bw + block % bw, c_at])
        });
        let block = [1, bh as i64, bw as i64, 1];
        for level in available_levels() {
            let op = BatchToSpace::new(&block, &[0; 4], &[0; 4]).par(Par::Threads(threads)).level(level);
            prop_assert_eq!(&dense(&op.run(&view(&apart)).unwrap()), &image);
            let spread = Spread::new(&apart);
            prop_assert_eq!(&dense(&op.run(&spread.view()).unwrap()), &image);
        }
        let crops = [0, (bh / 2) as i64, (bw * w / 2) as i64, 0];
        let cropped = BatchToSpace::new(&block, &crops, &crops).run(&view(&apart));
        let (blocks, crops) = ([1, bh, bw, 1], crops.map(|crop| crop as usize));
        if (1..4).all(|k| 2 * crops[k] <= image.shape[k]) {
            prop_assert_eq!(dense(&cropped.unwrap()), oracle::batch_to_space(&apart, &blocks, &crops, &crops));
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn calls_from_inside_a_pool_of_any_size_end() {
    let table: Vec<u64> = (0..1 << 16).collect();
    let list: Vec<u32> = (0..1 << 18).map(|at| mixed(1, at) as u32 % (1 << 16)).collect();
    let expected: Vec<u64> = list.iter().map(|&at| u64::from(at)).collect();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (table, list) = (View::new(&table, &[1 << 16]).unwrap(), View::new(&list, &[1 << 18]).unwrap());
        let run = || Gather::new(0).run(&table, &list).unwrap().into_vec();
        let (a, b) = pool.install(|| rayon::join(run, run));
        assert_eq!(a, expected);
        assert_eq!(b, expected);
    }
}

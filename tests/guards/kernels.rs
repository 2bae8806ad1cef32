//! Every kernel of the table at every level: loop nests of every rank, and every length in nests of one loop.

use std::collections::HashSet;
use std::fmt::Debug;

use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, Gather, GatherElements, GatherNd, Index, Layout, Level, Op, OutOfBounds,
    Registry, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, ScatterOutOfBounds, SpaceAttributes,
    SpaceOperator, SpaceToBatch, SpaceToDepth, Spec,
};
use gather_tests::oracle::{self, Dense};
use gather_tests::support::view;

use crate::{IndexOp, PLACES, Pages, Picks, Sample, lengths, levels, samples};

/// The greatest length.
const MOST: usize = 1025;

/// A shape of `rank` dimensions, all 2 but the last.
fn shape(rank: usize, lanes: usize) -> Vec<usize> {
    let mut shape = vec![2; rank];
    shape[rank - 1] = lanes;
    shape
}

/// What a row of the table is run on.
struct Runs<'a> {
    pages: Pages,
    level: Level,
    /// The kernels that have run, with their operators.
    ran: &'a mut HashSet<(Op, &'static str)>,
}

/// A spread layout: its loop nest has as many loops as the shape has dimensions.
fn spread(shape: &[usize]) -> Layout {
    Layout::strided(shape, &PLACES[3].strides(shape).0).unwrap()
}

impl Runs<'_> {
    fn gather<T: Sample, I: Index + TryFrom<i128>>(&mut self, data: &Dense<T>, picks: &Picks<I>) {
        let op = Gather::new(0).tuned(picks, self.level);
        let plan = op
            .plan(&Spec::<T>::from_layout(&spread(&data.shape)), &Spec::<I>::from_layout(&spread(&picks.exact.shape)))
            .unwrap();
        self.ran.insert((Op::Gather, plan.explain().kernel()));
        let expected = oracle::gather(data, &picks.exact, 0, 0, picks.rules, &T::ZERO).unwrap();
        self.pages.index(&PLACES, &op, (data, picks, &expected));
    }

    fn gather_elements<T: Sample, I: Index + TryFrom<i128>>(&mut self, data: &Dense<T>, picks: &Picks<I>) {
        let op = GatherElements::new(0).tuned(picks, self.level);
        let plan = op
            .plan(&Spec::<T>::from_layout(&spread(&data.shape)), &Spec::<I>::from_layout(&spread(&picks.exact.shape)))
            .unwrap();
        self.ran.insert((Op::GatherElements, plan.explain().kernel()));
        let expected = oracle::gather_elements(data, &picks.exact, 0, picks.rules, &T::ZERO).unwrap();
        self.pages.index(&PLACES, &op, (data, picks, &expected));
    }

    fn gather_nd<T: Sample, I: Index + TryFrom<i128>>(&mut self, data: &Dense<T>, picks: &Picks<I>) {
        let op = GatherNd::new().tuned(picks, self.level);
        let plan = op
            .plan(&Spec::<T>::from_layout(&spread(&data.shape)), &Spec::<I>::from_layout(&spread(&picks.exact.shape)))
            .unwrap();
        self.ran.insert((Op::GatherNd, plan.explain().kernel()));
        let expected = oracle::gather_nd(data, &picks.exact, 0, picks.rules, &T::ZERO).unwrap();
        self.pages.index(&PLACES, &op, (data, picks, &expected));
    }

    fn scatter_elements<T: Sample, I: Index + TryFrom<i128>>(&mut self, data: &Dense<T>, picks: &Picks<I>) {
        let updates = samples::<T>(&picks.exact.shape);
        let expected = oracle::scatter_elements(data, &picks.exact, &updates, 0, picks.rules, |_, &new| new).unwrap();
        self.scatter(Op::ScatterElements, ScatterElements::new(0), picks, (data, &updates, &expected));
    }

    fn scatter_nd<T: Sample, I: Index + TryFrom<i128>>(&mut self, data: &Dense<T>, picks: &Picks<I>) {
        let updates = samples::<T>(&picks.exact.shape[..picks.exact.shape.len() - 1]);
        let expected = oracle::scatter_nd(data, &picks.exact, &updates, 0, picks.rules, |_, &new| new).unwrap();
        self.scatter(Op::ScatterNd, ScatterNd::new(), picks, (data, &updates, &expected));
    }

    /// Replaces elements of a copy of data, with the result next to the guards, and the updates where data is of a
    /// gather.
    fn scatter<T: Sample, I: Index, A: ScatterAttributes + Debug>(
        &mut self,
        op: Op,
        operator: ScatterOperator<A>,
        picks: &Picks<I>,
        (data, updates, expected): (&Dense<T>, &Dense<T>, &Dense<T>),
    ) {
        let out = match picks.out {
            OutOfBounds::Error => ScatterOutOfBounds::Error,
            OutOfBounds::Clamp => ScatterOutOfBounds::Clamp,
            OutOfBounds::Wrap => ScatterOutOfBounds::Wrap,
            _ => ScatterOutOfBounds::Drop,
        };
        let operator = operator.negative_index(picks.negative).out_of_bounds(out).level(self.level);
        let layouts = [&data.shape, &picks.exact.shape, &updates.shape].map(|shape| spread(shape));
        let plan = operator
            .plan_into(
                &Spec::<T>::from_layout(&layouts[0]),
                &Spec::<I>::from_layout(&layouts[1]),
                &Spec::<T>::from_layout(&layouts[2]),
                &layouts[0],
            )
            .unwrap();
        self.ran.insert((op, plan.explain().kernel()));
        let what = || format!("{operator:?} on {} {:?}, {} {:?}", T::DTYPE, data.shape, I::TYPE, picks.exact.shape);
        let tensors = (updates, &picks.narrow, expected);
        self.pages.hold(&PLACES, tensors, |new, ids, out| operator.run_into(&view(data), ids, new, out), what);
    }

    /// All operators on indices: every length in nests of one loop, and nests of up to nine.
    fn indices<T: Sample, I: Index + TryFrom<i128>>(&mut self) {
        let (list, table) = (samples::<T>(&[7]), samples::<T>(&[3, 4]));
        let (picks, tuples) = (Picks::<I>::new(&[MOST], 7, 3), Picks::<I>::new(&[MOST, 2], 3, 6));
        for (number, count) in lengths().enumerate() {
            self.gather(&list, &Picks::<I>::new(&[count], 7, number));
            self.gather_elements(&list, &picks.first(count));
            self.gather_nd(&table, &tuples.first(count));
            self.scatter_elements(&samples::<T>(&[count]), &Picks::<I>::new(&[count], count.max(1), number));
            self.scatter_nd(&table, &tuples.first(count));
        }
        for rank in 2..=9 {
            let shape = shape(rank, if rank < 5 { 19 } else { 5 });
            self.gather(&list, &Picks::<I>::new(&shape, 7, rank));
            self.gather_elements(&samples::<T>(&shape), &Picks::<I>::new(&shape, 2, rank + 1));
            self.scatter_elements(&samples::<T>(&shape), &Picks::<I>::new(&shape, 2, rank));
            let tuples = Picks::<I>::new(&[&shape[..], &[2]].concat(), 3, rank + 2);
            self.gather_nd(&table, &tuples);
            self.scatter_nd(&table, &tuples);
        }
    }

    /// BatchToSpace in nests of up to nine loops, with and without a block in the inner loop.
    fn copies<T: Sample>(&mut self) {
        for loops in 1..=9usize {
            for block in [1, 2, 3] {
                let rank = loops.max(2);
                let mut shape = shape(rank, 5);
                // A batch of 1 leaves no loop over it.
                shape[0] = if loops == 1 { block } else { 2 * block };
                let (mut blocks, mut begin, end) = (vec![1; rank], vec![0; rank], vec![0; rank]);
                (blocks[rank - 1], begin[rank - 1]) = (block, block / 2);
                let signed = |list: &[usize]| list.iter().map(|&x| x as i64).collect::<Vec<_>>();
                let op = BatchToSpace::new(&signed(&blocks), &signed(&begin), &signed(&end)).level(self.level);
                let data = samples::<T>(&shape);
                let expected = oracle::batch_to_space(&data, &blocks, &begin, &end);
                self.copy(Op::BatchToSpace, &op, &data, &expected);
                self.takes_apart::<T>(loops, block);
            }
            self.depths::<T>(loops);
        }
    }
}

impl Runs<'_> {
    fn copy<T: Sample, A: SpaceAttributes + Debug>(
        &mut self,
        op: Op,
        operator: &SpaceOperator<A>,
        data: &Dense<T>,
        expected: &Dense<T>,
    ) {
        self.ran.insert((op, operator.plan(&Spec::<T>::from_layout(&spread(&data.shape))).unwrap().explain().kernel()));
        self.pages.copy(&PLACES, operator, (data, expected));
    }

    /// SpaceToBatch in nests of as many loops, with pads at the begin of the last dimension.
    fn takes_apart<T: Sample>(&mut self, loops: usize, block: usize) {
        let rank = loops.max(2);
        let mut shape = shape(rank, 5 * block - block / 2);
        shape[0] = if loops == 1 { 1 } else { 2 };
        let (mut blocks, mut begin, end) = (vec![1; rank], vec![0; rank], vec![0; rank]);
        (blocks[rank - 1], begin[rank - 1]) = (block, block / 2);
        let signed = |list: &[usize]| list.iter().map(|&x| x as i64).collect::<Vec<_>>();
        let op = SpaceToBatch::new(&signed(&blocks), &signed(&begin), &signed(&end)).level(self.level);
        let data = samples::<T>(&shape);
        let expected = oracle::space_to_batch(&data, &blocks, &begin, &end, &T::ZERO);
        self.copy(Op::SpaceToBatch, &op, &data, &expected);
    }

    /// DepthToSpace and SpaceToDepth in nests of as many loops, or of fewer where blocks are not of 1.
    fn depths<T: Sample>(&mut self, loops: usize) {
        for (block, mode) in [(1usize, DepthMode::Dcr), (2, DepthMode::Dcr), (2, DepthMode::Crd)] {
            let mut whole = shape(loops.max(3), 6);
            whole[..3usize.saturating_sub(loops)].fill(1);
            let mut deep = whole.clone();
            deep[1] *= block.pow(whole.len() as u32 - 2);
            deep[2..].iter_mut().for_each(|dim| *dim /= block);
            let (whole, deep) = (samples::<T>(&whole), samples::<T>(&deep));
            let to_space = DepthToSpace::new(block as i64, mode).level(self.level);
            let expected = oracle::depth_to_space(&deep, block, mode == DepthMode::Crd);
            self.copy(Op::DepthToSpace, &to_space, &deep, &expected);
            let to_depth = SpaceToDepth::new(block as i64, mode).level(self.level);
            let expected = oracle::space_to_depth(&whole, block, mode == DepthMode::Crd);
            self.copy(Op::SpaceToDepth, &to_depth, &whole, &expected);
        }
    }
}

/// Runs everything on a type. Types of one size share their kernels.
fn every_kernel<T: Sample>() {
    let mut ran = HashSet::new();
    for level in levels() {
        let mut runs = Runs { pages: Pages::new(), level, ran: &mut ran };
        runs.indices::<T, i8>();
        runs.indices::<T, i16>();
        runs.indices::<T, i32>();
        runs.indices::<T, i64>();
        runs.indices::<T, u8>();
        runs.indices::<T, u16>();
        runs.indices::<T, u32>();
        runs.indices::<T, u64>();
        runs.copies::<T>();
    }
    // Empty index lists need no kernel.
    ran.retain(|(_, name)| name.contains("__"));
    // Three gathers share the kernels of 8 index types x 9 ranks (1 to 8 and any), two scatters as many, and the four
    // operators without indices those of 9 ranks.
    assert_eq!(ran.len(), levels().count() * (3 * 8 * 9 + 2 * 8 * 9 + 4 * 9));
    let registry = Registry::builtin();
    let of_type = registry.kernels().filter(|row| row.dtype.size() == size_of::<T>());
    for row in of_type.filter(|row| levels().any(|level| level == row.level)) {
        assert!(ran.contains(&(row.op, row.name)), "{row:?} has not run");
    }
}

#[test]
fn units_of_1_byte() {
    every_kernel::<u8>();
}

#[test]
fn units_of_2_bytes() {
    every_kernel::<u16>();
}

#[test]
fn units_of_4_bytes() {
    every_kernel::<f32>();
}

#[test]
fn units_of_8_bytes() {
    every_kernel::<u64>();
}

#[test]
fn units_of_16_bytes() {
    every_kernel::<[u64; 2]>();
}

#[test]
fn rows_of_3_bytes() {
    every_kernel::<[u8; 3]>();
}

//! Every small shape, block, crop and pad.

use gather_core::{BatchToSpace, DepthMode, DepthToSpace, SpaceToBatch, SpaceToDepth, Tensor};
use gather_tests::oracle::{self, Dense};

use super::{numbered, shapes};
use crate::support::{Spread, dense, view};

/// Runs an operator on slices, on strided data, and by cloning.
macro_rules! each_door {
    ($op:expr, $data:expr, $expected:expr) => {{
        let (op, data, expected): (_, &Dense<u16>, &Dense<u16>) = ($op, $data, $expected);
        let spread = Spread::new(data);
        let same = |got: &Tensor<u16>| assert_eq!(dense(got), *expected, "{op:?} {:?}", data.shape);
        same(&op.run(&view(data)).expect("legal parameters"));
        same(&op.run(&spread.view()).expect("legal parameters"));
        same(&op.run_cloned(&spread.view()).expect("legal parameters"));
    }};
}

fn signed(list: &[usize]) -> Vec<i64> {
    list.iter().map(|&entry| entry as i64).collect()
}

fn with(first: usize, rest: &[usize]) -> Vec<usize> {
    [&[first], rest].concat()
}

#[test]
fn batch_to_space_of_every_small_shape_block_and_crop() {
    for (rank, max_dim, max_block, max_crop) in [(2, 3, 4, 4), (3, 2, 3, 2), (4, 2, 2, 1)] {
        for spatial in shapes(rank - 1, max_dim) {
            for block in shapes(rank - 1, max_block).filter(|block| !block.contains(&0)) {
                for crops in shapes(2 * (rank - 1), max_crop) {
                    let (begin, end) = crops.split_at(rank as usize - 1);
                    let fits = (0..spatial.len()).all(|k| begin[k] + end[k] <= spatial[k] * block[k]);
                    if !fits {
                        continue;
                    }
                    let batch = 2 * block.iter().product::<usize>();
                    let data = numbered(&with(batch, &spatial));
                    let (block, begin, end) = (with(1, &block), with(0, begin), with(0, end));
                    let op = BatchToSpace::new(&signed(&block), &signed(&begin), &signed(&end));
                    each_door!(op, &data, &oracle::batch_to_space(&data, &block, &begin, &end));
                }
            }
        }
    }
}

#[test]
fn space_to_batch_of_every_small_shape_block_and_pad() {
    for (rank, max_dim, max_block, max_pad) in [(2, 5, 4, 5), (3, 3, 3, 2), (4, 2, 2, 1)] {
        for spatial in shapes(rank - 1, max_dim) {
            for block in shapes(rank - 1, max_block).filter(|block| !block.contains(&0)) {
                for pads in shapes(2 * (rank - 1), max_pad) {
                    let (begin, end) = pads.split_at(rank as usize - 1);
                    if (0..spatial.len()).any(|k| (begin[k] + spatial[k] + end[k]) % block[k] != 0) {
                        continue;
                    }
                    for batch in [0, 2] {
                        let data = numbered(&with(batch, &spatial));
                        let (block, begin, end) = (with(1, &block), with(0, begin), with(0, end));
                        let op = SpaceToBatch::new(&signed(&block), &signed(&begin), &signed(&end));
                        each_door!(op, &data, &oracle::space_to_batch(&data, &block, &begin, &end, &0));
                    }
                }
            }
        }
    }
}

#[test]
fn depth_of_every_small_shape_and_block() {
    for (rank, max_dim, max_block) in [(1, 5, 5), (2, 4, 3), (3, 3, 2)] {
        for space in shapes(rank, max_dim) {
            for block in 1..=max_block {
                for (batch, channels) in [(1, 1), (2, 3), (1, 0), (0, 2)] {
                    let places = usize::pow(block, rank);
                    let deep = numbered(&with(batch, &with(channels * places, &space)));
                    let wide: Vec<usize> = space.iter().map(|dim| dim * block).collect();
                    let wide = numbered(&with(batch, &with(channels, &wide)));
                    for (mode, crd) in [(DepthMode::Dcr, false), (DepthMode::Crd, true)] {
                        let to_space = DepthToSpace::new(block as i64, mode);
                        each_door!(to_space, &deep, &oracle::depth_to_space(&deep, block, crd));
                        let to_depth = SpaceToDepth::new(block as i64, mode);
                        each_door!(to_depth, &wide, &oracle::space_to_depth(&wide, block, crd));
                    }
                }
            }
        }
    }
}

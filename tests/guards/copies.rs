//! Streams of every width, interleaved with every block size, with crops on both sides, and taken apart, with pads on
//! both sides.

use gather_core::{BatchToSpace, DepthMode, DepthToSpace, SpaceToBatch, SpaceToDepth};
use gather_tests::oracle;

use crate::{PLACES, Pages, Sample, levels, samples};

fn interleave<T: Sample>() {
    let mut pages = Pages::new();
    for block in [1, 2, 3, 4, 5, 8] {
        for width in (0..=40).chain([63, 64, 65, 127, 128, 129]) {
            let data = samples::<T>(&[block, 2, width]);
            for (begin, end) in [(0, 0), (1, 0), (0, block - 1), (block + 1, 1)] {
                if begin + end > block * width {
                    continue;
                }
                let expected = oracle::batch_to_space(&data, &[1, 1, block], &[0, 0, begin], &[0, 0, end]);
                for level in levels() {
                    let op = BatchToSpace::new(&[1, 1, block as i64], &[0, 0, begin as i64], &[0, 0, end as i64]);
                    let op = op.level(level);
                    pages.copy(&PLACES, &op, (&data, &expected));
                }
            }
        }
    }
}

#[test]
fn streams_of_1_byte() {
    interleave::<u8>();
}

#[test]
fn streams_of_2_bytes() {
    interleave::<u16>();
}

#[test]
fn streams_of_4_bytes() {
    interleave::<f32>();
}

#[test]
fn streams_of_8_bytes() {
    interleave::<u64>();
}

#[test]
fn streams_of_16_bytes() {
    interleave::<[u64; 2]>();
}

#[test]
fn streams_of_other_sizes() {
    interleave::<[u8; 3]>();
    interleave::<[u32; 3]>();
}

/// Whole tensors taken apart into streams, with pads at both ends.
fn deinterleave<T: Sample>() {
    let mut pages = Pages::new();
    for block in [1usize, 2, 3, 4, 5, 8] {
        for width in (0..=34).chain([63, 64, 65, 127, 128, 129]) {
            for (begin, end) in [(0, 0), (1, block - 1), (block + 1, 2 * block - 1)] {
                // What is left for data, so that blocks divide the whole.
                let Some(size) = (width * block).checked_sub(begin + end) else { continue };
                let data = samples::<T>(&[1, 2, size]);
                let expected = oracle::space_to_batch(&data, &[1, 1, block], &[0, 0, begin], &[0, 0, end], &T::ZERO);
                for level in levels() {
                    let op = SpaceToBatch::new(&[1, 1, block as i64], &[0, 0, begin as i64], &[0, 0, end as i64]);
                    pages.copy(&PLACES, &op.level(level), (&data, &expected));
                }
            }
        }
    }
}

#[test]
fn streams_taken_apart_of_1_byte() {
    deinterleave::<u8>();
}

#[test]
fn streams_taken_apart_of_2_bytes() {
    deinterleave::<u16>();
}

#[test]
fn streams_taken_apart_of_4_bytes() {
    deinterleave::<f32>();
}

#[test]
fn streams_taken_apart_of_8_bytes() {
    deinterleave::<u64>();
}

#[test]
fn streams_taken_apart_of_other_sizes() {
    deinterleave::<[u64; 2]>();
    deinterleave::<[u8; 3]>();
    deinterleave::<[u32; 3]>();
}

#[test]
fn depth_of_every_width() {
    fn both<T: Sample>(pages: &mut Pages) {
        for (block, width) in [(2, 31), (2, 65), (3, 33), (4, 17), (8, 9), (5, 7)] {
            let (places, wide) = (block * block, [1, 2, 2 * block, width * block]);
            let (deep, wide) = (samples::<T>(&[1, 2 * places, 2, width]), samples::<T>(&wide));
            for (mode, crd) in [(DepthMode::Dcr, false), (DepthMode::Crd, true)] {
                for level in levels() {
                    let to_space = DepthToSpace::new(block as i64, mode).level(level);
                    pages.copy(&PLACES, &to_space, (&deep, &oracle::depth_to_space(&deep, block, crd)));
                    let to_depth = SpaceToDepth::new(block as i64, mode).level(level);
                    pages.copy(&PLACES, &to_depth, (&wide, &oracle::space_to_depth(&wide, block, crd)));
                }
            }
        }
    }
    let pages = &mut Pages::new();
    both::<u8>(pages);
    both::<u16>(pages);
    both::<f32>(pages);
    both::<u64>(pages);
    both::<[u8; 3]>(pages);
}

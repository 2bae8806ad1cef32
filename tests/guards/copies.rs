//! BatchToSpace: streams of every width, interleaved with every block size, with crops on both sides.

use gather_core::BatchToSpace;
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

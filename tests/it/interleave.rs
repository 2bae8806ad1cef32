//! Interleaves contiguous streams: every block and width, whole vectors and remainders, crops on both sides.

use gather_core::{BatchToSpace, Element};
use gather_tests::oracle::{self, Dense};

use crate::support::{available_levels, dense, view};

fn interleave<T: Element + PartialEq>(element: impl Fn(usize) -> T) {
    for block in 1..=9 {
        for width in [1, 2, 5, 15, 16, 17, 31, 32, 33, 64, 97] {
            let data = Dense::from_fn(&[2 * block, 2, width], &element);
            for (begin, end) in [(0, 0), (1, 0), (0, 1), (block / 2 + 1, 1), (block * width / 2, block + 1)] {
                if begin + end > block * width {
                    continue;
                }
                let expected = oracle::batch_to_space(&data, &[1, 1, block], &[0, 0, begin], &[0, 0, end]);
                let crop = |value: usize| [0, 0, value as i64];
                for level in available_levels() {
                    let op = BatchToSpace::new(&[1, 1, block as i64], &crop(begin), &crop(end)).level(level);
                    let got = dense(&op.run(&view(&data)).unwrap());
                    assert!(got == expected, "{op:?} of {width} x {} bytes", size_of::<T>());
                }
            }
        }
    }
}

#[test]
fn bytes() {
    interleave(|at| (at * 37) as u8);
}

#[test]
fn halves() {
    interleave(|at| (at * 0x4321) as u16);
}

#[test]
fn words() {
    interleave(|at| at as f32 + 0.5);
}

#[test]
fn doubles() {
    interleave(|at| at as f64 + 0.5);
}

#[test]
fn quads_and_odd_sizes() {
    interleave(|at| [at as u64, 1]);
    interleave(|at| [at as u8, 1, 2]);
    interleave(|at| [at as u32, 1, 2]);
}

//! The operators that rearrange space undo each other, on any number of threads, at every level; and what streams of
//! every width come to when they are taken apart.

use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, Element, Method, Par, SpaceToBatch, SpaceToDepth, Spec, ViewMut,
};
use gather_tests::oracle::{self, Dense};
use proptest::prelude::*;

use crate::support::{Spread, available_levels, data, dense, view};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn space_to_batch_and_batch_to_space_undo_each_other(
        batch in 1usize..3, h in 1usize..6, w in 1usize..40, c in 1usize..9, (bh, bw) in (1usize..4, 1usize..9),
        (top, left, bottom) in (0usize..3, 0usize..5, 0usize..3), threads in 1usize..9, seed: u64,
    ) {
        // The greatest image of at most these pixels that fits between the pads.
        let size = |blocks: usize, block: usize, pads: usize| (blocks + pads.div_ceil(block)) * block - pads;
        let image = data(&[batch, size(h, bh, top + bottom), size(w, bw, left), c], seed);
        let block = [1, bh as i64, bw as i64, 1];
        let (begin, end) = ([0, top as i64, left as i64, 0], [0, bottom as i64, 0, 0]);
        let expected =
            oracle::space_to_batch(&image, &[1, bh, bw, 1], &[0, top, left, 0], &[0, bottom, 0, 0], &0);
        for level in available_levels() {
            let apart = SpaceToBatch::new(&block, &begin, &end).par(Par::Threads(threads)).level(level);
            let blocks = dense(&apart.run(&view(&image)).unwrap());
            prop_assert_eq!(&blocks, &expected);
            let spread = Spread::new(&image);
            prop_assert_eq!(&dense(&apart.run(&spread.view()).unwrap()), &expected);
            let together = BatchToSpace::new(&block, &begin, &end).par(Par::Threads(threads)).level(level);
            prop_assert_eq!(&dense(&together.run(&view(&blocks)).unwrap()), &image);
        }
    }

    #[test]
    fn depth_to_space_and_space_to_depth_undo_each_other(
        batch in 1usize..3, c in 1usize..4, h in 1usize..5, w in 1usize..40, block in 1usize..9, crd: bool,
        threads in 1usize..9, seed: u64,
    ) {
        let image = data(&[batch, c, h * block, w * block], seed);
        let mode = if crd { DepthMode::Crd } else { DepthMode::Dcr };
        let expected = oracle::space_to_depth(&image, block, crd);
        for level in available_levels() {
            let to_depth = SpaceToDepth::onnx28(block as i64, mode).par(Par::Threads(threads)).level(level);
            let deep = dense(&to_depth.run(&view(&image)).unwrap());
            prop_assert_eq!(&deep, &expected);
            let to_space = DepthToSpace::onnx13(block as i64, mode).par(Par::Threads(threads)).level(level);
            prop_assert_eq!(&dense(&to_space.run(&view(&deep)).unwrap()), &image);
            let (deep, image_spread) = (Spread::new(&deep), Spread::new(&image));
            prop_assert_eq!(&dense(&to_space.run(&deep.view()).unwrap()), &image);
            prop_assert_eq!(&dense(&to_depth.run(&image_spread.view()).unwrap()), &expected);
        }
    }
}

/// Contiguous data taken apart: every block and width, whole vectors and remainders, pads at both ends.
fn deinterleave<T: Element + PartialEq>(element: impl Fn(usize) -> T) {
    for block in 1..=9usize {
        for width in [1, 2, 5, 15, 16, 17, 31, 32, 33, 64, 97] {
            for (begin, end) in [(0, 0), (1, block - 1), (block / 2 + 1, 2 * block - block / 2 - 1)] {
                let Some(size) = (width * block).checked_sub(begin + end) else { continue };
                let data = Dense::from_fn(&[2, 2, size], &element);
                let expected = oracle::space_to_batch(&data, &[1, 1, block], &[0, 0, begin], &[0, 0, end], &T::ZERO);
                let pad = |value: usize| [0, 0, value as i64];
                for level in available_levels() {
                    let op = SpaceToBatch::new(&[1, 1, block as i64], &pad(begin), &pad(end)).level(level);
                    let got = dense(&op.run(&view(&data)).unwrap());
                    assert!(got == expected, "{op:?} of {size} x {} bytes", size_of::<T>());
                }
            }
        }
    }
}

#[test]
fn streams_of_every_width_are_taken_apart() {
    deinterleave(|at| (at * 37) as u8);
    deinterleave(|at| (at * 0x4321) as u16);
    deinterleave(|at| at as f32 + 0.5);
    deinterleave(|at| at as f64 + 0.5);
    deinterleave(|at| [at as u64, 1]);
    deinterleave(|at| [at as u8, 1, 2]);
    deinterleave(|at| [at as u32, 1, 2]);
}

/// An element whose zero is not all zeros, and one whose zero repeats no byte.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(zero = Signed([1.0, -0.0, 2.0]))]
struct Signed([f32; 3]);

#[test]
fn padding_is_the_zero_of_the_type() {
    let data = Dense::from_fn(&[1, 3, 2], |at| Signed([at as f32; 3]));
    let expected = oracle::space_to_batch(&data, &[1, 2, 1], &[0, 1, 1], &[0; 3], &Signed::ZERO);
    let op = SpaceToBatch::new(&[1, 2, 1], &[0, 1, 1], &[0; 3]);
    assert_eq!(dense(&op.run(&view(&data)).unwrap()), expected);
    // Rows of several elements are padded.
    let expected = oracle::space_to_batch(&data, &[1, 2, 1], &[0, 1, 0], &[0; 3], &Signed::ZERO);
    let op = SpaceToBatch::new(&[1, 2, 1], &[0, 1, 0], &[0; 3]);
    assert_eq!(dense(&op.run(&view(&data)).unwrap()), expected);
    let texts = Dense::from_fn(&[1, 3], |at| at.to_string());
    let op = SpaceToBatch::new(&[1, 2], &[0, 0], &[0, 1]);
    assert_eq!(op.run_cloned(&view(&texts)).unwrap().as_slice(), ["0", "2", "1", ""]);
    assert_eq!(op.run_cloned_or(&view(&texts), &"none".into()).unwrap().as_slice(), ["0", "2", "1", "none"]);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn large_calls_are_shared_between_threads() {
    let image = data(&[3, 257, 511, 3], 5);
    let (block, begin, end) = ([1, 2, 2, 1], [0, 30, 1, 0], [0, 1, 100, 0]);
    let sizes = |list: [i64; 4]| list.map(|entry| entry as usize);
    let expected = oracle::space_to_batch(&image, &sizes(block), &sizes(begin), &sizes(end), &0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for par in [Par::Seq, Par::Auto, Par::Threads(3)] {
        let op = SpaceToBatch::new(&block, &begin, &end).par(par);
        assert!(pool.install(|| dense(&op.run(&view(&image)).unwrap())) == expected, "{par:?}");
    }
    let plan = SpaceToBatch::new(&block, &begin, &end).plan(&Spec::<u32>::from_layout(view(&image).layout())).unwrap();
    let explain = plan.explain().to_string();
    assert!(explain.contains("method deinterleaved") && explain.contains("bytes of padding"), "{explain}");
    assert_eq!(plan.explain().method(), Method::Deinterleaved);
    let shared = SpaceToBatch::new(&block, &begin, &end)
        .par(Par::Threads(3))
        .plan(&Spec::<u32>::from_layout(view(&image).layout()));
    assert_eq!(shared.unwrap().explain().tasks(), 3);
    let image = data(&[2, 4, 6, 3], 5);
    let unpadded =
        SpaceToBatch::new(&block, &[0; 4], &[0; 4]).plan(&Spec::<u32>::from_layout(view(&image).layout())).unwrap();
    let explain = unpadded.explain().to_string();
    assert!(explain.contains("inner loop of "), "{explain}");
}

/// An output with gaps, which are left alone where the tensor is padded too.
#[test]
fn outputs_with_gaps() {
    let image = data(&[2, 5, 3], 9);
    let op = SpaceToBatch::new(&[1, 2, 2], &[0, 1, 0], &[0, 0, 1]);
    let expected = op.run(&view(&image)).unwrap();
    let (shape, strides) = ([8, 3, 2], [-11, 3, 1]);
    assert_eq!(expected.shape(), shape);
    let mut memory = vec![!7; 8 * 11];
    op.run_into(&view(&image), &mut ViewMut::strided(&mut memory, &shape, &strides, 77).unwrap()).unwrap();
    for (n, block) in memory.chunks(11).rev().enumerate() {
        for (at, &value) in block.iter().enumerate() {
            let inside = at < 9 && at % 3 < 2;
            let wanted = if inside { *expected.view().get(&[n, at / 3, at % 3]).unwrap() } else { !7 };
            assert_eq!(value, wanted, "{n} {at}");
        }
    }
}

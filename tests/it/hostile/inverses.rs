//! H1 to H3, H11 and H15: the parameters of SpaceToBatch, DepthToSpace and SpaceToDepth.

use gather_core::{
    DepthMode, DepthToSpace, DynView, Error, Layout, SpaceToBatch, SpaceToDepth, Spec, Tensor, View, ViewMut,
};

use super::{NONE, agree, text};

const SIX: &[i32] = &[1, 2, 3, 4, 5, 6];

/// Runs an operator through all of its doors.
macro_rules! call {
    ($op:expr, $data:expr) => {{
        let (op, data) = ($op, View::new($data.0, $data.1).unwrap());
        let erased = op.run(&DynView::from(&data));
        let got: Result<Tensor<i32>, Error> = agree([
            op.run(&data),
            op.plan(&data).and_then(|plan| plan.run(&data)),
            op.run_cloned(&data),
            erased.map(|tensor| tensor.downcast().unwrap()),
        ]);
        let shape = op.output_shape($data.1).ok();
        match &got {
            // There may be a shape for which there is no memory.
            Err(Error::TooManyBytes { .. } | Error::AllocationFailed { .. }) => assert!(shape.is_some()),
            got => assert_eq!(shape.as_deref(), got.as_ref().ok().map(Tensor::shape)),
        }
        text(got)
    }};
}

fn batch(block: &[i64], begin: &[i64], end: &[i64], data: (&[i32], &[usize])) -> String {
    call!(SpaceToBatch::new(block, begin, end), data)
}

fn space(block: i64, data: (&[i32], &[usize])) -> String {
    call!(DepthToSpace::new(block, DepthMode::Dcr), data)
}

fn depth(block: i64, data: (&[i32], &[usize])) -> String {
    call!(SpaceToDepth::new(block, DepthMode::Crd), data)
}

#[test]
fn h1_to_h3_blocks_of_batches() {
    let run = |block: [i64; 3]| batch(&block, &[0; 3], &[0; 3], (SIX, &[1, 2, 3]));
    assert_eq!(run([1, 0, 1]), "space_to_batch: block_shape[1] is 0; allowed there is 1 or more");
    assert_eq!(run([1, -2, -3]), "space_to_batch: block_shape[1] is -2; allowed there is 1 or more");
    assert_eq!(run([2, 1, 1]), "space_to_batch: block_shape[0] is 2; allowed there is 1");
    let too_large = format!(
        "space_to_batch: dimension 2 has 3 elements after padding, which is not divisible by its block {}",
        i64::MAX
    );
    assert_eq!(run([1, 2, i64::MAX]), too_large);
    assert_eq!(
        run([1, 4, 1]),
        "space_to_batch: dimension 1 has 2 elements after padding, which is not divisible by its block 4"
    );
    assert_eq!(run([1, 2, 3]), "[6, 1, 1] [1, 2, 3, 4, 5, 6]");
}

/// Any block divides a dimension without elements, but the batch becomes too large.
#[test]
fn h3_blocks_of_nothing() {
    let half = 1i64 << (usize::BITS / 2);
    assert_eq!(
        batch(&[1, half, half], &[0; 3], &[0; 3], (NONE, &[1, 0, 0])),
        "space_to_batch: dimension 0 of 1 elements times the elements of a block overflows"
    );
    assert_eq!(
        batch(&[1, half, 1], &[0; 3], &[0; 3], (NONE, &[half as usize, 0, 0])),
        format!("space_to_batch: dimension 0 of {half} elements, {half} times, overflows")
    );
    assert_eq!(batch(&[1, half], &[0; 2], &[0; 2], (NONE, &[0, 0])), "[0, 0] []");
    assert_eq!(
        depth(half, (NONE, &[1, 5, 0, 0])),
        "space_to_depth: dimension 1 of 5 elements times the elements of a block overflows"
    );
    assert_eq!(
        depth(half, (NONE, &[1, half as usize, 0])),
        format!("space_to_depth: dimension 1 of {half} elements, {half} times, overflows")
    );
    assert_eq!(depth(half, (NONE, &[1, 0, 0])), "[1, 0, 0] []");
    assert_eq!(space(half, (NONE, &[1, 0, half as usize / 4])), {
        let wide = half as usize * (half as usize / 4);
        format!("[1, 0, {wide}] []")
    });
    assert_eq!(
        space(half, (NONE, &[1, 0, half as usize])),
        format!("depth_to_space: dimension 2 of {half} elements, {half} times, overflows")
    );
}

#[test]
fn h15_pads() {
    let run = |begin: &[i64], end: &[i64]| batch(&[1, 2], begin, end, (SIX, &[2, 3]));
    assert_eq!(run(&[0, 1], &[0, 0]), "[4, 2] [0, 2, 0, 5, 1, 3, 4, 6]");
    assert_eq!(run(&[0, 0], &[0, 3]), "[4, 3] [1, 3, 0, 4, 6, 0, 2, 0, 0, 5, 0, 0]");
    assert_eq!(run(&[0, -1], &[0, 0]), "space_to_batch: pads_begin[1] is -1; allowed there is 0 or more");
    assert_eq!(run(&[0, 0], &[0, -1]), "space_to_batch: pads_end[1] is -1; allowed there is 0 or more");
    assert_eq!(run(&[1, 0], &[0, 0]), "space_to_batch: pads_begin[0] is 1; allowed there is 0");
    assert_eq!(run(&[0], &[0, 0]), "space_to_batch: pads_begin has 1 entries; data of rank 2 takes 2");
    assert_eq!(run(&[0, 0], &[0, 0, 0]), "space_to_batch: pads_end has 3 entries; data of rank 2 takes 2");
    assert_eq!(
        run(&[0, i64::MAX], &[0, i64::MAX]),
        "space_to_batch: the elements of dimension 1 after padding overflow"
    );
    // All that comes out is padding.
    assert_eq!(batch(&[1, 2], &[0, 1], &[0, 3], (NONE, &[1, 0])), "[2, 2] [0, 0, 0, 0]");
    assert_eq!(batch(&[1, 2], &[0, 1], &[0, 3], (NONE, &[0, 0])), "[0, 2] []");
    assert_eq!(batch(&[1, 1], &[0, 0], &[0, 0], (SIX, &[2, 3])), "[2, 3] [1, 2, 3, 4, 5, 6]");
}

/// Padding that no memory holds.
#[test]
fn h15_pads_beyond_memory() {
    let most = isize::MAX as i64;
    let got = batch(&[1, 1], &[0, most], &[0, 0], (SIX, &[6, 1]));
    assert!(got.ends_with(&format!("has more than {} elements", isize::MAX)), "{got}");
    let got = batch(&[1, 1], &[0, most / 2], &[0, 0], (&SIX[..1], &[1, 1]));
    assert!(got.ends_with(&format!("takes more than {} bytes", isize::MAX)) || got.contains("allocator"), "{got}");
}

#[test]
fn h2_block_sizes() {
    for (block, said) in [(0, "0"), (-2, "-2"), (i64::MIN, "-9223372036854775808")] {
        let wrong = format!("block_size is {said}; allowed is 1 or more");
        assert_eq!(space(block, (SIX, &[1, 2, 3])), format!("depth_to_space: {wrong}"));
        assert_eq!(depth(block, (SIX, &[1, 2, 3])), format!("space_to_depth: {wrong}"));
    }
    assert_eq!(space(4, (SIX, &[1, 6, 1])), "depth_to_space: depth 6 is not divisible by 4, the elements of a block");
    assert_eq!(
        space(i64::MAX, (SIX, &[1, 6, 1, 1])),
        "depth_to_space: depth 6 is not divisible by the elements of a block, which overflow"
    );
    assert_eq!(
        depth(4, (SIX, &[1, 1, 6])),
        "space_to_depth: dimension 2 has 6 elements, which is not divisible by its block 4"
    );
    assert_eq!(
        depth(i64::MAX, (SIX, &[1, 1, 1, 6])),
        format!("space_to_depth: dimension 2 has 1 elements, which is not divisible by its block {}", i64::MAX)
    );
    assert_eq!(space(1, (SIX, &[1, 2, 3])), "[1, 2, 3] [1, 2, 3, 4, 5, 6]");
    assert_eq!(depth(6, (SIX, &[1, 1, 6])), "[1, 6, 1] [1, 2, 3, 4, 5, 6]");
}

#[test]
fn h11_ranks() {
    let one: (&[i32], &[usize]) = (&SIX[..1], &[]);
    assert_eq!(batch(&[], &[], &[], one), "space_to_batch: data has rank 0; allowed is 2 or more");
    assert_eq!(space(1, one), "depth_to_space: data has rank 0; allowed is 3 or more");
    assert_eq!(depth(1, (SIX, &[2, 3])), "space_to_depth: data has rank 2; allowed is 3 or more");
    let five: (&[i32], &[usize]) = (SIX, &[1, 1, 1, 2, 3]);
    assert_eq!(call!(DepthToSpace::onnx13(1, DepthMode::Crd), five), "depth_to_space: data has rank 5; allowed is 4");
    assert_eq!(call!(SpaceToDepth::onnx13(1), five), "space_to_depth: data has rank 5; allowed is 4");
    assert_eq!(call!(SpaceToDepth::onnx28(1, DepthMode::Crd), five), "space_to_depth: data has rank 5; allowed is 4");
}

#[test]
fn h11_outputs_of_another_shape() {
    let data = View::new(SIX, &[1, 1, 6]).unwrap();
    let mut memory = [7; 6];
    let mut out = ViewMut::new(&mut memory, &[1, 3, 2]).unwrap();
    let got = SpaceToDepth::new(2, DepthMode::Dcr).run_into(&data, &mut out).unwrap_err();
    assert_eq!(got.to_string(), "space_to_depth: the output has shape [1, 3, 2]; the result has [1, 2, 3]");
    let got = SpaceToBatch::new(&[1, 1, 2], &[0; 3], &[0; 3]).run_into(&data, &mut out).unwrap_err();
    assert_eq!(got.to_string(), "space_to_batch: the output has shape [1, 3, 2]; the result has [2, 1, 3]");
    assert_eq!(memory, [7; 6]);
}

/// Strides of layouts over no slice wrap, and plans for them are made all the same.
#[test]
fn h20_layouts_that_no_memory_has() {
    for far in [isize::MAX, isize::MIN, -1] {
        let layout = Layout::strided(&[2, 4, 6], &[far, 3, far]).unwrap();
        let depth = SpaceToDepth::new(2, DepthMode::Dcr).plan(&Spec::<u64>::from_layout(&layout)).unwrap();
        assert!(depth.explain().to_string().contains("deinterleaved"));
        let space = DepthToSpace::new(2, DepthMode::Crd).plan(&Spec::<u64>::from_layout(&layout)).unwrap();
        assert!(space.explain().to_string().contains("interleaved"));
        let batch =
            SpaceToBatch::new(&[1, 3, 2], &[0, 1, 2], &[0, 1, 0]).plan(&Spec::<u64>::from_layout(&layout)).unwrap();
        assert!(batch.explain().to_string().contains("of padding"), "{batch:?}");
    }
}

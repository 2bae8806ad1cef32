//! Hostile input: what nobody should pass and somebody will. Each case with its exact error or value, through the typed and
//! the type-erased face.

use gather_core::{
    BatchToSpace, DynView, Error, Gather, GatherElements, GatherNd, Index, NegativeIndex, OutOfBounds, Par, Registry,
    Tensor, View, ViewMut,
};

/// Runs an operator through both faces, which must agree; gives the elements or the error's text.
macro_rules! both {
    ($op:expr, $data:expr, $data_shape:expr, $indices:expr, $index_shape:expr) => {{
        let (op, registry, data, indices) = ($op, Registry::builtin(), &$data[..], &$indices[..]);
        let data = View::new(data, &$data_shape[..]).unwrap();
        let indices = View::new(indices, &$index_shape[..]).unwrap();
        let typed = op.run(&data, &indices);
        let erased = op.run_dyn(&registry, &DynView::from(&data), &DynView::from(&indices));
        agree(typed, erased.map(|tensor| tensor.downcast().unwrap()))
    }};
    ($op:expr, $data:expr, $data_shape:expr) => {{
        let (op, registry) = ($op, Registry::builtin());
        let data = View::new(&$data[..], &$data_shape[..]).unwrap();
        agree(op.run(&data), op.run_dyn(&registry, &DynView::from(&data)).map(|tensor| tensor.downcast().unwrap()))
    }};
}

fn agree<T: PartialEq + std::fmt::Debug>(typed: Result<Tensor<T>, Error>, erased: Result<Tensor<T>, Error>) -> String {
    assert_eq!(typed, erased);
    match typed {
        Ok(tensor) => format!("{:?} {:?}", tensor.shape(), tensor.as_slice()),
        Err(error) => error.to_string(),
    }
}

const SIX: [i32; 6] = [1, 2, 3, 4, 5, 6];
const NONE: [i32; 0] = [];

fn space(block: &[i64], begin: &[i64], end: &[i64]) -> BatchToSpace {
    BatchToSpace::new(block, begin, end)
}

#[test]
fn h1_to_h3_blocks_beyond_reason() {
    let four = [1i32, 2, 3, 4];
    let run = |block: &[i64]| both!(space(block, &[0; 3], &[0; 3]), four, [4, 1, 1]);
    assert_eq!(
        run(&[1, -1_879_048_192, -1_879_048_192]),
        "batch_to_space: block_shape[1] is -1879048192; allowed there is 1 or more"
    );
    assert_eq!(run(&[1, 0, 2]), "batch_to_space: block_shape[1] is 0; allowed there is 1 or more");
    assert_eq!(run(&[1, 2, -1]), "batch_to_space: block_shape[2] is -1; allowed there is 1 or more");
    assert_eq!(
        run(&[1, 65536, 65536]),
        "batch_to_space: batch 4 is not divisible by 4294967296, the product of block_shape"
    );
    assert_eq!(
        run(&[1, 2_147_483_647, 2_147_483_647]),
        "batch_to_space: batch 4 is not divisible by 4611686014132420609, the product of block_shape"
    );
    assert_eq!(
        run(&[1, i64::MAX, i64::MAX]),
        "batch_to_space: batch 4 is not divisible by the product of block_shape, which overflows"
    );
}

#[test]
fn h4_components_are_checked_not_flat_offsets() {
    let reject = GatherNd::tensorflow(0);
    assert_eq!(
        both!(reject.clone(), SIX, [2, 3], [0i64, -1], [1, 2]),
        "gather_nd: index -1 at position 1 is out of range for axis 1 of size 3"
    );
    // Flat offset 0 * 3 + 4 is inside.
    assert_eq!(
        both!(reject, SIX, [2, 3], [0i64, 4], [1, 2]),
        "gather_nd: index 4 at position 1 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        both!(Gather::tensorflow(0, 0), SIX, [6], [0i8, -1], [2]),
        "gather: index -1 at position 1 is out of range for axis 0 of size 6"
    );
}

#[test]
fn h5_an_axis_without_elements() {
    assert_eq!(
        both!(Gather::onnx13(0), NONE, [0, 3], [0i64], [1]),
        "gather: index 0 at position 0 is out of range for axis 0 of size 0"
    );
    assert_eq!(both!(Gather::openvino8(0, 0), NONE, [0, 3], [0i64], [1]), "[1, 3] [0, 0, 0]");
    for policy in [OutOfBounds::Clamp, OutOfBounds::Wrap] {
        assert_eq!(
            both!(Gather::new(0).out_of_bounds(policy), NONE, [0], [5u8], [1]),
            "gather: index 5 at position 0 is out of range for axis 0 of size 0"
        );
    }
    assert_eq!(
        both!(GatherElements::onnx13(0), NONE, [0, 1], [0i64], [1, 1]),
        "gather_elements: index 0 at position 0 is out of range for axis 0 of size 0"
    );
}

#[test]
fn h6_batches_of_other_sizes() {
    assert_eq!(
        both!(Gather::new(1).batch_dims(1), SIX, [3, 2], [0i64, 1], [2, 1]),
        "gather: batch dimension 0 is 3 in data and 2 in indices; they must be equal"
    );
    assert_eq!(both!(Gather::new(1).batch_dims(1), NONE, [0, 2], [0i64; 0], [0, 1]), "[0, 1] []");
    assert_eq!(
        both!(GatherNd::new().batch_dims(1), SIX, [3, 2], [0i64, 1], [2, 1]),
        "gather_nd: batch dimension 0 is 3 in data and 2 in indices; they must be equal"
    );
}

#[test]
#[cfg(target_pointer_width = "64")]
fn h7_results_beyond_memory() {
    let text = |shape: Result<gather_core::Shape, Error>| shape.unwrap_err().to_string();
    let half = 1 << (usize::BITS / 2);
    assert_eq!(
        text(Gather::new(0).output_shape(&[2, half], &[half / 2])),
        "shape [2147483648, 4294967296] has more than 9223372036854775807 elements"
    );
    assert!(Gather::new(0).output_shape(&[3, 1 << 16], &[1 << (usize::BITS / 2 - 2)]).is_ok());
    // One value, seen as 2^62 of them: the bytes of the result do not fit.
    let (one, index) = ([1.0f64], [0i64]);
    let wide = 1usize << (usize::BITS - 3);
    let data = View::strided(&one, &[1, wide], &[0, 0], 0).unwrap();
    let error = Gather::new(0).run(&data, &View::new(&index, &[1]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::TooManyBytes { element: 8, .. }), "{error}");
    // They fit, but no memory has them.
    let some = 1usize << (usize::BITS - 7);
    let data = View::strided(&one, &[1, some], &[0, 0], 0).unwrap();
    let error = Gather::new(0).run(&data, &View::new(&index, &[1]).unwrap()).unwrap_err();
    assert_eq!(error, Error::Allocation { bytes: some * 8 });
}

#[test]
fn h8_extreme_attributes() {
    for axis in [i64::MIN, i64::MAX, -3, 2] {
        assert_eq!(
            both!(Gather::new(axis), SIX, [2, 3], [0i64], [1]),
            format!("gather: axis {axis} is out of range; data of rank 2 allows -2..=1")
        );
        assert_eq!(
            both!(GatherElements::new(axis), SIX, [2, 3], [0i64], [1, 1]),
            format!("gather_elements: axis {axis} is out of range; data of rank 2 allows -2..=1")
        );
    }
    for batch_dims in [i64::MIN, i64::MAX, 2, -2] {
        assert_eq!(
            both!(Gather::new(1).batch_dims(batch_dims), SIX, [2, 3], [0i64, 0], [2]),
            format!("gather: batch_dims {batch_dims} is out of range; allowed here is -1..=1")
        );
    }
    assert_eq!(
        both!(GatherNd::new().batch_dims(i64::MIN), SIX, [2, 3], [0i64], [1, 1]),
        "gather_nd: batch_dims -9223372036854775808 is out of range; allowed here is 0..=1"
    );
}

#[test]
fn h9_and_h11_ranks_and_tuples_at_their_ends() {
    assert_eq!(
        both!(GatherNd::new(), SIX, [2, 3], [0i64; 3], [1, 3]),
        "gather_nd: index tuples have 3 components; allowed here is 0..=2"
    );
    assert_eq!(
        both!(GatherNd::new(), SIX, [2, 3], [0i64; 0], [2, 0]),
        "[2, 2, 3] [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]"
    );
    assert_eq!(
        both!(GatherNd::new(), SIX, [6], [0i64], [0usize; 0]),
        "gather_nd: indices has rank 0; allowed is 1 or more"
    );
    assert_eq!(both!(Gather::new(1), SIX, [2, 3], [-1i32], [0usize; 0]), "[2] [3, 6]");
    assert_eq!(
        both!(Gather::new(0), [7i32], [0usize; 0], [0i64], [1]),
        "gather: axis 0 on data of rank 0, which has no axis"
    );
    assert_eq!(
        both!(GatherNd::new(), NONE, [0], [0i64], [1, 1]),
        "gather_nd: index 0 at position 0 is out of range for axis 0 of size 0"
    );
    let (data, indices) = (View::new(&SIX, &[2, 3]).unwrap(), View::new(&[0i64], &[1]).unwrap());
    let mut memory = [9; 6];
    let mut out = ViewMut::new(&mut memory, &[2, 3]).unwrap();
    let error = Gather::new(0).run_into(&data, &indices, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "gather: the output has shape [2, 3]; the result has [1, 3]");
    assert_eq!(memory, [9; 6]);
    assert!(ViewMut::strided(&mut memory, &[2, 3], &[1, 1], 0).is_err());
    assert!(ViewMut::strided(&mut memory, &[2], &[0], 0).is_err());
}

#[test]
fn h10_components_whose_products_wrap() {
    let huge = [1i64 << 62, 1 << 62];
    assert_eq!(
        both!(GatherNd::new(), SIX, [2, 3], huge, [1, 2]),
        format!("gather_nd: index {} at position 0 is out of range for axis 0 of size 2", 1i64 << 62)
    );
    let wrap = GatherNd::new().out_of_bounds(OutOfBounds::Wrap);
    assert_eq!(both!(wrap, SIX, [2, 3], huge, [1, 2]), "[1] [2]");
}

#[test]
fn h12_and_h13_nothing_to_do_and_more_threads_than_work() {
    assert_eq!(both!(GatherElements::new(1), NONE, [0, 3], [0i64; 0], [0, 2]), "[0, 2] []");
    assert_eq!(both!(Gather::new(0), NONE, [3, 0], [2i64], [1]), "[1, 0] []");
    assert_eq!(both!(Gather::new(0).par(Par::Threads(1000)), SIX, [6], [5u8, 0], [2]), "[2] [6, 1]");
    assert_eq!(both!(Gather::new(0).par(Par::Threads(0)), SIX, [6], [5u8, 0], [2]), "[2] [6, 1]");
    let many = GatherElements::new(0).par(Par::Threads(usize::MAX));
    assert_eq!(both!(many, SIX, [2, 3], [1i64, 0, 1], [1, 3]), "[1, 3] [4, 2, 6]");
}

#[test]
fn h15_crops() {
    let four = [1i32, 2, 3, 4];
    let run = |block: &[i64], begin: &[i64], end: &[i64]| both!(space(block, begin, end), four, [4, 1]);
    assert_eq!(run(&[1, 4], &[0, 2], &[0, 2]), "[1, 0] []");
    assert_eq!(run(&[1, 4], &[0, 3], &[0, 2]), "batch_to_space: crops 3 and 2 of dimension 1 exceed its 4 elements");
    assert_eq!(
        run(&[1, 4], &[0, i64::MAX], &[0, i64::MAX]),
        "batch_to_space: crops 9223372036854775807 and 9223372036854775807 of dimension 1 exceed its 4 elements"
    );
    assert_eq!(run(&[1, 4], &[0, -1], &[0, 0]), "batch_to_space: crops_begin[1] is -1; allowed there is 0 or more");
    assert_eq!(run(&[2, 2], &[0, 0], &[0, 0]), "batch_to_space: block_shape[0] is 2; allowed there is 1");
    assert_eq!(run(&[1, 4], &[1, 0], &[0, 0]), "batch_to_space: crops_begin[0] is 1; allowed there is 0");
    assert_eq!(run(&[1, 4, 1], &[0, 0], &[0, 0]), "batch_to_space: block_shape has 3 entries; data of rank 2 takes 2");
    assert_eq!(
        run(&[1, 3], &[0, 0], &[0, 0]),
        "batch_to_space: batch 4 is not divisible by 3, the product of block_shape"
    );
    assert_eq!(both!(space(&[1, 4], &[0, 0], &[0, 0]), NONE, [0, 2]), "[0, 8] []");
}

fn edge<I: Index>(index: I, dim: usize) -> String {
    let data: Vec<i32> = (0..dim as i32).collect();
    both!(Gather::new(0), data, [dim], [index], [1])
}

#[test]
fn h16_indices_at_the_ends_of_their_types() {
    let refused = |index: i128, dim: usize| {
        format!("gather: index {index} at position 0 is out of range for axis 0 of size {dim}")
    };
    assert_eq!(edge(-5i64, 5), "[1] [0]");
    assert_eq!(edge(-6i64, 5), refused(-6, 5));
    assert_eq!(edge(4i64, 5), "[1] [4]");
    assert_eq!(edge(5i64, 5), refused(5, 5));
    assert_eq!(edge(i8::MIN, 128), "[1] [0]");
    assert_eq!(edge(i8::MIN, 127), refused(-128, 127));
    assert_eq!(edge(i16::MIN, 5), refused(i16::MIN.into(), 5));
    assert_eq!(edge(i32::MIN, 5), refused(i32::MIN.into(), 5));
    assert_eq!(edge(i64::MIN, 5), refused(i64::MIN.into(), 5));
    assert_eq!(edge(i64::MAX, 5), refused(i64::MAX.into(), 5));
    assert_eq!(edge(u32::MAX, 5), refused(u32::MAX.into(), 5));
    assert_eq!(edge(u64::MAX, 5), refused(u64::MAX.into(), 5));
    assert_eq!(edge((1i64 << 32) + 1, 5), refused((1 << 32) + 1, 5));
    assert_eq!(edge(255u8, 255), refused(255, 255));
    assert_eq!(edge(255u8, 256), "[1] [255]");
    assert_eq!(edge(255u8, 257), "[1] [255]");
    let data = [1i32, 2, 3];
    let wrap = Gather::new(0).out_of_bounds(OutOfBounds::Wrap).negative_index(NegativeIndex::Reject);
    assert_eq!(both!(wrap, data, [3], [i64::MIN, i64::MAX, -1], [3]), "[3] [2, 2, 3]");
    let clamp = Gather::new(0).out_of_bounds(OutOfBounds::Clamp);
    assert_eq!(both!(clamp, data, [3], [u64::MAX, 0], [2]), "[2] [3, 1]");
}

#[test]
fn h18_more_outputs_than_a_float_counts() {
    let len = (1 << 24) + 3;
    let indices: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let data: Vec<u8> = (0..=255).rev().collect();
    let view = View::new(&indices, &[len]).unwrap();
    let out = Gather::new(0).run(&View::new(&data, &[256]).unwrap(), &view).unwrap();
    assert!(out.as_slice().iter().zip(&indices).all(|(&got, &index)| got == 255 - index));
}

#[test]
fn h19_bits_survive() {
    let bits = [0x7fc0_0001u32, 0xffbf_ffff, 0x8000_0000, 0x7f80_0001];
    let data = bits.map(f32::from_bits);
    let got = Gather::new(0).run(&View::new(&data, &[4]).unwrap(), &View::new(&[3u8, 2, 1, 0], &[4]).unwrap()).unwrap();
    let got: Vec<u32> = got.as_slice().iter().map(|value| value.to_bits()).collect();
    assert_eq!(got, [bits[3], bits[2], bits[1], bits[0]]);
}

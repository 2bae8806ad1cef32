//! H4, H5, H10 and H16: indices that name no element.

use gather_core::{Gather, GatherElements, GatherNd, Index, NegativeIndex, OutOfBounds};

use super::{NONE, SIX, run};

#[test]
fn h4_negative_indices_where_they_are_refused() {
    assert_eq!(
        run(&Gather::tensorflow(0, 0), (SIX, &[6]), (&[0i8, -1], &[2])),
        "gather: index -1 at position 1 is out of range for axis 0 of size 6; negative indices are refused"
    );
    assert_eq!(
        run(&GatherElements::torch(1), (SIX, &[2, 3]), (&[0i16, 2, -3], &[1, 3])),
        "gather_elements: index -3 at position 2 is out of range for axis 1 of size 3; negative indices are refused"
    );
    assert_eq!(
        run(&GatherNd::tensorflow(0), (SIX, &[2, 3]), (&[0i64, -1], &[1, 2])),
        "gather_nd: index -1 at position 1 is out of range for axis 1 of size 3; negative indices are refused"
    );
}

#[test]
fn h4_components_are_checked_and_not_flat_offsets() {
    // The flat offsets 0 * 3 + 4 and 2 * 3 - 2 lie inside data.
    for nd in [GatherNd::new(), GatherNd::tensorflow(0)] {
        assert_eq!(
            run(&nd, (SIX, &[2, 3]), (&[0i64, 4], &[1, 2])),
            "gather_nd: index 4 at position 1 is out of range for axis 1 of size 3"
        );
    }
    assert_eq!(
        run(&GatherNd::new(), (SIX, &[2, 3]), (&[2i32, -2], &[1, 2])),
        "gather_nd: index 2 at position 0 is out of range for axis 0 of size 2"
    );
    let zero = GatherNd::new().out_of_bounds(OutOfBounds::Zero);
    assert_eq!(run(&zero, (SIX, &[2, 3]), (&[0i64, 4, 1, 1], &[2, 2])), "[2] [0, 5]");
    // Position 7 lies inside the flat data, but row 1 of batch 0 must not reach into batch 1.
    let batched = Gather::new(1).batch_dims(1);
    assert_eq!(
        run(&batched, (SIX, &[2, 3]), (&[3u8, 0], &[2, 1])),
        "gather: index 3 at position 0 is out of range for axis 1 of size 3"
    );
}

#[test]
fn h5_an_axis_without_elements() {
    let out_of_range = |op: &str| format!("{op}: index 0 at position 0 is out of range for axis 0 of size 0");
    assert_eq!(run(&Gather::onnx13(0), (NONE, &[0, 3]), (&[0i64], &[1])), out_of_range("gather"));
    assert_eq!(run(&GatherElements::onnx13(0), (NONE, &[0, 1]), (&[0i64], &[1, 1])), out_of_range("gather_elements"));
    assert_eq!(run(&GatherNd::onnx13(0), (NONE, &[0]), (&[0i64], &[1, 1])), out_of_range("gather_nd"));

    // `Zero` has something to write. `Clamp` and `Wrap` have no element to name.
    assert_eq!(run(&Gather::openvino8(0, 0), (NONE, &[0, 3]), (&[0i64], &[1])), "[1, 3] [0, 0, 0]");
    let zero = OutOfBounds::Zero;
    let elements = GatherElements::new(0).out_of_bounds(zero);
    assert_eq!(run(&elements, (NONE, &[0, 2]), (&[0u8, 1], &[1, 2])), "[1, 2] [0, 0]");
    let nd = GatherNd::new().out_of_bounds(zero);
    assert_eq!(run(&nd, (NONE, &[2, 0]), (&[1i64, 0], &[1, 2])), "[1] [0]");
    for policy in [OutOfBounds::Clamp, OutOfBounds::Wrap] {
        let text = "gather: index 5 at position 0 is out of range for axis 0 of size 0";
        assert_eq!(run(&Gather::new(0).out_of_bounds(policy), (NONE, &[0]), (&[5u8], &[1])), text);
        let nd = GatherNd::new().out_of_bounds(policy);
        let text = "gather_nd: index 7 at position 1 is out of range for axis 1 of size 0";
        assert_eq!(run(&nd, (NONE, &[2, 0]), (&[1i64, 7], &[1, 2])), text);
        let elements = GatherElements::new(1).out_of_bounds(policy);
        let text = "gather_elements: index -1 at position 0 is out of range for axis 1 of size 0";
        assert_eq!(run(&elements, (NONE, &[1, 0]), (&[-1i8], &[1, 1])), text);
    }
}

#[test]
fn h10_components_whose_products_wrap() {
    for (huge, position) in [([1i64 << 62, 1 << 62], 0), ([0, i64::MAX], 1), ([i64::MIN, 0], 0), ([1, 1 << 32], 1)] {
        let (index, dim) = (huge[position], [2, 3][position]);
        assert_eq!(
            run(&GatherNd::new(), (SIX, &[2, 3]), (&huge, &[1, 2])),
            format!(
                "gather_nd: index {index} at position {position} is out of range for axis {position} of size {dim}"
            )
        );
    }
    let wrap = GatherNd::new().out_of_bounds(OutOfBounds::Wrap);
    assert_eq!(run(&wrap, (SIX, &[2, 3]), (&[1i64 << 62, 1 << 62], &[1, 2])), "[1] [2]");
}

/// Applies one index to an axis of `dim` elements through each index operator: the element, or the end of the error.
fn edge<I: Index>(index: I, dim: usize) -> String {
    let data: Vec<i32> = (0..dim as i32).collect();
    let without = |op: &str, text: String| text.strip_prefix(op).map_or(text.clone(), str::to_owned);
    let gathered = without("gather: ", run(&Gather::new(0), (&data, &[dim]), (&[index], &[1])));
    let elements = run(&GatherElements::new(0), (&data, &[dim]), (&[index], &[1]));
    let found = run(&GatherNd::new(), (&data, &[dim]), (&[index], &[1, 1]));
    assert_eq!(without("gather_elements: ", elements), gathered);
    assert_eq!(without("gather_nd: ", found), gathered);
    gathered
}

#[test]
fn h16_indices_at_the_ends_of_their_types() {
    let refused =
        |index: i128, dim: usize| format!("index {index} at position 0 is out of range for axis 0 of size {dim}");
    assert_eq!(edge(-5i64, 5), "[1] [0]");
    assert_eq!(edge(-6i64, 5), refused(-6, 5));
    assert_eq!(edge(4i64, 5), "[1] [4]");
    assert_eq!(edge(5i64, 5), refused(5, 5));
    assert_eq!(edge(i8::MIN, 128), "[1] [0]");
    assert_eq!(edge(i8::MIN, 127), refused(-128, 127));
    assert_eq!(edge(i8::MAX, 128), "[1] [127]");
    assert_eq!(edge(i16::MIN, 5), refused(i16::MIN.into(), 5));
    assert_eq!(edge(i32::MIN, 5), refused(i32::MIN.into(), 5));
    assert_eq!(edge(i32::MAX, 5), refused(i32::MAX.into(), 5));
    assert_eq!(edge(i64::MIN, 5), refused(i64::MIN.into(), 5));
    assert_eq!(edge(i64::MAX, 5), refused(i64::MAX.into(), 5));
    assert_eq!(edge(isize::MIN, 5), refused(isize::MIN as i128, 5));
    assert_eq!(edge(usize::MAX, 5), refused(usize::MAX as i128, 5));
    assert_eq!(edge(u16::MAX, 5), refused(u16::MAX.into(), 5));
    assert_eq!(edge(u32::MAX, 5), refused(u32::MAX.into(), 5));
    assert_eq!(edge(u64::MAX, 5), refused(u64::MAX.into(), 5));
    assert_eq!(edge((1i64 << 32) + 1, 5), refused((1 << 32) + 1, 5));
    assert_eq!(edge((1u64 << 32) + 1, 5), refused((1 << 32) + 1, 5));
    assert_eq!(edge(-(1i64 << 32), 5), refused(-(1 << 32), 5));
    assert_eq!(edge(255u8, 255), refused(255, 255));
    assert_eq!(edge(255u8, 256), "[1] [255]");
    assert_eq!(edge(255u8, 257), "[1] [255]");
}

#[test]
fn h16_they_are_clamped_and_wrapped_exactly() {
    let (data, ends) = (&[1i32, 2, 3], [i64::MIN, i64::MAX, -1]);
    let wrap = Gather::new(0).out_of_bounds(OutOfBounds::Wrap).negative_index(NegativeIndex::Reject);
    // -2^63 is 1 modulo 3, and so is 2^63 - 1.
    assert_eq!(run(&wrap, (data, &[3]), (&ends, &[3])), "[3] [2, 2, 3]");
    let wrap = GatherElements::new(0).out_of_bounds(OutOfBounds::Wrap);
    assert_eq!(run(&wrap, (data, &[3]), (&[u64::MAX, 1 << 63, 4], &[3])), "[3] [1, 3, 2]");
    let clamp = Gather::new(0).out_of_bounds(OutOfBounds::Clamp);
    assert_eq!(run(&clamp, (data, &[3]), (&[u64::MAX, 0], &[2])), "[2] [3, 1]");
    assert_eq!(run(&clamp, (data, &[3]), (&ends, &[3])), "[3] [1, 3, 3]");
    let clamp = GatherNd::new().out_of_bounds(OutOfBounds::Clamp).negative_index(NegativeIndex::Reject);
    assert_eq!(run(&clamp, (SIX, &[2, 3]), (&[i64::MIN, i64::MAX, -1, 1], &[2, 2])), "[2] [3, 2]");
}

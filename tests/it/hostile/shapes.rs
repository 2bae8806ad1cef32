//! H6, H8, H9, H11 and H12: ranks, batches, attributes and empty dimensions.

use gather_core::{Gather, GatherElements, GatherNd};

use super::{NONE, SIX, run, space};

const SCALAR: &[usize] = &[];

#[test]
fn h6_batches_of_other_sizes() {
    let differ = |op: &str| format!("{op}: batch dimension 0 is 3 in data and 2 in indices; they must be equal");
    assert_eq!(run(&Gather::new(1).batch_dims(1), (SIX, &[3, 2]), (&[0i64, 1], &[2, 1])), differ("gather"));
    assert_eq!(run(&GatherNd::new().batch_dims(1), (SIX, &[3, 2]), (&[0i64, 1], &[2, 1])), differ("gather_nd"));
    assert_eq!(
        run(&GatherElements::new(1), (SIX, &[2, 3]), (&[0u8; 3], &[3, 1])),
        "gather_elements: dimension 0 of indices is 3, which does not fit 2 in data"
    );
    assert_eq!(
        run(&GatherElements::openvino6(1), (SIX, &[3, 2]), (&[0u8; 2], &[2, 1])),
        "gather_elements: dimension 0 of indices is 2, which does not fit 3 in data"
    );
}

#[test]
fn h6_no_batches() {
    let none: &[i64] = &[];
    assert_eq!(run(&Gather::new(1).batch_dims(1), (NONE, &[0, 2]), (none, &[0, 1])), "[0, 1] []");
    assert_eq!(run(&GatherNd::new().batch_dims(1), (NONE, &[0, 2, 5]), (none, &[0, 3, 1])), "[0, 3, 5] []");
    assert_eq!(run(&GatherElements::new(1), (NONE, &[0, 2]), (none, &[0, 4])), "[0, 4] []");
    assert_eq!(space(&[1, 2], &[0, 0], &[0, 0], (NONE, &[0, 3])), "[0, 6] []");
}

#[test]
fn h8_extreme_attributes() {
    for axis in [i64::MIN, i64::MAX, -3, 2] {
        let text = |op: &str| format!("{op}: axis {axis} is out of range; data of rank 2 allows -2..=1");
        assert_eq!(run(&Gather::new(axis), (SIX, &[2, 3]), (&[0i64], &[1])), text("gather"));
        assert_eq!(run(&GatherElements::new(axis), (SIX, &[2, 3]), (&[0i64], &[1, 1])), text("gather_elements"));
    }
    for batch_dims in [i64::MIN, i64::MAX, 2, -2] {
        assert_eq!(
            run(&Gather::new(1).batch_dims(batch_dims), (SIX, &[2, 3]), (&[0i64, 0], &[2])),
            format!("gather: batch_dims {batch_dims} is out of range; allowed here is -1..=1")
        );
    }
    for batch_dims in [i64::MIN, i64::MAX, -1, 2] {
        assert_eq!(
            run(&GatherNd::new().batch_dims(batch_dims), (SIX, &[2, 3]), (&[0i64], &[1, 1])),
            format!("gather_nd: batch_dims {batch_dims} is out of range; allowed here is 0..=1")
        );
    }
}

#[test]
fn h9_tuples_of_too_many_components_and_of_none() {
    assert_eq!(
        run(&GatherNd::new(), (SIX, &[2, 3]), (&[0i64; 3], &[1, 3])),
        "gather_nd: index tuples have 3 components; allowed here is 0..=2; n indices of one component have the shape [n, 1]"
    );
    assert_eq!(
        run(&GatherNd::onnx13(1), (SIX, &[2, 3]), (&[0i64; 4], &[2, 2])),
        "gather_nd: index tuples have 2 components; allowed here is 1..=1; n indices of one component have the shape [n, 1]"
    );
    let none: &[i64] = &[];
    assert_eq!(
        run(&GatherNd::new(), (SIX, &[2, 3]), (none, &[2, 0])),
        "[2, 2, 3] [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]"
    );
    assert_eq!(
        run(&GatherNd::onnx13(0), (SIX, &[2, 3]), (none, &[2, 0])),
        "gather_nd: index tuples have 0 components; allowed here is 1..=2"
    );
}

#[test]
fn h9_indices_of_rank_0_and_empty_data() {
    assert_eq!(run(&Gather::new(1), (SIX, &[2, 3]), (&[-1i32], SCALAR)), "[2] [3, 6]");
    assert_eq!(
        run(&GatherElements::new(0), (SIX, &[6]), (&[0i32], SCALAR)),
        "gather_elements: indices has rank 0; allowed is 1"
    );
    assert_eq!(
        run(&GatherNd::new(), (SIX, &[6]), (&[0i64], SCALAR)),
        "gather_nd: indices has rank 0; allowed is 1 or more"
    );
    // Indices are checked even where the result has no elements.
    assert_eq!(
        run(&Gather::new(0), (NONE, &[3, 0]), (&[1u8, 3], &[2])),
        "gather: index 3 at position 1 is out of range for axis 0 of size 3"
    );
}

#[test]
fn h11_data_of_rank_0() {
    assert_eq!(
        run(&Gather::new(0), (&[7i32], SCALAR), (&[0i64], &[1])),
        "gather: axis 0 on data of rank 0, which has no axis"
    );
    assert_eq!(run(&Gather::torch(0), (&[7i32], SCALAR), (&[0i64], &[1])), "[] [7]");
    assert_eq!(
        run(&GatherElements::new(0), (&[7i32], SCALAR), (&[0i64], &[1])),
        "gather_elements: data has rank 0; allowed is 1 or more"
    );
    let none: &[i64] = &[];
    assert_eq!(run(&GatherNd::new(), (&[7i32], SCALAR), (none, &[3, 0])), "[3] [7, 7, 7]");
    assert_eq!(
        run(&GatherNd::new(), (&[7i32], SCALAR), (&[0i64], &[1, 1])),
        "gather_nd: index tuples have 1 components; allowed here is 0..=0"
    );
    assert_eq!(space(&[], &[], &[], (&[7i32], SCALAR)), "batch_to_space: data has rank 0; allowed is 2 or more");
    assert_eq!(space(&[1], &[0], &[0], (&[7i32], &[1])), "batch_to_space: data has rank 1; allowed is 2 or more");
}

#[test]
fn h12_dimensions_without_elements_off_the_axis() {
    let none: &[i64] = &[];
    assert_eq!(run(&GatherElements::new(1), (NONE, &[0, 3]), (none, &[0, 2])), "[0, 2] []");
    assert_eq!(run(&GatherElements::new(1), (SIX, &[2, 3]), (none, &[0, 2])), "[0, 2] []");
    assert_eq!(run(&Gather::new(0), (NONE, &[3, 0]), (&[2i64], &[1])), "[1, 0] []");
    assert_eq!(run(&GatherNd::new(), (NONE, &[3, 0]), (&[2i64, 0], &[2, 1])), "[2, 0] []");
    assert_eq!(space(&[1, 2, 1], &[0; 3], &[0; 3], (NONE, &[2, 3, 0])), "[1, 6, 0] []");
}

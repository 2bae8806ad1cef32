//! H1 to H3 and H15: the parameters of BatchToSpace.

use gather_core::{BatchToSpace, DynView, View};

use super::{NONE, call_space, space, text};

const FOUR: &[i32] = &[1, 2, 3, 4];

/// The error for blocks whose product, given in 64 bits, does not divide a batch of 4.
fn not_divisible(product: u64) -> String {
    match usize::try_from(product) {
        Ok(product) => format!("batch_to_space: batch 4 is not divisible by {product}, the product of block_shape"),
        Err(_) => OVERFLOWS.into(),
    }
}

const OVERFLOWS: &str = "batch_to_space: batch 4 is not divisible by the product of block_shape, which overflows";

/// Calls with blocks as numbers, and as `i64` tensors as graphs hold them.
fn blocks(block: [i64; 3]) -> String {
    let data = View::new(FOUR, &[4, 1, 1]).unwrap();
    let (list, zeros) = (View::new(&block, &[3]).unwrap(), View::new(&[0i64; 3], &[3]).unwrap());
    let (list, zeros) = (DynView::from(&list), DynView::from(&zeros));
    let from_tensors = call_space(&BatchToSpace::from_tensors(&list, &zeros, &zeros).unwrap(), &data);
    assert_eq!(from_tensors, call_space(&BatchToSpace::new(&block, &[0; 3], &[0; 3]), &data));
    text(from_tensors)
}

#[test]
fn h1_two_negative_blocks_whose_product_is_positive() {
    assert_eq!(
        blocks([1, -1_879_048_192, -1_879_048_192]),
        "batch_to_space: block_shape[1] is -1879048192; allowed there is 1 or more"
    );
}

#[test]
fn h2_blocks_of_nothing_and_of_products_that_wrap() {
    assert_eq!(blocks([1, 0, 2]), "batch_to_space: block_shape[1] is 0; allowed there is 1 or more");
    assert_eq!(blocks([1, 2, -1]), "batch_to_space: block_shape[2] is -1; allowed there is 1 or more");
    // The product is 0 modulo 2^32.
    assert_eq!(blocks([1, 65536, 65536]), not_divisible(4_294_967_296));
    // The product is 0 modulo 2^64.
    assert_eq!(blocks([1, 1 << 32, 1 << 32]), OVERFLOWS);
}

#[test]
fn h3_blocks_at_the_ends_of_their_types() {
    assert_eq!(blocks([1, 2_147_483_647, 2_147_483_647]), not_divisible(4_611_686_014_132_420_609));
    assert_eq!(blocks([1, i64::MAX, i64::MAX]), OVERFLOWS);
    assert_eq!(blocks([i64::MIN, 2, 2]), "batch_to_space: block_shape[0] is -9223372036854775808; allowed there is 1");
    // A value beyond `i64` counts as the greatest `i64`.
    let (list, zeros) = ([1u64, u64::MAX, 1], [0i32; 3]);
    let (list, zeros) = (View::new(&list, &[3]).unwrap(), View::new(&zeros, &[3]).unwrap());
    let (list, zeros) = (DynView::from(&list), DynView::from(&zeros));
    let op = BatchToSpace::from_tensors(&list, &zeros, &zeros).unwrap();
    assert_eq!(op, BatchToSpace::new(&[1, i64::MAX, 1], &[0; 3], &[0; 3]));
}

/// Any block divides a batch of 0, but the other dimensions become too large.
#[test]
fn h3_blocks_of_no_batch() {
    let (half, most) = (1i64 << (usize::BITS / 2 - 1), 1i64 << (usize::BITS - 2));
    assert_eq!(
        space(&[1, most], &[0; 2], &[0; 2], (NONE, &[0, 4])),
        "batch_to_space: dimension 1 times its block overflows"
    );
    let dim = 2 * half as usize;
    assert_eq!(
        space(&[1, half, half], &[0; 3], &[0; 3], (NONE, &[0, 2, 2])),
        format!("shape [0, {dim}, {dim}] has more than {} elements", isize::MAX)
    );
}

#[test]
fn h15_crops() {
    let run = |block: &[i64], begin: &[i64], end: &[i64]| space(block, begin, end, (FOUR, &[4, 1]));
    assert_eq!(run(&[1, 4], &[0, 2], &[0, 2]), "[1, 0] []", "all may be cropped");
    assert_eq!(run(&[1, 4], &[0, 3], &[0, 2]), "batch_to_space: crops 3 and 2 of dimension 1 exceed its 4 elements");
    assert_eq!(
        run(&[1, 4], &[0, i64::MAX], &[0, i64::MAX]),
        "batch_to_space: crops 9223372036854775807 and 9223372036854775807 of dimension 1 exceed its 4 elements"
    );
    assert_eq!(run(&[1, 4], &[0, -1], &[0, 0]), "batch_to_space: crops_begin[1] is -1; allowed there is 0 or more");
    assert_eq!(run(&[1, 4], &[0, 0], &[0, -1]), "batch_to_space: crops_end[1] is -1; allowed there is 0 or more");
    assert_eq!(run(&[2, 2], &[0, 0], &[0, 0]), "batch_to_space: block_shape[0] is 2; allowed there is 1");
    assert_eq!(run(&[1, 4], &[1, 0], &[0, 0]), "batch_to_space: crops_begin[0] is 1; allowed there is 0");
    assert_eq!(run(&[1, 4], &[0, 0], &[1, 0]), "batch_to_space: crops_end[0] is 1; allowed there is 0");
    assert_eq!(run(&[1, 4, 1], &[0, 0], &[0, 0]), "batch_to_space: block_shape has 3 entries; data of rank 2 takes 2");
    assert_eq!(run(&[1, 4], &[0], &[0, 0]), "batch_to_space: crops_begin has 1 entries; data of rank 2 takes 2");
    assert_eq!(run(&[1, 4], &[0, 0], &[]), "batch_to_space: crops_end has 0 entries; data of rank 2 takes 2");
}

#[test]
fn h15_batches() {
    assert_eq!(
        space(&[1, 3], &[0, 0], &[0, 0], (FOUR, &[4, 1])),
        "batch_to_space: batch 4 is not divisible by 3, the product of block_shape"
    );
    assert_eq!(space(&[1, 4], &[0, 0], &[0, 0], (NONE, &[0, 2])), "[0, 8] []");
    assert_eq!(space(&[1, 2], &[0, 0], &[0, 0], (NONE, &[4, 0])), "[2, 0] []");
}

//! H7 and H18: more elements or bytes than a tensor can have, and more elements than small types can count.
#![cfg_attr(
    target_pointer_width = "32",
    allow(dead_code, unused_imports, reason = "most sizes here need pointers of 64 bits")
)]

use gather_core::{
    Bags, BatchToSpace, EmbeddingBag, Error, Gather, GatherElements, GatherNd, OutOfBounds, Par, Reduction, ScatterNd,
    Shape, View, ViewMut,
};

use super::{Faces, call_space};

fn text(shape: Result<Shape, Error>) -> String {
    shape.unwrap_err().to_string()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn h7_shapes_are_inferred_beyond_32_bits_and_refused_beyond_63() {
    let (half, most) = (1usize << 32, isize::MAX as usize);
    // 3 * 2^46, and 2^62.
    assert_eq!(Gather::new(0).output_shape(&[3, 1 << 16], &[1 << 30]).unwrap(), [1 << 30, 1 << 16]);
    assert_eq!(GatherNd::new().output_shape(&[3, half], &[half >> 2, 1]).unwrap(), [half >> 2, half]);
    assert_eq!(GatherElements::new(0).output_shape(&[3], &[most]).unwrap(), [most]);
    let op = BatchToSpace::new(&[1, 4], &[0, 1], &[0, 0]);
    assert_eq!(op.output_shape(&[4, most / 4]).unwrap(), [1, most / 4 * 4 - 1]);

    let refused = |shape: [usize; 2]| format!("shape {shape:?} has more than 9223372036854775807 elements");
    assert_eq!(text(Gather::new(0).output_shape(&[2, half], &[half / 2])), refused([half / 2, half]));
    assert_eq!(text(GatherNd::new().output_shape(&[2, half], &[half / 2, 1])), refused([half / 2, half]));
    assert_eq!(text(GatherElements::new(0).output_shape(&[2, half], &[half / 2, half])), refused([half / 2, half]));
    assert_eq!(text(op.output_shape(&[4, most / 2])), refused([4, most / 2]));
    // A dimension of 0 does not hide the others.
    assert_eq!(text(Gather::new(1).output_shape(&[0, 5, half], &[half])), {
        "shape [0, 4294967296, 4294967296] has more than 9223372036854775807 elements"
    });
    assert_eq!(text(op.output_shape(&[half, half])), refused([half, half]));
}

/// One value repeated so often that the result's elements fit in `isize` and its bytes do not.
#[test]
fn h7_elements_fit_and_bytes_do_not() {
    let wide = 1usize << (usize::BITS - 4);
    let (one, zero) = ([1.0f64, 2.0], [0i64]);
    let too_many = |result: Result<_, Error>, shape: [usize; 2]| {
        let result: Result<gather_core::Tensor<f64>, Error> = result;
        assert_eq!(result.unwrap_err(), Error::TooManyBytes { shape: shape.into(), element: 8 });
    };
    let row = View::strided(&one[..1], &[1, wide], &[0, 0], 0).unwrap();
    too_many(Gather::new(0).call(&row, &View::new(&zero, &[1]).unwrap()), [1, wide]);
    too_many(GatherNd::new().call(&row, &View::new(&zero, &[1, 1]).unwrap()), [1, wide]);
    let list = View::strided(&zero, &[1, wide], &[0, 0], 0).unwrap();
    too_many(GatherElements::new(1).call(&View::new(&one, &[1, 2]).unwrap(), &list), [1, wide]);
    let batches = View::strided(&one[..1], &[2, wide / 2], &[0, 0], 0).unwrap();
    too_many(call_space(&BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]), &batches), [1, wide]);
}

#[test]
fn h18_more_outputs_than_a_float_counts() {
    let len = (1 << 24) + 3;
    let picked: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let data: Vec<u8> = (0..=255).rev().collect();
    let right = |out: &[u8]| out.iter().zip(&picked).all(|(&got, &index)| got == 255 - index);
    let (list, table) = (View::new(&picked, &[len]).unwrap(), View::new(&data, &[256]).unwrap());
    let tuples = View::new(&picked, &[len, 1]).unwrap();
    assert!(right(Gather::new(0).run(&table, &list).unwrap().as_slice()));
    assert!(right(GatherElements::new(0).run(&table, &list).unwrap().as_slice()));
    assert!(right(GatherNd::new().run(&table, &tuples).unwrap().as_slice()));
    let erased = Gather::new(0).run(&gather_core::DynView::from(&table), &gather_core::DynView::from(&list));
    assert!(right(erased.unwrap().as_bytes()));

    let batches = View::new(&picked[..len - 1], &[2, len / 2]).unwrap();
    let out = BatchToSpace::new(&[1, 2], &[0; 2], &[0; 2]).run(&batches).unwrap();
    let from = |at: usize| picked[at % 2 * (len / 2) + at / 2];
    assert!(out.as_slice().iter().enumerate().all(|(at, &got)| got == from(at)));
}

/// Rows so wide that the number of their columns, times that of the parts that they are reduced in, has more than 32
/// bits.
#[test]
fn wide_rows_of_bags_are_reduced_to_the_last_column() {
    let wide = (1 << 21) + (1 << 17);
    let (table, ids) = (vec![7u8; wide], [0u8]);
    let (table, ids) = (View::new(&table, &[1, wide]).unwrap(), View::new(&ids, &[1, 1]).unwrap());
    let out = EmbeddingBag::new(Reduction::Mean).par(Par::Seq).run(&table, &Bags::packed(&ids)).unwrap();
    assert!(out.as_slice().iter().all(|&mean| mean == 7));
    let mut sums = vec![1u8; wide];
    let op = ScatterNd::new().reduction(Reduction::Mean).par(Par::Seq);
    op.run_on(&mut ViewMut::new(&mut sums, &[1, wide]).unwrap(), &ids, &table).unwrap();
    assert!(sums.iter().all(|&mean| mean == 4));
}

/// No zero of an element is made where nothing is filled.
#[test]
#[cfg(target_pointer_width = "64")]
fn elements_of_any_size_may_be_none() {
    type Huge = [[u8; 1 << 20]; 1 << 26];
    let none: [Huge; 0] = [];
    let (data, ids) = (View::new(&none, &[0]).unwrap(), View::new(&[0i64; 0], &[0]).unwrap());
    for &policy in OutOfBounds::ALL {
        assert!(Gather::new(0).out_of_bounds(policy).run(&data, &ids).unwrap().is_empty());
        assert!(Gather::new(0).out_of_bounds(policy).plan(&data, &ids).is_ok());
        let tuples = View::new(&[0i64; 0], &[0, 1]).unwrap();
        assert!(GatherNd::new().out_of_bounds(policy).run(&data, &tuples).unwrap().is_empty());
    }
}

gather_tests::needs_64_bits!(elements_of_any_size_may_be_none);
gather_tests::needs_64_bits!(h7_shapes_are_inferred_beyond_32_bits_and_refused_beyond_63);

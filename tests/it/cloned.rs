//! `Clone` types: strings, shared pointers, and what happens when a clone panics.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gather_core::{
    BatchToSpace, DynTensor, DynView, Element, Error, Gather, GatherElements, GatherNd, OutOfBounds, ScatterElements,
    ScatterOutOfBounds, SpaceToBatch, Tensor, View,
};

#[test]
fn strings_of_every_kind_go_through_the_four_operators() {
    let words = ["a", "b", "c", "d", "e", "f"].map(String::from);
    let data = View::new(&words, &[3, 2]).unwrap();
    let list = View::new(&[2i64, -3, 9], &[3]).unwrap();
    let rows = Gather::openvino8(0, 0).run_cloned(&data, &list).unwrap();
    assert_eq!(rows.as_slice(), ["e", "f", "a", "b", "", ""]);

    let shared: Vec<Arc<str>> = words.iter().map(|word| Arc::from(word.as_str())).collect();
    let shared_view = View::new(&shared, &[3, 2]).unwrap();
    let tuples = View::new(&[2u8, 1, 0, 0], &[2, 2]).unwrap();
    let picked = GatherNd::new().run_cloned(&shared_view, &tuples).unwrap();
    assert_eq!(picked.as_slice(), [Arc::from("f"), Arc::<str>::from("a")]);
    assert!(Arc::ptr_eq(&picked.as_slice()[0], &shared[5]), "the pointer is cloned, not the text");

    let texts = ["a", "b", "c", "d"];
    let column = View::strided(&texts, &[2, 2], &[1, 2], 0).unwrap();
    let chosen = GatherElements::new(1).run_cloned(&column, &View::new(&[1i8, 0], &[2, 1]).unwrap()).unwrap();
    assert_eq!(chosen.as_slice(), ["c", "b"]);

    let space = BatchToSpace::new(&[1, 2], &[0, 1], &[0, 0]).run_cloned(&View::new(&texts, &[2, 2]).unwrap()).unwrap();
    assert_eq!((space.shape(), space.as_slice()), (&[1, 3][..], &["c", "b", "d"][..]));
}

/// Data, indices and updates are whatever `run` takes, of any type: views, tensors, lists, and pointers to them.
#[test]
fn every_source_is_cloned() {
    let list: Vec<Vec<f64>> = vec![vec![1.5], vec![], vec![2.0, 3.0]];
    let expected = [vec![2.0, 3.0], vec![1.5], vec![]];
    let gather = Gather::new(0);
    let ids = [2u8, 0, 1];
    let dyn_ids = DynTensor::from(Tensor::new(vec![2i64, 0, 1], &[3]).unwrap());
    assert_eq!(gather.run_cloned(&list, &ids).unwrap().as_slice(), expected);
    assert_eq!(gather.run_cloned(&list[..], &ids[..]).unwrap().as_slice(), expected);
    assert_eq!(
        gather.run_cloned(&[list[0].clone(), vec![], list[2].clone()], &ids.to_vec()).unwrap().as_slice(),
        expected
    );
    assert_eq!(gather.run_cloned(&Tensor::new(list.clone(), &[3]).unwrap(), &dyn_ids).unwrap().as_slice(), expected);
    assert_eq!(gather.run_cloned(&Arc::new(list.clone()), &Box::new(ids)).unwrap().as_slice(), expected);
    assert_eq!(gather.run_cloned(&&list, &dyn_ids.view()).unwrap().as_slice(), expected);
    assert_eq!(gather.run_cloned_or(&list, &ids, &vec![9.0]).unwrap().as_slice(), expected);

    // Ids of a type that is known at run time, where they lie at any address, and of one that cannot index.
    let mut bytes = vec![0u8; 1];
    bytes.extend([-1i16, 0, 9].iter().flat_map(|id| id.to_ne_bytes()));
    let odd = DynView::from_bytes(i16::DTYPE, &bytes[1..], &[3]).unwrap();
    let op = gather.out_of_bounds(OutOfBounds::Zero);
    assert_eq!(op.run_cloned_or(&list, &odd, &vec![7.0]).unwrap().as_slice(), [vec![2.0, 3.0], vec![1.5], vec![7.0]]);
    let refused = gather.run_cloned(&list, &odd).unwrap_err();
    assert_eq!(refused.to_string(), "gather: index 9 at position 2 is out of range for axis 0 of size 3");
    let floats = DynTensor::zeros::<f32>(&[2]).unwrap();
    assert_eq!(gather.run_cloned(&list, &floats).unwrap_err(), Error::NotAnIndexType { dtype: f32::DTYPE });

    let words = ["a", "b", "c"].map(String::from);
    let scattered = ScatterElements::new(0).run_cloned(&words, &[2i32, 0], &vec!["x".to_owned(), "y".to_owned()]);
    assert_eq!(scattered.unwrap().as_slice(), ["y", "b", "x"]);
    let by_odd = ScatterElements::new(0).out_of_bounds(ScatterOutOfBounds::Drop);
    let by_odd = by_odd.run_cloned(&words[..], &odd, &["x", "y", "z"].map(String::from));
    assert_eq!(by_odd.unwrap().as_slice(), ["y", "b", "x"]);

    let matrix = Tensor::new(words.to_vec(), &[1, 3]).unwrap();
    assert_eq!(BatchToSpace::new(&[1, 1], &[0, 1], &[0, 0]).run_cloned(&matrix).unwrap().as_slice(), ["b", "c"]);
    let padded = SpaceToBatch::new(&[1, 1], &[0, 1], &[0, 0]);
    assert_eq!(padded.run_cloned(&matrix).unwrap().as_slice(), ["", "a", "b", "c"]);
    assert_eq!(padded.run_cloned_or(&matrix, &words[1]).unwrap().as_slice(), ["b", "a", "b", "c"]);
    // More elements than a tensor can have, none of which has a byte.
    let many = gather.run_cloned(&[(); usize::MAX], &[0u8]).unwrap_err();
    assert_eq!(many, Error::TooManyElements { shape: [usize::MAX].into() });
}

#[test]
fn types_without_a_default_name_their_fill() {
    #[derive(Clone, Debug, PartialEq)]
    struct Token(u8);
    let data = [Token(1), Token(2)];
    let (data, indices) = (View::new(&data, &[2]).unwrap(), View::new(&[1i32, 5], &[2]).unwrap());
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    assert_eq!(op.run_cloned_or(&data, &indices, &Token(0)).unwrap().as_slice(), [Token(2), Token(0)]);
    let error = Gather::new(0).run_cloned_or(&data, &indices, &Token(0)).unwrap_err();
    assert_eq!(error.to_string(), "gather: index 5 at position 1 is out of range for axis 0 of size 2");
}

/// Counts its live instances, and panics at a chosen clone.
struct Counted<'a> {
    live: &'a Cell<i32>,
    clones_left: &'a Cell<i32>,
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        self.clones_left.set(self.clones_left.get() - 1);
        assert!(self.clones_left.get() >= 0, "a clone that fails");
        self.live.set(self.live.get() + 1);
        Counted { live: self.live, clones_left: self.clones_left }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.live.set(self.live.get() - 1);
    }
}

/// Runs a call on six live values, once for each clone that can panic. Checks that nothing leaks and nothing is dropped
/// twice. A whole run makes `made` clones, of which `kept` are the result.
fn fails_cleanly(
    (made, kept): (i32, i32),
    run: impl for<'a> Fn(&View<'_, Counted<'a>>, &Counted<'a>) -> Tensor<Counted<'a>>,
) {
    for allowed in 0..=made {
        let (live, clones_left) = (Cell::new(7), Cell::new(allowed));
        {
            let counted = || Counted { live: &live, clones_left: &clones_left };
            let (data, fill): (Vec<Counted<'_>>, _) = ((0..6).map(|_| counted()).collect(), counted());
            let data = View::new(&data, &[2, 3]).unwrap();
            let result = catch_unwind(AssertUnwindSafe(|| run(&data, &fill)));
            assert_eq!(result.is_ok(), allowed == made);
            assert_eq!(clones_left.get().max(0), 0, "no clone more than that");
            let kept = if allowed == made { kept } else { 0 };
            assert_eq!(live.get(), 7 + kept, "{allowed} clones allowed");
        }
        assert_eq!(live.get(), 0);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs panics that unwind")]
fn a_panic_in_a_clone_leaks_nothing_and_drops_nothing_twice() {
    let (rows, square, tuples) = ([1u8, 0, 1, 1], [0i32, -1, 1, 0, 1, 0], [1i64, 2, 0, 0, -1, -3]);
    let (rows, square) = (View::new(&rows, &[4]).unwrap(), View::new(&square, &[2, 3]).unwrap());
    let tuples = View::new(&tuples, &[3, 2]).unwrap();
    fails_cleanly((12, 12), |data, fill| Gather::new(0).run_cloned_or(data, &rows, fill).unwrap());
    fails_cleanly((6, 6), |data, fill| GatherElements::new(0).run_cloned_or(data, &square, fill).unwrap());
    fails_cleanly((3, 3), |data, fill| GatherNd::new().run_cloned_or(data, &tuples, fill).unwrap());
    let op = BatchToSpace::new(&[1, 2], &[0, 1], &[0, 0]);
    fails_cleanly((5, 5), |data, _| op.run_cloned(data).unwrap());

    // Fill values are clones too, one for each element.
    let outside = View::new(&[1u8, 9], &[2]).unwrap();
    let zero = OutOfBounds::Zero;
    let op = Gather::new(0).out_of_bounds(zero);
    fails_cleanly((6, 6), |data, fill| op.run_cloned_or(data, &outside, fill).unwrap());
    let op = GatherElements::new(1).out_of_bounds(zero);
    let column = View::new(&[5u8, 9], &[2, 1]).unwrap();
    fails_cleanly((2, 2), |data, fill| op.run_cloned_or(data, &column, fill).unwrap());
}

#[test]
fn errors_come_before_the_first_clone() {
    let (live, clones_left) = (Cell::new(2), Cell::new(0));
    let data = [Counted { live: &live, clones_left: &clones_left }, Counted { live: &live, clones_left: &clones_left }];
    let view = View::new(&data, &[2]).unwrap();
    let indices = View::new(&[0i64, 7], &[2]).unwrap();
    let error = Gather::new(0).run_cloned_or(&view, &indices, &data[0]).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { position: 1, index: 7, .. }));
}

#[test]
fn an_axis_without_elements_gives_what_plain_types_get() {
    let (data, none) = (View::new(&[] as &[u8], &[0, 2]).unwrap(), View::new(&[] as &[u8], &[0, 0]).unwrap());
    let indices = View::new(&[0i64, 5], &[2]).unwrap();
    for &policy in OutOfBounds::ALL {
        let op = Gather::new(0).out_of_bounds(policy);
        // The second result has no elements: then only `Error` looks at the indices.
        for data in [&data, &none] {
            assert_eq!(op.run_cloned(data, &indices), op.run(data, &indices), "{policy:?}");
        }
    }
    let op = Gather::openvino8(0, 0);
    assert_eq!(op.run_cloned(&data, &indices).unwrap().as_slice(), [0; 4]);
}

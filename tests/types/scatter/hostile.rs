//! Hostile input: shapes, sizes, indices, layouts and types that nobody should pass. Each error is exact, and comes
//! before anything is written.

use gather_core::{
    DynView, DynViewMut, Element, Error, Layout, Method, Par, Reduction, ScatterElements, ScatterNd,
    ScatterOutOfBounds, Spec, View, ViewMut,
};

/// A call of ScatterElements in place; returns what the tensor holds, or the error, which leaves the tensor as it was.
pub(super) fn elements<I: gather_core::Index>(
    op: &ScatterElements,
    data: (&[i32], &[usize]),
    indices: (&[I], &[usize]),
    updates: (&[i32], &[usize]),
) -> Result<Vec<i32>, String> {
    let mut out = data.0.to_vec();
    let indices = View::new(indices.0, indices.1).unwrap();
    let updates = View::new(updates.0, updates.1).unwrap();
    let ran = op.run_on(&mut ViewMut::new(&mut out, data.1).unwrap(), &indices, &updates);
    let fresh = op.run(&View::new(data.0, data.1).unwrap(), &indices, &updates);
    match ran {
        Ok(()) => {
            assert_eq!(fresh.unwrap().as_slice(), out);
            Ok(out)
        }
        Err(error) => {
            assert_eq!(fresh.unwrap_err(), error);
            assert_eq!(out, data.0, "changed before the error: {error}");
            Err(error.to_string())
        }
    }
}

pub(super) const SIX: &[i32] = &[1, 2, 3, 4, 5, 6];

#[test]
fn shapes_that_do_not_fit_are_refused_in_order() {
    let op = ScatterElements::new(1);
    let refused = |data: (&[i32], &[usize]), indices: (&[i64], &[usize]), updates: (&[i32], &[usize])| {
        elements(&op, data, indices, updates).unwrap_err()
    };
    assert_eq!(
        refused((&[1], &[]), (&[0], &[]), (&[1], &[])),
        "scatter_elements: data has rank 0; allowed is 1 or more"
    );
    assert_eq!(
        refused((SIX, &[2, 3]), (&[0], &[1]), (&[1], &[1])),
        "scatter_elements: indices has rank 1; allowed is 2"
    );
    assert_eq!(
        refused((SIX, &[6]), (&[0], &[1]), (&[1], &[1])),
        "scatter_elements: axis 1 is out of range; data of rank 1 allows -1..=0"
    );
    assert_eq!(
        refused((SIX, &[2, 3]), (&[0; 3], &[3, 1]), (&[1; 3], &[3, 1])),
        "scatter_elements: dimension 0 of indices is 3, which does not fit 2 in data"
    );
    assert_eq!(
        refused((SIX, &[2, 3]), (&[0; 2], &[2, 1]), (&[1; 2], &[1, 2])),
        "scatter_elements: updates have shape [1, 2]; data of shape [2, 3] and indices of shape [2, 1] ask for [2, 1]"
    );
    for axis in [i64::MIN, i64::MAX, 2, -3] {
        let got = ScatterElements::new(axis).output_shape(&[2, 3], &[2, 1], &[2, 1]);
        assert_eq!(got, Err(Error::AxisOutOfRange { op: gather_core::Op::ScatterElements, axis, rank: 2 }));
    }
    let nd = |data: &[usize], indices: &[usize], updates: &[usize], batch: i64| {
        ScatterNd::new().batch_dims(batch).output_shape(data, indices, updates).unwrap_err().to_string()
    };
    assert_eq!(nd(&[2, 3], &[], &[], 0), "scatter_nd: indices has rank 0; allowed is 1 or more");
    assert_eq!(
        nd(&[2, 3], &[4, 3], &[4], 0),
        "scatter_nd: index tuples have 3 components; allowed here is 0..=2; n indices of one component have the shape [n, 1]"
    );
    let shapes = "data of shape [2, 3] and indices of shape [4, 1], tuples of 1, ask for [4, 3]";
    assert_eq!(nd(&[2, 3], &[4, 1], &[4], 0), format!("scatter_nd: updates have shape [4]; {shapes}"));
    assert_eq!(nd(&[2, 3], &[4, 1], &[4, 3], 3), "scatter_nd: batch_dims 3 is out of range; allowed here is 0..=1");
    assert_eq!(
        nd(&[2, 3], &[4, 1], &[4], 1),
        "scatter_nd: batch dimension 0 is 2 in data and 4 in indices; they must be equal"
    );
    let huge = [usize::MAX, 2];
    assert!(matches!(op.output_shape(&huge, &[1, 1], &[1, 1]), Err(Error::TooManyElements { .. })));
    assert!(matches!(op.output_shape(&[2, 2], &[1, 1], &huge), Err(Error::TooManyElements { .. })));
}

#[test]
fn an_output_of_another_shape_is_refused_and_untouched() {
    let (ids, new) = (View::new(&[0i64], &[1, 1]).unwrap(), View::new(&[9], &[1, 1]).unwrap());
    let mut out = [7; 6];
    let got = ScatterElements::new(0).run_into(
        &View::new(SIX, &[2, 3]).unwrap(),
        &ids,
        &new,
        &mut ViewMut::new(&mut out, &[3, 2]).unwrap(),
    );
    assert_eq!(got.unwrap_err().to_string(), "scatter_elements: the output has shape [3, 2]; the result has [2, 3]");
    assert_eq!(out, [7; 6]);
}

#[test]
fn indices_at_the_ends_of_their_types_are_never_others() {
    let op = ScatterElements::onnx18(0, Reduction::Add);
    let refused = |got: Result<Vec<i32>, String>| got.unwrap_err();
    let says =
        |index: i128| format!("scatter_elements: index {index} at position 1 is out of range for axis 0 of size 6");
    let new = (&[1, 1][..], &[2][..]);
    assert_eq!(refused(elements(&op, (SIX, &[6]), (&[0, u64::MAX], &[2]), new)), says(u64::MAX.into()));
    assert_eq!(refused(elements(&op, (SIX, &[6]), (&[0, (1i64 << 32) + 1], &[2]), new)), says((1 << 32) + 1));
    assert_eq!(refused(elements(&op, (SIX, &[6]), (&[0, i64::MIN], &[2]), new)), says(i64::MIN.into()));
    assert_eq!(refused(elements(&op, (SIX, &[6]), (&[0, -7i8], &[2]), new)), says(-7));
    assert_eq!(elements(&op, (SIX, &[6]), (&[0, -6i8], &[2]), new).unwrap(), [3, 2, 3, 4, 5, 6]);
    let wrap = op.out_of_bounds(ScatterOutOfBounds::Wrap);
    assert_eq!(elements(&wrap, (SIX, &[6]), (&[6, u64::MAX], &[2]), new).unwrap(), [2, 2, 3, 5, 5, 6]);
    let clamp = op.out_of_bounds(ScatterOutOfBounds::Clamp);
    assert_eq!(elements(&clamp, (SIX, &[6]), (&[i64::MIN, i64::MAX], &[2]), new).unwrap(), [2, 2, 3, 4, 5, 7]);
    let reject = ScatterElements::torch(0, Reduction::Add);
    let got = refused(elements(&reject, (SIX, &[6]), (&[0, -1], &[2]), new));
    assert_eq!(got, says(-1) + "; negative indices are refused");
}

#[test]
fn a_bad_index_far_behind_leaves_every_element_untouched() {
    // Blocks of indices before the bad one are in range.
    let mut list: Vec<i64> = (0..40_000).map(|at| at % 1000).collect();
    list[39_999] = 1000;
    let updates = vec![1i64; 40_000];
    for threads in [1, 4] {
        let own = [Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched];
        for method in own.into_iter().chain([Method::Grouped, Method::Accumulated]) {
            let mut out = vec![5i64; 1000];
            let op = ScatterNd::new().reduction(Reduction::Add).par(gather_core::Par::Threads(threads)).method(method);
            let (ids, new) = (View::new(&list, &[40_000, 1]).unwrap(), View::new(&updates, &[40_000]).unwrap());
            let got = op.run_on(&mut ViewMut::new(&mut out, &[1000]).unwrap(), &ids, &new);
            assert!(matches!(got, Err(Error::IndexOutOfRange { position: 39_999, index: 1000, .. })), "{got:?}");
            assert!(out.iter().all(|&x| x == 5));
            let data = vec![0i64; 1000];
            let got = op.run_into(
                &View::new(&data, &[1000]).unwrap(),
                &ids,
                &new,
                &mut ViewMut::new(&mut out, &[1000]).unwrap(),
            );
            assert!(got.is_err() && out.iter().all(|&x| x == 5));
        }
    }
}

#[test]
fn empty_axes_and_empty_updates() {
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let none: &[i32] = &[];
    assert_eq!(
        elements(&op, (none, &[0]), (&[0i64], &[1]), (&[1], &[1])).unwrap_err(),
        "scatter_elements: index 0 at position 0 is out of range for axis 0 of size 0"
    );
    let drop = op.out_of_bounds(ScatterOutOfBounds::Drop);
    assert_eq!(elements(&drop, (none, &[0]), (&[0i64], &[1]), (&[1], &[1])).unwrap(), none);
    assert_eq!(elements(&op, (SIX, &[6]), (&[0i64; 0], &[0]), (none, &[0])).unwrap(), SIX);
    // There is nothing to copy, however many threads are asked for.
    let threads = op.par(Par::Threads(8));
    assert_eq!(elements(&threads, (none, &[0]), (&[0i64; 0], &[0]), (none, &[0])).unwrap(), none);
    // Rows without elements: their indices are checked all the same.
    let nd = ScatterNd::new();
    let (data, ids) = (View::new(none, &[3, 0]).unwrap(), [5i64]);
    let got = nd.run(&data, &View::new(&ids, &[1, 1]).unwrap(), &View::new(none, &[1, 0]).unwrap());
    assert!(matches!(got, Err(Error::IndexOutOfRange { index: 5, dim: 3, .. })), "{got:?}");
    // Empty tuples stand for all of data, once for each.
    let (all, tuples) = (View::new(SIX, &[6]).unwrap(), View::new(&[0u8; 0], &[2, 0]).unwrap());
    let updates: Vec<i32> = (0..12).collect();
    let sums = nd.reduction(Reduction::Add).run(&all, &tuples, &View::new(&updates, &[2, 6]).unwrap()).unwrap();
    assert_eq!(sums.as_slice(), [7, 10, 13, 16, 19, 22]);
}

#[test]
fn repeated_updates_and_reversed_outputs() {
    // One update, broadcast; the output runs backwards in every other element.
    let mut memory = [0u32; 12];
    let ids = [2u8, 0, 2, 2];
    let one = [3u32];
    let updates = View::strided(&one, &[4], &[0], 0).unwrap();
    let own = [Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched];
    let methods = own.into_iter().chain([Method::Grouped, Method::Accumulated]);
    for (method, sums) in methods.zip(1u32..) {
        let mut out = ViewMut::strided(&mut memory, &[5], &[-2], 10).unwrap();
        let op = ScatterElements::new(0).reduction(Reduction::Add).method(method);
        op.run_on(&mut out, &View::new(&ids, &[4]).unwrap(), &updates).unwrap();
        assert_eq!(memory, [0, 0, 0, 0, 0, 0, 9 * sums, 0, 0, 0, 3 * sums, 0]);
    }
}

#[test]
fn bytes_that_are_no_bools_are_read_as_bytes() {
    let mut memory = [2u8, 0, 255];
    let mut out = DynViewMut::from_bytes(bool::DTYPE, &mut memory, &[3]).unwrap();
    let (ids, new) = ([0i64, 1, 2], [true, true, false]);
    let (ids, new) = (View::new(&ids, &[3]).unwrap(), View::new(&new, &[3]).unwrap());
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    op.run_on(&mut out, &DynView::from(&ids), &DynView::from(&new)).unwrap();
    assert_eq!(memory, [3, 1, 255]);
}

#[test]
fn elements_at_any_alignment() {
    let mut memory = [0u8; 4 * 9 + 1];
    for (at, value) in [1.5f32, -2.0, 0.25, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0].iter().enumerate() {
        memory[1 + 4 * at..][..4].copy_from_slice(&value.to_ne_bytes());
    }
    let mut updates = [0u8; 4 * 6 + 3];
    for at in 0..6 {
        updates[3 + 4 * at..][..4].copy_from_slice(&(at as f32).to_ne_bytes());
    }
    let ids: Vec<u8> = [9u8].into_iter().chain([2i64, 0].iter().flat_map(|id| id.to_ne_bytes())).collect();
    let mut out = DynViewMut::from_bytes(f32::DTYPE, &mut memory[1..], &[3, 3]).unwrap();
    let indices = DynView::from_bytes(i64::DTYPE, &ids[1..], &[2, 1]).unwrap();
    let new = DynView::from_bytes(f32::DTYPE, &updates[3..], &[2, 3]).unwrap();
    ScatterNd::new().reduction(Reduction::Add).run_on(&mut out, &indices, &new).unwrap();
    let got: Vec<f32> = memory[1..].chunks(4).map(|x| f32::from_ne_bytes(x.try_into().unwrap())).collect();
    assert_eq!(got, [4.5, 2.0, 5.25, 8.0, 1.0, 2.0, 3.0, 5.0, 7.0]);
}

#[test]
fn types_that_differ_are_refused() {
    let (data, ids) = (View::new(&[1f32; 2], &[2]).unwrap(), View::new(&[0i64], &[1]).unwrap());
    let new = View::new(&[1f64], &[1]).unwrap();
    let op = ScatterElements::new(0);
    let got = op.run(&DynView::from(&data), &DynView::from(&ids), &DynView::from(&new));
    assert!(matches!(got, Err(Error::DTypeMismatch { .. })), "{got:?}");
    let got = op.run(&DynView::from(&data), &DynView::from(&data), &DynView::from(&data));
    assert!(matches!(got, Err(Error::NotAnIndexType { .. })), "{got:?}");
}

#[test]
fn any_plain_type_and_any_clone_type_is_replaced() {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Point([f32; 5]);
    let point = |x: u8| Point([f32::from(x); 5]);
    let (data, ids, new) = ([0, 1, 2].map(point), [2u16, 2], [7, 9].map(point));
    let (data, new) = (View::new(&data, &[3]).unwrap(), View::new(&new, &[2]).unwrap());
    let ids = View::new(&ids, &[2, 1]).unwrap();
    let got = ScatterNd::new().run(&data, &ids, &new).unwrap();
    assert_eq!(got.as_slice(), [0, 1, 9].map(point));

    let text = ["a", "b", "c"].map(str::to_owned);
    let words = ["x", "y"].map(str::to_owned);
    let (text, words) = (View::new(&text, &[3]).unwrap(), View::new(&words, &[2]).unwrap());
    let got = ScatterNd::new().run_cloned(&text, &ids, &words).unwrap();
    assert_eq!(got.as_slice(), ["a", "b", "y"]);
    let got = ScatterNd::new().reduction(Reduction::Add).run_cloned(&text, &ids, &words);
    assert_eq!(got.unwrap_err().to_string(), "scatter_nd: there is no reduction add of values that are only cloned");
}

#[test]
fn plans_refuse_other_layouts_and_say_what_they_do() {
    let (ids, rows) = (Layout::contiguous(&[3, 1]).unwrap(), Layout::contiguous(&[3, 2]).unwrap());
    let plan = ScatterNd::onnx18(Reduction::Add)
        .plan(&Spec::<f32>::new(&[4, 2]).unwrap(), &Spec::<u8>::from_layout(&ids), &Spec::<f32>::from_layout(&rows))
        .unwrap();
    assert_eq!(plan.output_shape(), [4, 2]);
    let text = plan.explain().to_string();
    assert!(
        text.starts_with("scatter_nd: scatter_u8_r1__")
            && text.contains(" -> [4, 2]\n")
            && text.contains("index (u8) along axis 0 of 4: output +8 bytes\n")
            && text.contains(&format!("method {}", crate::support::runs_as(Method::Chunks))),
        "{text}"
    );
    assert_eq!(text, format!("{plan:?}"));
    let (list, new, mut out) = ([0u8, 1, 3], [1f32; 6], [0f32; 8]);
    let list = View::new(&list, &[3, 1]).unwrap();
    let wrong = View::new(&new, &[2, 3]).unwrap();
    let got = plan.run_on(&mut ViewMut::new(&mut out, &[4, 2]).unwrap(), &list, &wrong);
    assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{got:?}");
    let new = View::new(&new, &[3, 2]).unwrap();
    let got = plan.run_on(&mut ViewMut::new(&mut out, &[2, 4]).unwrap(), &list, &new);
    assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{got:?}");
    plan.clone().run_on(&mut ViewMut::new(&mut out, &[4, 2]).unwrap(), &list, &new).unwrap();
    assert_eq!(out, [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    for method in [Method::Panels, Method::Gathered, Method::Table, Method::Interleaved] {
        let got = ScatterNd::new().method(method).plan(
            &Spec::<f32>::new(&[4, 2]).unwrap(),
            &Spec::<u8>::from_layout(&ids),
            &Spec::<f32>::from_layout(&rows),
        );
        assert!(matches!(got, Err(Error::MethodUnavailable { .. })), "{method}");
    }
    let mean = ScatterNd::new().reduction(Reduction::Mean).method(Method::Blocks);
    assert!(matches!(
        mean.plan(
            &Spec::<f32>::new(&[4, 2]).unwrap(),
            &Spec::<u8>::from_layout(&ids),
            &Spec::<f32>::from_layout(&rows)
        ),
        Err(Error::MethodUnavailable { .. })
    ));
}

/// Half of what `isize` counts, as a stride of elements of four bytes, is 0 bytes: that of a loop along which the
/// destination stays. Nor may the bytes from end to end be more than a tensor has.
#[test]
fn destinations_whose_strides_wrap_are_refused() {
    let far = isize::MAX / 2 + 1;
    let (ids, new) = (Layout::contiguous(&[2, 3]).unwrap(), Layout::contiguous(&[2, 3]).unwrap());
    let plan = |shape: &[usize], strides: &[isize]| {
        let op = ScatterElements::new(0).reduction(Reduction::Add);
        op.plan_into(
            &Spec::<u32>::from_layout(&Layout::strided(shape, strides).unwrap()),
            &Spec::<u8>::from_layout(&ids),
            &Spec::<u32>::from_layout(&new),
            &Layout::strided(shape, strides).unwrap(),
        )
        .map(drop)
    };
    let refused = Err(Error::TooManyBytes { shape: [4, 3].into(), element: 4 });
    for strides in [[1, far], [far, 1], [1, -far], [far / 4, -far / 4], [isize::MIN, 1]] {
        assert_eq!(plan(&[4, 3], &strides), refused, "{strides:?}");
    }
    assert_eq!(plan(&[4, 3], &[far / 16, -far / 16]), Ok(()));
    let (ids, new) = (Layout::contiguous(&[2, 1]).unwrap(), Layout::contiguous(&[2, 1]).unwrap());
    let one = Layout::strided(&[4, 1], &[1, far]).unwrap();
    // Nothing is stepped along a dimension of one element.
    assert!(
        ScatterElements::new(0)
            .plan_into(
                &Spec::<u32>::from_layout(&one),
                &Spec::<u8>::from_layout(&ids),
                &Spec::<u32>::from_layout(&new),
                &one
            )
            .is_ok()
    );
}

#[test]
fn layouts_over_no_memory_are_planned_without_overflow() {
    let most = isize::MAX as usize;
    for (shape, strides) in [([most, 1], [isize::MAX, isize::MIN]), ([1, most], [isize::MIN, isize::MIN])] {
        let layout = Layout::strided(&shape, &strides).unwrap();
        let ids = Layout::strided(&[most, 1], &[0, isize::MAX]).unwrap();
        for method in [None, Some(Method::Grouped), Some(Method::Accumulated), Some(Method::Direct)] {
            let op = ScatterNd::new().reduction(Reduction::Add);
            let op = method.map_or(op, |method| op.method(method));
            let updates = [most, shape[1]];
            if let Ok(updates) = Layout::strided(&updates, &strides) {
                // Planned or refused, without a panic.
                drop(
                    op.plan_into(
                        &Spec::<u8>::from_layout(&layout),
                        &Spec::<u64>::from_layout(&ids),
                        &Spec::<u8>::from_layout(&updates),
                        &layout,
                    )
                    .map(|plan| plan.explain().to_string()),
                );
            }
        }
    }
}

/// Along what has no elements nothing is stepped, however long the steps are.
#[test]
fn strides_of_nothing_may_be_any() {
    let op = ScatterElements::new(0).reduction(Reduction::Add);
    let far = isize::MAX / 2;
    let (ids, new) = (Layout::contiguous(&[2, 3]).unwrap(), Layout::contiguous(&[2, 3]).unwrap());
    let empty = Layout::strided(&[0, 3], &[1, far]).unwrap();
    assert!(
        op.plan_into(
            &Spec::<u64>::from_layout(&empty),
            &Spec::<u8>::from_layout(&ids),
            &Spec::<u64>::from_layout(&new),
            &empty
        )
        .is_ok()
    );
    let none: View<'_, u8> = View::new(&[0; 6], &[2, 3]).unwrap();
    let ran = op.run_on(
        &mut ViewMut::strided(&mut [], &[0, 3], &[1, far], 0).unwrap(),
        &none,
        &View::new(&[1u64; 6], &[2, 3]).unwrap(),
    );
    assert!(matches!(ran, Err(Error::IndexOutOfRange { dim: 0, .. })), "{ran:?}");
    // No updates, to a destination of one column.
    let (ids, new) = (Layout::contiguous(&[2, 0]).unwrap(), Layout::contiguous(&[2, 0]).unwrap());
    let column = Layout::strided(&[4, 1], &[1, far]).unwrap();
    assert!(
        op.plan_into(
            &Spec::<u64>::from_layout(&column),
            &Spec::<u8>::from_layout(&ids),
            &Spec::<u64>::from_layout(&new),
            &column
        )
        .is_ok()
    );
}

//! Hostile input: offsets, weights, rows, shapes and indices that nobody should pass. Each error is exact, and all
//! except that of an index come before anything is written.

use gather_core::{
    Argument, Bags, DynView, DynViewMut, EmbeddingBag, Error, NegativeIndex, OutOfBounds, Par, Reduction, Tensor, View,
    ViewMut,
};

const TABLE: &[i32] = &[1, 2, 3, 4, 5, 6];

/// What is wrong with offsets into four indices; the output is untouched.
fn offsets(op: &EmbeddingBag, offsets: &[i64]) -> Option<String> {
    let (table, ids) = (View::new(TABLE, &[6]).unwrap(), View::new(&[0u8, 1, 2, 3], &[4]).unwrap());
    let shape = offsets.len().saturating_sub(usize::from(op.get_include_last_offset()));
    let offsets = View::new(offsets, &[offsets.len()]).unwrap();
    let bags = Bags::new(&ids, &offsets);
    let mut out = vec![7; shape];
    let into = op.run_into(&table, &bags, &mut ViewMut::new(&mut out, &[shape]).unwrap()).err();
    assert!(into.is_none() || out.iter().all(|&x| x == 7), "written before an error");
    let plan = op.plan(&table, &bags).err();
    let fresh = op.run(&table, &bags).err();
    assert_eq!((&into, &plan), (&fresh, &fresh));
    fresh.map(|error| error.to_string())
}

#[test]
fn offsets_that_descend_exceed_or_do_not_begin_at_0_are_refused() {
    let op = EmbeddingBag::new(Reduction::Add);
    let says = |offset: i64, position: usize, min: usize, max: usize| {
        let allowed = format!("allowed there is {min}..={max}");
        Some(format!("embedding_bag: offset {offset} at position {position} is out of range; {allowed}"))
    };
    for its_end in [false, true] {
        let op = op.include_last_offset(its_end);
        let first =
            |offset| format!("embedding_bag: the first offset is {offset}; it must be 0, where the first bag begins");
        assert_eq!(offsets(&op, &[1, 2]), Some(first(1)));
        assert_eq!(offsets(&op, &[-1, 2]), Some(first(-1)));
        assert_eq!(offsets(&op, &[0, 3, 2, 9]), says(2, 2, 3, 4));
        assert_eq!(offsets(&op, &[0, 2, 5]), says(5, 2, 2, 4));
        assert_eq!(offsets(&op, &[0, i64::MIN]), says(i64::MIN, 1, 0, 4));
        assert_eq!(offsets(&op, &[0, i64::MAX, 1]), says(i64::MAX, 1, 0, 4));
        assert_eq!(offsets(&op, &[0, 4, 4]), None);
        assert_eq!(offsets(&op, &[0, 1 << 32]), says(1 << 32, 1, 0, 4));
    }
    assert_eq!(offsets(&op, &[]), None);
    let message = "there are no offsets; one is needed, where the last bag or row ends";
    assert_eq!(offsets(&op.include_last_offset(true), &[]).as_deref(), Some(message));
    assert_eq!(op.include_last_offset(true).output_shape(&[6], &[4], Some(0)).unwrap_err().to_string(), message);
    let (table, ids) = (View::new(TABLE, &[6]).unwrap(), View::new(&[0u8], &[1]).unwrap());
    let wrapped = [0, u64::MAX];
    let wrapped = View::new(&wrapped, &[2]).unwrap();
    let error = op.run(&table, &Bags::new(&ids, &wrapped)).unwrap_err();
    assert!(matches!(error, Error::BagOffsetOutOfRange { position: 1, offset, .. } if offset == u64::MAX.into()));
}

#[test]
fn shapes_that_do_not_fit_are_refused_in_order() {
    let op = EmbeddingBag::new(Reduction::Add);
    let refused = |data: &[usize], indices: &[usize], offsets: Option<&[usize]>, weights: &[usize]| {
        let zeros = [0u8; 16];
        let of = |shape: &[usize]| View::new(&zeros[..shape.iter().product()], shape).unwrap();
        let (data, indices, weights) = (of(data), of(indices), of(weights));
        let offsets = offsets.map(of);
        let got = match &offsets {
            Some(offsets) => op.run(&data, &Bags::new(&indices, offsets).weights(&weights)),
            None => op.run(&data, &Bags::packed(&indices).weights(&weights)),
        };
        got.unwrap_err().to_string()
    };
    assert_eq!(refused(&[], &[2], Some(&[2]), &[3]), "embedding_bag: data has rank 0; allowed is 1 or more");
    assert_eq!(refused(&[2], &[2, 1], Some(&[2, 2]), &[3]), "embedding_bag: indices has rank 2; allowed is 1");
    assert_eq!(refused(&[2], &[2], None, &[3]), "embedding_bag: indices has rank 1; allowed is 2");
    assert_eq!(refused(&[2], &[2, 1, 1], None, &[3]), "embedding_bag: indices has rank 3; allowed is 2");
    assert_eq!(refused(&[2], &[2], Some(&[]), &[3]), "embedding_bag: offsets has rank 0; allowed is 1");
    assert_eq!(refused(&[2], &[2], Some(&[2, 1]), &[3]), "embedding_bag: offsets has rank 2; allowed is 1");
    assert_eq!(refused(&[2], &[2], Some(&[2]), &[3]), "embedding_bag: weights have shape [3]; indices have [2]");
    assert_eq!(refused(&[2], &[2, 3], None, &[3, 2]), "embedding_bag: weights have shape [3, 2]; indices have [2, 3]");
    for reduction in [Reduction::Mean, Reduction::Max, Reduction::Min] {
        let (table, ids) = (View::new(TABLE, &[6]).unwrap(), View::new(&[0u8], &[1, 1]).unwrap());
        let weights = View::new(&TABLE[..1], &[1, 1]).unwrap();
        let error = EmbeddingBag::new(reduction).run(&table, &Bags::packed(&ids).weights(&weights)).unwrap_err();
        assert_eq!(error.to_string(), format!("embedding_bag: the reduction {reduction} takes no weights"));
    }
    let mut out = [7; 6];
    let ids = View::new(&[0u8, 1], &[2, 1]).unwrap();
    let mut wrong = ViewMut::new(&mut out, &[3, 2]).unwrap();
    let error = op.run_into(&View::new(TABLE, &[3, 2]).unwrap(), &Bags::packed(&ids), &mut wrong).unwrap_err();
    assert_eq!(error.to_string(), "embedding_bag: the output has shape [3, 2]; the result has [2, 2]");
    assert_eq!(out, [7; 6]);
}

#[test]
fn rows_that_there_are_not_are_refused() {
    let op = EmbeddingBag::new(Reduction::Add);
    let got = |op: &EmbeddingBag, rows: usize| {
        let mut out = [7; 2];
        let ids = View::new(&[0u8; 0], &[2, 0]).unwrap();
        let table = View::new(&TABLE[..rows], &[rows]).unwrap();
        let ran = op.run_into(&table, &Bags::packed(&ids), &mut ViewMut::new(&mut out, &[2]).unwrap());
        assert!(ran.is_ok() || out == [7; 2]);
        ran.map(|()| out).map_err(|error| error.to_string())
    };
    for index in [5, -6, i64::MAX, i64::MIN] {
        let message = format!("embedding_bag: padding_index is {index}; 5 rows allow -5..=4");
        assert_eq!(got(&op.padding_index(index), 5), Err(message));
    }
    for index in [5, -1, i64::MAX, i64::MIN] {
        let message = format!("embedding_bag: default_index is {index}; 5 rows allow 0..=4");
        assert_eq!(got(&op.default_index(index), 5), Err(message));
    }
    let message = "embedding_bag: default_index is 0; data has no rows";
    assert_eq!(got(&op.default_index(0), 0).unwrap_err(), message);
    assert_eq!(got(&op, 0), Ok([0; 2]));
    assert_eq!(got(&op.padding_index(-5), 5), Ok([0; 2]));
    assert_eq!(got(&op.default_index(4), 5), Ok([5; 2]));
    assert_eq!(got(&EmbeddingBag::openvino15_offsets(Reduction::Add, Some(-1)), 5), Ok([0; 2]));
    assert_eq!(got(&EmbeddingBag::openvino15_offsets(Reduction::Add, Some(2)), 5), Ok([3; 2]));
}

#[test]
fn indices_at_the_ends_of_their_types_are_never_others() {
    fn got<I: gather_core::Index>(op: &EmbeddingBag, ids: &[I]) -> Result<i32, String> {
        let ids = View::new(ids, &[1, ids.len()]).unwrap();
        let got = op.run(&View::new(TABLE, &[6]).unwrap(), &Bags::packed(&ids));
        got.map(|sum| sum.as_slice()[0]).map_err(|error| error.to_string())
    }
    let op = EmbeddingBag::new(Reduction::Add);
    let says =
        |index: i128| Err(format!("embedding_bag: index {index} at position 1 is out of range for axis 0 of size 6"));
    assert_eq!(got(&op, &[0, u64::MAX]), says(u64::MAX.into()));
    assert_eq!(got(&op, &[0, (1i64 << 32) + 1]), says((1 << 32) + 1));
    assert_eq!(got(&op, &[0, i64::MIN]), says(i64::MIN.into()));
    assert_eq!(got(&op, &[0, -7i8]), says(-7));
    assert_eq!(got(&op, &[0, -6i8]), Ok(2));
    assert_eq!(got(&op.out_of_bounds(OutOfBounds::Wrap), &[6, u64::MAX]), Ok(5));
    assert_eq!(got(&op.out_of_bounds(OutOfBounds::Clamp), &[i64::MIN, i64::MAX]), Ok(7));
    assert_eq!(got(&op.out_of_bounds(OutOfBounds::Zero), &[3, i64::MAX]), Ok(4));
    let mean = EmbeddingBag::new(Reduction::Mean).out_of_bounds(OutOfBounds::Zero);
    assert_eq!(got(&mean, &[3, i64::MAX]), Ok(2), "a row of zeros counts");
    let least = EmbeddingBag::new(Reduction::Min).out_of_bounds(OutOfBounds::Zero);
    assert_eq!(got(&least, &[3i64, 9]), Ok(0));
    assert_eq!(got(&least, &[9i64, 3]), Ok(0));
    let reject = EmbeddingBag::torch(Reduction::Max);
    let refused =
        "embedding_bag: index -1 at position 1 is out of range for axis 0 of size 6; negative indices are refused";
    assert_eq!(got(&reject, &[0, -1]), Err(refused.into()));
}

#[test]
fn tables_without_rows_and_rows_without_elements() {
    let empty: &[i32] = &[];
    for &out in OutOfBounds::ALL {
        let op = EmbeddingBag::new(Reduction::Add).out_of_bounds(out);
        let (none, one) = (View::new(&[0u8; 0], &[1, 0]).unwrap(), View::new(&[0u8], &[1, 1]).unwrap());
        let table = View::new(empty, &[0, 2]).unwrap();
        assert_eq!(op.run(&table, &Bags::packed(&none)).unwrap().as_slice(), [0, 0]);
        let got = op.run(&table, &Bags::packed(&one));
        if out == OutOfBounds::Zero {
            assert_eq!(got.unwrap().as_slice(), [0, 0]);
        } else {
            assert!(matches!(got, Err(Error::IndexOutOfRange { position: 0, dim: 0, .. })));
        }
    }
    // Indices are checked where rows have no elements, except for those in no bag.
    let table = View::new(empty, &[3, 0]).unwrap();
    let (ids, ends) = (View::new(&[2u8, 1, 9], &[3]).unwrap(), [[0u8, 2], [0, 3]]);
    for (end, position) in ends.iter().zip([None, Some(2)]) {
        let end = View::new(end, &[2]).unwrap();
        let got = EmbeddingBag::new(Reduction::Max).include_last_offset(true).run(&table, &Bags::new(&ids, &end));
        match position {
            None => assert_eq!(got.unwrap().shape(), [1, 0]),
            Some(at) => assert!(matches!(got, Err(Error::IndexOutOfRange { position, .. }) if position == at)),
        }
    }
}

#[test]
fn sizes_that_overflow_are_refused() {
    let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq);
    let huge = [1, usize::MAX];
    assert!(matches!(op.output_shape(&huge, &[2], Some(1)), Err(Error::TooManyElements { .. })));
    let wide = 1 << (usize::BITS / 2 + 8);
    assert!(matches!(op.output_shape(&[1, wide], &[wide, 0], None), Err(Error::TooManyElements { .. })));
    // A view that repeats one row, and one of bags that repeat none.
    let many = if cfg!(target_pointer_width = "64") { 1usize << 60 } else { 1 << 29 };
    let row = View::strided(TABLE, &[1, many], &[0, 0], 0).unwrap();
    let (one, bags) = (View::new(&[0u8], &[1, 1]).unwrap(), View::strided(&[0u8], &[many, 1], &[0, 0], 0).unwrap());
    let error = op.run(&row, &Bags::packed(&one)).unwrap_err();
    assert!(matches!(error, Error::TooManyBytes { .. } | Error::AllocationFailed { .. }), "{error}");
    let error = op.run(&View::new(TABLE, &[3, 2]).unwrap(), &Bags::packed(&bags)).unwrap_err();
    assert!(matches!(error, Error::TooManyBytes { .. } | Error::AllocationFailed { .. }), "{error}");
    let none = View::strided(&[0u8; 0], &[0, many], &[0, 0], 0).unwrap();
    assert_eq!(op.run(&View::new(TABLE, &[3, 2]).unwrap(), &Bags::packed(&none)).unwrap().shape(), [0, 2]);
}

#[test]
fn types_that_do_not_fit_are_refused() {
    let (table, ids, words) = (View::new(TABLE, &[6]).unwrap(), View::new(&[0u8], &[1]).unwrap(), [1.0f32]);
    let words = View::new(&words, &[1]).unwrap();
    let (table, ids, words) = (DynView::from(&table), DynView::from(&ids), DynView::from(&words));
    let op = EmbeddingBag::new(Reduction::Add);
    let says = |bags: &Bags<'_, DynView<'_>, DynView<'_>, DynView<'_>>| op.run(&table, bags).unwrap_err().to_string();
    assert!(says(&Bags::new(&words, &ids).weights(None)).starts_with("f32 cannot index"));
    assert!(says(&Bags::new(&ids, &words).weights(None)).starts_with("f32 cannot index"));
    assert_eq!(says(&Bags::new(&ids, &ids).weights(&words)), "expected data type i32, got f32");
    let plan = |bags: &Bags<'_, DynView<'_>, DynView<'_>, DynView<'_>>| op.plan(&table, bags);
    let refused = |bags: &Bags<'_, DynView<'_>, DynView<'_>, DynView<'_>>| plan(bags).unwrap_err().to_string();
    assert!(refused(&Bags::new(&words, &ids).weights(None)).starts_with("f32 cannot index"));
    assert!(refused(&Bags::new(&ids, &words).weights(None)).starts_with("f32 cannot index"));
    assert_eq!(refused(&Bags::new(&ids, &ids).weights(&words)), "expected data type i32, got f32");
    let plan = plan(&Bags::new(&ids, &ids).weights(None)).unwrap();
    let says =
        |data, indices, weights| plan.run(data, &Bags::planned(indices).weights(weights)).unwrap_err().to_string();
    assert_eq!(says(&words, &ids, None), "expected data type i32, got f32");
    assert_eq!(says(&table, &words, None), "expected data type u8, got f32");
    assert_eq!(says(&table, &ids, Some(&words)), "expected data type i32, got f32");
    assert!(matches!(plan.run(&table, &Bags::planned(&ids).weights(&table)), Err(Error::ShapeMismatch { .. })));
    let mut out = [7.0f32];
    let mut out = ViewMut::new(&mut out, &[1]).unwrap();
    let refused = plan.run_into(&table, &Bags::planned(&ids), &mut DynViewMut::from(&mut out)).unwrap_err();
    assert_eq!(refused.to_string(), "expected data type i32, got f32");
    let mut out = [7, 7];
    let mut wrong = ViewMut::new(&mut out, &[2]).unwrap();
    let refused = plan.run_into(&table, &Bags::planned(&ids), &mut DynViewMut::from(&mut wrong));
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })) && out == [7, 7]);
}

#[test]
fn a_plan_takes_the_tensors_that_it_was_made_for() {
    let (table, ids) = (View::new(TABLE, &[3, 2]).unwrap(), View::new(&[0u8, 1, 2], &[3]).unwrap());
    let offsets = View::new(&[0u8, 1], &[2]).unwrap();
    let op = EmbeddingBag::new(Reduction::Max).negative_index(NegativeIndex::Reject);
    let plan = op.plan(&table, &Bags::new(&ids, &offsets)).unwrap();
    assert_eq!(plan.run(&table, &Bags::planned(&ids)).unwrap().as_slice(), [1, 2, 5, 6]);
    let text = plan.explain().to_string();
    assert!(text.starts_with("embedding_bag: bag -> [2, 2]\n  2 bags of 3 rows, 2 in the longest\n"), "{text}");
    assert!(text.contains("index (u8) along axis 0 of 3: data +8 bytes\n  method accumulated\n"), "{text}");
    assert_eq!(plan.explain().bytes(), 24);
    let other = View::new(TABLE, &[2, 3]).unwrap();
    assert!(matches!(plan.run(&other, &Bags::planned(&ids)), Err(Error::PlanMismatch { .. })));
    assert!(matches!(
        plan.run(&table, &Bags::planned(&View::new(&[0u8], &[1]).unwrap())),
        Err(Error::PlanMismatch { .. })
    ));
    let weights = View::new(&TABLE[..3], &[3]).unwrap();
    assert!(matches!(plan.run(&table, &Bags::planned(&ids).weights(&weights)), Err(Error::WeightsUnavailable { .. })));
    let mut out = Tensor::new(vec![7; 4], &[4]).unwrap();
    let ran = plan.run_into(&table, &Bags::planned(&ids), &mut out.view_mut());
    assert!(matches!(ran, Err(Error::PlanMismatch { .. })));
    assert_eq!(out.as_slice(), [7; 4]);
    let sums = EmbeddingBag::new(Reduction::Add).plan(&table, &Bags::new(&ids, &offsets)).unwrap();
    let wrong = View::new(&TABLE[..2], &[2]).unwrap();
    assert!(matches!(
        sums.run(&table, &Bags::planned(&ids).weights(&wrong)),
        Err(Error::ShapeMismatch { argument: Argument::Weights, .. })
    ));
    assert_eq!(sums.run(&table, &Bags::planned(&ids).weights(&weights)).unwrap().as_slice(), [1, 2, 21, 26]);
}

#[test]
fn a_plan_checks_the_bags_of_each_call() {
    let (table, ids) = (View::new(TABLE, &[3, 2]).unwrap(), View::new(&[0u8, 1, 2], &[3]).unwrap());
    let packed = View::new(&[0u8; 4], &[2, 2]).unwrap();
    let op = EmbeddingBag::new(Reduction::Add);
    let plan = op.plan(&table, &Bags::packed(&packed)).unwrap();
    let says = |offsets: &[i64]| {
        let offsets = View::new(offsets, &[offsets.len()]).unwrap();
        let mut out = [7; 6];
        let shape = [offsets.layout().len(), 2];
        let mut view = ViewMut::new(&mut out[..shape[0] * 2], &shape).unwrap();
        let error = plan.run_into(&table, &Bags::new(&ids, &offsets), &mut view).unwrap_err();
        assert_eq!((out, plan.run(&table, &Bags::new(&ids, &offsets)).unwrap_err()), ([7; 6], error.clone()));
        error.to_string()
    };
    assert_eq!(says(&[1]), "embedding_bag: the first offset is 1; it must be 0, where the first bag begins");
    assert_eq!(says(&[0, 4]), "embedding_bag: offset 4 at position 1 is out of range; allowed there is 0..=3");
    assert_eq!(says(&[0, 2, 1]), "embedding_bag: offset 1 at position 2 is out of range; allowed there is 2..=3");
    assert_eq!(
        says(&[0, i64::MIN]),
        "embedding_bag: offset -9223372036854775808 at position 1 is out of range; allowed there is 0..=3"
    );

    // Other data, ranks, weights and outputs than the plan takes.
    let offsets = View::new(&[0u8, 1], &[2]).unwrap();
    let bags = Bags::new(&ids, &offsets);
    let other = View::new(TABLE, &[2, 3]).unwrap();
    assert!(matches!(plan.run(&other, &bags), Err(Error::PlanMismatch { argument: Argument::Data, .. })));
    assert!(matches!(plan.run(&table, &Bags::packed(&ids)), Err(Error::RankOutOfRange { .. })));
    let weights = View::new(&TABLE[..2], &[2]).unwrap();
    let refused = plan.run(&table, &bags.weights(&weights));
    assert!(matches!(refused, Err(Error::ShapeMismatch { argument: Argument::Weights, .. })));
    let mut out = [7; 6];
    let refused = plan.run_into(&table, &bags, &mut ViewMut::new(&mut out, &[3, 2]).unwrap());
    assert!(matches!(refused, Err(Error::PlanMismatch { argument: Argument::Output, .. })));
    let refused = plan.run_into(&table, &bags, &mut ViewMut::strided(&mut out, &[2, 2], &[1, 2], 0).unwrap());
    assert!(matches!(refused, Err(Error::PlanMismatch { argument: Argument::Output, .. })) && out == [7; 6]);
    let nowhere = View::new(&[0u8, 1, 3], &[3]).unwrap();
    let refused = plan.run(&table, &Bags::new(&nowhere, &offsets));
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 2, index: 3, .. })));

    // No bags, and bags of nothing.
    let none = View::new(&[0u8; 0], &[0]).unwrap();
    assert_eq!(plan.run(&table, &Bags::new(&none, &none)).unwrap().shape(), [0, 2]);
    assert_eq!(plan.run(&table, &Bags::new(&none, &View::new(&[0u8, 0], &[2]).unwrap())).unwrap().as_slice(), [0; 4]);
}

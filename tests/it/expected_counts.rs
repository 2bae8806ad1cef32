//! Dynamic plans made for each of several expected counts, run on each of several counts, beside unplanned calls:
//! nothing of a result follows from the count that was expected.

use gather_core::{
    Bags, Bitmap, Codes, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, GatherElements, GatherNd, Given, Layout,
    NegativeIndex, Nulls, OutOfBounds, Reduction, ScatterNd, Spec, TableOf, View, ViewMut, map_kernels, row_kernels,
};

use crate::support::{levels, mixed};

map_kernels! {
    static SCALED = |value: u8, by: f32| -> f32 { f32::from(value) * by };
}

row_kernels! {
    static SUM = |row: &[f32]| -> f32 { row.iter().sum() };
    static TWICE = |row: &[f32], out: &mut [f32]| { out.iter_mut().zip(row).for_each(|(to, from)| *to = from * 2.0) };
}

const EXPECTED: [usize; 3] = [0, 1, 64];
const COUNTS: [usize; 5] = [0, 1, 3, 64, 1500];
const POLICIES: &[OutOfBounds] = OutOfBounds::ALL;
const DIM: usize = 6;

/// `count` ids into an axis of size `DIM`, counted from both ends; with `bad`, every fifth is out of range.
fn ids(count: usize, bad: bool) -> Vec<i64> {
    let id = |at: usize| match mixed(3, at) {
        random if bad && random % 5 == 0 => [DIM as i64, -7, i64::MAX, 1 << 32][at % 4],
        random => random as i64 % (2 * DIM as i64) - DIM as i64,
    };
    (0..count).map(|at| if at == 1 && bad { 7 } else { id(at) }).collect()
}

/// Plans for the first source, and runs on it and on the second, whose kind and shapes are the same.
fn check<S: TableOf<Gather, f32>>(planned: &S, other: &S) -> Result<(), Error> {
    for (expected, policy, level) in EXPECTED
        .into_iter()
        .flat_map(|expected| POLICIES.iter().flat_map(move |&policy| levels().map(move |l| (expected, policy, l))))
    {
        let op = Gather::new(0).out_of_bounds(policy).level(level);
        let spec = Spec::<i64>::new(&[expected])?;
        let plan = op.plan_any_count(planned, &spec)?;
        let nullable = op.nullable();
        let null_plan = nullable.plan_any_count(planned, &spec)?;
        for (count, bad) in COUNTS.into_iter().flat_map(|count| [(count, false), (count, true)]) {
            let ids = ids(count, bad);
            let bits: Vec<u8> = (0..count.div_ceil(8)).map(|at| mixed(5, at) as u8 | 1).collect();
            let nulls = Nulls { indices: Some(Bitmap::new(&bits, 0, count)?), ..Nulls::default() };
            for source in [planned, other] {
                let what = || format!("{op:?}, {count} of {expected}, bad {bad}");
                assert_eq!(plan.run(source, &ids), op.run(source, &ids), "{}", what());
                let (got, fresh) = (null_plan.run(source, &ids, nulls), nullable.run(source, &ids, nulls));
                assert_eq!(got, fresh, "nulls, {}", what());
            }
        }
    }
    Ok(())
}

#[test]
fn every_kind_of_source_gives_what_the_unplanned_call_gives() -> Result<(), Error> {
    let numbers: [f32; 24] = std::array::from_fn(|at| at as f32 + 0.5);
    let bytes: [u8; 24] = std::array::from_fn(|at| at as u8 * 3 + 1);
    let (table, codes) = (View::new(&numbers, &[DIM, 4])?, View::new(&bytes, &[DIM, 4])?);
    let (low, high) = (SUM.with_fill(f32::NEG_INFINITY), TWICE.with_fill(9.0));
    let fused_bytes = FusedRows::quantize(FusedFormat::Torch8, &table)?;
    let fused = FusedRows::new(fused_bytes.view(), FusedFormat::Torch8, 4)?;
    let fused = fused.to::<f32>();
    let scales: [[f32; DIM]; 2] = [[0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [4.0; DIM]];
    let scales = [View::new(&scales[0], &[DIM, 1])?, View::new(&scales[1], &[DIM, 1])?];
    let blocks = scales.each_ref().map(|scales| codes.blocks(Codes::Bits4, 16, scales));
    let per_row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let maps = [Given::All(2.0), Given::PerRow(&per_row[..])].map(|by| codes.map(&SCALED, (by,)));

    check(&table, &table)?;
    check(&maps[0], &maps[1])?;
    check(&fused, &fused)?;
    check(&blocks[0], &blocks[1])?;
    // The function of a run says how it fills, whatever the function of the plan says.
    for (sum, twice) in [([&SUM, &low], [&TWICE, &high]), ([&low, &SUM], [&high, &TWICE])] {
        check(&table.rows(sum[0], ()), &table.rows(sum[1], ()))?;
        check(&table.rows(twice[0], ()), &table.rows(twice[1], ()))?;
        check(&maps[0].rows(sum[0], ()), &maps[1].rows(sum[1], ()))?;
        check(&fused.rows(sum[0], ()), &fused.rows(sum[1], ()))?;
        check(&fused.rows(twice[0], ()), &fused.rows(twice[1], ()))?;
        check(&blocks[0].rows(sum[0], ()), &blocks[1].rows(sum[1], ()))?;
    }
    Ok(())
}

#[test]
fn tuples_elements_scatters_and_bags_give_what_the_unplanned_call_gives() -> Result<(), Error> {
    let numbers: [f32; 24] = std::array::from_fn(|at| at as f32 + 0.5);
    let table = View::new(&numbers, &[DIM, 4])?;
    for (expected, count, bad) in EXPECTED.into_iter().flat_map(|expected| {
        COUNTS.into_iter().flat_map(move |count| [(expected, count, false), (expected, count, true)])
    }) {
        let what = || format!("{count} of {expected}, bad {bad}");
        let (list, wide) = (ids(count, bad), ids(count * 4, bad));
        let (tuples, rows) = (View::new(&list, &[count, 1])?, View::new(&wide, &[count, 4])?);
        let values: Vec<f32> = (0..count * 4).map(|at| (at % 9) as f32).collect();
        let updates = View::new(&values, &[count, 4])?;
        for &policy in POLICIES {
            let op = GatherNd::new().out_of_bounds(policy);
            let plan = op.plan_any_count(&table, &Spec::<i64>::new(&[expected, 1])?)?;
            assert_eq!(plan.run(&table, &tuples), op.run(&table, &tuples), "{op:?}, {}", what());
            let op = GatherElements::new(0).out_of_bounds(policy);
            let plan = op.plan_any_count(&table, &Spec::<i64>::new(&[expected, 4])?)?;
            assert_eq!(plan.run(&table, &rows), op.run(&table, &rows), "{op:?}, {}", what());
        }
        for reduction in [Reduction::None, Reduction::Add, Reduction::Mean, Reduction::Max] {
            let op = ScatterNd::new().reduction(reduction);
            let (spec, rows) = (Spec::<i64>::new(&[expected, 1])?, Spec::<f32>::new(&[expected, 4])?);
            let plan = op.plan_any_count(&table, &spec, &rows)?;
            let got = plan.run(&table, &tuples, &updates);
            assert_eq!(got, op.run(&table, &tuples, &updates), "{op:?}, {}", what());
        }
        let op = EmbeddingBag::new(Reduction::Add).negative_index(NegativeIndex::FromEnd);
        let planned: Vec<i64> = ids(expected, false);
        let offsets = |n: usize| -> Vec<i64> { (0..n as i64).step_by(3).collect() };
        let plan = op.plan(&table, &Bags::new(&planned, &offsets(expected)))?;
        let bags = offsets(count);
        let bags = Bags::new(&list, &bags);
        assert_eq!(plan.run(&table, &bags), op.run(&table, &bags), "{}", what());
    }
    Ok(())
}

/// Ids of an odd stride along the dynamic dimension: a plan for 0 or 1 of them steps along it when there are more.
#[test]
fn the_stride_of_the_dynamic_dimension_counts_whatever_its_planned_size() -> Result<(), Error> {
    let numbers: [f32; 24] = std::array::from_fn(|at| at as f32 + 0.5);
    let (table, op) = (View::new(&numbers, &[DIM, 4])?, Gather::new(0));
    let memory = ids(64 * 7, false);
    for (expected, stride) in [0, 1, 2].into_iter().flat_map(|expected| [7, 1, -3].map(|stride| (expected, stride))) {
        let spec = Spec::<i64>::from_layout(&Layout::strided(&[expected], &[stride])?);
        let plan = op.plan_any_count(&table, &spec)?;
        for (count, other) in [0, 1, 2, 3, 64].into_iter().flat_map(|count| [7, 1, -3, 0].map(|other| (count, other))) {
            let ids = View::strided(&memory, &[count], &[other], if other < 0 { 300 } else { 0 })?;
            let got = plan.run(&table, &ids);
            if count < 2 || stride == other {
                assert_eq!(got, op.run(&table, &ids), "{expected} by {stride}, {count} by {other}");
            } else {
                assert!(matches!(got, Err(Error::PlanMismatch { .. })), "{expected} by {stride}, {count} by {other}");
            }
        }
    }
    Ok(())
}

/// Strides along fixed dimensions of size 1, and of tensors without elements, are left to chance by other libraries.
#[test]
fn dimensions_that_no_call_steps_along_may_have_any_stride() -> Result<(), Error> {
    let numbers: [f32; 200] = std::array::from_fn(|at| at as f32 + 0.5);
    let memory: [i64; 50] = std::array::from_fn(|at| at as i64 % 2);
    let one_row = |stride: isize| View::strided(&numbers, &[1, 4], &[stride, 1], 0);
    let many = View::new(&numbers[..12], &[3, 4])?;
    for (table_stride, ids_stride, out_stride) in [(4, 5, 20), (50, 40, 33), (0, 0, 0), (-9, -isize::MAX, isize::MAX)] {
        // Planned with strides that follow from the shape, and with odd ones.
        for planned in [[4, 5, 20], [table_stride, ids_stride, out_stride]] {
            let spec = |stride| Ok::<_, Error>(Spec::<i64>::from_layout(&Layout::strided(&[1, 5], &[stride, 1])?));
            let zeros = [0i64; 5];
            let ids = View::strided(&zeros, &[1, 5], &[ids_stride, 1], 0)?;
            let op = Gather::new(0);
            let plan = op.plan(&one_row(planned[0])?, &spec(planned[1])?)?;
            let expected = op.run(&one_row(4)?, &ids)?;
            assert_eq!(plan.run(&one_row(table_stride)?, &ids)?, expected);
            let mut out = [0.0; 20];
            let mut view = ViewMut::strided(&mut out, &[1, 5, 4], &[out_stride, 4, 1], 0)?;
            plan.run_into(&one_row(table_stride)?, &ids, &mut view)?;
            assert_eq!(out, expected.as_slice());
            // Nothing tells a dynamic dimension of stride 0 from others.
            if planned[1] != 0 {
                let any = op.plan_any_count(&one_row(planned[0])?, &spec(planned[1])?)?;
                assert_eq!(any.run(&one_row(table_stride)?, &ids)?, expected);
            }

            // Scatters: destination, indices and updates; bags: indices.
            let tuple = View::strided(&memory, &[1, 1], &[ids_stride, 7], 0)?;
            let op = ScatterNd::new().reduction(Reduction::Add);
            let plan = op.plan(&many, &tuple, &one_row(planned[0])?)?;
            let expected = op.run(&many, &View::new(&memory[..1], &[1, 1])?, &one_row(4)?)?;
            assert_eq!(plan.run(&many, &tuple, &one_row(table_stride)?)?, expected);
            let op = EmbeddingBag::new(Reduction::Add);
            let plan = op.plan(&one_row(planned[0])?, &Bags::packed(&View::new(&zeros, &[1, 5])?))?;
            assert_eq!(plan.run(&one_row(table_stride)?, &Bags::packed(&ids))?.as_slice(), [2.5, 7.5, 12.5, 17.5]);
        }
    }

    // No element: any stride along any dimension.
    let none: [i64; 0] = [];
    let plan = Gather::new(0).plan(&many, &Spec::<i64>::new(&[0, 5])?)?;
    for strides in [[1, 1], [40, -3], [0, isize::MIN]] {
        let ids = View::strided(&none, &[0, 5], &strides, 0)?;
        assert_eq!(plan.run(&many, &ids)?.shape(), [0, 5, 4]);
    }
    // Along dimensions of size 2 or more, strides are compared.
    let apart = View::strided(&numbers, &[3, 4], &[9, 1], 0)?;
    assert!(matches!(plan.run(&apart, &View::new(&none, &[0, 5])?), Err(Error::PlanMismatch { .. })));
    Ok(())
}

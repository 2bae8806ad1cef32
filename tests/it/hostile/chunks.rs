//! H21: chunks that overlap, hold one row many times, are very many, or have more rows than can be counted.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_core::{
    Bags, EmbeddingBag, Error, Gather, Given, Op, OutOfBounds, Par, Reduction, Spec, View, ViewMut, chunks,
    map_kernels, maps,
};

use crate::support::{levels, mixed};

/// Whether the system takes requests for pages.
#[cfg(target_pointer_width = "64")]
const ASKED: bool = cfg!(all(unix, not(miri)));

/// Numbers of which each row of `width` differs.
fn numbers(rows: usize, width: usize) -> Vec<u32> {
    (0..rows * width).map(|at| at as u32).collect()
}

#[test]
fn h21_chunks_may_share_memory() {
    let values = numbers(10, 3);
    let part =
        |rows: std::ops::Range<usize>| View::new(&values[rows.start * 3..rows.end * 3], &[rows.len(), 3]).unwrap();
    // Rows 4 to 6 stand in each chunk; the last two chunks are one.
    let parts = [part(0..7), part(4..10), part(4..7), part(4..7)];
    let table = chunks(&parts).unwrap();
    assert_eq!(table.shape(), [19, 3]);
    let ids: Vec<u8> = (0..19).rev().collect();
    let row = |&id: &u8| match id {
        0..7 => usize::from(id),
        7..13 => usize::from(id) - 7 + 4,
        _ => (usize::from(id) - 13) % 3 + 4,
    };
    let expected: Vec<u32> = ids.iter().flat_map(|id| values[row(id) * 3..][..3].to_vec()).collect();
    for level in levels() {
        assert_eq!(Gather::new(0).level(level).run(&table, &ids).unwrap().as_slice(), expected);
    }
    // Rows that overlap their neighbours, backwards: three numbers from each number on.
    let one = View::strided(&values, &[5, 3], &[-1, 1], 9).unwrap();
    let got = Gather::new(0).run(&chunks(&[one.clone(), one]).unwrap(), &[0u8, 4, 9, 5]).unwrap();
    assert_eq!(got.as_slice(), [9, 10, 11, 5, 6, 7, 5, 6, 7, 9, 10, 11]);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn h21_chunks_of_one_row_many_times() {
    const MANY: usize = 1 << 40;
    let values = numbers(4, 20);
    let many = |row: usize| View::strided(&values, &[MANY, 20], &[0, 1], row * 20).unwrap();
    let parts = [many(2), View::new(&values[..20], &[1, 20]).unwrap(), many(3), many(1)];
    let table = chunks(&parts).unwrap();
    let of_rows = [(0, 2), (MANY - 1, 2), (MANY, 0), (MANY + 1, 3), (2 * MANY, 3), (2 * MANY + 1, 1), (3 * MANY, 1)];
    let (ids, rows): (Vec<usize>, Vec<usize>) = of_rows.into_iter().cycle().take(100).unzip();
    let expected: Vec<u32> = rows.iter().flat_map(|row| values[row * 20..][..20].to_vec()).collect();
    for level in levels() {
        let op = Gather::new(0).level(level);
        assert_eq!(op.run(&table, &ids).unwrap().as_slice(), expected);
        let plan = op.plan(&Spec::<u32>::new(&[3 * MANY + 1, 20]).unwrap().chunks(4), &ids).unwrap();
        assert_eq!(plan.run(&table, &ids).unwrap().as_slice(), expected);
    }
    let told = Gather::new(0).will_need(&table, &ids);
    assert!(told.rows == if ASKED { 100 } else { 0 } && told.ranges <= 1, "{told:?}");
    let refused = Gather::new(0).run(&table, &[0, 3 * MANY + 1]).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { position: 1, dim, .. } if dim == 3 * MANY + 1), "{refused}");
    // Every sum is of one row, a million times.
    let ids = vec![MANY + 7; 1 << 20];
    let ids = View::new(&ids, &[1, 1 << 20]).unwrap();
    let sums = EmbeddingBag::new(Reduction::Max).run(&table, &Bags::packed(&ids)).unwrap();
    assert_eq!(sums.as_slice(), &values[60..80]);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn h21_a_hundred_thousand_chunks_of_one_row() {
    const MANY: usize = 100_000;
    let values = numbers(MANY, 2);
    let parts: Vec<_> = values.chunks(2).map(|row| View::new(row, &[1, 2]).unwrap()).collect();
    let table = chunks(&parts).unwrap();
    let ids: Vec<u32> = (0..50_000).map(|at| (mixed(3, at) % MANY as u64) as u32).collect();
    let expected: Vec<u32> = ids.iter().flat_map(|&id| [2 * id, 2 * id + 1]).collect();
    for par in [Par::Seq, Par::Threads(3)] {
        assert_eq!(Gather::new(0).par(par).run(&table, &ids).unwrap().as_slice(), expected);
    }
    let told = Gather::new(0).will_need(&table, &ids);
    assert!(told.rows == if ASKED { 50_000 } else { 0 } && told.ranges <= 1, "{told:?}");
    // Chunks of very unequal lengths: the guide to the chunks leads to many at once.
    let row = [1u32, 2];
    let mut parts: Vec<_> = parts[..1000].to_vec();
    parts.push(View::strided(&row, &[1 << 50, 2], &[0, 1], 0).unwrap());
    parts.extend(values[..20].chunks(2).map(|row| View::new(row, &[1, 2]).unwrap()));
    let table = chunks(&parts).unwrap();
    let ids: Vec<i64> = (0..1010).chain(-10..0).collect();
    let expected = |id: i64| match id {
        0..1000 => [2 * id as u32, 2 * id as u32 + 1],
        1000.. => row,
        _ => [2 * (id + 10) as u32, 2 * (id + 10) as u32 + 1],
    };
    let got = Gather::new(0).run(&table, &ids).unwrap();
    assert_eq!(got.as_slice(), ids.iter().flat_map(|&id| expected(id)).collect::<Vec<_>>());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn h21_more_rows_than_can_be_counted() {
    let values = numbers(2, 3);
    let too_many = |error| matches!(error, Error::TooManyElements { .. });
    let many = |rows: usize, width: usize| View::strided(&values, &[rows, width], &[0, 1], 0).unwrap();
    // The rows of each chunk can be counted, and their elements; the sums cannot.
    for (rows, width, chunks_of) in [(isize::MAX as usize, 1, 3), (isize::MAX as usize / 3, 3, 2), (1 << 61, 3, 2)] {
        let parts = vec![many(rows, width); chunks_of];
        assert!(too_many(chunks(&parts).map(drop).unwrap_err()), "{rows} x {width}");
        let parts: Vec<_> = parts.iter().map(gather_core::DynView::from).collect();
        assert!(too_many(chunks(&parts).map(drop).unwrap_err()), "{rows} x {width}, at run time");
        assert!(chunks(&parts[..1]).is_ok());
    }
    // Without elements, rows count all the same.
    let none = |rows| View::<u32>::new(&[], &[rows, 0]).unwrap();
    assert!(too_many(chunks(&[none(isize::MAX as usize), none(1)]).map(drop).unwrap_err()));
    assert!(too_many(chunks(&vec![none(isize::MAX as usize); 9]).map(drop).unwrap_err()));
    let parts = [none(isize::MAX as usize - 1), none(1)];
    let table = chunks(&parts).unwrap();
    let ids = [isize::MAX - 1, 0, -1, isize::MIN + 1];
    assert_eq!(Gather::new(0).run(&table, &ids).unwrap().shape(), [4, 0]);
    let refused = Gather::new(0).run(&table, &[0, isize::MAX]).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { position: 1, .. }), "{refused}");
    assert_eq!(Gather::new(0).will_need(&table, &ids).bytes, 0);
    // The last row of the greatest table.
    let parts = [many(isize::MAX as usize / 4 - 1, 1), View::new(&[7u32], &[1, 1]).unwrap()];
    let table = chunks(&parts).unwrap();
    let last = isize::MAX / 4 - 1;
    assert_eq!(Gather::new(0).run(&table, &[last, 0, -1, last - 1]).unwrap().as_slice(), [7, 0, 7, 0]);
    let bytes = EmbeddingBag::new(Reduction::Add).run(&table, &Bags::new(&[last, 0, -1], &[0u8, 1]));
    assert_eq!(bytes.unwrap().as_slice(), [7, 7]);
}

/// Indices beyond the last chunk, and before the first: as of one table, under each policy.
#[test]
fn h21_indices_beyond_the_chunks() {
    let values = numbers(7, 2);
    let parts = [0..2, 2..2, 2..6, 6..7, 7..7]
        .map(|rows| View::new(&values[rows.start * 2..rows.end * 2], &[rows.len(), 2]).unwrap());
    let (table, whole) = (chunks(&parts).unwrap(), View::new(&values, &[7, 2]).unwrap());
    let ends = [6, 7, 8, -7, -8, 14, -14, i64::MIN, i64::MAX, 1 << 32, -(1 << 32), i64::MIN + 7];
    let many: Vec<i64> = ends.iter().copied().cycle().take(200).collect();
    for &policy in OutOfBounds::ALL {
        for level in levels() {
            let op = Gather::new(0).out_of_bounds(policy).level(level);
            for ids in [&ends[..], &many].into_iter().chain(ends.chunks(1)) {
                assert_eq!(op.run(&table, ids), op.run(&whole, ids), "{op:?}");
                let plan = op.plan_any_count(&table, &[0i64]).unwrap();
                assert_eq!(plan.run(&table, ids), op.run(&whole, ids), "{op:?}");
                let sum = EmbeddingBag::new(Reduction::Add).out_of_bounds(policy).level(level);
                let bags = Bags::new(ids, &[0u8, 1]);
                assert_eq!(sum.run(&table, &bags), sum.run(&whole, &bags), "{sum:?}");
            }
        }
    }
    // No row at all.
    let none = [parts[1].clone(), parts[4].clone()];
    let (table, whole) = (chunks(&none).unwrap(), View::new(&values[..0], &[0, 2]).unwrap());
    for &policy in OutOfBounds::ALL {
        let op = Gather::new(0).out_of_bounds(policy);
        assert_eq!(op.run(&table, &ends), op.run(&whole, &ends), "{policy:?}");
        assert_eq!(op.run(&table, &[0u8; 0]).unwrap().shape(), [0, 2]);
    }
}

#[test]
fn h21_a_plan_for_another_number_of_rows() {
    let values = numbers(8, 3);
    let part = |rows: usize| View::new(&values[..rows * 3], &[rows, 3]).unwrap();
    let ids = [0u32, 6];
    for spec in [Spec::<u32>::new(&[7, 3]).unwrap(), Spec::<u32>::new(&[9, 3]).unwrap()] {
        let plan = Gather::new(0).plan(&spec.chunks(2), &ids).unwrap();
        let (parts, mut out) = ([part(4), part(4)], [5u32; 6]);
        let refused = plan.run_into(&chunks(&parts).unwrap(), &ids, &mut ViewMut::new(&mut out, &[2, 3]).unwrap());
        assert!(matches!(refused, Err(Error::PlanMismatch { .. })), "{refused:?}");
        assert_eq!(out, [5; 6], "nothing is written");
        assert_eq!(plan.will_need(&chunks(&parts).unwrap(), &ids).rows, 0);
    }
    // Rows of another length, and bags of other chunks.
    let plan = Gather::new(0).plan(&Spec::<u32>::new(&[8, 1]).unwrap().chunks(2), &ids).unwrap();
    assert!(plan.run(&chunks(&[part(4), part(4)]).unwrap(), &ids).is_err());
    let bags = Bags::new(&ids, &[0u8]);
    let plan = EmbeddingBag::new(Reduction::Add).plan(&chunks(&[part(4), part(4)]).unwrap(), &bags).unwrap();
    assert!(plan.run(&chunks(&[part(1), part(7)]).unwrap(), &bags).is_ok());
    for parts in [&[part(3), part(4)][..], &[part(8)], &[part(4), part(4), part(1)]] {
        assert!(plan.run(&chunks(parts).unwrap(), &bags).is_err(), "{} chunks", parts.len());
    }
    // A plan for one table, on chunks.
    let plan = Gather::new(0).plan(&Spec::<u32>::new(&[8, 3]).unwrap().chunks(1), &ids).unwrap();
    let refused = plan.run(&chunks(&[part(4), part(4)]).unwrap(), &ids).unwrap_err();
    assert_eq!(refused, Error::PlanChunksMismatch { op: Op::Gather, expected: 1, got: 2 });
}

map_kernels! {
    static FAILS_AT_200 = |code: u8| -> u32 { assert!(code != 200, "code 200"); u32::from(code) + 1 };
    static PLUS_ONE = |code: u8| -> u32 { u32::from(code) + 1 };
    static PLUS_TWO = |code: u8| -> u32 { u32::from(code) + 2 };
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs panics that unwind")]
fn h21_a_map_that_panics_in_a_chunk() {
    let codes: Vec<u8> = (0..=255).collect();
    let parts: Vec<_> = codes.chunks(8).map(|rows| View::new(rows, &[2, 4]).unwrap()).collect();
    let parts: Vec<_> = parts.iter().map(|part| part.map(&FAILS_AT_200, ())).collect();
    let table = chunks(&parts).unwrap();
    let (good, bad) = ([0u8, 63, 49, 51], [0u8, 63, 50, 51]);
    for par in [Par::Seq, Par::Threads(3)] {
        let op = Gather::new(0).par(par);
        let plan = op.plan(&table, &good).unwrap();
        let mut out = [7u32; 16];
        let ran = catch_unwind(AssertUnwindSafe(|| {
            plan.run_into(&table, &bad, &mut ViewMut::new(&mut out, &[4, 4]).unwrap())
        }));
        assert!(ran.is_err());
        // Each element of the output is its old value, 0, or a result.
        assert!(out.iter().all(|&value| value <= 256), "{out:?}");
        assert!(catch_unwind(AssertUnwindSafe(|| op.run(&table, &bad).map(drop))).is_err());
        let bags = Bags::new(&bad, &[0u8]);
        let sum = EmbeddingBag::new(Reduction::Add).par(par);
        assert!(catch_unwind(AssertUnwindSafe(|| sum.run(&table, &bags).map(drop))).is_err());
        // The table and the plan are as before.
        let rows = plan.run(&table, &good).unwrap();
        assert_eq!(rows.as_slice()[..8], [1, 2, 3, 4, 253, 254, 255, 256]);
    }
}

/// Each chunk by the map and the parameters that it was made with.
#[test]
fn h21_each_chunk_has_a_map_of_its_own() {
    let codes: Vec<u8> = (0..80).collect();
    let views: Vec<_> = codes.chunks(8).map(|rows| View::new(rows, &[4, 2]).unwrap()).collect();
    let maps_of = [&PLUS_ONE, &PLUS_TWO];
    let parts: Vec<_> = views.iter().enumerate().map(|(at, view)| view.map(maps_of[at % 2], ())).collect();
    let table = chunks(&parts).unwrap();
    let ids: Vec<i16> = (0..40).chain([3, 4, 3, 4]).collect();
    let value = |id: i16| [0, 1].map(|column| (id * 2 + column + 1 + id / 4 % 2) as u32);
    let got = Gather::new(0).run(&table, &ids).unwrap();
    assert_eq!(got.as_slice(), ids.iter().flat_map(|&id| value(id)).collect::<Vec<_>>());
    let sums = EmbeddingBag::new(Reduction::Add).run(&table, &Bags::new(&ids, &[0u8])).unwrap();
    let sum = |column: usize| ids.iter().map(|&id| value(id)[column]).sum::<u32>();
    assert_eq!(sums.as_slice(), [sum(0), sum(1)]);
    // A plan runs the maps of the chunks that it is given.
    let plan = Gather::new(0).plan(&table, &[0i16, 4]).unwrap();
    let swapped: Vec<_> = views.iter().enumerate().map(|(at, view)| view.map(maps_of[(at + 1) % 2], ())).collect();
    assert_eq!(plan.run(&chunks(&swapped).unwrap(), &[0, 4]).unwrap().as_slice(), [2, 3, 9, 10]);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn h21_a_thousand_chunks_on_three_threads() {
    let lengths: Vec<usize> = (0..1000).map(|at| (mixed(5, at) >> 9) as usize % 40).collect();
    let rows = lengths.iter().sum::<usize>();
    let codes: Vec<u8> = (0..rows * 5).map(|at| mixed(6, at) as u8).collect();
    let scales: Vec<f32> = (0..rows).map(|at| at as f32 / 8.0).collect();
    let ends: Vec<usize> = lengths
        .iter()
        .scan(0, |end, &n| {
            *end += n;
            Some(*end)
        })
        .collect();
    let views: Vec<_> = lengths
        .iter()
        .zip(&ends)
        .map(|(&n, &end)| (View::new(&codes[(end - n) * 5..end * 5], &[n, 5]).unwrap(), end - n..end))
        .collect();
    let map = maps::dequantize::<u8>();
    let of = |rows: std::ops::Range<usize>| (Given::PerRow(&scales[rows]), Given::All(3));
    let parts: Vec<_> = views.iter().map(|(view, rows)| view.map(&map, of(rows.clone()))).collect();
    let table = chunks(&parts).unwrap();
    let ids: Vec<u32> = (0..20_000).map(|at| (mixed(7, at) % rows as u64) as u32).collect();
    let number = |id: u32, column: usize| (f32::from(codes[id as usize * 5 + column]) - 3.0) * scales[id as usize];
    let expected: Vec<f32> = ids
        .iter()
        .flat_map(|&id| (0..5).map(move |column| (id, column)))
        .map(|(id, column)| number(id, column))
        .collect();
    let offsets: Vec<u32> = (0..500).map(|bag| bag * 40).collect();
    let of_bag = |bag: &u32| {
        let ids = &ids[*bag as usize..][..40];
        (0..5).map(move |column| ids.iter().fold(0.0, |sum, &id| sum + number(id, column)))
    };
    let sums: Vec<f32> = offsets.iter().flat_map(of_bag).collect();
    for level in levels() {
        let op = Gather::new(0).level(level).par(Par::Threads(3));
        assert_eq!(op.run(&table, &ids).unwrap().as_slice(), expected, "{op:?}");
        let sum = EmbeddingBag::new(Reduction::Add).level(level).par(Par::Threads(3));
        assert_eq!(sum.run(&table, &Bags::new(&ids, &offsets)).unwrap().as_slice(), sums, "{sum:?}");
    }
    // The first wrong index is told, whichever thread finds it.
    let mut wrong = ids.clone();
    (wrong[19_000], wrong[9000]) = (rows as u32, u32::MAX);
    let refused = Gather::new(0).par(Par::Threads(3)).run(&table, &wrong).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { position: 9000, .. }), "{refused}");
    // One table, several threads of the caller.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(Gather::new(0).run(&table, &ids).unwrap().as_slice(), expected));
        }
    });
}

gather_tests::needs_64_bits!(
    h21_chunks_of_one_row_many_times,
    h21_a_hundred_thousand_chunks_of_one_row,
    h21_more_rows_than_can_be_counted,
);

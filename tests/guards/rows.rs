//! Rows of every length in bytes, moved by Gather, GatherNd and BatchToSpace.

use gather_core::{BatchToSpace, Error, Gather, GatherNd, Level, Method, OutOfBounds, Par, Spec, View};
use gather_tests::oracle;
use gather_tests::support::gathers;

use crate::{IndexOp, PLACES, Pages, Picks, TIGHT, levels, samples};

/// Row lengths: all that have special code, and those near the limits of the size classes.
fn rows() -> impl Iterator<Item = usize> {
    let around = [128, 256, 1024, 4096].into_iter().flat_map(|edge| edge - 2..=edge + 2);
    (1..=80).chain(around)
}

#[test]
fn gathered() {
    let mut pages = Pages::new();
    for (number, row) in rows().enumerate() {
        let data = samples::<u8>(&[5, row]);
        for count in [1, 2, 3, 9] {
            let picks = Picks::<i32>::new(&[count], 5, number + count);
            let expected = oracle::gather(&data, &picks.exact, 0, 0, picks.rules, &0).unwrap();
            for level in levels() {
                let par = if count == 9 { Par::Threads(2) } else { Par::Seq };
                let op = Gather::new(0).tuned(&picks, level).par(par);
                pages.index(&PLACES, &op, (&data, &picks, &expected));
                let taken = pages.by_every_method(&PLACES, &op, (&data, &picks, &expected));
                let streams = row >= 64 && cfg!(target_arch = "x86_64");
                assert_eq!(taken.contains(&Method::Streamed), streams, "{op:?} of {row} bytes: {taken:?}");
            }
        }
    }
}

#[test]
fn gathered_by_tuples() {
    let mut pages = Pages::new();
    for (number, row) in rows().enumerate() {
        let data = samples::<u8>(&[2, 3, row]);
        let picks = Picks::<i64>::new(&[9, 2], 2, number);
        let expected = oracle::gather_nd(&data, &picks.exact, 0, picks.rules, &0).unwrap();
        for level in levels() {
            let op = GatherNd::new().tuned(&picks, level);
            pages.index(&PLACES, &op, (&data, &picks, &expected));
        }
    }
}

#[test]
fn copied() {
    let mut pages = Pages::new();
    for row in rows() {
        let data = samples::<u8>(&[4, 3, row]);
        for (block, begin, end) in [(1, 0, 0), (2, 1, 0), (4, 2, 5)] {
            let (blocks, begins, ends) = ([1, block, 1], [0, begin, 0], [0, end, 0]);
            let expected = oracle::batch_to_space(&data, &blocks, &begins, &ends);
            for level in levels() {
                let signed = |list: [usize; 3]| list.map(|x| x as i64);
                let op = BatchToSpace::new(&signed(blocks), &signed(begins), &signed(ends)).level(level);
                pages.copy(&PLACES, &op, (&data, &expected));
            }
        }
    }
}

/// Rows of 12 bytes of large tables are resolved and moved in one loop.
#[test]
fn short_rows_of_large_tables() {
    let mut pages = Pages::new();
    let row = 12;
    let dim = (7 << 20) / row;
    let data = samples::<u8>(&[dim, row]);
    let table = View::new(&data.values, &[dim, row]).unwrap();
    for (number, lanes) in [7, 8, 9, 21, 64, 65, 16, 30].into_iter().enumerate() {
        let picks = Picks::<i64>::new(&[lanes], dim, number);
        let expected = oracle::gather(&data, &picks.exact, 0, 0, picks.rules, &0).unwrap();
        for level in levels() {
            let op = Gather::new(0).tuned(&picks, level);
            pages.index(&TIGHT, &op, (&data, &picks, &expected));
            let taken = pages.by_every_method(&TIGHT, &op, (&data, &picks, &expected));
            assert_eq!(taken.contains(&Method::Gathered), gathers(level), "{op:?}: {taken:?}");
        }
        for bad in [0, lanes / 2, lanes - 1] {
            let mut indices = vec![0u32; lanes];
            indices[bad] = dim as u32;
            let op = Gather::new(0).out_of_bounds(OutOfBounds::Error);
            // A few rows are moved directly unless the method is forced.
            let forced = gathers(Level::preferred()).then(|| op.method(Method::Gathered));
            for op in [Some(op), forced].into_iter().flatten() {
                let plan = op.plan(&table, &Spec::<u32>::new(&[lanes]).unwrap()).unwrap();
                let ahead = plan.explain().method() == Method::Gathered;
                assert_eq!(plan.explain().to_string().contains(" ahead"), ahead, "{}", plan.explain());
                let error = plan.run(&table, &View::new(&indices, &[lanes]).unwrap()).unwrap_err();
                let Error::IndexOutOfRange { position, .. } = &error else { panic!("{error}") };
                assert_eq!(*position, bad, "{error}");
            }
        }
    }
}

/// Tables beyond the second-level cache are prefetched, up to the last rows.
#[test]
fn fetched_ahead() {
    let mut pages = Pages::new();
    for row in [33, 64, 100, 300] {
        let dim = (5 << 18) / row;
        let data = samples::<u8>(&[dim, row]);
        let picks = Picks::<u32>::new(&[40], dim, row);
        let expected = oracle::gather(&data, &picks.exact, 0, 0, picks.rules, &0).unwrap();
        for level in levels() {
            let op = Gather::new(0).tuned(&picks, level);
            pages.index(&TIGHT, &op, (&data, &picks, &expected));
        }
    }
    // Along the last axis, the next slice is prefetched.
    let data = samples::<f32>(&[300, 1024]);
    let picks = Picks::<i32>::new(&[65], 1024, 0);
    let expected = oracle::gather(&data, &picks.exact, 1, 0, picks.rules, &0.0).unwrap();
    for level in levels() {
        let op = Gather::new(1).level(level);
        pages.index(&TIGHT, &op, (&data, &picks, &expected));
    }
}

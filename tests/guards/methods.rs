//! Every method and every special code path of a level: tables, panels, planes, tuples, and axes beyond 32 bits.

use gather_core::{Gather, GatherElements, GatherNd, Index, Method, OutOfBounds, Par};
use gather_tests::oracle::{self, Dense};
use gather_tests::support::table_entries;

use crate::{IndexOp, Pages, Picks, Sample, TIGHT, lengths, levels, samples};

/// Tables of every size that fits in registers.
fn tables<T: Sample, I: Index + TryFrom<i128>>() {
    let mut pages = Pages::new();
    for (level, dim) in
        levels().flat_map(|level| (1..=table_entries(level, size_of::<T>())).map(move |dim| (level, dim)))
    {
        let data = samples::<T>(&[dim]);
        let counts: Vec<usize> = if dim % 16 < 2 { lengths().collect() } else { vec![1, 31, 32, 33, 100] };
        // A table takes two rows or more.
        for (number, count) in counts.into_iter().filter(|&count| count > 1).enumerate() {
            let picks = Picks::<I>::new(&[count], dim, number + dim);
            let expected = oracle::gather(&data, &picks.exact, 0, 0, picks.rules, &T::ZERO).unwrap();
            let op = Gather::new(0).negative_index(picks.negative).out_of_bounds(picks.out);
            let op = op.level(level).method(Method::Table);
            pages.index(&TIGHT, &op, (&data, &picks, &expected));
        }
    }
}

#[test]
fn tables_of_bytes() {
    tables::<u8, u8>();
    tables::<u8, i8>();
    tables::<u8, i32>();
}

#[test]
fn tables_of_words_and_pairs() {
    tables::<u16, u8>();
    tables::<u16, i64>();
    tables::<f32, u8>();
    tables::<f32, i64>();
    tables::<u64, i32>();
    tables::<u64, u64>();
}

/// GatherElements off the last axis: in packed panels, and read from where data lies.
fn elements<T: Sample>() {
    let mut pages = Pages::new();
    let shapes = [([1, 5], [4, 5]), ([300, 70], [20, 70])];
    // The last dimension is the longest, so that the inner loop runs along the rows.
    let shapes = shapes.into_iter().chain(lengths().skip(2).map(|lanes| ([6, lanes], [lanes.min(3), lanes])));
    for (number, (shape, index_shape)) in shapes.enumerate() {
        let data = samples::<T>(&shape);
        let picks = Picks::<i32>::new(&index_shape, shape[0], number);
        let expected = oracle::gather_elements(&data, &picks.exact, 0, picks.rules, &T::ZERO).unwrap();
        for level in levels() {
            let op = GatherElements::new(0).negative_index(picks.negative).out_of_bounds(picks.out);
            let op = op.level(level).par(Par::Threads(1 + number % 2));
            let taken = pages.by_every_method(&TIGHT, &op, (&data, &picks, &expected));
            let all = [Method::Direct, Method::Blocks, Method::Chunks, Method::Panels];
            assert!(all.iter().all(|method| taken.contains(method)), "{op:?}: {taken:?}");
        }
    }
}

#[test]
fn panels_and_planes() {
    elements::<u8>();
    elements::<u16>();
    elements::<f32>();
    elements::<u64>();
    elements::<[u64; 2]>();
    elements::<[u8; 3]>();
    elements::<[u32; 3]>();
}

/// Tuples of up to five components.
fn tuples<T: Sample, I: Index + TryFrom<i128>>() {
    let mut pages = Pages::new();
    for components in 0..=5 {
        let shape = &[3, 5, 2, 4, 3][..components];
        let data = samples::<T>(shape);
        for (number, count) in lengths().enumerate() {
            let picks = Picks::<I>::new(&[count, components], 2, number);
            let expected = oracle::gather_nd(&data, &picks.exact, 0, picks.rules, &T::ZERO).unwrap();
            for level in levels() {
                let op = GatherNd::new().tuned(&picks, level);
                pages.index(&TIGHT, &op, (&data, &picks, &expected));
                let taken = pages.by_every_method(&TIGHT, &op, (&data, &picks, &expected));
                assert!(taken.contains(&Method::Direct), "{op:?}: {taken:?}");
            }
        }
    }
}

#[test]
fn tuples_of_components() {
    tuples::<u8, u8>();
    tuples::<f32, i64>();
    tuples::<u64, i32>();
    tuples::<[u64; 2], u16>();
}

#[test]
#[cfg(target_pointer_width = "64")]
fn beyond_32_bits() {
    use gather_core::View;
    use gather_tests::guard::{Guarded, Side};

    let mut memory = [(); 3].map(|()| Guarded::new(1));
    for side in Side::ALL {
        let [data, indices, out] = &mut memory;
        // An axis of 2^33 rows, all of them the same three elements.
        let data = View::strided(data.place(side, 0, 3, |at| at as u8 + 7), &[1 << 33, 3], &[0, 1], 0).unwrap();
        let picked = [0i64, -1, (1 << 33) - 1, 1 << 32, 1 << 33];
        let indices = View::new(indices.place(side, 0, 5, |at| picked[at]), &[5]).unwrap();
        let out = out.place(side, 0, 15, |_| 99u8);
        for level in levels() {
            let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level);
            op.run_into(&data, &indices, &mut gather_core::ViewMut::new(out, &[5, 3]).unwrap()).unwrap();
            assert_eq!(out, [&[7, 8, 9].repeat(4)[..], &[0; 3]].concat());
        }
    }
}

#[test]
fn an_axis_without_elements() {
    let mut pages = Pages::new();
    let none = Dense { shape: vec![0, 3], values: Vec::<f32>::new() };
    let picks = Picks::<u8>::new(&[17], 9, 1);
    let expected = Dense::from_fn(&[17, 3], |_| 0.0f32);
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    pages.index(&TIGHT, &op, (&none, &picks, &expected));
}

/// Dynamic plans for 0 and 1 index a stride of 7 apart, on more of them, which end at a guard.
#[test]
fn counts_beyond_the_expected_one() {
    use gather_core::{Layout, Spec, View, ViewMut};
    use gather_tests::guard::{Guarded, Side};

    let mut memory = [(); 3].map(|()| Guarded::new(64 * 7 * 8));
    for (side, expected, count) in
        Side::ALL.into_iter().flat_map(|side| [0, 1].into_iter().flat_map(move |e| [2, 3, 64].map(|c| (side, e, c))))
    {
        let [data, indices, out] = &mut memory;
        let data = View::new(data.place(side, 0, 12, |at| at as u32), &[3, 4]).unwrap();
        let len = (count - 1) * 7 + 1;
        let ids = indices.place(side, 0, len, |at| if at % 7 == 0 { (at / 7 % 3) as i64 } else { i64::MAX });
        let ids = View::strided(ids, &[count], &[7], 0).unwrap();
        let out = out.place(side, 0, count * 4, |_| 99u32);
        for level in levels() {
            let op = Gather::new(0).level(level);
            let spec = Spec::<i64>::from_layout(&Layout::strided(&[expected], &[7]).unwrap());
            let plan = op.plan_any_count(&data, &spec).unwrap();
            plan.run_into(&data, &ids, &mut ViewMut::new(out, &[count, 4]).unwrap()).unwrap();
            let row = |at: usize| (0..4).map(move |column| (at % 3 * 4 + column) as u32);
            assert_eq!(out, (0..count).flat_map(row).collect::<Vec<_>>());
        }
    }
}

gather_tests::needs_64_bits!(beyond_32_bits);

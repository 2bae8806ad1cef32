//! Scatters whose targets ascend, and those that seem to: the same as sorted updates, to the bit.

use gather_core::{Element, Error, Index, Method, Par, Reduction, ScatterElements, ScatterNd, View, ViewMut};
use half::{bf16, f16};

use crate::support::{available_levels, mixed};

/// Rows of the destination.
const DIM: usize = 40;

/// Targets of `n` updates: ascending ones of which some repeat, and lists that break off.
fn targets(n: usize) -> Vec<Vec<usize>> {
    let of = |target: &dyn Fn(usize) -> usize| (0..n).map(target).collect::<Vec<_>>();
    let sorted = |seed| {
        let mut list = of(&|k| (mixed(seed, k) % DIM as u64) as usize);
        list.sort_unstable();
        list
    };
    let mut lists =
        vec![of(&|_| 0), of(&|_| DIM - 1), of(&|k| k * DIM / n), of(&|k| k.min(DIM - 1)), sorted(1), sorted(2)];
    for at in [0, n / 2, n - 1] {
        let mut broken = sorted(3);
        broken[at] = (broken[at] + DIM / 2) % DIM;
        lists.push(broken);
    }
    lists
}

fn agrees<T: Element + PartialEq, I: Index>(number: impl Fn(u64) -> T, index: impl Fn(usize) -> I, subtracts: bool) {
    for (n, row) in [(31, 1), (32, 1), (700, 1), (300, 3), (150, 33), (90, 70)] {
        for list in targets(n) {
            let ids: Vec<I> = list.iter().map(|&target| index(target)).collect();
            let of = |seed, len: usize| (0..len).map(|k| number(mixed(seed, k))).collect::<Vec<T>>();
            let (data, updates) = (of(5, 2 * DIM * row), of(6, 2 * n * row));
            let reductions = [Reduction::Add, Reduction::Max, Reduction::Min, Reduction::Sub, Reduction::Mean];
            for reduction in reductions.into_iter().take(if subtracts { 5 } else { 3 }) {
                for (level, include_self) in
                    available_levels().into_iter().flat_map(|level| [true, false].map(|own| (level, own)))
                {
                    let rows = ScatterNd::new().reduction(reduction).include_self(include_self).level(level);
                    let list = View::new(&ids, &[n, 1]).unwrap();
                    let of_rows = View::new(&updates[..n * row], &[n, row]).unwrap();
                    let into = |op: &ScatterNd| {
                        let mut out = data[..DIM * row].to_vec();
                        op.run_on(&mut ViewMut::new(&mut out, &[DIM, row]).unwrap(), &list, &of_rows).unwrap();
                        out
                    };
                    let expected = into(&rows.method(Method::Grouped));
                    let text = format!("{reduction}, {include_self}, {level}, {n} of {row}");
                    assert!(into(&rows) == expected && into(&rows.par(Par::Threads(3))) == expected, "{text}");
                    // One update for all, and updates from the last to the first.
                    for (step, first) in [(0, 0), (-(row as isize), (n - 1) * row)] {
                        let of_rows = View::strided(&updates, &[n, row], &[step, 1], first).unwrap();
                        let [got, expected] = [None, Some(Method::Grouped)].map(|method| {
                            let op = method.map_or(rows, |method| rows.method(method));
                            let mut out = data[..DIM * row].to_vec();
                            op.run_on(&mut ViewMut::new(&mut out, &[DIM, row]).unwrap(), &list, &of_rows).unwrap();
                            out
                        });
                        assert!(got == expected, "{text}, steps of {step}");
                    }
                    // The same indices for two coordinates outside.
                    let twice: Vec<I> = ids.iter().chain(&ids).copied().collect();
                    let batches = ScatterNd::new().batch_dims(1).reduction(reduction).include_self(include_self);
                    let stretched = View::strided(&twice, &[2, n, 1], &[0, 1, 1], 0).unwrap();
                    let both = View::new(&updates, &[2, n, row]).unwrap();
                    let [got, expected] = [None, Some(Method::Grouped)].map(|method| {
                        let op = method.map_or(batches, |method| batches.method(method)).level(level);
                        let mut out = data.clone();
                        op.run_on(&mut ViewMut::new(&mut out, &[2, DIM, row]).unwrap(), &stretched, &both).unwrap();
                        out
                    });
                    assert!(got == expected, "{text}, batches");
                }
            }
        }
    }
}

#[test]
fn runs_are_reduced_as_sorted_updates() {
    agrees(|bits| (bits % 97) as f32 / 8.0 - 5.0, |target| target as i64, true);
    agrees(|bits| (bits % 97) as i32 - 40, |target| target as u32, true);
}

#[test]
fn runs_of_wide_numbers() {
    agrees(|bits| (bits % 97) as f64 / 8.0 - 5.0, |target| target as i32, true);
    agrees(|bits| bits as i64, |target| target as u64, true);
}

#[test]
fn runs_of_halves() {
    agrees(|bits| f16::from_f32((bits % 97) as f32 / 8.0 - 5.0), |target| target as i64, true);
    agrees(|bits| bf16::from_f32((bits % 97) as f32 / 8.0 - 5.0), |target| target as i64, true);
}

#[test]
fn runs_of_cold_pairs() {
    agrees(|bits| bits as u8, |target| target as i64, true);
    agrees(|bits| bits as u16, |target| target as u16, true);
    agrees(|bits| bits % 3 == 0, |target| target as i64, false);
}

/// Nothing is written then.
#[test]
fn an_index_out_of_range_after_ascending_ones() {
    for bad in [DIM as i64, i64::MIN, -1 - DIM as i64] {
        for reduction in [Reduction::Add, Reduction::Mean, Reduction::Max] {
            let mut ids: Vec<i64> = (0..200).map(|k| k / 10).collect();
            ids[199] = bad;
            let (ids, updates) = (View::new(&ids, &[200]).unwrap(), [1.0f32; 200]);
            let updates = View::new(&updates, &[200]).unwrap();
            for include_self in [true, false] {
                let op = ScatterElements::new(0).reduction(reduction).include_self(include_self);
                let mut out = [7.0f32; DIM];
                let got = op.run_on(&mut ViewMut::new(&mut out, &[DIM]).unwrap(), &ids, &updates);
                assert!(matches!(got, Err(Error::IndexOutOfRange { .. })), "{bad}, {reduction}: {got:?}");
                assert!(out.iter().all(|&kept| kept == 7.0), "{bad}, {reduction}, {include_self}");
            }
        }
    }
}

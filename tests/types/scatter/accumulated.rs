//! Scatters whose intermediate results are no elements: beside the destination, or sorted where that is much larger
//! than the updates.

use gather_core::{
    Element, Index, Level, Method, Par, Reduction, ScatterElements, ScatterNd, ScatterPlan, Spec, View, ViewMut,
};
use half::f16;

use crate::support::{available_levels, mixed, runs_as};

/// The plan of a scatter of rows.
fn plan<T: Element>(op: &ScatterNd, [updates, destinations, row]: [usize; 3]) -> ScatterPlan<T, i64> {
    let rows = |shape: &[usize]| Spec::<T>::new(shape).unwrap();
    op.plan(&rows(&[destinations, row]), &Spec::new(&[updates, 1]).unwrap(), &rows(&[updates, row])).unwrap()
}

/// The bytes of scratch that a plan says it takes beside the destination.
fn bytes_beside(text: &str) -> usize {
    let (before, _) = text.split_once(" in all").unwrap_or_else(|| panic!("no bytes: {text}"));
    before.rsplit(' ').next().unwrap().parse().unwrap()
}

/// A sum for each element and a count for each row, or a count alone where rows are reduced where they lie: where that
/// is at most 16 bytes for each update, half of what sorted updates take, or a quarter of the update.
#[test]
fn scratch_is_small_beside_the_updates() {
    fn check<T: Element>(reduction: Reduction, include_self: bool, record: impl Fn(usize) -> usize) {
        let op = ScatterNd::new().reduction(reduction).include_self(include_self);
        for [updates, row] in [[400, 1], [400, 3], [50, 64], [4000, 7]] {
            for destinations in [1, 4, 100, 1000, 10_000] {
                let plan = plan::<T>(&op, [updates, destinations, row]);
                let (explained, text) = (plan.explain(), plan.explain().to_string());
                let (beside, most) = (destinations * record(row), updates * (size_of::<T>() * row / 4).max(16));
                if beside <= most {
                    assert_eq!(explained.method(), Method::Accumulated, "{text}");
                    let said = format!(", {} bytes a row of the output, {beside} in all", record(row));
                    assert!(text.contains("method accumulated by ") && text.contains(&said), "{text}");
                    assert!(bytes_beside(&text) <= most);
                } else {
                    assert_eq!(explained.method(), Method::Grouped, "{text}");
                    assert!(text.contains("method grouped"), "{text}");
                }
            }
        }
    }
    check::<f32>(Reduction::Mean, true, |row| if row <= 4 { 4 * row + 4 } else { 4 });
    check::<f32>(Reduction::Max, false, |row| if row <= 4 { 4 * row + 4 } else { 4 });
    check::<u8>(Reduction::Min, false, |_| 4);
    check::<f64>(Reduction::Mul, false, |_| 4);
    check::<i64>(Reduction::Mean, false, |row| 16 * row + 8);
    // Whether a sum of halves that begins with the destination has changed, the sum says.
    check::<f16>(Reduction::Add, true, |row| 4 * row);
    check::<f16>(Reduction::Add, false, |row| 4 * row + 4);
}

/// Where elements are their own sums, and the destination counts, nothing is beside it unless that is asked for.
#[test]
fn sums_of_elements_are_where_they_lie() {
    let op = ScatterNd::new().reduction(Reduction::Add);
    assert_eq!(plan::<f32>(&op, [400, 4, 3]).explain().method(), runs_as(Method::Chunks));
    let forced = plan::<f32>(&op.method(Method::Accumulated), [400, 4, 3]);
    assert_eq!(forced.explain().method(), Method::Accumulated);
}

/// Short rows are taken by their indices, as long as these are positions, of every index type and along both axes.
#[test]
fn short_rows_by_indices_of_any_type() {
    fn check<I: Index>(index: impl Fn(i64) -> I, least: i64) {
        const DIM: usize = 20;
        for (row, level) in (1..=5).flat_map(|row| available_levels().into_iter().map(move |level| (row, level))) {
            for (reduction, include_self) in [(Reduction::Mean, true), (Reduction::Add, false), (Reduction::Mul, false)]
            {
                // One index from the end stands among those that are positions.
                for bad in [None, Some(0), Some(130), Some(299)] {
                    let at = |k: usize| if Some(k) == bad { least } else { (mixed(5, k) % DIM as u64) as i64 };
                    let ids: Vec<I> = (0..300).map(|k| index(at(k))).collect();
                    let updates: Vec<f16> = (0..300 * row).map(|k| f16::from_f32((k % 37) as f32 / 16.0)).collect();
                    let rows = ScatterNd::new().reduction(reduction).include_self(include_self).level(level);
                    let along = ScatterElements::new(i64::from(row == 2)).reduction(reduction);
                    let along = along.include_self(include_self).level(level).par(Par::Seq);
                    let shape = if row == 2 { [row, 300] } else { [300, row] };
                    let spread: Vec<I> = (0..300 * row).map(|k| ids[k % 300]).collect();
                    let results = [Method::Accumulated, Method::Grouped].map(|method| {
                        let mut out = vec![f16::ONE; 5 * DIM];
                        let mut of_rows = ViewMut::new(&mut out[..DIM * row], &[DIM, row]).unwrap();
                        let (list, new) =
                            (View::new(&ids, &[300, 1]).unwrap(), View::new(&updates, &[300, row]).unwrap());
                        rows.method(method).run_on(&mut of_rows, &list, &new).unwrap();
                        let dims = if row == 2 { [row, DIM] } else { [DIM, row] };
                        let mut elements = ViewMut::new(&mut out[..DIM * row], &dims).unwrap();
                        let (list, new) = (View::new(&spread, &shape).unwrap(), View::new(&updates, &shape).unwrap());
                        along.method(method).run_on(&mut elements, &list, &new).unwrap();
                        out
                    });
                    assert!(results[0] == results[1], "{reduction}, rows of {row}, {bad:?}, {level:?}");
                }
            }
        }
    }
    check::<i32>(|index| index as i32, -1);
    check::<i64>(|index| index, -20);
    check::<i8>(|index| index as i8, -3);
    check::<u16>(|index| index as u16, 19);
}

/// No row is written where an index is out of range, though nothing has looked at the indices before.
#[test]
fn nothing_is_written_where_an_index_is_out_of_range() {
    for (place, rows) in [0, 150, 299].into_iter().flat_map(|place| [1, 3, 9].map(|row| (place, row))) {
        let mut ids: Vec<i64> = (0..300).map(|k| k % 4).collect();
        ids[place] = 4;
        let (list, new) = (View::new(&ids, &[300, 1]).unwrap(), vec![1.5f32; 300 * rows]);
        for (reduction, method, par) in [Reduction::Mean, Reduction::Max].into_iter().flat_map(|reduction| {
            [Method::Accumulated, Method::Grouped]
                .into_iter()
                .flat_map(move |method| [Par::Seq, Par::Threads(4)].map(|par| (reduction, method, par)))
        }) {
            let op = ScatterNd::new().reduction(reduction).include_self(false).method(method).par(par);
            let mut out = vec![7.0f32; 4 * rows];
            let new = View::new(&new, &[300, rows]).unwrap();
            let got = op.level(Level::Scalar).run_on(&mut ViewMut::new(&mut out, &[4, rows]).unwrap(), &list, &new);
            assert!(got.is_err() && out.iter().all(|&x| x == 7.0), "{reduction}, {method}, {par:?}, {place}, {rows}");
        }
    }
}

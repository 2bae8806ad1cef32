//! Pages that are asked for: what is counted, and that nothing else changes.

use gather_core::{AdviceStats, DynView, Gather, GatherElements, GatherNd, Given, OutOfBounds, View, maps};

#[test]
fn needed_pages_are_counted_and_the_call_goes_on() {
    let page = 4096;
    let memory: Vec<u8> = (0..80 * page).map(|at| (at % 251) as u8).collect();
    let first = memory.as_ptr().addr().next_multiple_of(page) - memory.as_ptr().addr();
    let table = View::new(&memory[first..first + 64 * page], &[64, page]).unwrap();
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let ids = View::new(&[60i32, 3, -1, 4, 900, 3], &[6]).unwrap();
    let told = op.will_need(&table, &ids);
    let plan = op.plan(&table, &ids).unwrap();
    assert_eq!(plan.will_need(&table, &ids), told);
    let numbers = table.map(&maps::dequantize(), (Given::All(1.0), Given::All(0)));
    assert_eq!(op.will_need(&numbers, &ids), told);
    assert_eq!(op.plan(&numbers, &ids).unwrap().will_need(&numbers, &ids), told);
    assert_eq!(op.will_need(&DynView::from(&table), &ids), told);
    if cfg!(unix) {
        // Pages of another size would share other ranges.
        assert_eq!(told.rows, 5);
        assert!(told.ranges >= 1 && told.bytes >= 4 * page && told.bytes.is_multiple_of(page), "{told:?}");
    }
    // Others are refused by the operator, or of other layouts than the plan's.
    assert_eq!(Gather::new(7).will_need(&table, &ids), AdviceStats::default());
    assert_eq!(plan.will_need(&table, &View::new(&[0i32], &[1]).unwrap()), AdviceStats::default());
    let none = View::new(&memory[..0], &[0, page]).unwrap();
    assert_eq!(op.will_need(&none, &ids), AdviceStats::default());
    let tuples = View::new(&[1i64, 2, 5, 6, 64, 0], &[3, 2]).unwrap();
    let told = GatherNd::new().out_of_bounds(OutOfBounds::Zero).will_need(&table, &tuples);
    assert!(told.rows == 2 || !cfg!(unix), "{told:?}");
    let square = View::new(&[1u8; 640], &[64, 10]).unwrap();
    let told = GatherElements::new(1).will_need(&table, &square);
    assert!(told.rows == 640 || !cfg!(unix), "{told:?}");
}

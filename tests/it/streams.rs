//! Rows that are prefetched and written past the caches: outputs beyond the threshold, rows of any length, starting
//! anywhere in a cache line, with table and output next to guard pages.

use gather_core::{Gather, Layout, Level, OutOfBounds, Par, View, ViewMut};
use gather_tests::guard::{Guarded, Side};

/// Bytes of an output from which rows are written past the caches.
const STREAMED: usize = 24 << 20;
/// Rows of the table. It exceeds the second-level cache for every row length below.
const TABLE: usize = 1500;

/// Gathers rows of `row` bytes. Table and output lie `shift` bytes away from the ends of their memory.
fn check(row: usize, side: Side, shift: usize, level: Level, par: Par) {
    let lanes = STREAMED / row + 1;
    let (mut before, mut behind) = (Guarded::new(TABLE * row + shift), Guarded::new(lanes * row + shift));
    let table = &*before.place(side, shift, TABLE * row, |at| (at % 251) as u8);
    let out = behind.place(side, shift, lanes * row, |_| 7u8);
    // Every 97th index is out of range.
    let indices: Vec<u32> = (0..lanes).map(|at| if at % 97 == 96 { 5000 } else { at * 7 % TABLE } as u32).collect();
    let (data, index) = (View::new(table, &[TABLE, row]).unwrap(), View::new(&indices, &[lanes]).unwrap());
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level).par(par);
    let plan = op.plan::<u8, u32>(data.layout(), &Layout::contiguous(&[lanes]).unwrap()).unwrap();
    // Elsewhere nothing is written past the caches, and another method must give the same.
    let streams = plan.explain().to_string().contains("method streamed");
    assert_eq!(streams, cfg!(target_arch = "x86_64"), "{}", plan.explain());

    plan.run_into(&data, &index, &mut ViewMut::new(out, &[lanes, row]).unwrap()).unwrap();
    let zeros = vec![0; row];
    for (at, (&index, got)) in indices.iter().zip(out.chunks(row)).enumerate() {
        let expected = table.chunks(row).nth(index as usize).unwrap_or(&zeros);
        assert!(got == expected, "row {at} of {row} bytes, {shift} from the {side:?}");
    }
}

#[test]
fn long_rows_of_large_outputs() {
    let level = Level::preferred();
    for (row, side, shift) in [
        (1024, Side::Front, 0),
        (1024, Side::Back, 16),
        (1025, Side::Back, 0),
        (1087, Side::Front, 63),
        (3072, Side::Front, 16),
        (4095, Side::Back, 1),
    ] {
        check(row, side, shift, level, Par::Seq);
    }
    check(1536, Side::Back, 0, level, Par::Threads(2));
    check(1100, Side::Front, 5, Level::Scalar, Par::Seq);
}

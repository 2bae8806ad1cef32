//! Rows that are fetched ahead and written past the caches: outputs beyond the threshold, of rows of any length, that begin
//! anywhere in a cache line.

use gather_core::{Gather, Layout, Level, OutOfBounds, Par, View, ViewMut};

/// Bytes from which on rows are written past the caches.
const STREAMED: usize = 24 << 20;
/// Rows of the table, which lies beyond the second-level cache for every row below.
const TABLE: usize = 1500;

/// Gathers rows of `row` bytes into an output that begins `start` bytes after a cache line.
fn check(row: usize, start: usize, level: Level, par: Par) {
    let lanes = STREAMED / row + 1;
    let table: Vec<u8> = (0..TABLE * row).map(|at| (at % 251) as u8).collect();
    // Every 97th is out of range.
    let indices: Vec<u32> = (0..lanes).map(|at| if at % 97 == 96 { 5000 } else { at * 7 % TABLE } as u32).collect();
    let (data, index) = (View::new(&table, &[TABLE, row]).unwrap(), View::new(&indices, &[lanes]).unwrap());
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level).par(par);
    let plan = op.plan::<u8, u32>(data.layout(), &Layout::contiguous(&[lanes]).unwrap()).unwrap();
    assert!(plan.explain().to_string().contains("past the caches"), "{}", plan.explain());

    let mut memory = vec![7u8; lanes * row + 192];
    let start = memory.as_ptr().align_offset(64) + start;
    plan.run_into(&data, &index, &mut ViewMut::new(&mut memory[start..start + lanes * row], &[lanes, row]).unwrap())
        .unwrap();
    for (at, (&index, got)) in indices.iter().zip(memory[start..].chunks(row)).enumerate() {
        let zeros = vec![0; row];
        let expected = table.chunks(row).nth(index as usize).unwrap_or(&zeros);
        assert!(got == expected, "row {at} of {row} bytes from {start} on");
    }
    assert!(memory[..start].iter().all(|&byte| byte == 7), "written before the output");
    assert!(memory[start + lanes * row..].iter().all(|&byte| byte == 7), "written after the output");
}

#[test]
fn long_rows_of_large_outputs() {
    let level = Level::preferred();
    for (row, start) in [(1024, 0), (1024, 48), (1025, 63), (1087, 1), (3072, 16), (4095, 0)] {
        check(row, start, level, Par::Seq);
    }
    check(1536, 16, level, Par::Threads(2));
    check(1100, 5, Level::Scalar, Par::Seq);
}

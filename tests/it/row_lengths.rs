//! Rows of every short length, which maps convert in chunks and row functions make in registers: beside a loop over
//! their elements, to the bit, by calls and by plans.

use gather_core::{Gather, Given, OutOfBounds, Par, TableOf, View, ViewMut, maps, row_kernels};

use crate::support::levels;

row_kernels! {
    /// Every third element stays the zero that it is.
    static MIXED = |row: &[f32], out: &mut [f32], by: f32, added: &[f32]| {
        for (at, out) in out.iter_mut().enumerate().filter(|(at, _)| at % 3 != 2) {
            *out = row[at] * by + added[at];
        }
    };
    static FAILS = |row: &[f32], out: &mut [f32]| {
        out[0] = row[0];
        assert!(row[0] < 3.0, "a row function that panics");
    };
}

const ROWS: usize = 9;

/// Where an index leads.
type Position = fn(usize) -> Option<usize>;

const POLICIES: [(OutOfBounds, Position); 3] = [
    (OutOfBounds::Zero, |id| (id < ROWS).then_some(id)),
    (OutOfBounds::Clamp, |id| Some(id.min(ROWS - 1))),
    (OutOfBounds::Wrap, |id| Some(id % ROWS)),
];

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// A call and a plan, into fresh memory and into memory that is there.
fn check(data: &impl TableOf<Gather, f32>, op: Gather, ids: &[u32], expected: &[f32], what: &str) {
    let (plan, shape) = (op.plan(data, ids).unwrap(), [ids.len(), expected.len() / ids.len()]);
    for planned in [false, true] {
        let fresh = if planned { plan.run(data, ids) } else { op.run(data, ids) }.unwrap();
        let mut memory = vec![f32::NAN; expected.len()];
        let mut out = ViewMut::new(&mut memory, &shape).unwrap();
        if planned { plan.run_into(data, ids, &mut out) } else { op.run_into(data, ids, &mut out) }.unwrap();
        assert_eq!(bits(fresh.as_slice()), bits(expected), "{what}, planned: {planned}");
        assert_eq!(bits(&memory), bits(expected), "{what}, planned: {planned}");
    }
}

#[test]
fn rows_of_every_short_length() {
    let numbers: Vec<f32> = (0..ROWS * 128).map(|at| at as f32 * 0.37 - 90.0).collect();
    let codes: Vec<u8> = (0..ROWS * 128).map(|at| (at * 31 + 7) as u8).collect();
    for (level, columns) in levels().flat_map(|level| (1..=70).chain([100, 103, 128]).map(move |n| (level, n))) {
        let shape = [ROWS, columns];
        let (table, bytes) =
            (View::new(&numbers[..ROWS * columns], &shape), View::new(&codes[..ROWS * columns], &shape));
        let (table, bytes, added) = (table.unwrap(), bytes.unwrap(), Given::All(&numbers[..columns]));
        for ((policy, position), count) in POLICIES.into_iter().flat_map(|by| [2, 3, 8, 70].map(|n| (by, n))) {
            let ids: Vec<u32> =
                (0..count).map(|at| (at * 7 + 1) % if at % 5 == 4 { 21 } else { ROWS as u32 }).collect();
            let op = Gather::new(0).out_of_bounds(policy).level(level).par(Par::Seq);
            let what = |name: &str| format!("{name} of {count} x {columns}, {policy:?} at {level}");
            let expected = |make: &dyn Fn(usize, usize, usize) -> f32| -> Vec<f32> {
                let rows = ids.iter().map(|&id| position(id as usize)).enumerate();
                rows.flat_map(|(i, row)| (0..columns).map(move |at| row.map_or(0.0, |row| make(i, row, at)))).collect()
            };
            let code = |row: usize, at: usize| f32::from(codes[row * columns + at]) - 7.0;
            let number = |row: usize, at: usize| numbers[row * columns + at];
            let mixed = |value: f32, by: f32, at: usize| if at % 3 == 2 { 0.0 } else { value * by + numbers[at] };

            for (scale, by) in [
                (Given::All(0.3), (|_, _| 0.3) as fn(usize, usize) -> f32),
                (Given::PerRow(&numbers[..ROWS]), |row, _| row as f32 * 0.37 - 90.0),
                (Given::PerElement(&numbers[..ROWS * columns]), |_, place| place as f32 * 0.37 - 90.0),
            ] {
                let data = bytes.map(&maps::dequantize(), (scale, Given::All(7)));
                let made = expected(&|_, row, at| code(row, at) * by(row, row * columns + at));
                check(&data, op, &ids, &made, &what(&format!("a map by {by:?}")));
            }
            let data = table.rows(&MIXED, (Given::All(0.3), added));
            check(&data, op, &ids, &expected(&|_, row, at| mixed(number(row, at), 0.3, at)), &what("rows"));
            let data = table.rows(&MIXED, (Given::PerRow(&numbers[..ROWS]), added));
            let made = expected(&|_, row, at| mixed(number(row, at), numbers[row], at));
            check(&data, op, &ids, &made, &what("rows by row"));
            let data = table.rows(&MIXED, (Given::PerIndex(&numbers[..count as usize]), added));
            let made = expected(&|i, row, at| mixed(number(row, at), numbers[i], at));
            check(&data, op, &ids, &made, &what("rows by index"));
            let data = bytes.map(&maps::dequantize(), (Given::All(0.5), Given::All(7)));
            let data = data.rows(&MIXED, (Given::All(0.3), added));
            let made = expected(&|_, row, at| mixed(code(row, at) * 0.5, 0.3, at));
            check(&data, op, &ids, &made, &what("decoded rows"));
        }
    }
}

#[test]
fn a_row_function_that_panics_leaves_rows_whole() {
    for columns in [1, 8, 16, 17, 24, 64, 70] {
        let numbers: Vec<f32> = (0..5).flat_map(|row| vec![row as f32; columns]).collect();
        let table = View::new(&numbers, &[5, columns]).unwrap();
        let (data, ids, mut memory) = (table.rows(&FAILS, ()), [0u32, 1, 4, 2], vec![9.0; 4 * columns]);
        let mut out = ViewMut::new(&mut memory, &[4, columns]).unwrap();
        let run = std::panic::AssertUnwindSafe(|| Gather::new(0).run_into(&data, &ids, &mut out));
        assert!(std::panic::catch_unwind(run).is_err(), "{columns} columns");
        // Rows before the one that panics are results. The row after it has its previous contents, or zeros.
        let rows: Vec<&[f32]> = memory.chunks(columns).collect();
        for (row, first) in rows.iter().zip([0.0, 1.0]) {
            assert!(row[0] == first && row[1..].iter().all(|&value| value == 0.0), "{columns} columns");
        }
        assert!([9.0, 0.0].iter().any(|last| rows[3].iter().all(|value| value == last)), "{columns} columns");
    }
}

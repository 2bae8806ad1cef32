//! Rows that are written past the caches.

use gather_core::{Gather, Method, OutOfBounds, Param, View, ViewMut, maps};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, available_levels, narrow, view};

/// Lines of an output that two rows share, within a round and from one round to the next.
#[test]
fn streamed_rows_share_lines() {
    let n = 300;
    for row in [64, 65, 100, 128, 200, 256, 257, 1030] {
        let data = Dense::from_fn(&[40, row], |at| (at * 31 % 251) as u8);
        for (negative, out_of_bounds, rules) in RULES {
            let most = if out_of_bounds == OutOfBounds::Error { 40 } else { 47 };
            let picks = Dense::from_fn(&[n], |at| (at * 7919 % most) as i128);
            let expected = oracle::gather(&data, &picks, 0, 0, rules, &0).expect("indices in range, or a policy");
            let levels = available_levels();
            for (first, level) in [0, 1, 16, 63].into_iter().flat_map(|first| levels.iter().map(move |&l| (first, l))) {
                let op = Gather::new(0).negative_index(negative).out_of_bounds(out_of_bounds).level(level);
                let op = if cfg!(target_arch = "x86_64") { op.method(Method::Streamed) } else { op };
                let mut room = vec![0xEEu8; first + n * row + 1];
                let mut out = ViewMut::new(&mut room[first..first + n * row], &[n, row]).unwrap();
                op.run_into(&view(&data), &view(&narrow::<i16>(&picks)), &mut out).unwrap();
                let what = format!("{op:?}: rows of {row} bytes from byte {first} on");
                assert!(room[first..first + n * row] == expected.values[..], "{what}");
                assert!(room[..first].iter().chain(&room[first + n * row..]).all(|&byte| byte == 0xEE), "{what}");
            }
        }
    }
}

/// Converted rows, and pieces of long ones, that share lines with those before and behind them.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "no other architecture writes past the caches")]
fn streamed_maps_share_lines() {
    let n = 300;
    for row in [16, 17, 25, 33, 70, 300, 1025, 5000] {
        let codes: Vec<u8> = (0..40 * row).map(|at| (at * 31 % 251) as u8).collect();
        let scales: Vec<f32> = (0..40).map(|at| 0.5 + at as f32).collect();
        let picks: Vec<i16> = (0..n).map(|at| (at * 7919 % 43) as i16).collect();
        let (data, picks) = (View::new(&codes, &[40, row]).unwrap(), View::new(&picks, &[n]).unwrap());
        let given = (Param::PerRow(&scales[..]), Param::Value(3));
        let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
        let expected = op.clone().method(Method::Direct).run_map(&maps::DEQUANTIZE_U8, &data, &picks, given).unwrap();
        let levels = available_levels();
        for (first, level) in [0, 1, 5, 15].into_iter().flat_map(|first| levels.iter().map(move |&l| (first, l))) {
            let op = op.clone().level(level).method(Method::Streamed);
            let mut room = vec![-1.5; first + n * row + 1];
            let mut out = ViewMut::new(&mut room[first..first + n * row], &[n, row]).unwrap();
            op.run_map_into(&maps::DEQUANTIZE_U8, &data, &picks, given, &mut out).unwrap();
            let what = format!("{op:?}: rows of {row} values from value {first} on");
            assert!(room[first..first + n * row] == *expected.as_slice(), "{what}");
            assert!(room[..first].iter().chain(&room[first + n * row..]).all(|&value| value == -1.5), "{what}");
        }
    }
}

/// What is written past the caches where nothing is forced: an output of 25 MB, on one thread and on several.
#[test]
fn converted_rows_of_large_outputs() {
    let (rows, row, n) = (500, 768, 8192);
    let codes: Vec<u8> = (0..rows * row).map(|at| (at * 31 % 251) as u8).collect();
    let picks: Vec<u32> = (0..n as u32).map(|at| at * 7919 % 500).collect();
    let (data, ids) = (View::new(&codes, &[rows, row]).unwrap(), View::new(&picks, &[n]).unwrap());
    let plan = Gather::new(0).plan_map(&maps::E4M3_TO_F32, data.layout(), ids.layout()).unwrap();
    let streamed = if cfg!(target_arch = "x86_64") { Method::Streamed } else { Method::Blocks };
    assert_eq!(plan.explain().method(), streamed);
    let out = plan.run(&data, &ids, ()).unwrap();
    for (&id, got) in picks.iter().zip(out.as_slice().chunks(row)) {
        let expected = codes[id as usize * row..][..row].iter().map(|&code| maps::e4m3_to_f32(code).to_bits());
        assert!(got.iter().map(|value| value.to_bits()).eq(expected), "row {id}");
    }
}

//! Rows that are written by non-temporal stores.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_core::{Codes, Element, Error, Gather, Given, Level, Method, OutOfBounds, Par, View, ViewMut, maps};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, available_levels, is_fallback, narrow, view};

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

/// A buffer for `len` values whose first one lies `before` bytes before the end of a cache line, and the value to begin
/// at.
fn room_from(len: usize, before: usize, value: f32) -> (Vec<f32>, usize) {
    let room = vec![value; len + 18];
    let starts = |at: &usize| (room[*at..].as_ptr().addr() + before).is_multiple_of(64);
    let first = (0..16).find(starts).expect("a multiple of 4 bytes before a line's end");
    (room, first)
}

/// Converted rows, and pieces of long ones, that share lines with those before and behind them, in one job and in
/// several, from every kind of place in a line.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "no other architecture has non-temporal stores")]
fn streamed_maps_share_lines() {
    for (row, n) in [(16, 300), (17, 1100), (25, 300), (33, 1100), (70, 300), (300, 600), (1025, 300), (5000, 20)] {
        let codes: Vec<u8> = (0..40 * row).map(|at| (at * 31 % 251) as u8).collect();
        let scales: Vec<f32> = (0..40).map(|at| 0.5 + at as f32).collect();
        let picks: Vec<i16> = (0..n).map(|at| (at * 7919 % 43) as i16).collect();
        let (data, picks) = (View::new(&codes, &[40, row]).unwrap(), View::new(&picks, &[n]).unwrap());
        let given = (Given::PerRow(&scales[..]), Given::All(3));
        let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
        let expected = op.method(Method::Direct).run(&data.map(&maps::dequantize(), given), &picks).unwrap();
        let levels = available_levels();
        for (before, level) in [0, 4, 20, 60].into_iter().flat_map(|before| levels.iter().map(move |&l| (before, l))) {
            for par in [Par::Seq, Par::Threads(3)] {
                let op = op.level(level).method(Method::Streamed).par(par);
                let (mut room, first) = room_from(n * row, before, -1.5f32);
                let mut out = ViewMut::new(&mut room[first..first + n * row], &[n, row]).unwrap();
                op.run_into(&data.map(&maps::dequantize(), given), &picks, &mut out).unwrap();
                let what = format!("{op:?}: rows of {row} values, {before} bytes before the end of a line");
                assert!(room[first..first + n * row] == *expected.as_slice(), "{what}");
                assert!(room[..first].iter().chain(&room[first + n * row..]).all(|&value| value == -1.5), "{what}");
            }
        }
    }
}

/// Three bytes of which none is like those of another value.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Triple {
    first: u8,
    rest: [u8; 2],
}

/// More bytes than are put together before they are written.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Large([u8; 4100]);

gather_core::map_kernels! {
    /// Refuses 255.
    static TRIPLES = |value: u8| -> Triple {
        assert!(value != 255, "a value that is refused");
        Triple { first: value, rest: [value ^ 0x55, !value] }
    };
    /// Repeats a byte.
    static LARGE = |value: u8| -> Large { Large([value; 4100]) };
}

/// Elements that begin in one line and end in the next stay whole when a map panics: they are new or what they were.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "no other architecture has non-temporal stores")]
fn no_element_is_torn_by_a_map_that_panics() {
    let (n, row) = (6, 700);
    let old = Triple { first: 7, rest: [7; 2] };
    let ids = View::new(&[0u8, 0, 0, 0, 1, 0], &[n]).unwrap();
    let places =
        [0, 1, 40, 255, 256, 257, 699].into_iter().flat_map(|bad| [0, 1, 2, 31, 63].map(|before| (bad, before)));
    for (bad, before) in places {
        let mut codes: Vec<u8> = (0..2 * row).map(|at| (at % row % 250) as u8).collect();
        codes[row + bad] = 255;
        let data = View::new(&codes, &[2, row]).unwrap();
        // Three bytes a value: one of 64 values in a row lies where it is asked for.
        let mut room = vec![old; n * row + 66];
        let starts = |at: &usize| (room[*at..].as_ptr().addr() + before).is_multiple_of(64);
        let first = (0..64).find(starts).expect("3 and 64 have no common factor");
        let op = Gather::new(0).method(Method::Streamed).par(Par::Seq);
        let run = || {
            let mut out = ViewMut::new(&mut room[first..first + n * row], &[n, row]).unwrap();
            op.run_into(&data.map(&TRIPLES, ()), &ids, &mut out)
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        for (at, &got) in room.iter().enumerate() {
            let code = codes[at.wrapping_sub(first) % row];
            let new = Triple { first: code, rest: [code ^ 0x55, !code] };
            let converted = (first..first + 4 * row + bad).contains(&at) && got == new;
            assert!(converted || got == old, "{got:?} at {at}, where {new:?} is new; {bad}, {before}");
        }
    }
}

/// Elements that are too large to be put together are not said to be streamed.
#[test]
fn large_elements_are_not_streamed() {
    let (data, ids) = (View::new(&[1u8, 2, 3], &[3]).unwrap(), View::new(&[2u8; 7000], &[7000]).unwrap());
    let op = Gather::new(0);
    let plan = op.plan(&data.map(&LARGE, ()), &ids).unwrap();
    assert_eq!(plan.explain().method(), Method::Blocks);
    assert!(plan.run(&data.map(&LARGE, ()), &ids).unwrap().as_slice().iter().all(|large| *large == Large([3; 4100])));
    let refused = op.method(Method::Streamed).run(&data.map(&LARGE, ()), &ids);
    assert!(matches!(refused, Err(Error::MethodUnavailable { method: Method::Streamed, .. })));
}

/// What is written by non-temporal stores where nothing is forced: an output of 25 MB, on one thread and on several.
#[test]
fn converted_rows_of_large_outputs() {
    let (rows, row, n) = (500, 769, 8192);
    let codes: Vec<u8> = (0..rows * row).map(|at| (at * 31 % 251) as u8).collect();
    let picks: Vec<u32> = (0..n as u32).map(|at| at * 7919 % 500).collect();
    let (data, ids) = (View::new(&codes, &[rows, row]).unwrap(), View::new(&picks, &[n]).unwrap());
    for par in [Par::Seq, Par::Threads(3)] {
        let numbers = data.map(&maps::e4m3::<f32>(), ());
        let plan = Gather::new(0).par(par).plan(&numbers, &ids).unwrap();
        let streams = cfg!(target_arch = "x86_64") && !is_fallback(Level::preferred());
        let streamed = if streams { Method::Streamed } else { Method::Blocks };
        assert_eq!(plan.explain().method(), streamed);
        let out = plan.run(&numbers, &ids).unwrap();
        for (&id, got) in picks.iter().zip(out.as_slice().chunks(row)) {
            let expected = codes[id as usize * row..][..row].iter().map(|&code| maps::e4m3_to_f32(code).to_bits());
            assert!(got.iter().map(|value| value.to_bits()).eq(expected), "row {id}");
        }
    }
}

/// Block-quantised data in an output of 25 MB, against the same rows in outputs that are not streamed.
#[test]
fn block_quantized_rows_of_large_outputs() {
    let (rows, row, n) = (300, 800, 8192);
    let codes: Vec<u8> = (0..rows * row / 2).map(|at| (at * 31 % 253) as u8).collect();
    let scales: Vec<f32> = (0..rows * row / 32).map(|at| 0.25 + (at % 97) as f32).collect();
    let picks: Vec<i32> = (0..n).map(|at| at * 7919 % 300).collect();
    let data = View::new(&codes, &[rows, row / 2]).unwrap();
    let scales = View::new(&scales, &[rows, row / 32]).unwrap();
    for par in [Par::Seq, Par::Threads(3)] {
        let (op, blocks) = (Gather::new(0).par(par), data.blocks(Codes::Bits4, 32, &scales));
        let run = |ids: &[i32], method| {
            let ids = View::new(ids, &[ids.len()]).unwrap();
            let plan = op.plan(&blocks, &ids).unwrap();
            assert_eq!(plan.explain().method(), method);
            plan.run(&blocks, &ids).unwrap()
        };
        let streams = cfg!(target_arch = "x86_64") && !is_fallback(Level::preferred());
        let streamed = if streams { Method::Streamed } else { Method::Blocks };
        let (whole, parts) = (run(&picks, streamed), picks.chunks(1000).map(|part| run(part, Method::Blocks)));
        let parts: Vec<u32> =
            parts.flat_map(|part| part.as_slice().iter().map(|v| v.to_bits()).collect::<Vec<_>>()).collect();
        assert!(whole.as_slice().iter().map(|v| v.to_bits()).eq(parts), "{par:?}");
    }
}

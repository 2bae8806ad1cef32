//! Rows that are written past the caches.

use gather_core::{Gather, Method, OutOfBounds, ViewMut};
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

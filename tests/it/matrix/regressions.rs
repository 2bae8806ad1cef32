//! Cases that were wrong once.

use gather_core::{Error, GatherNd, NegativeIndex, Op, View};
use gather_tests::oracle::{self, Dense};
use gather_tests::support::{METHODS, available_levels};

use crate::support::{RULES, view};

/// Data of 12 bytes, and 128 tuples of two bytes that lie column by column. Data fits in registers, and must be looked
/// up by both components.
fn tuples(bad: Option<usize>) -> (Dense<u8>, Dense<i128>, Vec<u8>) {
    let data = Dense::from_fn(&[6, 2], |at| at as u8 + 1);
    let mut indices = Dense::from_fn(&[128, 2], |at| if at % 2 == 0 { at / 2 % 6 } else { at / 6 % 2 } as i128);
    if let Some(tuple) = bad {
        indices.values[2 * tuple + 1] = 2;
    }
    let memory = (0..256).map(|at| indices.values[at % 128 * 2 + at / 128] as u8).collect();
    (data, indices, memory)
}

#[test]
fn byte_tuples_column_by_column_are_looked_up_by_both_components() {
    let (data, indices, memory) = tuples(None);
    let indices_view = View::strided(&memory, &[128, 2], &[1, 128], 0).unwrap();
    let expected = oracle::gather_nd(&data, &indices, 0, RULES[0].2, &0).unwrap();
    assert_eq!(GatherNd::new().run(&view(&data), &indices_view).unwrap().as_slice(), expected.values);
    for level in available_levels() {
        let op = GatherNd::new().level(level);
        assert_eq!(op.run(&view(&data), &indices_view).unwrap().as_slice(), expected.values, "{level}");
        let mut taken = 0;
        for &method in METHODS {
            match op.method(method).run(&view(&data), &indices_view) {
                Ok(got) => {
                    taken += 1;
                    assert_eq!(got.as_slice(), expected.values, "{level} {method}");
                }
                Err(error) => assert_eq!(error, Error::MethodUnavailable { op: Op::GatherNd, method }),
            }
        }
        assert!(taken > 0, "{level}: no method takes the call");
    }
}

#[test]
fn an_index_out_of_range_in_the_second_component_is_found() {
    for bad in [0, 1, 63, 64, 127] {
        let (data, _, memory) = tuples(Some(bad));
        let indices_view = View::strided(&memory, &[128, 2], &[1, 128], 0).unwrap();
        let (op, negative) = (Op::GatherNd, NegativeIndex::FromEnd);
        let expected = Error::IndexOutOfRange { op, position: 2 * bad + 1, index: 2, axis: 1, dim: 2, negative };
        assert_eq!(GatherNd::new().run(&view(&data), &indices_view).unwrap_err(), expected);
        for level in available_levels() {
            for &method in METHODS {
                let got = GatherNd::new().level(level).method(method).run(&view(&data), &indices_view).unwrap_err();
                if got != (Error::MethodUnavailable { op: Op::GatherNd, method }) {
                    assert_eq!(got, expected, "{level} {method}");
                }
            }
        }
    }
}

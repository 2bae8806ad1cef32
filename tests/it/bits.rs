//! Rows of bits by ids, beside a loop over booleans.

use gather_core::{Bitmap, Checked, Error, OutOfBounds, Position, gather_bits};

use crate::support::mixed;

/// `len` booleans, and bytes that hold them from bit `offset` on, with other bits around them.
fn booleans(len: usize, offset: usize) -> (Vec<bool>, Vec<u8>) {
    let values: Vec<bool> = (0..len).map(|at| mixed(5, at).is_multiple_of(3)).collect();
    let mut bytes: Vec<u8> = (0..(offset + len).div_ceil(8)).map(|at| mixed(6, at) as u8).collect();
    for (at, &value) in values.iter().enumerate() {
        let (byte, bit) = ((offset + at) / 8, 1 << ((offset + at) % 8));
        bytes[byte] = if value { bytes[byte] | bit } else { bytes[byte] & !bit };
    }
    (values, bytes)
}

/// Rows of `columns` booleans by the positions; `false` for a missing one.
fn expected(values: &[bool], columns: usize, positions: &[i64]) -> Vec<bool> {
    let row = |&at: &i64| (0..columns).map(move |column| at >= 0 && values[at as usize * columns + column]);
    positions.iter().flat_map(row).collect()
}

fn check<P: Position + Into<i64>>(rows: usize, columns: usize, offset: usize, n: usize) {
    let (values, bytes) = booleans(rows * columns, offset);
    let bits = Bitmap::new(&bytes, offset, values.len()).unwrap();
    let ids: Vec<i64> = (0..n).map(|at| (mixed(7, at) % (2 * rows as u64)) as i64 - rows as i64 / 2).collect();
    for policy in [OutOfBounds::Error, OutOfBounds::Zero, OutOfBounds::Clamp] {
        let ids: Vec<i64> = match policy {
            OutOfBounds::Error => ids.iter().map(|id| id.rem_euclid(rows as i64)).collect(),
            _ => ids.clone(),
        };
        let checked = Checked::<P>::new(&ids, rows, policy).unwrap();
        let positions: Vec<i64> = (0..n).map(|at| (*checked.positions().get(&[at]).unwrap()).into()).collect();
        let expected = expected(&values, columns, &positions);
        let of_ids = (policy == OutOfBounds::Error).then(|| gather_bits(bits, columns, &ids).unwrap());
        for got in of_ids.into_iter().chain([gather_bits(bits, columns, &checked).unwrap()]) {
            let all: Vec<bool> = (0..got.len()).map(|at| got.get(at).unwrap()).collect();
            assert!(all == expected, "{n} rows of {columns} of {rows} at {offset}, {policy:?}");
            assert_eq!(got.null_count(), expected.iter().filter(|&&bit| !bit).count());
            let last = got.as_bytes().last().copied().unwrap_or(0);
            assert!(got.len() % 8 == 0 || last >> (got.len() % 8) == 0, "bits behind the last one");
        }
    }
}

#[test]
fn rows_of_bits_at_any_offset() {
    for offset in 0..=70 {
        for (rows, columns) in [(1, 1), (31, 1), (33, 1), (200, 1), (7, 3), (100, 8), (9, 64), (5, 65), (3, 200)] {
            for n in [0, 1, 7, 8, 63, 64, 65, 300] {
                check::<i32>(rows, columns, offset, n);
                check::<i64>(rows, columns, offset, n);
            }
        }
    }
}

#[test]
fn bits_beyond_the_caches() {
    check::<i32>(40_000_000, 1, 3, 10_000);
    check::<i64>(1_000_000, 37, 5, 10_000);
}

#[test]
fn indices_of_every_type() {
    let bits = Bitmap::new(&[0b1_0110], 0, 5).unwrap();
    macro_rules! each {
        ($($of:ty)*) => {$(
            let got = gather_bits(bits, 1, &[4 as $of, 0, 2]).unwrap();
            assert_eq!((got.len(), got.as_bytes(), got.null_count()), (3, &[0b101][..], 1));
        )*};
    }
    each!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    // The result has the bits of the indices in row-major order.
    let view = gather_core::View::strided(&[4i32, 0, 2, 0, 1, 0], &[2, 2], &[1, 2], 0).unwrap();
    assert_eq!(gather_bits(bits, 1, &view).unwrap().as_bytes(), [0b0011]);
    assert_eq!(gather_bits(bits, 1, &gather_core::DynView::from(&view)).unwrap().as_bytes(), [0b0011]);
}

#[test]
fn bits_without_rows_and_rows_without_bits() {
    let none = Bitmap::new(&[], 0, 0).unwrap();
    assert!(gather_bits(none, 1, &[0i32; 0]).unwrap().is_empty());
    assert!(gather_bits(none, 0, &[0i32; 0]).unwrap().is_empty());
    let missing = Checked::<i32>::new(&[5u8; 70], 0, OutOfBounds::Zero).unwrap();
    for columns in [0, 1, 3] {
        let got = gather_bits(none, columns, &missing).unwrap();
        assert_eq!((got.len(), got.null_count()), (70 * columns, 70 * columns));
    }
}

#[test]
fn errors_of_rows_of_bits() {
    let bits = Bitmap::new(&[0xff], 0, 8).unwrap();
    let refused = |columns, ids: &[i64]| gather_bits(bits, columns, ids).unwrap_err();
    assert_eq!(refused(3, &[9]), Error::NotWholeRows { len: 8, columns: 3 });
    assert_eq!(refused(0, &[0]), Error::NotWholeRows { len: 8, columns: 0 });
    assert!(matches!(refused(usize::MAX, &[0]), Error::NotWholeRows { .. }));
    assert!(matches!(refused(2, &[0, 4]), Error::IndexOutOfRange { position: 1, index: 4, dim: 4, .. }));
    assert!(matches!(refused(1, &[i64::MIN]), Error::IndexOutOfRange { position: 0, .. }));
    let other = Checked::<i32>::new(&[0u8], 9, OutOfBounds::Error).unwrap();
    assert!(matches!(gather_bits(bits, 1, &other), Err(Error::CheckedAxisMismatch { expected: 8, got: 9, .. })));
}

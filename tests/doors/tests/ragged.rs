//! Rows of different lengths and rows of bits, through every door.

use gather_core::{
    Argument, Bitmap, Checked, DynView, Error, Gather, Mask, OutOfBounds, Position, Ragged, Tensor, View, gather_bits,
    ragged_pairs,
};

use crate::common::{Line, Lines, Packed, Point, Sample};

/// Five rows of `T`, by offsets of type `O`.
fn rows<O: Position + From<i32> + PartialEq, T: Sample>() {
    let values: Vec<T> = (0..9).map(T::sample).collect();
    let offsets: Vec<O> = [1, 3, 3, 4, 8, 9].map(O::from).into();
    let lists = [&values[1..3], &[], &values[3..4], &values[4..8], &values[8..]];
    let ragged = Ragged::new(&offsets, &values).unwrap();
    assert_eq!((ragged.len(), ragged.is_empty()), (5, false));
    let expected: Vec<T> = [3, 0, 4, 1].iter().flat_map(|&row: &usize| lists[row].to_vec()).collect();
    let ends: Vec<O> = [0, 4, 6, 7, 7].map(O::from).into();
    let (view, from_end) = (View::new(&[3u8, 0, 4, 1], &[2, 2]).unwrap(), [-2i64, -5, 4, 1]);
    let checked = Checked::<i32>::new(&from_end, 5, OutOfBounds::Error).unwrap();
    for got in [
        ragged.gather(&from_end),
        ragged.gather(&view),
        ragged.gather(&DynView::from(&view)),
        ragged.gather(&checked),
        ragged_pairs(&[ragged], &[0u8; 4], &[3i64, 0, 4, 1]),
    ] {
        assert!(got == Ok((ends.clone(), expected.clone())));
    }
    let (mut more, mut all) = (vec![O::from(1)], values[..1].to_vec());
    ragged.gather_into(&view, &mut more, &mut all).unwrap();
    assert!(all[1..] == expected && more == [1, 5, 7, 8, 8].map(O::from));
    let mask = Mask::new(&[true, true, false, false, true]).unwrap();
    let (ends, some) = ragged.masked(&mask).unwrap();
    assert!(some == [lists[0], lists[4]].concat() && ends == [0, 2, 2, 3].map(O::from));
    let children = Ragged::from_offsets(&offsets, 9).unwrap();
    let (_, positions) = children.positions::<i64, _>(&view).unwrap();
    assert!(Gather::new(0).run(&values, &positions).map(Tensor::into_vec) == Ok(expected));
    let (of_rows, positions) = children.positions_masked::<i32>(&mask).unwrap();
    assert!(Gather::new(0).run(&values, &positions).map(Tensor::into_vec) == Ok(some) && of_rows == ends);
}

#[test]
fn rows_of_every_kind() {
    rows::<i32, u8>();
    rows::<i64, u64>();
    rows::<i32, Point>();
    rows::<i64, Packed>();
    rows::<i32, Line>();
    rows::<i32, Lines>();
    let short = Ragged::new(&[0i32, 2, 9], &[1u8; 8]).unwrap();
    assert_eq!(short.gather(&[0u8]).unwrap(), (vec![0, 2], vec![1, 1]));
    assert_eq!(short.gather(&[0u8, 1]), Err(Error::RowOffsets { row: 1, from: 2, to: 9, len: 8 }));
    assert!(matches!(short.gather(&[i64::MIN]), Err(Error::IndexOutOfRange { position: 0, dim: 2, .. })));
    assert!(matches!(short.gather(&[u64::MAX]), Err(Error::IndexOutOfRange { position: 0, dim: 2, .. })));
    let other = Checked::<i64>::new(&[0u8], 3, OutOfBounds::Error).unwrap();
    assert!(matches!(short.gather(&other), Err(Error::CheckedAxisMismatch { expected: 2, got: 3, .. })));
    assert!(matches!(Ragged::<i32, u8>::new(&[], &[]), Err(Error::NoOffsets)));
    let none = Ragged::<i32, u8>::new(&[0], &[]).unwrap();
    assert_eq!(none.gather(&[0u8; 0]), Ok((vec![0], vec![])));
    let missing = Checked::<i32>::new(&[7u8; 3], 0, OutOfBounds::Zero).unwrap();
    assert_eq!(none.gather(&missing), Ok((vec![0; 4], vec![])));
}

#[test]
fn bits() {
    let bits = Bitmap::new(&[0b1011_0100, 0b01], 2, 8).unwrap();
    let view = View::new(&[7u16, 0, 1, 3], &[2, 2]).unwrap();
    assert_eq!(gather_bits(bits, 1, &view).unwrap().as_bytes(), [0b1010]);
    assert_eq!(gather_bits(bits, 1, &DynView::from(&view)).unwrap().as_bytes(), [0b1010]);
    let checked = Checked::<i64>::new(&[3i8, 9, 0], 4, OutOfBounds::Zero).unwrap();
    assert_eq!(gather_bits(bits, 2, &checked).unwrap().as_bytes(), [0b01_00_01]);
    assert!(matches!(gather_bits(bits, 3, &view), Err(Error::NotWholeRows { len: 8, columns: 3 })));
    assert!(matches!(gather_bits(bits, 2, &view), Err(Error::IndexOutOfRange { position: 0, index: 7, dim: 4, .. })));
    let mask = Mask::new(&[[1u8, 0], [1, 1]].concat()).unwrap().with_shape(&[2, 2]).unwrap();
    assert_eq!(mask.select_bits(bits, 2).unwrap().as_bytes(), [0b01_10_01]);
    assert!(matches!(
        mask.select_bits(bits, 1),
        Err(Error::BitmapLengthMismatch { argument: Argument::Data, len: 8, rows: 4, .. })
    ));
}

//! Rows of different lengths, by ids, masks and pairs, beside a loop over lists.

use std::fmt::Debug;

use gather_core::{
    Argument, Bitmap, Checked, Element, Error, Gather, IndexType, Mask, Op, OutOfBounds, Position, Ragged, Tensor,
    ragged_pairs,
};

use crate::support::mixed;

/// Rows of up to `most` values.
fn lists<T>(rows: usize, most: usize, seed: u64, value: impl Fn(u64) -> T) -> Vec<Vec<T>> {
    let len = |row: usize| {
        if mixed(seed, row).is_multiple_of(11) { 0 } else { (mixed(!seed, row) >> 7) as usize % (most + 1) }
    };
    (0..rows).map(|row| (0..len(row)).map(|at| value(mixed(seed + row as u64, at))).collect()).collect()
}

/// Offsets of rows that begin at a value behind the first, and the values of all.
fn held<O: TryFrom<usize, Error: Debug>, T: Copy>(lists: &[Vec<T>], skipped: &[T]) -> (Vec<O>, Vec<T>) {
    let (mut offsets, mut values) = (vec![O::try_from(skipped.len()).unwrap()], skipped.to_vec());
    for list in lists {
        values.extend_from_slice(list);
        offsets.push(O::try_from(values.len()).unwrap());
    }
    (offsets, values)
}

fn as_lists<O: Copy + TryInto<usize, Error: Debug>, T: Copy>((offsets, values): &(Vec<O>, Vec<T>)) -> Vec<Vec<T>> {
    let ends: Vec<usize> = offsets.iter().map(|&at| at.try_into().unwrap()).collect();
    assert_eq!((ends.first(), ends.last()), (Some(&0), Some(&values.len())));
    ends.windows(2).map(|row| values[row[0]..row[1]].to_vec()).collect()
}

/// Compares every way to take rows of lists with the lists.
fn check<O, T>(lists: &[Vec<T>], n: usize, seed: u64)
where
    O: Position + TryFrom<usize, Error: Debug> + TryInto<usize, Error: Debug> + Debug + PartialEq,
    T: Element + PartialEq + Debug,
{
    let skipped = lists.iter().flatten().copied().take(seed as usize % 3).collect::<Vec<T>>();
    let (offsets, values) = held::<O, T>(lists, &skipped);
    let ragged = Ragged::new(&offsets, &values).unwrap();
    assert_eq!((ragged.len(), ragged.is_empty()), (lists.len(), lists.is_empty()));
    let ids: Vec<i64> = if lists.is_empty() {
        Vec::new()
    } else {
        let id = |at| (mixed(seed, at) % (2 * lists.len() as u64)) as i64 - lists.len() as i64;
        (0..n).map(id).collect()
    };
    let named: Vec<Vec<T>> = ids.iter().map(|id| lists[id.rem_euclid(lists.len() as i64) as usize].clone()).collect();
    let got = ragged.gather(&ids).unwrap();
    assert!(as_lists(&got) == named, "{n} of {} rows of {} bytes", lists.len(), size_of::<T>());

    // Some positions are missing; the result follows other rows.
    let some: Vec<i64> = ids.iter().enumerate().map(|(at, &id)| if at % 3 == 1 { i64::MAX } else { id }).collect();
    let checked = Checked::<i32>::new(&some, lists.len(), OutOfBounds::Zero).unwrap();
    let (mut more, mut all) = got.clone();
    ragged.gather_into(&checked, &mut more, &mut all).unwrap();
    let missing = named.iter().enumerate().map(|(at, row)| if at % 3 == 1 { Vec::new() } else { row.clone() });
    let expected: Vec<Vec<T>> = named.iter().cloned().chain(missing).collect();
    assert!(as_lists(&(more, all)) == expected);

    // Positions of values gather them.
    let (of_rows, positions) = ragged.positions::<i64, _>(&ids).unwrap();
    assert_eq!(of_rows, got.0);
    assert!(Gather::new(0).run(&values, &positions).map(Tensor::into_vec) == Ok(got.1));
    let children = Ragged::from_offsets(&offsets, values.len()).unwrap();
    let (of_children, narrow) = children.positions::<i32, _>(&ids).unwrap();
    assert_eq!((of_children, narrow.n()), (of_rows, values.len()));
    assert!(
        (0..positions.positions().len())
            .all(|at| positions.positions().get(&[at]).copied() == narrow.positions().get(&[at]).map(|&of| of.into()))
    );

    for nth in [1, 2, 3, 20, 200, usize::MAX] {
        let is_true = |row: usize| if nth == usize::MAX { false } else { mixed(seed, row).is_multiple_of(nth as u64) };
        for (flip, offset) in [(false, 0), (true, 5)] {
            let bools: Vec<bool> = (0..lists.len()).map(|row| is_true(row) != flip).collect();
            let mut bytes = vec![0u8; (offset + bools.len()).div_ceil(8)];
            bools
                .iter()
                .enumerate()
                .for_each(|(at, &is)| bytes[(offset + at) / 8] |= u8::from(is) << ((offset + at) % 8));
            let mask = Mask::from_bits(Bitmap::new(&bytes, offset, bools.len()).unwrap());
            let expected: Vec<&Vec<T>> = lists.iter().zip(&bools).filter(|of| *of.1).map(|of| of.0).collect();
            let got = ragged.masked(&mask).unwrap();
            assert!(as_lists(&got).iter().eq(expected), "every {nth} of {} rows", lists.len());
            let (of_rows, positions) = children.positions_masked::<i32>(&mask).unwrap();
            assert_eq!(of_rows, got.0);
            assert!(Gather::new(0).run(&values, &positions).map(Tensor::into_vec) == Ok(got.1));
        }
    }
}

fn check_type<T: Element + PartialEq + Debug>(value: impl Fn(u64) -> T + Copy) {
    for most in [0, 1, 7, 40, 70, 300] {
        for (rows, n) in [(0, 0), (1, 1), (3, 70), (64, 64), (65, 200), (300, 1000)] {
            let seed = (most + rows) as u64;
            check::<i32, T>(&lists(rows, most, seed, value), n, seed);
            check::<i64, T>(&lists(rows, most, seed + 1, value), n, seed + 1);
        }
    }
}

#[test]
fn rows_of_1_byte() {
    check_type(|bits| bits as u8);
}

#[test]
fn rows_of_2_and_4_bytes() {
    check_type(|bits| bits as i16);
    check_type(|bits| bits as u32 as f32);
}

#[test]
fn rows_of_8_and_24_bytes() {
    check_type(|bits| bits);
    check_type(|bits| [bits, 1, !bits]);
}

#[test]
fn rows_of_odd_sizes() {
    check_type(|bits| [bits as u8, 1, 2]);
    check_type(|bits| [bits as u8; 67]);
    check_type(|bits| bits % 3 == 0);
}

#[test]
fn rows_beyond_the_caches() {
    check::<i32, u64>(&lists(150_000, 60, 1, |bits| bits), 30_000, 1);
    check::<i64, u8>(&lists(2_000, 20_000, 1, |bits| bits as u8), 3_000, 1);
}

#[test]
fn ids_of_every_type() {
    let ragged = Ragged::new(&[0i32, 3, 3, 8], b"cathorse").unwrap();
    macro_rules! each {
        ($($of:ty)*) => {$(
            assert_eq!(ragged.gather(&[2 as $of, 0, 1]).unwrap(), (vec![0, 5, 8, 8], b"horsecat".to_vec()));
        )*};
    }
    each!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
}

#[test]
fn pairs_of_several_lists() {
    for most in [3, 50, 500] {
        let parts: Vec<Vec<Vec<u16>>> =
            (0..5).map(|part| lists(part * 20, most, part as u64, |bits| bits as u16)).collect();
        let held: Vec<(Vec<i64>, Vec<u16>)> = parts.iter().map(|part| held(part, &[7])).collect();
        let ragged: Vec<_> = held.iter().map(|(offsets, values)| Ragged::new(offsets, values).unwrap()).collect();
        let sources: Vec<u8> = (0..500).map(|at| 1 + mixed(1, at) as u8 % 4).collect();
        let rows: Vec<u32> = (0..500).map(|at| mixed(2, at) as u32 % (20 * u32::from(sources[at]))).collect();
        let got = ragged_pairs(&ragged, &sources, &rows).unwrap();
        let expected = sources.iter().zip(&rows).map(|(&source, &row)| &parts[usize::from(source)][row as usize]);
        assert!(as_lists(&got).iter().eq(expected));
    }
    let none: [Ragged<'_, i32, u8>; 0] = [];
    assert_eq!(ragged_pairs(&none, &[0u8; 0], &[0u8; 0]).unwrap(), (vec![0], vec![]));
}

#[test]
fn errors_of_pairs() {
    let lists = [Ragged::new(&[0i32, 3], b"one").unwrap(), Ragged::new(&[0, 3, 2], b"two").unwrap()];
    let refused = |sources: &[i32], rows: &[i64]| ragged_pairs(&lists, sources, rows).unwrap_err();
    assert_eq!(refused(&[0, 1], &[0]), Error::PairsMismatch { sources: 2, rows: 1 });
    let out = |position, source, row, rows| Error::PairOutOfRange { position, source, row, chunks: 2, rows };
    assert_eq!(refused(&[0, 0], &[0, 1]), out(1, 0, 1, Some(1)));
    assert_eq!(refused(&[1, 1, 2], &[1, 0, 0]), out(2, 2, 0, None));
    assert_eq!(refused(&[-1], &[0]), out(0, -1, 0, None));
    assert_eq!(refused(&[1], &[-1]), out(0, 1, -1, Some(2)));
    assert_eq!(refused(&[0, 1], &[0, 1]), Error::RowOffsets { row: 1, from: 3, to: 2, len: 3 });
}

#[test]
fn offsets_that_are_no_rows() {
    assert!(matches!(Ragged::<i32, u8>::new(&[], &[]), Err(Error::NoOffsets)));
    assert!(matches!(Ragged::<i64, ()>::from_offsets(&[], 3), Err(Error::NoOffsets)));
    // Rows 0, 4 and 6 are sound; others descend, are negative, or end behind the values.
    let offsets = [1i64, 4, 2, -1, 0, 5, i64::MAX, i64::MIN, 3, 9, 2, 6];
    let ragged = Ragged::new(&offsets, b"abcdef").unwrap();
    assert_eq!(ragged.gather(&[4u8, 0, 10]).unwrap(), (vec![0, 5, 8, 12], b"abcdebcdcdef".to_vec()));
    let bad = [
        (1, 4, 2),
        (2, 2, -1),
        (3, -1, 0),
        (5, 5, i64::MAX),
        (6, i64::MAX, i64::MIN),
        (7, i64::MIN, 3),
        (8, 3, 9),
        (9, 9, 2),
    ];
    for (row, from, to) in bad {
        let expected = Error::RowOffsets { row, from: from.into(), to: to.into(), len: 6 };
        assert_eq!(ragged.gather(&[0, row, 1]).unwrap_err(), expected);
        assert_eq!(ragged.positions::<i32, _>(&[0, row, 1]).unwrap_err(), expected);
        let mut mask = [false; 11];
        (mask[0], mask[row]) = (true, true);
        assert_eq!(ragged.masked(&Mask::new(&mask).unwrap()).unwrap_err(), expected);
        assert_eq!(ragged.positions_masked::<i64>(&Mask::new(&mask).unwrap()).unwrap_err(), expected);
        let (mut more, mut all) = (vec![0i64, 2], b"xy".to_vec());
        assert_eq!(ragged.gather_into(&[0, row], &mut more, &mut all).unwrap_err(), expected);
        assert_eq!((more, all), (vec![0, 2], b"xy".to_vec()));
    }
    let narrow = Ragged::new(&[0i32, i32::MIN, i32::MAX], b"").unwrap();
    assert!(matches!(narrow.gather(&[0u8]), Err(Error::RowOffsets { row: 0, .. })));
    assert!(matches!(narrow.gather(&[1u8]), Err(Error::RowOffsets { row: 1, .. })));
}

#[test]
fn sums_that_offsets_do_not_count() {
    // Two rows of 2^30 values in all, four times.
    let wide = Ragged::from_offsets(&[0i32, 1 << 29, 1 << 30], 1 << 30).unwrap();
    let expected = Error::OffsetsTooLong { end: 1 << 31, index: IndexType::I32 };
    assert_eq!(wide.positions::<i32, _>(&[0u8, 1, 0, 1]).unwrap_err(), expected);
    let expected = Error::OffsetsTooLong { end: 5 << 29, index: IndexType::I32 };
    assert_eq!(wide.positions::<i32, _>(&[0u8, 1, 0, 1, 1]).unwrap_err(), expected);
    let far = Ragged::from_offsets(&[0i64, i64::MAX], usize::MAX).unwrap();
    let expected = Error::OffsetsTooLong { end: 3 * i128::from(i64::MAX), index: IndexType::I64 };
    assert_eq!(far.positions_masked::<i64>(&Mask::new(&[true]).unwrap()).unwrap_err(), too_long(usize::MAX));
    let far = Ragged::from_offsets(&[0i64, i64::MAX], i64::MAX as usize).unwrap();
    assert_eq!(far.positions::<i64, _>(&[0u8; 3]).unwrap_err(), expected);
    assert!(matches!(far.positions::<i64, _>(&[0u8]), Err(Error::AllocationFailed { .. })));
    assert_eq!(
        far.positions::<i32, _>(&[0u8]).unwrap_err(),
        Error::CheckedAxisTooLong { n: i64::MAX as usize, index: IndexType::I32 }
    );
}

fn too_long(n: usize) -> Error {
    Error::CheckedAxisTooLong { n, index: IndexType::I64 }
}

#[test]
fn appended_rows_follow_others() {
    let ragged = Ragged::new(&[0i32, 3, 5], b"onetwo").unwrap();
    let (mut offsets, mut bytes) = (vec![], b"ab".to_vec());
    ragged.gather_into(&[1u8], &mut offsets, &mut bytes).unwrap();
    assert_eq!((&offsets[..], &bytes[..]), (&[2, 4][..], &b"abtw"[..]));
    bytes.pop();
    let refused = ragged.gather_into(&[1u8], &mut offsets, &mut bytes).unwrap_err();
    assert_eq!(refused, Error::LastOffsetMismatch { last: 4, values: 3 });
    let refused = ragged.gather_into(&[2u8], &mut offsets, &mut bytes).unwrap_err();
    assert_eq!(refused, Error::LastOffsetMismatch { last: 4, values: 3 });
    bytes.push(b'w');
    let refused = ragged.gather_into(&[2u8], &mut offsets, &mut bytes).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { index: 2, dim: 2, .. }));
    assert_eq!((&offsets[..], &bytes[..]), (&[2, 4][..], &b"abtw"[..]));
}

#[test]
fn masks_of_other_shapes() {
    let ragged = Ragged::new(&[0i32, 3, 5], b"onetwo").unwrap();
    for shape in [&[1][..], &[3], &[2, 1], &[]] {
        let mask = Mask::new(&vec![true; shape.iter().product()][..]).unwrap().with_shape(shape).unwrap();
        let (op, argument, expected, got) = (Op::Gather, Argument::Mask, [2].into(), shape.into());
        let refused = Error::ShapeMismatch { op, argument, expected, got };
        assert_eq!(ragged.masked(&mask).unwrap_err(), refused);
        assert_eq!(ragged.positions_masked::<i32>(&mask).unwrap_err(), refused);
    }
}

#[test]
fn bits_where_a_mask_is_true() {
    for offset in 0..=70 {
        for (rows, columns) in [(0, 1), (1, 1), (63, 1), (64, 1), (65, 1), (500, 1), (20, 3), (5, 64), (4, 130), (9, 0)]
        {
            for nth in [1, 2, 3, 30] {
                let bits: Vec<bool> = (0..rows * columns).map(|at| mixed(3, at).is_multiple_of(2)).collect();
                let bytes: Vec<u8> = (0..(offset + bits.len()).div_ceil(8))
                    .map(|byte| {
                        let bit = |at: usize| {
                            (8 * byte + at).checked_sub(offset).and_then(|at| bits.get(at)).is_none_or(|&is| is)
                        };
                        (0..8).map(|at| u8::from(bit(at)) << at).sum()
                    })
                    .collect();
                let trues: Vec<bool> = (0..rows).map(|at| mixed(4, at).is_multiple_of(nth)).collect();
                let mask = Mask::new(&trues).unwrap();
                let got = mask.select_bits(Bitmap::new(&bytes, offset, bits.len()).unwrap(), columns).unwrap();
                let rows = (0..rows).filter(|&row| trues[row]).flat_map(|row| row * columns..(row + 1) * columns);
                let expected: Vec<bool> = rows.map(|at| bits[at]).collect();
                assert!(got.len() == expected.len() && (0..got.len()).all(|at| got.get(at) == Some(expected[at])));
                assert_eq!(got.null_count(), expected.iter().filter(|&&is| !is).count());
            }
        }
    }
    let bits = Bitmap::new(&[0xff], 0, 7).unwrap();
    let (op, argument) = (Op::Gather, Argument::Data);
    let refused = Mask::new(&[true; 4]).unwrap().select_bits(bits, 2).unwrap_err();
    assert_eq!(refused, Error::BitmapLengthMismatch { op, argument, len: 7, rows: 8, elements: 8 });
    assert!(Mask::new(&[true; 4]).unwrap().select_bits(bits, usize::MAX).is_err());
}

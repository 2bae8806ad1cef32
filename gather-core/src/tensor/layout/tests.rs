//! Layouts against their definitions, and at the limits of memory.

use super::*;
use crate::tensor::shape::MOST;

const SHAPES: &[&[usize]] =
    &[&[], &[5], &[0], &[2, 3], &[2, 0, 3], &[1, 1, 4, 1], &[2, 1, 2, 1, 2, 3], &[2; 7], &[1, 2, 0, 3, 1, 2, 1, 4]];

fn strides_of(shape: &[usize]) -> Vec<isize> {
    (0..shape.len()).map(|d| shape[d + 1..].iter().map(|&dim| dim.max(1) as isize).product()).collect()
}

#[test]
fn contiguous_layouts_hold_l1_to_l5() {
    for &shape in SHAPES {
        let layout = Layout::contiguous(shape).unwrap();
        assert_eq!((layout.shape(), layout.rank()), (shape, shape.len()));
        assert_eq!(layout.strides(), strides_of(shape));
        assert_eq!(layout.len(), shape.iter().product::<usize>());
        assert!(layout.is_contiguous() && layout.order == Order::RowMajor);
    }
    assert!(Layout::contiguous(&[MOST, 1, 0, 1, 1, 1, 1]).is_ok());
    for shape in [
        &[MOST, 2, 0][..],
        &[usize::MAX],
        &[usize::MAX, usize::MAX],
        &[0, 2, MOST, usize::MAX],
        &[0, usize::MAX, usize::MAX, 1, 1, 1, 2],
    ] {
        let refused = Error::TooManyElements { shape: shape.into() };
        assert_eq!(Layout::contiguous(shape), Err(refused.clone()));
        assert_eq!(Layout::strided(shape, &vec![0; shape.len()]), Err(refused));
    }
}

#[test]
fn layouts_match_by_shape_and_strides() {
    for &shape in SHAPES {
        let made = Layout::contiguous(shape).unwrap();
        let given = Layout::strided(shape, &strides_of(shape)).unwrap();
        assert!(given.order == Order::RowMajor && made.matches(&given) && given.matches(&made.clone()));
        for d in 0..shape.len() {
            let mut strides = strides_of(shape);
            strides[d] += 1;
            let other = Layout::strided(shape, &strides).unwrap();
            // Plans compare the strides along which a call steps; `==` compares all.
            let stepped = shape[d] != 1 && !made.is_empty();
            assert!(other.order == Order::Any && other.matches(&other) && other != made && other == other.clone());
            assert_eq!((made.matches(&other), other.matches(&given)), (!stepped, !stepped));
            assert_eq!(other.is_contiguous(), shape[d] == 1 || other.is_empty(), "{other:?}");
        }
        for &other in SHAPES.iter().filter(|&&other| other != shape) {
            assert!(!made.matches(&Layout::contiguous(other).unwrap()));
        }
    }
}

#[test]
fn the_dimensions_of_a_permuted_layout_move_together() {
    let layout = Layout::strided(&[2, 3, 4], &[-12, 0, 7]).unwrap();
    let permuted = layout.permuted(&[2, 0, 1]).unwrap();
    assert_eq!((permuted.shape(), permuted.strides()), (&[4, 2, 3][..], &[7, -12, 0][..]));
    assert_eq!(layout.permuted(&[0, 1]), Err(Error::InvalidPermutation { rank: 3 }));
    assert_eq!(layout.permuted(&[0, 1, 1]), Err(Error::InvalidPermutation { rank: 3 }));
    assert_eq!(layout.permuted(&[0, 1, 3]), Err(Error::InvalidPermutation { rank: 3 }));
}

#[test]
fn parts_of_an_axis_begin_at_a_coordinate() {
    let layout = Layout::strided(&[2, 3, 4], &[-12, 0, 7]).unwrap();
    let of = |(part, first): (Layout, isize)| (part.shape().to_vec(), part.strides().to_vec(), first);
    assert_eq!(layout.narrowed(2, 1..3).map(of), Ok((vec![2, 3, 2], vec![-12, 0, 7], 7)));
    assert_eq!(layout.narrowed(0, 1..2).map(of), Ok((vec![1, 3, 4], vec![-12, 0, 7], -12)));
    assert_eq!(layout.selected(0, 1).map(of), Ok((vec![3, 4], vec![0, 7], -12)));
    assert_eq!(layout.selected(2, 3).map(of), Ok((vec![2, 3], vec![-12, 0], 21)));
    // A range without coordinates has no first one.
    assert_eq!(layout.narrowed(2, 4..4).map(of), Ok((vec![2, 3, 0], vec![-12, 0, 7], 0)));
    let empty = Layout::strided(&[0, 5], &[isize::MAX, isize::MAX]).unwrap();
    assert_eq!(empty.selected(1, 4).map(of), Ok((vec![0], vec![isize::MAX], 0)));
    for (axis, range) in [(3, 0..0), (usize::MAX, 0..1), (1, 0..4), (1, usize::MAX..usize::MAX), (2, 0..usize::MAX)] {
        let (start, end, shape) = (range.start, range.end, [2, 3, 4].into());
        assert_eq!(layout.narrowed(axis, range), Err(Error::RangeOutOfBounds { axis, start, end, shape }));
    }
    #[expect(clippy::reversed_empty_ranges, reason = "a range that descends is refused")]
    let descending = layout.narrowed(1, 2..1);
    assert!(matches!(descending, Err(Error::RangeOutOfBounds { start: 2, end: 1, .. })));
    for index in [3, usize::MAX] {
        assert!(
            matches!(layout.selected(1, index), Err(Error::RangeOutOfBounds { axis: 1, start, .. }) if start == index)
        );
    }
}

/// Each axis is visited once: at this rank, a search of `axes` for each dimension takes minutes.
#[test]
fn dimensions_are_permuted_in_linear_time() {
    const RANK: usize = 600_000;
    let start = std::time::Instant::now();
    let layout = Layout::contiguous(&[1; RANK]).unwrap();
    let mut axes: Vec<usize> = (0..RANK).rev().collect();
    assert_eq!(layout.permuted(&axes).map(|permuted| permuted.rank()), Ok(RANK));
    axes[0] = 0;
    assert_eq!(layout.permuted(&axes), Err(Error::InvalidPermutation { rank: RANK }));
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn the_bytes_from_the_first_element_to_the_last_are_those_of_a_tensor() {
    // Backward along one dimension, forward along the other: 5 + 6 steps from end to end.
    let layout = Layout::strided(&[2, 3], &[-5, 3]).unwrap();
    let most = MOST / 12;
    assert_eq!(layout.check_bytes(most), Ok(()));
    assert_eq!(layout.check_bytes(most + 1), Err(Error::TooManyBytes { shape: [2, 3].into(), element: most + 1 }));
}

#[test]
fn strides_at_the_ends_of_their_type_overflow_nothing() {
    for stride in [isize::MAX, isize::MIN, isize::MIN + 1] {
        let one = Layout::strided(&[1, 1], &[stride, stride]).unwrap();
        assert_eq!(one.reach(), Some((Some(0), Some(0))));
        assert_eq!((one.check_within(0, 1), one.check_disjoint()), (Ok(()), Ok(())));
        assert!(one.is_contiguous());
        assert!(one.check_within(usize::MAX, usize::MAX).is_err());

        let none = Layout::strided(&[3, 0, MOST / 3], &[stride, stride, stride]).unwrap();
        assert_eq!((none.reach(), none.is_contiguous()), (None, true));
        assert_eq!((none.check_within(4, 4), none.check_disjoint()), (Ok(()), Ok(())));
        assert_eq!((one.check_bytes(MOST), none.check_bytes(MOST)), (Ok(()), Ok(())));
        assert!(one.check_bytes(MOST + 1).is_err());
        assert!(none.check_within(usize::MAX, 4).is_err());

        let far = Layout::strided(&[3, 3, 1], &[stride, stride, stride]).unwrap();
        assert!(far.check_within(0, usize::MAX).is_err() && far.check_within(MOST, MOST).is_err());
        assert!(far.check_disjoint().is_err() && !far.is_contiguous() && far.check_bytes(1).is_err());
        let (low, high) = far.reach().unwrap();
        assert!(low.is_none() || high.is_none());
    }
}

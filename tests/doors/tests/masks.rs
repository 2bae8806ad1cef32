//! Masks and masked gathers, through every door.

use gather_core::{
    Append, Argument, Bitmap, DynView, DynViewMut, Error, Gather, Mask, Op, Par, Tensor, View, ViewMut, chunks,
};

use crate::common::{Line, Lines, Packed, Point, Sample};

const LENGTHS: [usize; 6] = [0, 1, 5, 64, 100, 700];

/// Elements of `T` and rows of three, where a mask is true.
fn elements<T: Sample>() {
    for n in LENGTHS {
        let values: Vec<T> = (0..3 * n).map(T::sample).collect();
        let (list, table) = (View::new(&values[..n], &[n]).unwrap(), View::new(&values, &[n, 3]).unwrap());
        for every in [1, 2, 3, 50] {
            let is: Vec<bool> = (0..n).map(|at| at % every == 0).collect();
            let mask = Mask::new(&is).unwrap();
            let kept: Vec<T> = (0..n).step_by(every).map(T::sample).collect();
            let rows: Vec<T> = (0..3 * n).filter(|at| at / 3 % every == 0).map(T::sample).collect();
            for par in [Par::Seq, Par::Threads(2)] {
                let op = Gather::new(0).par(par).masked();
                assert_eq!(op.run(&list, &mask).unwrap().as_slice(), kept);
                assert_eq!(op.run(&table, &mask).unwrap().as_slice(), rows);
                let dynamic = op.run(&DynView::from(&table), &mask).unwrap();
                assert_eq!(dynamic.downcast::<T>().unwrap().as_slice(), rows);
                let mut own = vec![T::sample(9); rows.len()];
                let mut view = ViewMut::new(&mut own, &[rows.len() / 3, 3]).unwrap();
                op.run_into(&DynView::from(&table), &mask, &mut DynViewMut::from(&mut view)).unwrap();
                assert_eq!(own, rows);
                let mut all = vec![T::sample(77)];
                op.run_into(&list, &mask, &mut Append(&mut all)).unwrap();
                assert_eq!(all.split_off(1), kept);
                let columns = table.permuted(&[1, 0]).unwrap();
                let mut turned = Tensor::default();
                Gather::new(-1).par(par).masked().run_into(&columns, &mask, &mut turned).unwrap();
                assert_eq!(turned.shape(), [3, kept.len()]);
                assert!(
                    turned
                        .as_slice()
                        .iter()
                        .enumerate()
                        .all(|(at, value)| { *value == rows[at % kept.len() * 3 + at / kept.len()] })
                );
                let parts = [
                    View::new(&values[..n / 2], &[n / 2]).unwrap(),
                    View::new(&values[n / 2..n], &[n - n / 2]).unwrap(),
                ];
                assert_eq!(op.run(&chunks(&parts).unwrap(), &mask).unwrap().as_slice(), kept);
                let at = mask.positions::<i32>().unwrap();
                assert_eq!(Gather::new(0).par(par).run(&table, &at).unwrap().as_slice(), rows);
            }
        }
    }
}

#[test]
fn elements_of_every_kind() {
    elements::<u8>();
    elements::<u16>();
    elements::<f32>();
    elements::<u64>();
    elements::<Point>();
    elements::<Packed>();
    elements::<Line>();
    elements::<Lines>();
}

#[test]
fn masks_of_every_source() {
    for n in LENGTHS {
        let bytes: Vec<u8> = (0..n).map(|at| (at * 7 % 3) as u8).collect();
        let bools: Vec<bool> = bytes.iter().map(|&byte| byte != 0).collect();
        let mut bits = vec![0u8; n.div_ceil(8)];
        (0..n).for_each(|at| bits[at / 8] |= u8::from(bools[at]) << (at % 8));
        let view = View::new(&bytes, &[n]).unwrap();
        let masks = [
            Mask::new(&bytes).unwrap(),
            Mask::new(&bools).unwrap(),
            Mask::new(&DynView::from(&view)).unwrap(),
            Mask::from_bits(Bitmap::new(&bits, 0, n).unwrap()),
        ];
        for mask in masks {
            let count = bools.iter().filter(|is| **is).count();
            assert_eq!((mask.len(), mask.count(), mask.shape(), mask.is_empty()), (n, count, &[n][..], n == 0));
            assert!((0..n).all(|at| mask.bitmap().get(at) == Some(bools[at])));
            assert_eq!(format!("{mask:?}"), format!("Mask {{ shape: [{n}], count: {count} }}"));
        }
    }
}

#[test]
fn masks_that_do_not_fit() {
    let (op, argument) = (Op::Gather, Argument::Mask);
    let mask = Mask::new(&[true, false, true]).unwrap();
    let valid = Bitmap::new(&[0b110], 0, 2).unwrap();
    let refused = mask.clone().with_nulls(valid).unwrap_err();
    assert_eq!(refused, Error::BitmapLengthMismatch { op, argument, len: 2, rows: 3, elements: 3 });
    let valid = Bitmap::new(&[0b110], 0, 3).unwrap();
    assert_eq!(mask.clone().with_nulls(valid).unwrap().count(), 1);
    let refused = mask.clone().with_shape(&[2, 2]).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { len: 3, expected: 4, shape: [2, 2].into() });
    let refused = mask.clone().with_shape(&[usize::MAX, 2]).unwrap_err();
    assert_eq!(refused, Error::TooManyElements { shape: [usize::MAX, 2].into() });
    assert_eq!(mask.clone().with_shape(&[3, 1]).unwrap().shape(), [3, 1]);
    let longer = View::new(&[1u8, 2, 3, 4], &[4]).unwrap();
    let refused = Gather::new(0).masked().run(&longer, &mask).unwrap_err();
    assert_eq!(refused, Error::ShapeMismatch { op, argument, expected: [4].into(), got: [3].into() });
    let refused = Mask::new(&DynView::from(&View::new(&[0.5f32], &[1]).unwrap())).unwrap_err();
    assert!(matches!(refused, Error::NotAMask { .. }));
}

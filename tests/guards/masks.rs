//! Masked gathers: data, the bits of the mask and the output next to guard pages, for elements and rows of every kind.

use std::fmt::Debug;

use gather_core::{Bitmap, Element, Gather, Mask, View, ViewMut};
use gather_tests::guard::{Guarded, Side};
use gather_tests::support::{available_levels, mixed};

/// Every `n`-th length is tested with elements of one type.
fn selected<T: Element + PartialEq + Debug>(step: usize, value: impl Fn(usize) -> T + Copy) {
    let [mut data, mut bits, mut out, mut packed] = [(); 4].map(|()| Guarded::new(1));
    for n in (0..=200).chain([255, 256, 257, 500]).step_by(step) {
        for percent in [0, 2, 12, 50, 95, 100] {
            let (offset, side) = ((n + percent) % 9, Side::ALL[(n + percent / 2) % 2]);
            let is = |at: usize| mixed(3, at) % 100 < percent as u64;
            let bytes: Vec<u8> = (0..(offset + n).div_ceil(8))
                .map(|byte| {
                    (0..8).fold(0, |bits, bit| {
                        bits | u8::from((8 * byte + bit).checked_sub(offset).is_none_or(is)) << bit
                    })
                })
                .collect();
            let bits = bits.place_copy(Side::ALL[n % 2], 0, &bytes);
            let mask = Mask::from_bits(Bitmap::new(bits, offset, n).unwrap());
            let data = data.place(side, 0, n, value);
            let expected: Vec<T> = data.iter().enumerate().filter(|(at, _)| is(*at)).map(|(_, value)| *value).collect();
            assert_eq!(mask.count(), expected.len());
            for level in available_levels() {
                let op = Gather::new(0).level(level).masked();
                for to in Side::ALL {
                    let own = out.place(to, 0, expected.len(), |_| T::ZERO);
                    op.run_into(&*data, &mask, &mut ViewMut::new(own, &[expected.len()]).unwrap()).unwrap();
                    assert_eq!(own, expected, "{n} at {percent} percent, {level}");
                }
            }
            // Bytes of a mask, and strided data and output.
            let bools = packed.place(side, 0, n, is);
            assert_eq!(Mask::new(&*bools).unwrap().count(), expected.len());
            if n % 2 == 0 {
                let own = out.place(side, 0, expected.len(), |_| T::ZERO);
                let view = View::strided(data, &[n], &[-1], n.saturating_sub(1)).unwrap();
                let reversed = Mask::new(&(0..n).rev().map(is).collect::<Vec<_>>()).unwrap();
                let steps = [-1];
                let mut to =
                    ViewMut::strided(own, &[expected.len()], &steps, expected.len().saturating_sub(1)).unwrap();
                Gather::new(0).masked().run_into(&view, &reversed, &mut to).unwrap();
                assert_eq!(own, expected, "{n} at {percent} percent, reversed");
            }
        }
    }
}

#[test]
fn elements() {
    selected(1, |at| mixed(1, at) as u8);
    selected(1, |at| mixed(1, at) as u16);
    selected(1, |at| mixed(1, at) as u32);
    selected(1, |at| mixed(1, at));
    selected(3, |at| [mixed(1, at), at as u64]);
}

#[test]
fn rows() {
    selected(3, |at| [at as u8; 3]);
    selected(3, |at| [at as u8; 7]);
    selected(5, |at| [at as u32; 6]);
    selected(5, |at| [at as u64; 7]);
    selected(7, |at| [at as u64; 31]);
    selected(11, |at| [at as u64; 80]);
}

//! Single elements of any size, built in or not, stored and reduced, by indices that are mostly positions.

use gather_core::{Element, Index, Method, NegativeIndex, ScatterElements, ScatterOutOfBounds, View, ViewMut};

const DIM: usize = 90;
const LEN: usize = 333;

/// Elements of `N` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Element)]
#[repr(transparent)]
struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> Bytes<N> {
    fn of(value: usize) -> Self {
        Bytes(core::array::from_fn(|k| (value * 31 + k * 7) as u8))
    }
}

gather_core::reduce_kernels! {
    /// Twice what is kept, and what is new, number by number: no order but the right one gives the same.
    static TWICE_PLUS_2 = |kept: [u32; 2], new: [u32; 2]| -> [u32; 2] {
        core::array::from_fn(|k| kept[k].wrapping_mul(2).wrapping_add(new[k]))
    };
    /// The same of elements that are too wide to be taken by their indices.
    static TWICE_PLUS_20 = |kept: [u32; 20], new: [u32; 20]| -> [u32; 20] {
        core::array::from_fn(|k| kept[k].wrapping_mul(2).wrapping_add(new[k]))
    };
}

/// Indices among which one of `every` is negative, and one out of range.
fn indices<I: Index + TryFrom<i64>>(every: usize) -> Vec<I> {
    let value = |at: usize| match at % every {
        0 => -1 - (at % DIM) as i64,
        1 => DIM as i64,
        _ => (at * 37 % DIM) as i64,
    };
    (0..LEN).map(|at| I::try_from(value(at)).ok().expect("a signed index of 32 bits or more")).collect()
}

/// What the plain loop makes of data by updates.
fn by_plain_loop<T: Copy>(data: &[T], list: &[i64], new: &[T], combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut out = data.to_vec();
    for (&index, &new) in list.iter().zip(new) {
        let position = if index < 0 { index + DIM as i64 } else { index } as usize;
        if position < DIM {
            out[position] = combine(out[position], new);
        }
    }
    out
}

fn stored<const N: usize, I: Index + TryFrom<i64> + Into<i64>>(every: usize) {
    let data: Vec<Bytes<N>> = (0..DIM).map(Bytes::of).collect();
    let new: Vec<Bytes<N>> = (0..LEN).map(|at| Bytes::of(at + 1000)).collect();
    let list = indices::<I>(every);
    let wide: Vec<i64> = list.iter().map(|&index| index.into()).collect();
    let expected = by_plain_loop(&data, &wide, &new, |_, new| new);
    let op = ScatterElements::new(0).negative_index(NegativeIndex::FromEnd).out_of_bounds(ScatterOutOfBounds::Drop);
    for method in [None, Some(Method::Blocks), Some(Method::Chunks), Some(Method::Direct)] {
        let op = method.map_or(op, |method| op.method(method));
        let (list, new) = (View::new(&list, &[LEN]).unwrap(), View::new(&new, &[LEN]).unwrap());
        let mut out = data.clone();
        op.run_on(&mut ViewMut::new(&mut out, &[DIM]).unwrap(), &list, &new).unwrap();
        assert!(out == expected, "{N} bytes, {method:?}, one of {every}");
    }
}

#[test]
fn elements_of_any_size_are_stored_in_their_order() {
    for every in [3, 50, 200, LEN] {
        macro_rules! sizes {
            ($($bytes:literal)*) => {$(
                stored::<$bytes, i32>(every);
                stored::<$bytes, i64>(every);
            )*};
        }
        sizes!(1 2 3 4 6 8 12 16 20 24 64 100);
    }
}

#[test]
fn reductions_of_the_callers_own_are_in_order() {
    for every in [3, 50, 200, LEN] {
        let list = indices::<i64>(every);
        macro_rules! reduced {
            ($($reducer:ident of $n:literal)*) => {$(
                let of = |value: usize| core::array::from_fn::<u32, $n, _>(|k| (value * 31 + k * 7) as u32);
                let data: Vec<_> = (0..DIM).map(of).collect();
                let new: Vec<_> = (0..LEN).map(|at| of(at + 1000)).collect();
                let twice = |kept: [u32; $n], new: [u32; $n]| -> [u32; $n] {
                    core::array::from_fn(|k| kept[k].wrapping_mul(2).wrapping_add(new[k]))
                };
                let expected = by_plain_loop(&data, &list, &new, twice);
                let op = ScatterElements::new(0).out_of_bounds(ScatterOutOfBounds::Drop);
                let (view, ids) = (View::new(&data, &[DIM]).unwrap(), View::new(&list, &[LEN]).unwrap());
                let new = View::new(&new, &[LEN]).unwrap();
                let got = op.reduce_by(&$reducer).run(&view, &ids, &new).unwrap();
                assert!(got.as_slice() == expected, "{} numbers, one of {every}", $n);
            )*};
        }
        reduced!(TWICE_PLUS_2 of 2  TWICE_PLUS_20 of 20);
    }
}

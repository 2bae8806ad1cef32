//! Calls of a few rows that are not planned ahead, which go by a plan of their own: against the oracle, through the
//! doors that write into an output and those that make one, and beside what is next to a few rows of a table.

use core::mem::MaybeUninit;

use gather_core::{Argument, Element, Error, Gather, Index, OutOfBounds, Par, Tensor, View, ViewMut};
use gather_tests::oracle::{self, BadIndex, Dense};

use crate::support::{RULES, available_levels, narrow, view};

/// Around the most rows that are few, and more, which rows of 4 and 8 bytes may be.
const COUNTS: [&[usize]; 11] = [&[], &[1], &[7], &[8], &[3, 5], &[2, 1, 31], &[63], &[64], &[65], &[8, 9], &[513]];

fn compare<T: PartialEq + std::fmt::Debug>(
    expected: &Result<Dense<T>, BadIndex>,
    got: Result<&[T], &Error>,
    what: &str,
) {
    match (expected, got) {
        (Ok(expected), Ok(got)) => assert_eq!(expected.values, got, "{what}"),
        (Err(bad), Err(Error::IndexOutOfRange { position, index, axis: 0, .. })) => {
            assert_eq!((bad.position, bad.index), (*position, *index), "{what}");
        }
        (expected, got) => panic!("{what}: expected {:?}, got {:?}", expected.as_ref().err(), got.err()),
    }
}

/// Every door, count, policy, level and number of threads for one table.
fn check<T: Element + PartialEq + std::fmt::Debug, I: Index + TryFrom<i128>>(shape: &[usize], make: fn(usize) -> T) {
    let data = Dense::from_fn(shape, make);
    let dim = shape[0] as i128;
    for indices_shape in COUNTS {
        // Indices from the front, from the end, and now and then out of range.
        for every in [1_000_000, 5] {
            let value = |at: usize| match at * 7 + 3 {
                x if x % every == 4 => dim,
                x => x as i128 % dim - if I::try_from(-dim).is_ok() && x % 2 == 0 { dim } else { 0 },
            };
            let indices = Dense::from_fn(indices_shape, value);
            let narrowed = narrow::<I>(&indices);
            for (negative, out_of_bounds, rules) in RULES {
                let expected = oracle::gather(&data, &indices, 0, 0, rules, &T::ZERO);
                for (level, par) in
                    available_levels().into_iter().flat_map(|level| [Par::Seq, Par::Threads(3)].map(|par| (level, par)))
                {
                    for axis in [0, -(shape.len() as i64)] {
                        let op = Gather::new(axis).negative_index(negative).out_of_bounds(out_of_bounds);
                        let op = op.level(level).par(par);
                        let what = format!("{op:?} of {shape:?}, {indices_shape:?} x {}, every {every}", I::TYPE);
                        doors(&op, &view(&data), &view(&narrowed), &expected, &what);
                    }
                }
            }
        }
    }
}

fn doors<T: Element + PartialEq + std::fmt::Debug, I: Index>(
    op: &Gather,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    expected: &Result<Dense<T>, BadIndex>,
    what: &str,
) {
    let shape = [indices.shape(), &data.shape()[1..]].concat();
    let len: usize = shape.iter().product();
    let fresh = op.run(data, indices);
    if let Ok(fresh) = &fresh {
        assert_eq!(fresh.shape(), shape, "{what}");
    }
    compare(expected, fresh.as_ref().map(Tensor::as_slice), what);

    // Two elements more than the output has, which nothing writes.
    let guard = T::ZERO;
    let mut memory = vec![guard; len + 2];
    let ran = op.run_into(data, indices, &mut ViewMut::new(&mut memory[1..=len], &shape).unwrap());
    assert_eq!((memory[0], memory[len + 1]), (guard, guard), "{what}");
    compare(expected, ran.as_ref().map(|()| &memory[1..=len]), what);

    let mut memory = vec![MaybeUninit::new(guard); len];
    let ran = op.run_into(data, indices, &mut ViewMut::new(&mut memory, &shape).unwrap());
    // SAFETY: every element was initialised before the run.
    let written: Vec<T> = memory.iter().map(|value| unsafe { value.assume_init() }).collect();
    compare(expected, ran.as_ref().map(|()| &written[..]), what);

    // Every second element of an output: not the plan of a few rows, and the same values.
    if let [first, rest @ ..] = &shape[..]
        && rest.is_empty()
    {
        let mut memory = vec![guard; 2 * len];
        let ran = op.run_into(data, indices, &mut ViewMut::strided(&mut memory, &[*first], &[2], 0).unwrap());
        let every_second: Vec<T> = memory.into_iter().step_by(2).collect();
        compare(expected, ran.as_ref().map(|()| &every_second[..]), what);
    }

    let mut wrong = vec![guard; 2 * len];
    let wrong_shape = [&[2], &shape[..]].concat();
    let ran = op.run_into(data, indices, &mut ViewMut::new(&mut wrong, &wrong_shape).unwrap());
    assert!(matches!(ran, Err(Error::ShapeMismatch { argument: Argument::Output, .. })), "{what}: {ran:?}");
    assert!(wrong.iter().all(|value| *value == guard), "{what}: written before the shape was checked");
}

#[test]
fn rows_of_every_width() {
    check::<u8, u8>(&[9], |at| at as u8 + 1);
    check::<u16, i8>(&[9, 3], |at| at as u16 + 1);
    check::<f32, u16>(&[9], |at| at as f32 + 1.0);
    check::<f32, i16>(&[9, 3], |at| at as f32 + 1.0);
    check::<f32, u16>(&[33], |at| at as f32 + 1.0);
    check::<u64, u32>(&[17], |at| at as u64 + 1);
    check::<u8, i64>(&[34, 4], |at| at as u8 + 1);
    check::<f32, u32>(&[9, 4, 4], |at| at as f32 + 1.0);
    check::<[u8; 3], i32>(&[9, 7], |at| [at as u8, 1, 2]);
    check::<[u64; 3], u64>(&[9], |at| [at as u64, 1, 2]);
    check::<f64, i64>(&[9, 1, 5], |at| at as f64 + 1.0);
    check::<u8, usize>(&[9, 75], |at| (at as u8).wrapping_add(1));
    check::<u32, isize>(&[1, 300], |at| at as u32 + 1);
}

#[test]
fn rows_of_far_tables() {
    // Rows from which on tables beyond a cache are fetched ahead, and longer ones.
    check::<u32, i32>(&[160_000, 8], |at| at as u32 + 1);
    check::<u32, u32>(&[16_000, 80], |at| at as u32 + 1);
}

#[test]
fn what_are_no_rows() {
    let data = Dense::from_fn(&[0, 3], |at| at as u32);
    let ids = Dense::from_fn(&[2], |_| 0i64);
    let ran = Gather::new(0).run(&view(&data), &view(&ids));
    assert!(matches!(ran, Err(Error::IndexOutOfRange { dim: 0, .. })), "{ran:?}");
    let zeros = Gather::new(0).out_of_bounds(OutOfBounds::Zero).run(&view(&data), &view(&ids)).unwrap();
    assert_eq!(zeros.as_slice(), [0; 6]);

    // Rows without elements: indices are checked all the same.
    let data = Dense::from_fn(&[3, 0], |at| at as u32);
    assert_eq!(Gather::new(0).run(&view(&data), &view(&ids)).unwrap().shape(), [2, 0]);
    let wild = Dense::from_fn(&[2], |at| 2 + at as i64);
    let ran = Gather::new(0).run(&view(&data), &view(&wild));
    assert!(matches!(ran, Err(Error::IndexOutOfRange { position: 1, index: 3, .. })), "{ran:?}");

    // No rows, and no axis.
    let data = Dense::from_fn(&[3, 2], |at| at as u32);
    let none = Dense::from_fn(&[0], |_| 0i64);
    assert_eq!(Gather::new(0).run(&view(&data), &view(&none)).unwrap().shape(), [0, 2]);
    let scalar = Dense::from_fn(&[], |at| at as u32);
    let ran = Gather::new(0).run(&view(&scalar), &view(&ids));
    assert!(matches!(ran, Err(Error::AxisOutOfRange { .. })), "{ran:?}");
}

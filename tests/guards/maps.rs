//! Maps: rows of every length, converted while they are gathered. Per-row parameters lie next to guards too.

use gather_core::{Codes, Element, Gather, Given, Map, Params, View, ViewMut, maps, row_kernels};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, Dense};
use half::f16;

use crate::{IndexOp, PLACES, Pages, Picks, TIGHT, lengths, levels};

/// Index lists of every length with short rows, and short lists with rows of every length.
fn shapes() -> impl Iterator<Item = (usize, usize)> {
    lengths().map(|count| (count, 1)).chain(lengths().map(|row| (3, row)))
}

/// The gathered elements, converted; zero where an index is out of range.
fn converted<T: Copy, U: Element>(data: &Dense<T>, picks: &Picks<i32>, convert: impl Fn(T, usize) -> U) -> Dense<U> {
    let row = data.shape[1];
    let placed = Dense {
        shape: data.shape.clone(),
        values: data.values.iter().enumerate().map(|(at, &value)| Some((value, at / row.max(1)))).collect(),
    };
    let gathered = oracle::gather(&placed, &picks.exact, 0, 0, picks.rules, &None).unwrap();
    let values = gathered.values.into_iter().map(|found| found.map_or(U::ZERO, |(value, at)| convert(value, at)));
    Dense { values: values.collect(), shape: gathered.shape }
}

/// Checks a map at each of the places.
fn hold<T: Element, U: Element, P: Params>(
    pages: &mut Pages,
    (op, map, given): (&Gather, &Map<T, U, P>, P::Given<'_>),
    (data, picks, expected): (&Dense<T>, &Picks<i32>, &Dense<U>),
) {
    let what = || format!("{} {op:?} {:?}, indices {:?}", map.name(), data.shape, picks.exact.shape);
    let tensors = (data, &picks.narrow, expected);
    pages.hold(&PLACES, tensors, |data, indices, out| op.run_into(&data.map(map, given), indices, out), what);
}

#[test]
fn bytes_to_floats_with_a_scale_for_each_row() {
    let mut pages = Pages::new();
    let (mut memory, mut more) = (Guarded::new(1), Guarded::new(1));
    for (number, (count, row)) in shapes().enumerate() {
        let data = Dense::from_fn(&[5, row], |at| (at * 31 + 7) as u8);
        let picks = Picks::<i32>::new(&[count], 5, number);
        let side = Side::ALL[number % 2];
        let scales = &*memory.place(side, 0, 5, |at| at as f32 + 0.25);
        let zeros = &*more.place(side, 0, 5, |at| at as u8 * 50);
        let expected = converted(&data, &picks, |value, at| (f32::from(value) - f32::from(zeros[at])) * scales[at]);
        for level in levels() {
            let given = (Given::PerRow(scales), Given::PerRow(zeros));
            let call = (&Gather::new(0).tuned(&picks, level), &maps::dequantize(), given);
            hold(&mut pages, call, (&data, &picks, &expected));
        }
    }
}

#[test]
fn halves_to_floats_and_back() {
    let mut pages = Pages::new();
    for (number, (count, row)) in shapes().enumerate() {
        let halves = Dense::from_fn(&[5, row], |at| f16::from_bits((at * 2551 + 1) as u16 & 0x7bff));
        let floats = Dense::from_fn(&[5, row], |at| at as f32 * 0.37 - 100.0);
        let picks = Picks::<i32>::new(&[count], 5, number);
        let to_floats = converted(&halves, &picks, |value, _| value.to_f32());
        let to_halves = converted(&floats, &picks, |value, _| f16::from_f32(value));
        for level in levels() {
            let op = Gather::new(0).tuned(&picks, level);
            hold(&mut pages, (&op, &maps::convert::<_, f32>(), ()), (&halves, &picks, &to_floats));
            hold(&mut pages, (&op, &maps::convert::<_, half::f16>(), ()), (&floats, &picks, &to_halves));
        }
    }
}

/// Rows that are prefetched are converted piece by piece.
#[test]
fn rows_beyond_the_cache() {
    let mut pages = Pages::new();
    for row in [300, 511, 700] {
        let data = Dense::from_fn(&[(5 << 18) / row, row], |at| (at % 251) as u8);
        let picks = Picks::<i32>::new(&[11], data.shape[0], row);
        let expected = converted(&data, &picks, |value, _| (f32::from(value) - 3.0) * 0.5);
        for level in levels() {
            let given = (Given::All(0.5), Given::All(3));
            let call = (&Gather::new(0).tuned(&picks, level), &maps::dequantize(), given);
            hold(&mut pages, call, (&data, &picks, &expected));
        }
    }
}

row_kernels! {
    static TURNED = |row: &[f32], out: &mut [f32]| {
        out.iter_mut().zip(row.iter().rev()).for_each(|(out, &value)| *out = value);
    };
}

/// Rows that are decoded for a row function: nothing beyond them is read, nor beyond what is given for them.
#[test]
fn rows_of_a_map_or_of_blocks_for_a_row_function() {
    let mut pages = Pages::new();
    let mut memory = Guarded::new(1);
    for (number, row) in lengths().filter(|&row| row > 0).chain(250..260).enumerate() {
        let data = Dense::from_fn(&[5, row], |at| (at * 31 + 7) as u8);
        let picks = Picks::<i32>::new(&[3], 5, number);
        let scales = &*memory.place(Side::ALL[number % 2], 0, 5, |at| at as f32 + 0.25);
        let mut of_map = converted(&data, &picks, |value, at| f32::from(value) * scales[at]);
        let nibbles = |value: u8, at: usize| [value & 15, value >> 4].map(|code| (f32::from(code) - 8.0) * scales[at]);
        let pairs = converted(&data, &picks, nibbles);
        let mut of_blocks = Dense { shape: vec![3, 2 * row], values: pairs.values.as_flattened().to_vec() };
        for turned in [&mut of_map, &mut of_blocks] {
            let row = turned.shape[1].max(1);
            turned.values.chunks_mut(row).for_each(<[f32]>::reverse);
        }
        // As one block a row.
        let block = (2 * row).next_power_of_two().max(16);
        let of_rows = View::new(scales, &[5, 1]).unwrap();
        for level in levels() {
            let op = Gather::new(0).tuned(&picks, level);
            let what = || format!("{op:?} of {row} bytes");
            let given = (Given::PerRow(scales), Given::All(0));
            let run = |data: &View<'_, u8>, indices: &View<'_, i32>, out: &mut ViewMut<'_, f32>| {
                op.run_into(&data.map(&maps::dequantize(), given).rows(&TURNED, ()), indices, out)
            };
            pages.hold(&TIGHT, (&data, &picks.narrow, &of_map), run, what);
            let run = |data: &View<'_, u8>, indices: &View<'_, i32>, out: &mut ViewMut<'_, f32>| {
                op.run_into(&data.blocks(Codes::Bits4, block, &of_rows).rows(&TURNED, ()), indices, out)
            };
            pages.hold(&TIGHT, (&data, &picks.narrow, &of_blocks), run, what);
        }
    }
}

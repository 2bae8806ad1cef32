//! Chunks that end, or begin, at a page that cannot be touched, as do their parameters, indices and outputs.

use gather_core::{
    Bags, Checked, Codes, Element, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, Given, IndexPolicy, Par,
    Reduction, View, ViewMut, chunks, maps, row_kernels,
};
use gather_tests::fused;
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, BagRows, Dense};
use gather_tests::values::bytes;

use crate::{IndexOp, Picks, levels};

/// Rows of the table, and those of each chunk.
const ROWS: usize = 7;
const LENGTHS: [&[usize]; 4] = [&[2, 1, 4], &[1, 0, 5, 1], &[7], &[1; 7]];

/// The number of indices: one by one, less than a group, and more than two groups.
const COUNTS: [usize; 5] = [1, 3, 4, 33, 70];

/// Rows around every width of a vector and of a panel.
fn widths() -> impl Iterator<Item = usize> {
    (1..=130).chain(255..=258).chain([300])
}

/// Memory of chunks, of their parameters, of indices and of an output.
struct Memory {
    data: [Guarded; ROWS],
    params: [Guarded; ROWS],
    more: [Guarded; ROWS],
    list: Guarded,
    out: Guarded,
}

/// The rows of each chunk: from, to.
fn ranges(lengths: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> {
    lengths.iter().scan(0, |end, &n| {
        *end += n;
        Some(*end - n..*end)
    })
}

/// Lays the values of each chunk into memory of its own.
fn place<'a, T: Element>(memory: &'a mut [Guarded], side: Side, lengths: &[usize], values: &[T]) -> Vec<&'a [T]> {
    let width = values.len() / ROWS;
    let values = |rows: std::ops::Range<usize>| &values[rows.start * width..rows.end * width];
    let parts = memory.iter_mut().zip(ranges(lengths));
    parts.map(|(memory, rows)| &*memory.place_copy(side, 0, values(rows))).collect()
}

/// Lays the rows of each chunk into memory of its own.
fn lay<'a, T: Element>(memory: &'a mut [Guarded], side: Side, lengths: &[usize], values: &[T]) -> Vec<View<'a, T>> {
    let width = values.len() / ROWS;
    let parts = place(memory, side, lengths, values);
    parts.iter().zip(lengths).map(|(part, &rows)| View::new(part, &[rows, width]).unwrap()).collect()
}

impl Memory {
    fn new() -> Self {
        let memory = || std::array::from_fn(|_| Guarded::new(1));
        Memory { data: memory(), params: memory(), more: memory(), list: Guarded::new(1), out: Guarded::new(1) }
    }
}

/// Runs a call into guarded memory of other values, and compares what it writes.
fn hold<U: Element>(
    out: &mut Guarded,
    side: Side,
    (expected, shape): (&[U], &[usize]),
    run: impl FnOnce(&mut ViewMut<'_, U>) -> Result<(), Error>,
    what: impl Fn() -> String,
) {
    let mut before = expected.to_vec();
    before.rotate_left(expected.len().min(1));
    let out = out.place_copy(side, 0, &before);
    run(&mut ViewMut::new(out, shape).unwrap()).unwrap_or_else(|error| panic!("{}, {side:?}: {error}", what()));
    let differs = || bytes(out).iter().zip(bytes(expected)).position(|(a, b)| a != b);
    assert!(bytes(out) == bytes(expected), "{}, {side:?}: byte {:?} differs", what(), differs());
}

/// Gathers rows of `$chunks` at every level, beside `$rows`: the rows of the whole table. A macro, since each kind of
/// chunks is a type of its own.
macro_rules! gathers {
    ($memory:ident, $side:ident, $number:ident, $rows:expr, $data:expr) => {{
        let (rows, data) = (&$rows, &$data);
        let width = rows.len() / ROWS;
        let table = Dense { shape: vec![ROWS, width], values: rows.to_vec() };
        let count = COUNTS[$number % COUNTS.len()];
        let picks = Picks::<i32>::new(&[count], ROWS, $number);
        let expected = oracle::gather(&table, &picks.exact, 0, 0, picks.rules, &Element::ZERO).unwrap();
        let list = $memory.list.place_copy($side, 0, &picks.narrow.values);
        let ids = View::new(list, &[count]).unwrap();
        for level in levels() {
            let op = Gather::new(0).tuned(&picks, level).par(Par::Threads(1 + $number % 2));
            let what = || format!("{op:?}, {count} rows of {width}");
            let expected = (&expected.values[..], &expected.shape[..]);
            hold(&mut $memory.out, $side, expected, |out| op.run_into(data, &ids, out), what);
            let policy = IndexPolicy { negative: op.get_negative_index(), out_of_bounds: op.get_out_of_bounds() };
            let checked = Checked::<i32>::new(&ids, ROWS, policy).unwrap();
            hold(&mut $memory.out, $side, expected, |out| op.run_into(data, &checked, out), what);
            let plan = op.plan_any_count(data, &ids).unwrap();
            hold(&mut $memory.out, $side, expected, |out| plan.run_into(data, &ids, out), what);
            assert!(plan.will_need(data, &ids).rows <= count);
        }
    }};
}

/// The widths, the lengths of chunks, and both ends.
fn cases() -> impl Iterator<Item = (usize, usize, &'static [usize], Side)> {
    let lengths = |number: usize| LENGTHS[number % LENGTHS.len()];
    let numbered = widths().enumerate();
    numbered.flat_map(move |(number, width)| Side::ALL.map(|side| (number, width, lengths(number), side)))
}

#[test]
fn rows_of_every_length() {
    let mut memory = Memory::new();
    for (number, width, lengths, side) in cases() {
        let values: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number + 1) as u8).collect();
        let parts = lay(&mut memory.data, side, lengths, &values);
        for number in number..number + COUNTS.len() {
            gathers!(memory, side, number, values, chunks(&parts).unwrap());
        }
    }
}

/// A chunk of one row many times makes the table too large for the caches: rows are prefetched.
#[test]
fn rows_that_are_fetched_ahead() {
    const MANY: usize = 1 << 22;
    let mut memory = Memory::new();
    for (number, width, lengths, side) in cases().filter(|case| case.0 % 3 == 0) {
        let values: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number + 1) as u8).collect();
        let mut parts = lay(&mut memory.data, side, lengths, &values);
        let last = memory.params[0].place_copy(side, 0, &values[..width]);
        parts.push(View::strided(last, &[MANY, width], &[0, 1], 0).unwrap());
        let data = chunks(&parts).unwrap();
        let id = |at: usize| if at % 5 == 4 { ROWS + at * 1_234_567 % MANY } else { at % ROWS };
        for count in [5, 90] {
            let list: Vec<u32> = (0..count).map(|at| id(at) as u32).collect();
            let row = |&id: &u32| &values[if id as usize >= ROWS { 0 } else { id as usize * width }..][..width];
            let expected: Vec<u8> = list.iter().flat_map(row).copied().collect();
            let ids = View::new(memory.list.place_copy(side, 0, &list), &[count]).unwrap();
            for level in levels() {
                let op = Gather::new(0).level(level);
                let told = op.plan(&data, &ids).unwrap().explain().to_string();
                assert!(told.contains(" ahead") || width < 64, "{told}");
                let what = || format!("{op:?}, {count} rows of {width}");
                let expected = (&expected[..], &[count, width][..]);
                hold(&mut memory.out, side, expected, |out| op.run_into(&data, &ids, out), what);
            }
        }
    }
}

/// A map whose parameters have a value for each row and for each element of each chunk.
#[test]
fn maps_with_parameters() {
    let mut memory = Memory::new();
    for (number, width, lengths, side) in cases() {
        let codes: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number) as u8).collect();
        let zeros: Vec<u8> = (0..ROWS * width).map(|at| (at * 7) as u8).collect();
        let scales: Vec<f32> = (0..ROWS).map(|row| row as f32 + 0.25).collect();
        let numbers: Vec<f32> =
            (0..ROWS * width).map(|at| (f32::from(codes[at]) - f32::from(zeros[at])) * scales[at / width]).collect();
        let data = lay(&mut memory.data, side, lengths, &codes);
        let scales = place(&mut memory.params, side, lengths, &scales);
        let zeros = place(&mut memory.more, side, lengths, &zeros);
        let map = maps::dequantize::<u8>();
        let given = |at: usize| (Given::PerRow(scales[at]), Given::PerElement(zeros[at]));
        let parts: Vec<_> = data.iter().enumerate().map(|(at, part)| part.map(&map, given(at))).collect();
        gathers!(memory, side, number, numbers, chunks(&parts).unwrap());
    }
}

/// Codes in blocks of 16 values, with a scale and a zero point for each block; and FP8 with a scale for each row.
#[test]
fn blocks_with_scales_and_zero_points() {
    let mut memory = Memory::new();
    for (number, width, lengths, side) in cases() {
        let codes: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number) as u8 & 0x77).collect();
        let blocks = (2 * width).div_ceil(16);
        let packed = blocks.div_ceil(2);
        let scales: Vec<f32> = (0..ROWS * blocks).map(|at| at as f32 * 0.5 + 0.25).collect();
        let zeros: Vec<u8> = (0..ROWS * packed).map(|at| (at * 89) as u8).collect();
        let numbers: Vec<f32> = (0..ROWS * width * 2)
            .map(|at| {
                let (row, column) = (at / (2 * width), at % (2 * width));
                let (block, nibble) = (column / 16, |byte: u8, at: usize| byte >> (at % 2 * 4) & 15);
                let zero = nibble(zeros[row * packed + block / 2], block);
                (f32::from(nibble(codes[at / 2], column)) - f32::from(zero)) * scales[row * blocks + block]
            })
            .collect();
        let data = lay(&mut memory.data, side, lengths, &codes);
        let of_rows: Vec<f32> = (0..ROWS).map(|row| row as f32 - 2.5).collect();
        {
            let scales = lay(&mut memory.params, side, lengths, &scales);
            let zeros = lay(&mut memory.more, side, lengths, &zeros);
            let parts: Vec<_> = (0..lengths.len())
                .map(|at| data[at].blocks(Codes::Bits4, 16, &scales[at]).zero_points(&zeros[at]))
                .collect();
            gathers!(memory, side, number, numbers, chunks(&parts).unwrap());
        }
        let numbers: Vec<f32> =
            codes.iter().enumerate().map(|(at, &code)| maps::e4m3_to_f32(code) * of_rows[at / width]).collect();
        let scales = lay(&mut memory.params, side, lengths, &of_rows);
        let parts: Vec<_> =
            data.iter().zip(&scales).map(|(part, scales)| part.blocks(Codes::E4M3, 0, scales)).collect();
        gathers!(memory, side, number, numbers, chunks(&parts).unwrap());
    }
}

#[test]
fn fused_rows() {
    let mut memory = Memory::new();
    for (number, columns, lengths, side) in cases().filter(|case| case.0 % 2 == 0) {
        for &format in FusedFormat::ALL {
            let noise = |at: usize| (at as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // The fifth row has any scale, also NaN.
            let mut rows = fused::rows(format, columns, ROWS, noise);
            let width = rows.len() / ROWS;
            rows.copy_within(..width, 4 * width);
            let numbers: Vec<f32> =
                rows.chunks_exact(width).flat_map(|row| fused::values(row, format, columns)).collect();
            let parts = lay(&mut memory.data, side, lengths, &rows);
            let parts: Vec<_> = parts.into_iter().map(|part| FusedRows::new(part, format, columns).unwrap()).collect();
            let parts: Vec<_> = parts.iter().map(|part| part.to::<f32>()).collect();
            gathers!(memory, side, number, numbers, chunks(&parts).unwrap());
        }
    }
}

row_kernels! {
    static TURNED = |row: &[f32], out: &mut [f32], by: f32, more: &[f32]| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = row[row.len() - 1 - at] * by + more[at];
        }
    };
}

/// Row functions of elements and of what a map and blocks make of them; a value and a row are given for each row.
#[test]
fn row_functions() {
    let mut memory = Memory::new();
    let mut given = [Guarded::new(1), Guarded::new(1)];
    for (number, width, lengths, side) in cases() {
        let [by, more] = &mut given;
        let by = &*by.place(side, 0, ROWS, |row| row as f32 - 2.0);
        let more = &*more.place(side, 0, ROWS * width, |at| at as f32 * 0.5);
        let of = (Given::PerRow(by), Given::PerRow(more));
        let computed = |numbers: &[f32]| -> Vec<f32> {
            let at = |at: usize| numbers[at / width * width + width - 1 - at % width] * by[at / width] + more[at];
            (0..ROWS * width).map(at).collect()
        };
        let codes: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number) as u8).collect();
        let scales: Vec<f32> = (0..ROWS).map(|row| row as f32 + 0.25).collect();
        let numbers: Vec<f32> = codes.iter().map(|&code| f32::from(code) - 100.0).collect();
        {
            let parts = lay(&mut memory.data, side, lengths, &numbers);
            gathers!(memory, side, number, computed(&numbers), chunks(&parts).unwrap().rows(&TURNED, of));
        }
        let data = lay(&mut memory.data, side, lengths, &codes);
        let scales_of = place(&mut memory.params, side, lengths, &scales);
        let scaled = |zero: f32| -> Vec<f32> {
            codes.iter().enumerate().map(|(at, &code)| (f32::from(code) - zero) * scales[at / width]).collect()
        };
        let map = maps::dequantize::<u8>();
        let params = |at: usize| (Given::PerRow(scales_of[at]), Given::All(9));
        let parts: Vec<_> = data.iter().enumerate().map(|(at, part)| part.map(&map, params(at))).collect();
        gathers!(memory, side, number, computed(&scaled(9.0)), chunks(&parts).unwrap().rows(&TURNED, of));
        // As one block a row.
        let block = width.next_power_of_two().max(16);
        let scales: Vec<_> = scales_of.iter().map(|scales| View::new(scales, &[scales.len(), 1]).unwrap()).collect();
        let parts: Vec<_> =
            data.iter().zip(&scales).map(|(part, scales)| part.blocks(Codes::Bits8, block, scales)).collect();
        gathers!(memory, side, number, computed(&scaled(128.0)), chunks(&parts).unwrap().rows(&TURNED, of));
    }
}

/// Bags of rows of numbers, and of codes with a scale for each row.
#[test]
fn bags() {
    let mut memory = Memory::new();
    let mut weights_memory = Guarded::new(1);
    let rules = gather_tests::policies::RULES[0].2;
    for (number, width, lengths, side) in cases() {
        let bounds = [&[0usize, 1][..], &[0, 0, 3, 70], &[0, 200, 201]][number % 3];
        let (count, bags) = (bounds[bounds.len() - 1], bounds.len() - 1);
        let codes: Vec<u8> = (0..ROWS * width).map(|at| (at * 31 + number) as u8).collect();
        let scales: Vec<f32> = (0..ROWS).map(|row| row as f32 + 0.25).collect();
        let numbers = (0..ROWS * width).map(|at| (f32::from(codes[at]) - 100.0) * scales[at / width]).collect();
        let table = Dense { shape: vec![ROWS, width], values: numbers };
        let weight = |at: usize| (at % 13) as f32 * 0.5 - 3.0;
        let ids = Dense::from_fn(&[count], |at| ((at * 3 + number) % ROWS) as i128);
        let sum = |terms: &[(usize, f32)]| terms.iter().fold(0.0, |sum, &(at, x)| sum + x * weight(at));
        let expected = oracle::embedding_bag(&table, &ids, bounds, rules, BagRows::default(), &0.0, sum).unwrap();
        let list: Vec<i16> = ids.values.iter().map(|&id| id as i16).collect();
        let ids = View::new(memory.list.place_copy(side, 0, &list), &[count]).unwrap();
        let weights = View::new(weights_memory.place(side, 0, count, weight), &[count]).unwrap();
        let offsets: Vec<u32> = bounds[..bags].iter().map(|&bound| bound as u32).collect();
        let offsets = View::new(&offsets, &[bags]).unwrap();
        let bags_of = Bags::new(&ids, &offsets).weights(&weights);
        let numbers = lay(&mut memory.more, side, lengths, &table.values);
        let data = lay(&mut memory.data, side, lengths, &codes);
        let scales = place(&mut memory.params, side, lengths, &scales);
        let map = maps::dequantize::<u8>();
        let given = |at: usize| (Given::PerRow(scales[at]), Given::All(100));
        let mapped: Vec<_> = data.iter().enumerate().map(|(at, part)| part.map(&map, given(at))).collect();
        let (numbers, mapped) = (chunks(&numbers).unwrap(), chunks(&mapped).unwrap());
        for level in levels() {
            let op = EmbeddingBag::new(Reduction::Add).level(level).par(Par::Threads(1 + number % 2));
            let what = || format!("{op:?}, {count} rows of {width}");
            let expected = (&expected.values[..], &[bags, width][..]);
            hold(&mut memory.out, side, expected, |out| op.run_into(&numbers, &bags_of, out), what);
            hold(&mut memory.out, side, expected, |out| op.run_into(&mapped, &bags_of, out), what);
            assert_eq!(op.will_need(&mapped, &bags_of).rows, if cfg!(unix) { count } else { 0 });
        }
    }
}

//! Row functions of short rows and into large outputs, and gathers of fused rows.

use std::rc::Rc;

use gather_core::{FusedFormat, FusedRows, Gather, Given, Level, Par, View, ViewMut, row_kernels, rows};

use super::{Case, Row};
use crate::random::Random;

row_kernels! {
    /// A row and what is given for it.
    pub(crate) static PLUS = |row: &[f32], out: &mut [f32], given: &[f32]| {
        for ((out, x), y) in out.iter_mut().zip(row).zip(given) {
            *out = x + y;
        }
    };
}

/// Rows that a call of short ones reads, and the rows of its table.
const IDS: usize = 2000;
const ROWS: usize = 500;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [1, 3, 7, 100, 103].map(dot).into();
    for (name, format) in
        [("8 bits", FusedFormat::Torch8), ("4 bits", FusedFormat::Torch4), ("2 bits", FusedFormat::Torch2)]
    {
        cases.extend([64, 128].map(|columns| fused(name, format, columns)));
    }
    for (rows, columns, n) in [(50_000, 32, 500_000), (2000, 32, 500_000), (2000, 256, 60_000), (60_000, 32, 4096)] {
        cases.push(sums(rows, columns, n));
    }
    cases
}

/// Whole numbers, of which the sums of products are the same in any order.
pub(crate) fn wholes(random: &mut Random, len: usize) -> Vec<f32> {
    (0..len).map(|_| random.below(15) as f32 - 7.0).collect()
}

/// The value of a code of a fused row, as a loop decodes it.
#[inline(always)]
pub(crate) fn decoded(format: FusedFormat, row: &[u8], out: &mut [f32]) {
    let bits = format.bits();
    let half = |at: usize| half::f16::from_le_bytes([row[at], row[at + 1]]).to_f32();
    let bytes = (out.len() * bits).div_ceil(8);
    let (codes, scale, bias) = match format {
        FusedFormat::Torch8 => {
            let single = |at: usize| f32::from_le_bytes([0, 1, 2, 3].map(|k| row[at + k]));
            (&row[..bytes], single(bytes), single(bytes + 4))
        }
        FusedFormat::Torch4 | FusedFormat::Torch2 => (&row[..bytes], half(bytes), half(bytes + 2)),
        _ => (&row[4..], half(0), half(2)),
    };
    match bits {
        8 => out.iter_mut().zip(codes).for_each(|(out, &code)| *out = f32::from(code) * scale + bias),
        4 => out.iter_mut().enumerate().for_each(|(at, out)| {
            *out = f32::from(codes[at / 2] >> (at % 2 * 4) & 15) * scale + bias;
        }),
        _ => out.iter_mut().enumerate().for_each(|(at, out)| {
            *out = f32::from(codes[at / 4] >> (at % 4 * 2) & 3) * scale + bias;
        }),
    }
}

fn random_ids(n: usize, rows: usize) -> Rc<Vec<u32>> {
    let mut random = Random::new(5);
    Rc::new((0..n).map(|_| random.below(rows) as u32).collect())
}

/// Rows of any length beside those of whole blocks of eight, which the last elements must not make much slower.
fn dot(columns: usize) -> Case {
    Case::new(format!("rows/dot of rows of {columns} f32"), move |level| {
        let whole = columns.next_multiple_of(8);
        let (mut ours, plain) = (dots(whole, level).0, dots(columns, level));
        let mut out = vec![0.0; IDS];
        Row::new(&[0f32; IDS], plain.0, plain.1).beside("rows of whole blocks", 1.7, move || ours(&mut out))
    })
}

/// Ours, and the loop.
fn dots(columns: usize, level: Level) -> (impl FnMut(&mut [f32]), impl FnMut(&mut [f32])) {
    let mut random = Random::new(3);
    let (table, query) = (Rc::new(wholes(&mut random, ROWS * columns)), Rc::new(wholes(&mut random, columns)));
    let ids = random_ids(IDS, ROWS);
    let (data, at) = (View::new(&table, &[ROWS, columns]).expect("a table"), View::new(&ids, &[IDS]).expect("ids"));
    let op = Gather::new(0).par(Par::Seq).level(level);
    let plan = op.plan(&data.rows(&rows::dot(), (Given::All(&query[..]),)), &at).expect("a plan");
    let (theirs, their_query, their_ids) = (table.clone(), query.clone(), ids.clone());
    let ours = move |out: &mut [f32]| {
        let (data, ids) = (View::new(&table, &[ROWS, columns]).expect("rows"), View::new(&ids, &[IDS]).expect("ids"));
        let mut out = ViewMut::new(out, &[IDS]).expect("a score for each");
        plan.run_into(&data.rows(&rows::dot(), (Given::All(&query[..]),)), &ids, &mut out).expect("ids in range");
    };
    let plain = move |out: &mut [f32]| {
        for (out, &id) in out.iter_mut().zip(&*their_ids) {
            let row = &theirs[id as usize * columns..][..columns];
            *out = row.iter().zip(&*their_query).fold(0.0, |sum, (a, b)| sum + a * b);
        }
    };
    (ours, plain)
}

/// Rows that are decoded.
fn fused(name: &str, format: FusedFormat, columns: usize) -> Case {
    Case::new(format!("rows/fused rows of {columns} codes of {name}"), move |level| {
        let numbers = wholes(&mut Random::new(3), ROWS * columns);
        let numbers = View::new(&numbers, &[ROWS, columns]).expect("numbers");
        let table = Rc::new(FusedRows::quantize(format, &numbers).expect("rows that fit"));
        let ids = random_ids(IDS, ROWS);
        let op = Gather::new(0).par(Par::Seq).level(level);
        let (theirs, their_ids) = (table.clone(), ids.clone());
        let rows = FusedRows::new(table.view(), format, columns).expect("rows of the format");
        let at = View::new(&ids, &[IDS]).expect("ids");
        let plan = op.plan(&rows.to::<f32>(), &at).expect("a plan");
        let ours = move |out: &mut [f32]| {
            let rows = FusedRows::new(table.view(), format, columns).expect("rows of the format");
            let (ids, mut out) =
                (View::new(&ids, &[IDS]).expect("ids"), ViewMut::new(out, &[IDS, columns]).expect("rows"));
            plan.run_into(&rows.to::<f32>(), &ids, &mut out).expect("ids in range");
        };
        let plain = move |out: &mut [f32]| {
            let bytes = theirs.shape()[1];
            for (out, &id) in out.chunks_exact_mut(columns).zip(&*their_ids) {
                decoded(format, &theirs.as_slice()[id as usize * bytes..][..bytes], out);
            }
        };
        let row = Row::new(&vec![0f32; IDS * columns], ours, plain);
        Row { wanted: 0.35, ..row }
    })
}

/// Rows of results of a table that is cached, or too large for a core's own cache, into an output of any size.
fn sums(rows: usize, columns: usize, n: usize) -> Case {
    Case::new(format!("rows/sums of {n} rows of {columns} f32 out of {rows}"), move |level| {
        let mut random = Random::new(3);
        let (table, given) = (Rc::new(wholes(&mut random, rows * columns)), Rc::new(wholes(&mut random, columns)));
        let ids = random_ids(n, rows);
        let op = Gather::new(0).par(Par::Seq).level(level);
        let (theirs, their_given, their_ids) = (table.clone(), given.clone(), ids.clone());
        let data = View::new(&table, &[rows, columns]).expect("a table");
        let plan = op.plan(&data.rows(&PLUS, (Given::All(&given[..]),)), &*ids).expect("a plan");
        let ours = move |out: &mut [f32]| {
            let (data, ids) = (View::new(&table, &[rows, columns]).expect("rows"), View::new(&ids, &[n]).expect("ids"));
            let mut out = ViewMut::new(out, &[n, columns]).expect("a row for each");
            plan.run_into(&data.rows(&PLUS, (Given::All(&given[..]),)), &ids, &mut out).expect("ids in range");
        };
        let plain = move |out: &mut [f32]| {
            for (out, &id) in out.chunks_exact_mut(columns).zip(&*their_ids) {
                let row = &theirs[id as usize * columns..][..columns];
                for ((out, x), y) in out.iter_mut().zip(row).zip(&*their_given) {
                    *out = x + y;
                }
            }
        };
        let row = Row::new(&vec![0f32; n * columns], ours, plain);
        Row { wanted: 0.6, ..row }
    })
}

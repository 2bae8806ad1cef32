//! Short rows, where the cost of a row counts: bags of unequal lengths, row functions that write, row functions of
//! decoded rows, and nulls with a bit for each element.

use std::rc::Rc;

use gather_core::{
    BagPlan, Bags, Bitmap, Dyn, DynView, DynViewMut, EmbeddingBag, FusedFormat, FusedRows, Gather, Given, Nulls, Par,
    Reduction, RowFunction, Spec, View, ViewMut, maps, row_kernels, rows,
};

use super::rows::{decoded, wholes};
use super::{Case, Row, Writes};
use crate::random::Random;

row_kernels! {
    /// A row times a number.
    static TIMES = |row: &[f32], out: &mut [f32], by: f32| {
        for (out, value) in out.iter_mut().zip(row) {
            *out = value * by;
        }
    };
}

/// Rows of a table that the caches hold.
const ROWS: usize = 1000;
/// Indices of a call of a row function.
const IDS: usize = 2000;
/// Bags of a call.
const BAGS: usize = 40_000;
/// Bags of a call whose types are known at run time.
const DYN_BAGS: usize = 1000;

/// The order of the lengths of bags.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Equal,
    Sorted,
    Shuffled,
}

/// Where the rows of bags come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    F32,
    Fused8,
    Mapped,
}

/// Rows that a row function reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decode {
    /// `f32`, and a query for all indices.
    Plain,
    /// `f32`, and a query for each index.
    PerIndex,
    Mapped,
    Fused8,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (columns, wanted) in [(3, 0.9), (16, 1.2), (64, 1.3)] {
        cases.push(bags(Source::F32, columns, 0..=4, Order::Shuffled, wanted));
    }
    for order in [Order::Equal, Order::Sorted] {
        cases.extend([3, 16].map(|columns| bags(Source::F32, columns, 0..=4, order, 0.9)));
    }
    for lens in [0..=1, 1..=4, 2..=3] {
        cases.push(bags(Source::F32, 3, lens, Order::Shuffled, 0.95));
    }
    for source in [Source::Fused8, Source::Mapped] {
        for columns in [3, 16, 64] {
            cases.push(bags(source, columns, 0..=4, Order::Shuffled, 1.0));
        }
    }
    for (columns, len) in [(1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (2, 2)] {
        cases.push(dyn_bags(columns, len));
    }
    for columns in [1, 2, 3, 4, 8, 9, 16, 17, 33, 64, 100, 768] {
        cases.push(times(columns, if columns < 64 { 0.8 } else { 1.0 }));
    }
    for decode in [Decode::Mapped, Decode::Fused8] {
        cases.extend([1, 2, 3, 4, 8, 9, 64].map(|columns| dot(decode, columns, IDS, 0.8)));
    }
    cases.extend([1, 2, 3, 4, 8, 64].map(|columns| dot(Decode::PerIndex, columns, IDS, 0.9)));
    cases.push(dot(Decode::Plain, 3, 10 * IDS, 0.8));
    cases.extend([2, 4].map(|columns| element_bits(columns, 0.9)));
    cases
}

fn view<'a, T>(values: &'a [T], shape: &[usize]) -> View<'a, T> {
    View::new(values, shape).expect("values of their shape")
}

fn ids(n: usize, rows: usize) -> Rc<Vec<i64>> {
    let mut random = Random::new(5);
    Rc::new((0..n).map(|_| random.below(rows) as i64).collect())
}

/// Sums of bags by offsets, with lengths of a range, planned on other bags.
fn bags(source: Source, columns: usize, lens: std::ops::RangeInclusive<usize>, order: Order, wanted: f64) -> Case {
    let (least, most) = lens.into_inner();
    let name = format!("short/bags of {least} to {most} rows of {columns}, {source:?}, {order:?}").to_lowercase();
    Case::new(name, move |level| {
        let mut random = Random::new(7);
        let mut lens: Vec<usize> = match order {
            Order::Equal => vec![(least + most) / 2; BAGS],
            _ => (0..BAGS).map(|_| least + random.below(most - least + 1)).collect(),
        };
        if order == Order::Sorted {
            lens.sort_unstable();
        }
        let ends = lens.iter().scan(0, |end, len| {
            *end += *len as i64;
            Some(*end)
        });
        let offsets: Rc<Vec<i64>> = Rc::new(std::iter::once(0).chain(ends).collect());
        let ids = ids(offsets[BAGS] as usize, ROWS);
        let codes: Vec<u8> = (0..ROWS * columns).map(|_| random.below(256) as u8).collect();
        let scales: Rc<Vec<f32>> = Rc::new((0..ROWS).map(|row| 0.5 + (row % 5) as f32).collect());
        let numbers = wholes(&mut random, ROWS * columns);
        let fused = FusedRows::quantize(FusedFormat::Torch8, &view(&numbers, &[ROWS, columns])).expect("rows");
        let (fused, codes) = (Rc::new(fused), Rc::new(codes));
        // The values that the loop decodes, row by row.
        let table: Rc<Vec<f32>> = Rc::new(numbers);
        let op = EmbeddingBag::new(Reduction::Add).include_last_offset(true).par(Par::Seq).level(level);
        let theirs = (table.clone(), fused.clone(), codes.clone(), scales.clone(), ids.clone(), offsets.clone());
        let ours = move |out: &mut [f32]| {
            let (ids, offsets) = (view(&ids, &[ids.len()]), view(&offsets, &[BAGS + 1]));
            let bags = Bags::new(&ids, &offsets);
            let mut out = ViewMut::new(out, &[BAGS, columns]).expect("sums");
            match source {
                Source::F32 => op.run_into(&view(&table, &[ROWS, columns]), &bags, &mut out),
                Source::Fused8 => {
                    let rows = FusedRows::new(fused.view(), FusedFormat::Torch8, columns).expect("fused rows");
                    op.run_into(&rows.to::<f32>(), &bags, &mut out)
                }
                Source::Mapped => {
                    let params = (Given::PerRow(&scales[..]), Given::All(128));
                    let codes = view(&codes, &[ROWS, columns]);
                    op.run_into(&codes.map(&maps::dequantize(), params), &bags, &mut out)
                }
            }
            .expect("indices in range");
        };
        let plain = move |out: &mut [f32]| {
            let (table, fused, codes, scales, ids, offsets) = &theirs;
            let bytes = fused.shape()[1];
            let mut row = vec![0.0f32; columns];
            for (bag, out) in out.chunks_exact_mut(columns).enumerate() {
                out.fill(0.0);
                for &id in &ids[offsets[bag] as usize..offsets[bag + 1] as usize] {
                    let id = id as usize;
                    match source {
                        Source::F32 => {
                            let row = &table[id * columns..][..columns];
                            out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
                        }
                        Source::Fused8 => {
                            decoded(FusedFormat::Torch8, &fused.as_slice()[id * bytes..][..bytes], &mut row);
                            out.iter_mut().zip(&row).for_each(|(out, value)| *out += value);
                        }
                        Source::Mapped => {
                            let (row, scale) = (&codes[id * columns..][..columns], scales[id]);
                            out.iter_mut().zip(row).for_each(|(out, &code)| {
                                *out += (i32::from(code) - 128) as f32 * scale;
                            });
                        }
                    }
                }
            }
        };
        Row { wanted, ..Row::new(&vec![0f32; BAGS * columns], ours, plain) }
    })
}

/// Sums of bags of one length, whose types are known at run time.
fn dyn_bags(columns: usize, len: usize) -> Case {
    Case::new(format!("short/dyn bags of {len} rows of {columns}"), move |level| {
        let table: Rc<Vec<f32>> = Rc::new(wholes(&mut Random::new(3), ROWS * columns));
        let ids = ids(DYN_BAGS * len, ROWS);
        let offsets: Rc<Vec<i64>> = Rc::new((0..DYN_BAGS).map(|bag| (bag * len) as i64).collect());
        let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq).level(level);
        let plan: BagPlan<Dyn, Dyn> = {
            let (ids, offsets) = (view(&ids, &[ids.len()]), view(&offsets, &[DYN_BAGS]));
            let table = view(&table, &[ROWS, columns]);
            let (ids, offsets) = (DynView::from(&ids), DynView::from(&offsets));
            op.plan(&DynView::from(&table), &Bags::new(&ids, &offsets)).expect("a plan")
        };
        let theirs = (table.clone(), ids.clone());
        let ours = move |out: &mut [f32]| {
            let (ids, offsets) = (view(&ids, &[ids.len()]), view(&offsets, &[DYN_BAGS]));
            let table = view(&table, &[ROWS, columns]);
            let (ids, offsets) = (DynView::from(&ids), DynView::from(&offsets));
            let mut out = ViewMut::new(out, &[DYN_BAGS, columns]).expect("sums");
            let bags = Bags::new(&ids, &offsets);
            plan.run_into(&DynView::from(&table), &bags, &mut DynViewMut::from(&mut out)).expect("indices in range");
        };
        let plain = move |out: &mut [f32]| {
            let (table, ids) = &theirs;
            for (ids, out) in ids.chunks_exact(len).zip(out.chunks_exact_mut(columns)) {
                out.fill(0.0);
                for &id in ids {
                    let row = &table[id as usize * columns..][..columns];
                    out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
                }
            }
        };
        Row { wanted: 0.8, ..Row::new(&vec![0f32; DYN_BAGS * columns], ours, plain) }
    })
}

/// A row function that writes a row.
fn times(columns: usize, wanted: f64) -> Case {
    Case::new(format!("short/a function writes rows of {columns}"), move |level| {
        let (table, ids) = (Rc::new(wholes(&mut Random::new(3), ROWS * columns)), ids(IDS, ROWS));
        let op = Gather::new(0).par(Par::Seq).level(level);
        let data = Spec::<f32>::new(&[ROWS, columns]).expect("a table");
        let plan = op.plan(&data.rows(&TIMES), &ids[..]).expect("a plan");
        let theirs = (table.clone(), ids.clone());
        let ours = move |out: &mut [f32]| {
            let mut out = ViewMut::new(out, &[IDS, columns]).expect("rows");
            let data = view(&table, &[ROWS, columns]);
            plan.run_into(&data.rows(&TIMES, (Given::All(0.5),)), &ids[..], &mut out).expect("indices in range");
        };
        let plain = move |out: &mut [f32]| {
            let (table, ids) = &theirs;
            for (out, &id) in out.chunks_exact_mut(columns).zip(&ids[..]) {
                let row = &table[id as usize * columns..][..columns];
                out.iter_mut().zip(row).for_each(|(out, value)| *out = value * 0.5);
            }
        };
        Row { wanted, ..Row::new(&vec![0f32; IDS * columns], ours, plain) }
    })
}

/// Dot products of rows and queries, of whole numbers whose sums are the same in any order.
fn dot(decode: Decode, columns: usize, n: usize, wanted: f64) -> Case {
    Case::new(format!("short/dot of {n} rows of {columns}, {decode:?}").to_lowercase(), move |level| {
        let mut random = Random::new(3);
        // From 0 to 255, so that the scale of a fused row is 1.
        let numbers: Vec<f32> = (0..ROWS * columns).map(|at| [0.0, 255.0, 7.0, 31.0][at % columns % 4]).collect();
        let queries = if decode == Decode::PerIndex { n } else { 1 };
        let query = Rc::new(wholes(&mut random, queries * columns));
        let codes: Rc<Vec<u8>> = Rc::new((0..ROWS * columns).map(|_| random.below(256) as u8).collect());
        let fused = FusedRows::quantize(FusedFormat::Torch8, &view(&numbers, &[ROWS, columns])).expect("rows");
        let (table, fused, ids) = (Rc::new(numbers), Rc::new(fused), ids(n, ROWS));
        let op = Gather::new(0).par(Par::Seq).level(level);
        let function: RowFunction<f32, f32, _> = rows::dot();
        let shape = [ROWS, columns];
        let (theirs, their_query, their_ids) =
            ((table.clone(), fused.clone(), codes.clone()), query.clone(), ids.clone());
        let ours: Writes<f32> = match decode {
            Decode::Plain | Decode::PerIndex => {
                let plan = op.plan(&Spec::<f32>::new(&shape).expect("a table").rows(&function), &ids[..]);
                let plan = plan.expect("a plan");
                Box::new(move |out| {
                    let given = if queries == 1 { Given::All(&query[..]) } else { Given::PerIndex(&query[..]) };
                    let mut out = ViewMut::new(out, &[n]).expect("a score for each");
                    plan.run_into(&view(&table, &shape).rows(&function, (given,)), &ids[..], &mut out)
                        .expect("indices in range");
                })
            }
            Decode::Mapped => {
                let map = maps::dequantize::<u8>();
                let plan = op.plan(&Spec::<u8>::new(&shape).expect("codes").map(&map).rows(&function), &ids[..]);
                let plan = plan.expect("a plan");
                Box::new(move |out| {
                    let (codes, params) = (view(&codes, &shape), (Given::All(0.5), Given::All(128)));
                    let mut out = ViewMut::new(out, &[n]).expect("a score for each");
                    let mapped = codes.map(&map, params);
                    plan.run_into(&mapped.rows(&function, (Given::All(&query[..]),)), &ids[..], &mut out)
                        .expect("indices in range");
                })
            }
            Decode::Fused8 => {
                let source = FusedRows::new(fused.view(), FusedFormat::Torch8, columns).expect("fused rows");
                let given = (Given::All(&query[..]),);
                let plan = op.plan(&source.to::<f32>().rows(&function, given), &ids[..]).expect("a plan");
                Box::new(move |out| {
                    let source = FusedRows::new(fused.view(), FusedFormat::Torch8, columns).expect("fused rows");
                    let given = (Given::All(&query[..]),);
                    let mut out = ViewMut::new(out, &[n]).expect("a score for each");
                    plan.run_into(&source.to::<f32>().rows(&function, given), &ids[..], &mut out)
                        .expect("indices in range");
                })
            }
        };
        let plain = move |out: &mut [f32]| {
            let (table, fused, codes) = &theirs;
            let bytes = fused.shape()[1];
            let mut values = vec![0.0f32; columns];
            for (at, (out, &id)) in out.iter_mut().zip(&their_ids[..]).enumerate() {
                let (id, query) = (id as usize, &their_query[if queries == 1 { 0 } else { at * columns }..][..columns]);
                let product = |row: &[f32]| row.iter().zip(query).fold(0.0, |sum, (a, b)| sum + a * b);
                *out = match decode {
                    Decode::Plain | Decode::PerIndex => product(&table[id * columns..][..columns]),
                    Decode::Mapped => {
                        let row = codes[id * columns..][..columns].iter();
                        row.zip(query).fold(0.0, |sum, (&code, b)| sum + (i32::from(code) - 128) as f32 * 0.5 * b)
                    }
                    Decode::Fused8 => {
                        decoded(FusedFormat::Torch8, &fused.as_slice()[id * bytes..][..bytes], &mut values);
                        product(&values)
                    }
                };
            }
        };
        Row { wanted, ..Row::new(&vec![0f32; n], ours, plain) }
    })
}

/// Rows of a table with a bit for each element, half of them null. Behind the values the output has the bitmap.
fn element_bits(columns: usize, wanted: f64) -> Case {
    const N: usize = 4000;
    Case::new(format!("short/nulls by element, rows of {columns}"), move |level| {
        let mut random = Random::new(3);
        let table: Rc<Vec<u32>> = Rc::new((0..ROWS * columns).map(|at| at as u32).collect());
        let bits: Rc<Vec<u8>> = Rc::new((0..(ROWS * columns).div_ceil(8)).map(|_| random.below(256) as u8).collect());
        let ids = ids(N, ROWS);
        let op = Gather::new(0).par(Par::Seq).level(level);
        let data = Spec::<u32>::new(&[ROWS, columns]).expect("a table");
        let plan = op.nullable().plan(&data, &ids[..]).expect("a plan");
        let theirs = (table.clone(), bits.clone(), ids.clone());
        let words = (N * columns).div_ceil(32);
        let ours = move |out: &mut [u32]| {
            let (out, validity) = out.split_at_mut(N * columns);
            let nulls = Nulls { data: Some(Bitmap::new(&bits, 0, ROWS * columns).expect("bits")), ..Nulls::default() };
            let mut out = ViewMut::new(out, &[N, columns]).expect("rows");
            let validity = bytemuck::cast_slice_mut(validity);
            plan.run_into(&view(&table, &[ROWS, columns]), &ids[..], nulls, &mut out, validity).expect("in range");
        };
        let plain = move |out: &mut [u32]| {
            let (table, bits, ids) = &theirs;
            let (out, validity) = out.split_at_mut(N * columns);
            let validity: &mut [u8] = bytemuck::cast_slice_mut(validity);
            validity.fill(0);
            for (at, (out, &id)) in out.chunks_exact_mut(columns).zip(&ids[..]).enumerate() {
                let row = id as usize * columns;
                out.copy_from_slice(&table[row..][..columns]);
                for column in 0..columns {
                    let (from, to) = (row + column, at * columns + column);
                    validity[to / 8] |= (bits[from / 8] >> (from % 8) & 1) << (to % 8);
                }
            }
        };
        Row { wanted, ..Row::new(&vec![0u32; N * columns + words], ours, plain) }
    })
}

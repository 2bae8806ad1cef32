//! Times the requests of servers beside a safe loop or `arrow-select`: `requests [FILTER] [--seconds S]`.
//!
//! Tables of a recommender at batch 1, bags of a few rows, rows of a few columns, takes of a few ids with nulls, a write
//! of a key-value cache, columns of Arrow. Calls are planned, on one thread pinned to a CPU, into warm memory. Ids of each call lie where
//! those of the last did not. Outputs are compared first. Times are medians in nanoseconds, in turn with the peer's.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, Float32Array, Int32Array, PrimitiveArray,
    UInt32Array,
};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use gather_benches::clock;
use gather_benches::options::Bench;
use gather_benches::random::Random;
use gather_core::{
    Bags, Bitmap, Element, EmbeddingBag, FusedFormat, FusedRows, Gather, Given, NegativeIndex, Nulls, Par, Pool,
    Reduction, ScatterNd, Spec, Tensor, View, ViewMut, rows, tables,
};

/// The bridge to Arrow, as the tests of bridges have it.
#[path = "../../../tests/interop/arrow/src/lib.rs"]
#[allow(unreachable_pub, reason = "a library of its own")]
#[expect(dead_code, reason = "record batches are timed by the bridge itself")]
mod bridge;

/// Values of a column of Arrow.
const COLUMN: usize = 8192;
/// Lists of ids that take turns.
const LISTS: usize = 64;
/// Rows of a table.
const ROWS: usize = 1000;
/// Rows of a table beyond the caches.
const FAR_ROWS: usize = 40_000;

fn main() -> ExitCode {
    let bench = match Bench::pinned("requests") {
        Ok(bench) => Requests(bench),
        Err(status) => return status,
    };
    println!("| request | peer ns | ours ns | peer / ours |");
    println!("|---|---|---|---|");
    for format in [FusedFormat::F32, FusedFormat::F16, FusedFormat::Torch8] {
        for weighted in [false, true] {
            bench.tables(Shape { tables: 26, rows: ROWS, columns: 64, batch: 1, len: 4 }, format, weighted);
        }
    }
    bench.tables(Shape { tables: 64, rows: ROWS, columns: 16, batch: 1, len: 4 }, FusedFormat::F32, false);
    bench.tables(Shape { tables: 200, rows: ROWS, columns: 1, batch: 1, len: 4 }, FusedFormat::F32, false);
    bench.tables(Shape { tables: 1000, rows: ROWS, columns: 16, batch: 4, len: 4 }, FusedFormat::F32, false);
    bench.tables(Shape { tables: 26, rows: ROWS, columns: 64, batch: 16, len: 4 }, FusedFormat::F32, false);
    bench.tables(Shape { tables: 26, rows: FAR_ROWS, columns: 64, batch: 1, len: 4 }, FusedFormat::F32, false);
    bench.tables(Shape { tables: 26, rows: FAR_ROWS, columns: 64, batch: 1, len: 4 }, FusedFormat::Torch8, false);
    for kind in [Kind::Empty, Kind::One(1), Kind::One(2), Kind::One(3), Kind::Pruned] {
        bench.bags(kind);
    }
    for columns in [1, 2, 4, 8, 32, 128, 300, 768] {
        bench.scores(columns, false);
    }
    for columns in [128, 300, 768] {
        bench.scores(columns, true);
    }
    for count in [10, 64, 1000, 8192] {
        bench.nulls(count);
    }
    bench.dense();
    bench.columns::<Int64Type>("i64", true, |bits| bits as i64);
    bench.columns::<UInt8Type>("u8", true, |bits| bits as u8);
    bench.columns::<UInt8Type>("u8", false, |bits| bits as u8);
    for (size, some) in [(3, true), (5, false)] {
        bench.lists(size, some);
    }
    for count in [1000, 1 << 20] {
        bench.booleans(count);
    }
    bench.pooled();
    for rows in [1, 8, 32] {
        bench.cache_write(rows);
    }
    bench.structs();
    ExitCode::SUCCESS
}

/// Tables of a request.
#[derive(Clone, Copy)]
struct Shape {
    tables: usize,
    rows: usize,
    columns: usize,
    batch: usize,
    len: usize,
}

/// Bags of short rows.
#[derive(Clone, Copy)]
enum Kind {
    /// Without rows.
    Empty,
    /// Of one row of some columns.
    One(usize),
    /// Of 32 rows of 16 columns, half of which are pruned.
    Pruned,
}

fn floats(n: usize, random: &mut Random) -> Vec<f32> {
    (0..n).map(|_| random.fraction() as f32 - 0.5).collect()
}

fn ids(n: usize, below: usize, random: &mut Random) -> Vec<i64> {
    (0..n).map(|_| random.below(below) as i64).collect()
}

/// Ids below a number, half of which may be null.
fn null_ids(n: usize, below: usize, some: bool, random: &mut Random) -> UInt32Array {
    (0..n).map(|_| (!some || random.below(2) > 0).then(|| random.below(below) as u32)).collect()
}

/// A take through the bridge.
fn bridged(values: &dyn Array, ids: &UInt32Array) -> ArrayRef {
    bridge::Rows::take(ids, values.len()).and_then(|rows| rows.of(&[values])).expect("ids in range")
}

/// Requests, and which of them are timed.
struct Requests(Bench);

impl Requests {
    /// Times a call and its peer that write to memory which is used again, after what they wrote was compared.
    fn row<T: PartialEq + Clone>(
        &self,
        name: &str,
        out: T,
        mut peer: impl FnMut(usize, &mut T),
        mut ours: impl FnMut(usize, &mut T),
    ) {
        let (mut a, mut b) = (out.clone(), out);
        for list in 0..LISTS {
            peer(list, &mut a);
            ours(list, &mut b);
            assert!(a == b, "{name}: results differ");
        }
        self.time(name, |list| peer(list, black_box(&mut a)), |list| ours(list, black_box(&mut b)));
    }

    /// Times a call and its peer, each of which is given the number of a list.
    fn time(&self, name: &str, mut peer: impl FnMut(usize), mut ours: impl FnMut(usize)) {
        if !name.contains(&self.0.filter) {
            return;
        }
        let (mut i, mut j) = (0, 0);
        let mut calls: [Box<dyn FnMut()>; 2] = [
            Box::new(|| {
                i = (i + 1) % LISTS;
                peer(i);
            }),
            Box::new(|| {
                j = (j + 1) % LISTS;
                ours(j);
            }),
        ];
        let [peer, ours] = clock::medians(&mut calls, self.0.budget)[..] else { unreachable!("two calls") };
        println!("| {name} | {:.0} | {:.0} | {:.2} |", peer * 1e6, ours * 1e6, peer / ours);
    }

    fn tables(&self, shape: Shape, format: FusedFormat, weighted: bool) {
        let Shape { tables: n, rows, columns, batch, len } = shape;
        let weights = if weighted { ", weighted" } else { "" };
        let name = format!("{n} tables of {rows} x {columns}, {format:?}{weights}, batch {batch}, bags of {len}");
        if !name.contains(&self.0.filter) {
            return;
        }
        let mut random = Random::new(7);
        let numbers = floats(rows * columns, &mut random);
        let numbers = View::new(&numbers, &[rows, columns]).expect("a table");
        let coded: Vec<_> = (0..n).map(|_| FusedRows::quantize(format, &numbers).expect("rows")).collect();
        let coded = coded.iter().map(|coded| FusedRows::new(coded.view(), format, columns).expect("fused rows"));
        let coded: Vec<_> = coded.collect();
        let plain: Vec<Tensor<f32>> = coded
            .iter()
            .map(|coded| {
                Gather::new(0).run(&coded.to::<f32>(), &(0..rows as i64).collect::<Vec<_>>()).expect("all rows")
            })
            .collect();
        let all: Vec<Vec<i64>> = (0..LISTS * n).map(|_| ids(batch * len, rows, &mut random)).collect();
        let scale = floats(batch * len, &mut random);
        let views: Vec<_> = all.iter().map(|ids| View::new(ids, &[batch, len]).expect("ids")).collect();
        let scales = View::new(&scale, &[batch, len]).expect("weights");
        let of =
            |ids| if weighted { Bags::planned(ids).weights(Some(&scales)) } else { Bags::planned(ids).weights(None) };
        let bags: Vec<Vec<_>> = views.chunks(n).map(|views| views.iter().map(of).collect()).collect();
        let packed: Vec<_> = views[..n].iter().map(Bags::packed).collect();
        let tables = tables::<f32>(&coded).expect("some tables");
        let plan = EmbeddingBag::new(Reduction::Add).par(Par::Seq).plan(&tables, &packed).expect("a plan");
        let out = vec![0.0f32; batch * n * columns];
        self.row(
            &name,
            out,
            |list, out| {
                for (number, (table, ids)) in plain.iter().zip(&all[list * n..][..n]).enumerate() {
                    for (bag, ids) in ids.chunks_exact(len).enumerate() {
                        let out = &mut out[(bag * n + number) * columns..][..columns];
                        out.fill(0.0);
                        for (&id, weight) in ids.iter().zip(&scale[bag * len..]) {
                            let row = &table.as_slice()[id as usize * columns..][..columns];
                            if weighted {
                                out.iter_mut().zip(row).for_each(|(out, value)| *out += value * weight);
                            } else {
                                out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
                            }
                        }
                    }
                }
            },
            |list, out| {
                let mut out = ViewMut::new(out, &[batch, n * columns]).expect("sums");
                plan.run_into(&tables, &bags[list], &mut out).expect("ids in range");
            },
        );
    }

    fn bags(&self, kind: Kind) {
        let (name, columns, len) = match kind {
            Kind::Empty => ("1024 empty bags of 16 columns".to_owned(), 16, 0),
            Kind::One(columns) => (format!("1024 bags of one row of {columns}"), columns, 1),
            Kind::Pruned => ("1024 bags of 32 rows of 16, half of them pruned".to_owned(), 16, 32),
        };
        const BAGS: usize = 1024;
        let mut random = Random::new(11);
        let numbers = floats(ROWS * columns, &mut random);
        let table = View::new(&numbers, &[ROWS, columns]).expect("a table");
        let mut all: Vec<Vec<i64>> = (0..LISTS).map(|_| ids(BAGS * len, ROWS, &mut random)).collect();
        if let Kind::Pruned = kind {
            all.iter_mut().flatten().for_each(|id| *id = if random.below(2) == 0 { -1 } else { *id });
        }
        let views: Vec<_> = all.iter().map(|ids| View::new(ids, &[BAGS, len]).expect("ids")).collect();
        let op = EmbeddingBag::new(Reduction::Add).par(Par::Seq).skip_negative(matches!(kind, Kind::Pruned));
        let plan = op.plan(&table, &Bags::packed(&views[0])).expect("a plan");
        self.row(
            &name,
            vec![0.0f32; BAGS * columns],
            |list, out| {
                out.fill(0.0);
                if len == 0 {
                    return;
                }
                for (ids, out) in all[list].chunks_exact(len).zip(out.chunks_exact_mut(columns)) {
                    for &id in ids {
                        if id >= 0 {
                            let row = &numbers[id as usize * columns..][..columns];
                            out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
                        }
                    }
                }
            },
            |list, out| {
                let mut out = ViewMut::new(out, &[BAGS, columns]).expect("sums");
                plan.run_into(&table, &Bags::planned(&views[list]), &mut out).expect("ids in range");
            },
        );
    }

    /// The dot products of rows and a query.
    fn scores(&self, columns: usize, far: bool) {
        const IDS: usize = 1024;
        let rows_of = if far { (1 << 28) / columns } else { (1 << 17) / columns };
        let place = if far { "in 1 GiB" } else { "in 512 KiB" };
        for (name, is_dot) in [("DOT", true), ("L2_SQUARED", false)] {
            let name = format!("{name} of 1024 rows of {columns} {place}");
            if !name.contains(&self.0.filter) {
                continue;
            }
            let mut random = Random::new(13);
            // Small whole numbers, whose sums are exact in any order.
            let table: Vec<f32> = (0..rows_of * columns).map(|_| random.below(8) as f32).collect();
            let query: Vec<f32> = (0..columns).map(|_| random.below(8) as f32).collect();
            let all: Vec<Vec<i64>> = (0..LISTS).map(|_| ids(IDS, rows_of, &mut random)).collect();
            let view = View::new(&table, &[rows_of, columns]).expect("a table");
            let (dot, l2, given) = (rows::dot(), rows::l2_squared(), (Given::All(&query[..]),));
            let source = if is_dot { view.rows(&dot, given) } else { view.rows(&l2, given) };
            let plan = Gather::new(0).par(Par::Seq).plan(&source, &all[0][..]).expect("a plan");
            self.row(
                &name,
                vec![0.0f32; IDS],
                |list, out| {
                    for (&id, out) in all[list].iter().zip(out) {
                        let row = &table[id as usize * columns..][..columns];
                        *out = if is_dot {
                            row.iter().zip(&query).map(|(a, b)| a * b).sum()
                        } else {
                            row.iter().zip(&query).map(|(a, b)| (a - b) * (a - b)).sum()
                        };
                    }
                },
                |list, out| {
                    let mut out = ViewMut::new(out, &[IDS]).expect("scores");
                    plan.run_into(&source, &all[list][..], &mut out).expect("ids in range");
                },
            );
        }
    }

    /// Takes with nulls in data and ids, into fresh memory on both sides.
    fn nulls(&self, count: usize) {
        let mut random = Random::new(17);
        let values: Float32Array = (0..8192).map(|at| (random.below(10) > 0).then_some(at as f32)).collect();
        let mut list = |_| (0..count).map(|_| (random.below(10) > 0).then(|| random.below(8192) as u32)).collect();
        let lists: Vec<UInt32Array> = (0..LISTS).map(&mut list).collect();
        let data: &[f32] = values.values();
        let op = Gather::new(0).negative_index(NegativeIndex::Reject).par(Par::Seq).nullable();
        let plan = op.plan(&data, &&lists[0].values()[..]).expect("a plan");
        let ours = |list: usize| {
            let (ids, nulls) = (&lists[list], [lists[list].nulls(), values.nulls()]);
            let [indices, of_data] = nulls.map(|nulls| {
                nulls.map(|nulls| Bitmap::new(nulls.validity(), nulls.offset(), nulls.len()).expect("bits"))
            });
            plan.run(&data, &&ids.values()[..], Nulls { indices, data: of_data }).expect("ids in range")
        };
        let peer = |list: usize| take(&values, &lists[list], None).expect("ids in range");
        for list in 0..LISTS {
            let ((taken, validity), expected) = (ours(list), peer(list));
            let expected = expected.as_primitive::<Float32Type>();
            for (at, &value) in taken.as_slice().iter().enumerate() {
                let is_valid = validity.as_ref().is_none_or(|bits| bits.get(at) == Some(true));
                assert_eq!(is_valid.then_some(value), expected.is_valid(at).then(|| expected.value(at)));
            }
        }
        self.time(
            &format!("take {count} of 8192 f32 with nulls, arrow-select"),
            |list| drop(black_box(peer(list))),
            |list| drop(black_box(ours(list))),
        );
    }

    /// Takes of few ids without nulls, into fresh memory on both sides.
    fn dense(&self) {
        let mut random = Random::new(19);
        let values: Int32Array = (0..8192).collect();
        let lists: Vec<UInt32Array> =
            (0..LISTS).map(|_| (0..64).map(|_| Some(random.below(8192) as u32)).collect()).collect();
        let data: &[i32] = values.values();
        let op = Gather::new(0).negative_index(NegativeIndex::Reject).par(Par::Seq);
        let plan = op.plan(&data, &&lists[0].values()[..]).expect("a plan");
        let ours = |list: usize| plan.run(&data, &&lists[list].values()[..]).expect("ids in range");
        let peer = |list: usize| take(&values, &lists[list], None).expect("ids in range");
        for list in 0..LISTS {
            assert_eq!(ours(list).as_slice(), &peer(list).as_primitive::<Int32Type>().values()[..]);
        }
        self.time(
            "take 64 of 8192 i32, arrow-select",
            |list| drop(black_box(peer(list))),
            |list| drop(black_box(ours(list))),
        );
    }

    /// Takes of a column through the bridge, of which the ids may be null.
    fn columns<T: ArrowPrimitiveType<Native: Element>>(
        &self,
        of: &str,
        some: bool,
        value: impl Fn(usize) -> T::Native,
    ) {
        let nulls = if some { " with null ids" } else { "" };
        let mut random = Random::new(31);
        let values = PrimitiveArray::<T>::from_iter_values((0..COLUMN).map(|_| value(random.below(1 << 20))));
        let lists: Vec<UInt32Array> = (0..LISTS).map(|_| null_ids(COLUMN, COLUMN, some, &mut random)).collect();
        self.arrays(
            &format!("take {COLUMN} of {COLUMN} {of}{nulls}, bridge, arrow-select"),
            |list| take(&values, &lists[list], None).expect("ids in range"),
            |list| bridged(&values, &lists[list]),
        );
    }

    /// Takes of lists of a size, with nulls inside, through the bridge. Lists may be null too.
    fn lists(&self, size: usize, some: bool) {
        let mut random = Random::new(37);
        let values: Float32Array = (0..COLUMN * size).map(|at| (random.below(2) > 0).then_some(at as f32)).collect();
        let field = Arc::new(Field::new_list_field(DataType::Float32, true));
        let valid = some.then(|| (0..COLUMN).map(|_| random.below(2) > 0).collect());
        let values = FixedSizeListArray::new(field, size as i32, Arc::new(values), valid);
        let lists: Vec<UInt32Array> = (0..LISTS).map(|_| null_ids(COLUMN, COLUMN, true, &mut random)).collect();
        self.arrays(
            &format!("take {COLUMN} lists of {size} f32 with nulls inside, null ids, bridge, arrow-select"),
            |list| take(&values, &lists[list], None).expect("ids in range"),
            |list| bridged(&values, &lists[list]),
        );
    }

    /// Takes of booleans without nulls.
    fn booleans(&self, count: usize) {
        let mut random = Random::new(41);
        let values: BooleanArray = (0..count).map(|_| Some(random.below(2) > 0)).collect();
        let lists: Vec<UInt32Array> = (0..LISTS).map(|_| null_ids(count, count, false, &mut random)).collect();
        self.arrays(
            &format!("take {count} of {count} booleans, bridge, arrow-select"),
            |list| take(&values, &lists[list], None).expect("ids in range"),
            |list| bridged(&values, &lists[list]),
        );
    }

    /// Times arrays that are made and dropped, after they were compared.
    fn arrays(&self, name: &str, peer: impl Fn(usize) -> ArrayRef, ours: impl Fn(usize) -> ArrayRef) {
        if !name.contains(&self.0.filter) {
            return;
        }
        for list in 0..LISTS {
            assert_eq!(&ours(list), &peer(list), "{name}: results differ");
        }
        self.time(name, |list| drop(black_box(peer(list))), |list| drop(black_box(ours(list))));
    }

    /// Eight rows into memory of a pool, beside a loop into a fresh vector.
    fn pooled(&self) {
        const COLUMNS: usize = 64;
        let mut random = Random::new(43);
        let numbers = floats(ROWS * COLUMNS, &mut random);
        let table = View::new(&numbers, &[ROWS, COLUMNS]).expect("a table");
        let lists: Vec<Vec<i64>> = (0..LISTS).map(|_| ids(8, ROWS, &mut random)).collect();
        let plan = Gather::new(0).par(Par::Seq).plan(&table, &lists[0][..]).expect("a plan");
        let pool = Pool::new();
        let peer = |list: usize| {
            let mut out = Vec::with_capacity(8 * COLUMNS);
            lists[list].iter().for_each(|&id| out.extend_from_slice(&numbers[id as usize * COLUMNS..][..COLUMNS]));
            out
        };
        let ours = |list: usize| {
            let mut out = pool.tensor();
            plan.run_into(&table, &lists[list][..], &mut out).expect("ids in range");
            out
        };
        for list in 0..LISTS {
            assert_eq!(peer(list), ours(list).as_slice());
        }
        self.time("8 rows of 64, pooled", |list| drop(black_box(peer(list))), |list| drop(black_box(ours(list))));
    }

    /// The rows of a key-value cache that a step of `rows` sequences writes.
    fn cache_write(&self, rows: usize) {
        const COLUMNS: usize = 512;
        let mut random = Random::new(23);
        let updates = floats(rows * COLUMNS, &mut random);
        let slots: Vec<Vec<i64>> =
            (0..LISTS).map(|_| random.permutation(1024)[..rows].iter().map(|&slot| slot as i64).collect()).collect();
        let cache = View::new(&updates, &[rows, COLUMNS]).expect("rows");
        let views: Vec<_> = slots.iter().map(|ids| View::new(ids, &[rows, 1]).expect("ids")).collect();
        let data = Spec::<f32>::new(&[1024, COLUMNS]).expect("a cache");
        let plan = ScatterNd::new().par(Par::Seq).plan(&data, &views[0], &cache).expect("a plan");
        self.row(
            &format!("write {rows} rows of 2 KiB"),
            vec![0.0f32; 1024 * COLUMNS],
            |list, out| {
                for (&slot, row) in slots[list].iter().zip(updates.chunks_exact(COLUMNS)) {
                    out[slot as usize * COLUMNS..][..COLUMNS].copy_from_slice(row);
                }
            },
            |list, out| {
                let mut out = ViewMut::new(out, &[1024, COLUMNS]).expect("a cache");
                plan.run_on(&mut out, &views[list], &cache).expect("slots of the cache");
            },
        );
    }

    /// Structs of four numbers, added to those of their ids.
    fn structs(&self) {
        #[derive(Clone, Copy, PartialEq, Element)]
        #[repr(C)]
        #[element(numbers = f32)]
        struct Quad {
            numbers: [f32; 4],
        }
        const UPDATES: usize = 4096;
        let mut random = Random::new(29);
        let updates: Vec<Quad> =
            (0..UPDATES).map(|at| Quad { numbers: [1, 2, 3, 4].map(|k| (at % 7 * k) as f32) }).collect();
        let lists: Vec<Vec<i64>> = (0..LISTS).map(|_| ids(UPDATES, ROWS, &mut random)).collect();
        let of_updates = View::new(&updates, &[UPDATES]).expect("updates");
        let views: Vec<_> = lists.iter().map(|ids| View::new(ids, &[UPDATES, 1]).expect("ids")).collect();
        let data = Spec::<Quad>::new(&[ROWS]).expect("structs");
        let op = ScatterNd::new().reduction(Reduction::Add).par(Par::Seq);
        let plan = op.plan(&data, &views[0], &of_updates).expect("a plan");
        self.row(
            "add 4096 structs of four f32",
            vec![Quad { numbers: [0.0; 4] }; ROWS],
            |list, out| {
                for (&id, update) in lists[list].iter().zip(&updates) {
                    let to = &mut out[id as usize].numbers;
                    to.iter_mut().zip(update.numbers).for_each(|(to, value)| *to += value);
                }
            },
            |list, out| {
                let mut out = ViewMut::new(out, &[ROWS]).expect("structs");
                plan.run_on(&mut out, &views[list], &of_updates).expect("ids in range");
            },
        );
    }
}

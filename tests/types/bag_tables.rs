//! Bags of several tables in one call: the bits of a call for each, for any number of threads. And rows that were
//! pruned from tables, which count as nothing.

use gather_core::{
    Argument, Bags, DynView, EmbeddingBag, Error, Float, FusedFormat, FusedRows, NegativeIndex, OutOfBounds, Par,
    Reduction, Tensor, View, ViewMut,
};
use gather_tests::fused::{reduced, rows};
use half::{bf16, f16};

use crate::support::{RULES, levels, mixed};

gather_core::map_kernels! {
    static SAME = |value: f32| -> f32 { value };
}

const BAGS: usize = 37;

/// Rows of a table, and which of them belong to which bag.
struct Table {
    format: FusedFormat,
    columns: usize,
    rows: usize,
    bytes: Vec<u8>,
    ids: Vec<i32>,
    offsets: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Table {
    fn new(number: usize, format: FusedFormat, columns: usize, longest: u64) -> Self {
        let seed = |at: usize| mixed(number as u64, at);
        let rows_of_it = 5 + number * 3;
        let mut offsets = vec![0];
        for bag in 1..BAGS {
            let long = if bag == 9 { longest } else { longest.min(7) };
            offsets.push(offsets[bag - 1] + (seed(bag) % long) as u32);
        }
        let count = offsets[BAGS - 1] as usize + 4;
        let ids = (0..count).map(|at| (seed(at + 999) % (rows_of_it as u64 + 2)) as i32 - 2).collect();
        let weights =
            number.is_multiple_of(2).then(|| (0..count).map(|at| seed(at + 77) as i8 as f32 / 16.0).collect());
        let bytes = rows(format, columns, rows_of_it, seed);
        Table { format, columns, rows: rows_of_it, bytes, ids, offsets, weights }
    }

    fn fused(&self) -> FusedRows<'_> {
        let width = self.format.row_bytes(self.columns).unwrap();
        FusedRows::new(View::new(&self.bytes, &[self.rows, width]).unwrap(), self.format, self.columns).unwrap()
    }
}

/// Every format, and some of them again, with wide rows, narrow ones, none, and a bag with most of the indices.
fn tables() -> Vec<Table> {
    let formats = FusedFormat::ALL.iter().chain([FusedFormat::F16, FusedFormat::Torch8, FusedFormat::F32].iter());
    let columns = [64, 8, 5, 128, 1, 16, 33, 8, 100, 0, 1030, 24];
    let shapes = formats.zip(columns).enumerate();
    shapes.map(|(number, (&format, columns))| Table::new(number, format, columns, [7, 9, 2000][number % 3])).collect()
}

fn bits<U: Float>(values: &[U]) -> Vec<u32> {
    let bits = |value: f32| if value.is_nan() { u32::MAX } else { value.to_bits() };
    values.iter().map(|&value| bits(value.to_f32())).collect()
}

type ListOf<'a> = Bags<'a, Vec<i32>, Vec<u32>, Vec<f32>>;

/// Calls `run` with all tables and their bags.
fn with_all<R>(tables: &[Table], weighted: bool, run: impl FnOnce(&[&FusedRows<'_>], &[ListOf<'_>]) -> R) -> R {
    let fused: Vec<_> = tables.iter().map(Table::fused).collect();
    let bags = tables
        .iter()
        .map(|table| Bags::new(&table.ids, &table.offsets).weights(table.weights.as_ref().filter(|_| weighted)));
    run(&fused.iter().collect::<Vec<_>>(), &bags.collect::<Vec<_>>())
}

fn alike<U: Float + std::fmt::Debug>(tables: &[Table]) {
    let columns: usize = tables.iter().map(|table| table.columns).sum();
    for (reduction, weighted) in
        [(Reduction::Add, false), (Reduction::Add, true), (Reduction::Mean, false), (Reduction::Max, false)]
    {
        with_all(tables, weighted, |all, bags| {
            let together = gather_core::tables::<U>(all.iter().copied()).unwrap();
            for level in levels() {
                let op = EmbeddingBag::new(reduction).skip_negative(true).level(level).padding_index(1);
                let each = all.iter().zip(bags);
                let each = each.map(|(table, bags)| op.par(Par::Seq).run(&table.to::<U>(), bags).unwrap());
                let each: Vec<Tensor<U>> = each.collect();
                let row = |bag: usize| {
                    let rows = each.iter().map(move |rows| {
                        let width = rows.shape()[1];
                        rows.as_slice()[bag * width..][..width].to_vec()
                    });
                    rows.collect::<Vec<_>>().concat()
                };
                let expected: Vec<U> = (0..BAGS).flat_map(row).collect();
                for par in [Par::Seq, Par::Auto, Par::Threads(2), Par::Threads(5), Par::Threads(64)] {
                    let op = op.par(par);
                    let got = op.run(&together, bags).unwrap();
                    assert_eq!(got.shape(), [BAGS, columns]);
                    assert!(bits(got.as_slice()) == bits(&expected), "{op:?}");
                    // Rows further apart, and what lies between stays.
                    let mut wide = vec![U::from_f32(7.0); BAGS * (columns + 3)];
                    let shape = [BAGS, columns];
                    let mut into = ViewMut::strided(&mut wide, &shape, &[columns as isize + 3, 1], 0).unwrap();
                    op.run_into(&together, bags, &mut into).unwrap();
                    for (got, expected) in wide.chunks(columns + 3).zip(expected.chunks(columns)) {
                        assert!(bits(&got[..columns]) == bits(expected) && bits(&got[columns..]) == [0x40e0_0000; 3]);
                    }
                    let plan = op.plan(&together, bags).unwrap();
                    assert_eq!(plan.output_shape(), [BAGS, columns]);
                    let mut again = Tensor::default();
                    plan.run_into(&together, bags, &mut again).unwrap();
                    assert!(bits(again.as_slice()) == bits(&expected), "{op:?}");
                }
            }
        });
    }
}

#[test]
fn several_tables_are_one_after_the_other() {
    alike::<f32>(&tables());
    alike::<f16>(&tables());
    alike::<bf16>(&tables());
    // One alone, and none at all.
    alike::<f32>(&tables()[..1]);
    assert_eq!(gather_core::tables::<f32>([]).unwrap_err(), Error::NoTables);
}

#[test]
fn errors_name_the_table() {
    let all_tables = tables();
    let columns: usize = all_tables.iter().map(|table| table.columns).sum();
    let op = EmbeddingBag::new(Reduction::Mean).skip_negative(true);
    let mut out = vec![3.0f32; BAGS * columns];
    let mut check = |op: EmbeddingBag, tables: &[Table], weighted: bool, message: &str| {
        let error = with_all(tables, weighted, |all, bags| {
            let all = gather_core::tables::<f32>(all.iter().copied()).unwrap();
            let fresh = op.run(&all, bags).unwrap_err();
            let mut into = ViewMut::new(&mut out, &[BAGS, columns]).unwrap();
            assert_eq!(op.run_into(&all, bags, &mut into).unwrap_err(), fresh);
            fresh
        });
        assert_eq!(error.to_string(), message);
        let untouched =
            !matches!(&error, Error::InTable { error, .. } if matches!(**error, Error::IndexOutOfRange { .. }));
        assert!(!untouched || out.iter().all(|&value| value == 3.0), "{error}: written");
    };
    check(op, &all_tables, true, "table 0: embedding_bag: the reduction mean takes no weights");
    check(op.padding_index(6), &all_tables, false, "table 0: embedding_bag: padding_index is 6; 5 rows allow -5..=4");
    let sub = op.reduction(Reduction::Sub);
    check(sub, &all_tables, false, "table 0: embedding_bag: there is no reduction sub of f32");
    let mut tables = tables();
    tables[3].offsets[2] = 900;
    let message = "table 3: embedding_bag: offset 900 at position 2 is out of range; allowed there is ";
    let allowed = format!("{}..={}", tables[3].offsets[1], tables[3].ids.len());
    check(op, &tables, false, &format!("{message}{allowed}"));
    let mut other = all_tables;
    let last = other[5].ids.len() - 1;
    other[5].ids[last] = 1 << 20;
    let (rows, shown) = (other[5].rows, "embedding_bag: index 1048576 at position");
    let message = format!("table 5: {shown} {last} is out of range for axis 0, which has {rows} elements");
    let run = |all: &[&FusedRows<'_>], bags: &[ListOf<'_>]| {
        op.run(&gather_core::tables::<f32>(all.iter().copied()).unwrap(), bags)
    };
    let error = with_all(&other, false, |all, bags| run(all, bags).unwrap_err().to_string());
    assert!(error.starts_with(&format!("table 5: {shown} {last}")), "{error}, not {message}");

    // Other numbers of bags, of tables, other formats and shapes.
    let (short, bytes) = ([1u8, 0], [0u8; 40]);
    let (two, one) = (View::new(&short, &[2, 1]).unwrap(), View::new(&short, &[1, 2]).unwrap());
    let table = |format: FusedFormat| {
        let width = format.row_bytes(4).unwrap();
        FusedRows::new(View::new(&bytes[..2 * width], &[2, width]).unwrap(), format, 4).unwrap()
    };
    let (a, b) = (table(FusedFormat::Torch8), table(FusedFormat::F16));
    let op = EmbeddingBag::new(Reduction::Add);
    let both = gather_core::tables::<f32>([&a, &b]).unwrap();
    let error = op.run(&both, &[Bags::packed(&two), Bags::packed(&one)]).unwrap_err();
    let mismatch = Error::BagsMismatch { expected: 2, got: 1 };
    assert_eq!(error, Error::InTable { table: 1, error: mismatch.into() });
    let bags = [Bags::packed(&two); 2];
    let plan = op.plan(&both, &bags).unwrap();
    let of = |tables: &[&FusedRows<'_>]| {
        plan.run(&gather_core::tables::<f32>(tables.iter().copied()).unwrap(), &bags).unwrap_err()
    };
    assert_eq!(of(&[&a]), Error::TablesMismatch { argument: Argument::Data, expected: 2, got: 1 });
    assert!(matches!(of(&[&a, &a]), Error::InTable { table: 1, .. }));
    let mut apart = [0f32; 40];
    let into = &mut ViewMut::strided(&mut apart, &[2, 8], &[20, 1], 0).unwrap();
    assert!(matches!(plan.run_into(&both, &bags, into), Err(Error::NotRowMajor { .. })));
    op.run_into(&both, &bags, into).unwrap();
    let into = &mut ViewMut::strided(&mut apart, &[2, 8], &[1, 2], 0).unwrap();
    assert!(matches!(op.run_into(&both, &bags, into), Err(Error::RowsNotContiguous { .. })));
    let into = &mut ViewMut::new(&mut apart[..14], &[2, 7]).unwrap();
    assert!(matches!(op.run_into(&both, &bags, into), Err(Error::ShapeMismatch { .. })));
    assert_eq!(plan.run(&both, &bags).unwrap().shape(), [2, 8]);
}

/// A table in the open, and the same as fused rows, planned and not: negative indices count as nothing, those beyond
/// the table are what the policy says.
#[test]
fn pruned_rows_count_as_nothing() {
    let numbers: Vec<f32> = (0..6 * 9).map(|at| mixed(1, at) as i16 as f32 / 64.0).collect();
    let table = View::new(&numbers, &[6, 9]).unwrap();
    let ids: Vec<i64> = (0..620).map(|at| (mixed(2, at) % 9) as i64 - 3).collect();
    let offsets = [0i32, 0, 4, 5, 600];
    let weights: Vec<f32> = (0..620).map(|at| mixed(3, at) as i8 as f32 / 8.0).collect();
    let far = 300;
    let with_far: Vec<i64> = ids.iter().enumerate().map(|(at, &id)| if at == far { 77 } else { id }).collect();
    let minima = [i64::MIN, -1, -6, -7];
    let ends = View::new(&offsets, &[5]).unwrap();
    let weights_view = View::new(&weights, &[620]).unwrap();
    for (reduction, weighted) in [
        (Reduction::Add, false),
        (Reduction::Add, true),
        (Reduction::Mean, false),
        (Reduction::Max, false),
        (Reduction::Min, false),
    ] {
        for (negative, out_of_bounds) in [
            (NegativeIndex::FromEnd, OutOfBounds::Error),
            (NegativeIndex::Reject, OutOfBounds::Zero),
            (NegativeIndex::FromEnd, OutOfBounds::Clamp),
            (NegativeIndex::FromEnd, OutOfBounds::Wrap),
        ] {
            let used = if out_of_bounds == OutOfBounds::Error { &ids } else { &with_far };
            let row = |id: i64| match out_of_bounds {
                _ if (0..6).contains(&id) => Some(id as usize),
                OutOfBounds::Clamp => Some(5),
                OutOfBounds::Wrap => Some(id as usize % 6),
                _ => None,
            };
            let expected = (0..5).flat_map(|bag| {
                let places = offsets[bag] as usize..offsets.get(bag + 1).map_or(620, |&end| end as usize);
                let places: Vec<usize> = places.filter(|&at| used[at] >= 0 && used[at] != 2).collect();
                let numbers = &numbers;
                let weights = &weights;
                (0..9).map(move |column| {
                    let terms = places.iter().map(|&at| {
                        let value = row(used[at]).map_or(0.0, |row| numbers[row * 9 + column]);
                        (value, if weighted { weights[at] } else { 1.0 })
                    });
                    reduced(reduction, &terms.collect::<Vec<_>>()).unwrap_or(0.0)
                })
            });
            let expected: Vec<f32> = expected.collect();
            let list = View::new(used, &[620]).unwrap();
            let (bags, w) = (Bags::new(&list, &ends), weighted.then_some(&weights_view));
            let bags = bags.weights(w);
            for (level, par) in levels().flat_map(|level| [(level, Par::Seq), (level, Par::Threads(3))]) {
                let op = EmbeddingBag::new(reduction).skip_negative(true).padding_index(2).level(level).par(par);
                let op = op.negative_index(negative).out_of_bounds(out_of_bounds);
                assert!(op.get_skip_negative());
                let fused = FusedRows::plain(View::new(&numbers, &[6, 9]).unwrap()).unwrap();
                let (d, i, o, dw) =
                    (DynView::from(&table), DynView::from(&list), DynView::from(&ends), DynView::from(&weights_view));
                let dynamic = Bags::new(&i, &o);
                let dynamic = dynamic.weights(weighted.then_some(&dw));
                for (name, got) in [
                    ("run", op.run(&table, &bags).unwrap()),
                    ("planned", op.plan(&table, &bags).unwrap().run(&table, &Bags::planned(&list).weights(w)).unwrap()),
                    ("dyn", op.run(&d, &dynamic).unwrap().downcast().unwrap()),
                    ("fused", op.run(&fused.to::<f32>(), &bags).unwrap()),
                    (
                        "fused, planned",
                        op.plan(&fused.to::<f32>(), &bags)
                            .unwrap()
                            .run(&fused.to(), &Bags::planned(&list).weights(w))
                            .unwrap(),
                    ),
                    ("map", op.run(&table.map(&SAME, ()), &bags).unwrap()),
                ] {
                    assert!(bits(got.as_slice()) == bits(&expected), "{name}: {op:?}");
                }
            }
        }
    }
    // The first index beyond the table is the error; a wholly pruned table, and one without rows, have none.
    let list = View::new(&with_far, &[620]).unwrap();
    let op = EmbeddingBag::new(Reduction::Mean).skip_negative(true);
    let error = op.run(&table, &Bags::new(&list, &ends)).unwrap_err();
    assert!(matches!(error, Error::IndexOutOfRange { position, index: 77, .. } if position == far), "{error}");
    for (rows, data) in [(6, &numbers[..]), (0, &[])] {
        let (table, ids) = (View::new(data, &[rows, 9]).unwrap(), View::new(&minima, &[2, 2]).unwrap());
        assert_eq!(op.run(&table, &Bags::packed(&ids)).unwrap().as_slice(), [0.0; 18]);
        let empty = View::new(&[0f32; 0], &[rows, 0]).unwrap();
        assert_eq!(op.run(&empty, &Bags::packed(&ids)).unwrap().shape(), [2, 0]);
    }
    // A table without rows has no row for an index that counts, whatever the policy.
    let empty = View::new(&[0f32; 0], &[0, 9]).unwrap();
    let ids = View::new(&[-1i64, 0], &[1, 2]).unwrap();
    for (negative, out_of_bounds, _) in RULES {
        let op = op.negative_index(negative).out_of_bounds(out_of_bounds);
        let got = op.run(&empty, &Bags::packed(&ids)).map(Tensor::into_vec);
        if out_of_bounds == OutOfBounds::Zero {
            assert_eq!(got.unwrap(), [0.0; 9]);
        } else {
            assert!(matches!(got, Err(Error::IndexOutOfRange { position: 1, index: 0, .. })), "{got:?}");
        }
    }
    // What is unsigned is never negative.
    let ids = View::new(&[u64::MAX, 0], &[1, 2]).unwrap();
    assert!(matches!(op.run(&table, &Bags::packed(&ids)), Err(Error::IndexOutOfRange { position: 0, .. })));
}

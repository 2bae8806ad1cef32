//! Checks the bridge against `arrow_select`, on sliced arrays too, and prints the times of both on the same arrays: the
//! shapes of that crate's own benchmark first, then record batches.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, FixedSizeListArray, PrimitiveArray, RecordBatch, StructArray,
    UInt32Array,
};
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::{take, take_record_batch};
use gather_arrow::Rows;

/// Numbers that look random.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// Half of `len` values are null, or none is.
fn nulls(len: usize, some: bool, seed: u64) -> Option<NullBuffer> {
    let mut next = random(seed);
    some.then(|| (0..len).map(|_| next().is_multiple_of(2)).collect())
}

/// An array that is a slice of a longer one.
fn array<T: ArrowPrimitiveType>(
    len: usize,
    some: bool,
    seed: u64,
    value: impl Fn(u64) -> T::Native,
) -> PrimitiveArray<T> {
    let mut next = random(seed);
    let all: Vec<T::Native> = (0..len + 9).map(|_| value(next())).collect();
    PrimitiveArray::new(all.into(), nulls(len + 9, some, seed ^ 1)).slice(5, len)
}

/// Indices below `dim`; those that are null name anything.
fn ids(len: usize, some: bool, dim: usize) -> UInt32Array {
    let valid = array::<UInt32Type>(len, some, 7, |bits| (bits % dim as u64) as u32);
    let wild = |at: usize| if valid.is_null(at) && at.is_multiple_of(3) { u32::MAX } else { valid.value(at) };
    UInt32Array::new((0..len).map(wild).collect(), valid.nulls().cloned())
}

/// Medians of nanoseconds, ours and arrow's in turn. A call moves some `values` values.
fn compare(values: usize, name: &str, ours: impl Fn() -> ArrayRef, theirs: impl Fn() -> ArrayRef) {
    assert_eq!(&ours(), &theirs(), "{name}");
    let calls = ((1 << 19) / values.max(64)).max(3);
    let time = |run: &dyn Fn() -> ArrayRef| {
        let start = Instant::now();
        (0..calls).for_each(|_| drop(black_box(run())));
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    let mut times: Vec<[f64; 2]> = (0..9).map(|_| [time(&ours), time(&theirs)]).collect();
    let [ours, theirs] = [0, 1].map(|at| {
        times.sort_by(|a, b| a[at].total_cmp(&b[at]));
        times[4][at]
    });
    println!("{name:<48} ours {ours:>9.0} ns   arrow {theirs:>9.0} ns   arrow / ours {:.2}", theirs / ours);
}

/// Compares arrays of a type, whose values and indices may be null.
fn values<T: ArrowPrimitiveType>(of: &str, len: usize, dim: usize, value: impl Fn(u64) -> T::Native) {
    for (null_values, null_ids) in [(false, false), (false, true), (true, false), (true, true)] {
        let (values, ids) = (array::<T>(dim, null_values, 3, &value), ids(len, null_ids, dim));
        let with = |what, some| if some { what } else { "" };
        let name = format!("{len} of {dim} {of}{}{}", with(", null values", null_values), with(", null ids", null_ids));
        let ours = || gather_arrow::take(&values, &ids).expect("ids in range");
        compare(len, &name, ours, || take(&values, &ids, None).expect("ids in range"));
    }
}

/// Lists of `size` numbers, sliced.
fn lists(len: usize, size: usize, null_lists: bool, null_values: bool) -> FixedSizeListArray {
    let field = Arc::new(Field::new_list_field(DataType::Float32, true));
    let child = array::<Float32Type>((len + 9) * size, null_values, 5, |bits| bits as f32);
    FixedSizeListArray::new(field, size as i32, Arc::new(child), nulls(len + 9, null_lists, 11)).slice(3, len)
}

fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|of| Field::new("", of.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}

fn as_array(batch: RecordBatch) -> ArrayRef {
    Arc::new(StructArray::from(batch))
}

/// Takes whole record batches, and arrays of a dictionary.
fn take_batches(dim: usize, some: bool) -> Result<(), ArrowError> {
    let numbers = batch(vec![
        Arc::new(array::<Int64Type>(dim, some, 1, |bits| bits as i64)),
        Arc::new(array::<Float64Type>(dim, some, 2, |bits| bits as f64)),
        Arc::new(lists(dim, 8, some, some)),
    ]);
    let ids = ids(dim, some, dim);
    let nulls = if some { ", nulls" } else { "" };
    let ours = || as_array(gather_arrow::take_record_batch(&numbers, &ids).expect("ids in range"));
    compare(10 * dim, &format!("{dim} rows of a batch: i64, f64, lists of 8 f32{nulls}"), ours, || {
        as_array(take_record_batch(&numbers, &ids).expect("ids in range"))
    });
    let keys = array::<Int32Type>(dim, some, 13, |bits| (bits % 100) as i32);
    let values = Arc::new(array::<Int64Type>(100, false, 9, |bits| bits as i64));
    let words: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    let rows = Rows::new(&ids, dim)?;
    compare(
        dim,
        &format!("{dim} of a dictionary, by checked ids{nulls}"),
        || gather_arrow::take_rows(&[&words], &rows).expect("rows"),
        || take(&words, &ids, None).expect("ids in range"),
    );
    Ok(())
}

/// Appends rows of column `at` to the first list, and of column `at + 1` to the second.
type AppendFn<'a> = &'a dyn Fn(usize, &mut Vec<i64>, &mut Vec<f64>);

/// Interleaves `rows` rows of 8 columns of `count` batches of `each` rows, and appends them to columns that exist.
fn interleave(count: u32, each: usize, rows: usize, some: bool) {
    let column = |seed: u64| -> ArrayRef {
        match seed % 2 {
            0 => Arc::new(array::<Int64Type>(each, some, seed, |bits| bits as i64)),
            _ => Arc::new(array::<Float64Type>(each, some, seed, |bits| bits as f64)),
        }
    };
    let batches: Vec<RecordBatch> =
        (0..count).map(|at| batch((0..8).map(|of| column(u64::from(at) * 8 + of)).collect())).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let mut next = random(99);
    let mut below = |n: usize| (0..rows).map(|_| (next() % n as u64) as u32).collect::<Vec<_>>();
    let (sources, of_source) = (below(count as usize), below(each));
    let pairs: Vec<(usize, usize)> = sources.iter().zip(&of_source).map(|(&a, &b)| (a as usize, b as usize)).collect();
    let theirs = || interleave_record_batch(&batches, &pairs).expect("pairs in range");
    let name = format!("{rows} rows of 8 columns of {count} batches{}", if some { ", nulls" } else { "" });
    let ours = || gather_arrow::interleave_record_batch(&batches, &sources, &of_source).expect("pairs in range");
    compare(rows * 8, &format!("interleave {name}"), || as_array(ours()), || as_array(theirs()));

    let grown = RefCell::new(vec![(vec![7i64; 100], Vec::<f64>::new()); 4]);
    let appended = |append: AppendFn<'_>| -> ArrayRef {
        let mut grown = grown.borrow_mut();
        for (at, (ints, floats)) in grown.iter_mut().enumerate() {
            ints.truncate(100);
            floats.clear();
            append(2 * at, ints, floats);
        }
        // One column is compared, so that a comparison is no part of the time.
        let (ints, floats) = &grown[3];
        Arc::new(UInt32Array::from(vec![
            ints.len() as u32,
            ints[100] as u32,
            ints[99 + rows] as u32,
            floats[rows / 2] as u32,
        ]))
    };
    let ours = || {
        let of_pairs = Rows::of_pairs(&batches, &sources, &of_source).expect("pairs in range");
        appended(&|at, ints, floats| {
            let parts: Vec<_> = batches.iter().map(|batch| batch.column(at).as_primitive::<Int64Type>()).collect();
            gather_arrow::append(&parts, &of_pairs, ints, &mut NullBufferBuilder::new(rows)).expect("rows");
            let parts: Vec<_> =
                batches.iter().map(|batch| batch.column(at + 1).as_primitive::<Float64Type>()).collect();
            gather_arrow::append(&parts, &of_pairs, floats, &mut NullBufferBuilder::new(rows)).expect("rows");
        })
    };
    compare(rows * 8, &format!("append {name}"), ours, || {
        let taken = theirs();
        appended(&|at, ints, floats| {
            ints.extend_from_slice(taken.column(at).as_primitive::<Int64Type>().values());
            floats.extend_from_slice(taken.column(at + 1).as_primitive::<Float64Type>().values());
        })
    });
}

fn main() -> Result<(), ArrowError> {
    for len in [64, 512, 1024] {
        values::<Int32Type>("i32", len, len, |bits| bits as i32);
    }
    values::<Float32Type>("f32", 65_536, 1 << 20, |bits| bits as f32);
    values::<Int64Type>("i64", 8192, 8192, |bits| bits as i64);
    values::<UInt8Type>("u8", 8192, 8192, |bits| bits as u8);
    values::<Decimal128Type>("decimals", 8192, 8192, |bits| bits as i128);

    // Lists that are null, and lists with nulls inside.
    for (size, null_lists, null_values) in [(16, true, false), (64, true, false), (3, true, true), (5, false, true)] {
        let (lists, ids) = (lists(10_000, size, null_lists, null_values), ids(4096, true, 10_000));
        let inside = if null_values { " with nulls inside" } else { "" };
        let ours = || gather_arrow::take(&lists, &ids).expect("ids in range");
        compare(4096 * size, &format!("4096 of 10000 lists of {size} f32{inside}"), ours, || {
            take(&lists, &ids, None).expect("ids in range")
        });
    }
    for (dim, some) in [(1000, true), (100_000, false), (100_000, true)] {
        take_batches(dim, some)?;
    }
    for (count, each, rows) in [(3, 5, 100), (20, 1000, 64), (20, 8192, 8192), (2, 100_000, 100_000)] {
        interleave(count, each, rows, false);
        interleave(count, each, rows, true);
    }

    let few = array::<Int32Type>(5, true, 1, |bits| bits as i32);
    let (beyond, none) = (UInt32Array::from(vec![1, 5]), UInt32Array::from(vec![None, Some(2)]));
    let refused = gather_arrow::take(&few, &beyond).expect_err("there are five values");
    println!("an id out of range: {refused}");
    let taken = gather_arrow::take(&few, &none)?;
    assert!(taken.is_null(0) && taken.len() == 2);
    let five = batch(vec![Arc::new(few)]);
    let refused = gather_arrow::interleave_record_batch(&[&five, &five], &[1, 2], &[4, 0]).expect_err("two batches");
    println!("a pair that names no row: {refused}");
    Ok(())
}

//! Checks the bridge against `arrow_select`, then prints the times of both on the same arrays, whose results are
//! compared too: filters and takes of columns, the shapes of that crate's own benchmark, record batches. `--quick`
//! takes shorter arrays and times.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, RecordBatch, StructArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::{filter, filter_record_batch};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::{take, take_record_batch};
use gather_arrow::Rows;
use gather_core::{Append, Checked, Element, Error, Gather, View, chunks};

use crate::arrays::{Random, batch, list_of};
use crate::times::Times;

mod arrays;
mod differences;
mod times;

/// Filters and takes of `len` rows of columns of five types, and of batches of these columns.
fn columns(times: &mut Times, len: usize) {
    let mut random = Random(5);
    let types = [DataType::Int64, DataType::Float64, DataType::Utf8, DataType::Boolean, list_of(DataType::Float32)];
    let masks = [1, 10, 50, 90].map(|percent| (percent, random.mask(len, percent, false)));
    let masks = masks.map(|(percent, mask)| (percent, BooleanArray::new(mask.values().iter().collect(), None)));
    let ids = [false, true].map(|some| random.ids(len, some, len));
    let mut batches = vec![];
    for some in [false, true] {
        let mut arrays = vec![];
        for of in &types {
            let (array, nulls) = (random.array(of, len, some), if some { ", null values" } else { "" });
            for (percent, mask) in &masks {
                let name = format!("filter {percent} of 100 of {len} {of}{nulls}");
                times.compare(
                    len,
                    &name,
                    || Rows::filter(mask).expect("a mask").of(&[&*array]).expect("rows"),
                    || filter(&*array, mask).expect("a mask"),
                );
            }
            for ids in &ids {
                let name = format!("take {len} {of}{nulls}{}", if ids.null_count() > 0 { ", null ids" } else { "" });
                times.compare(
                    len,
                    &name,
                    || Rows::take(ids, len).expect("ids").of(&[&*array]).expect("rows"),
                    || take(&*array, ids, None).expect("ids"),
                );
            }
            arrays.push(array);
        }
        batches.push((batch(arrays), if some { ", nulls" } else { "" }));
    }
    for (batch, nulls) in &batches {
        for (percent, mask) in &masks {
            times.compare(
                5 * len,
                &format!("filter_record_batch {percent} of 100 of {len}{nulls}"),
                || as_array(Rows::filter(mask).and_then(|rows| rows.of_batches(&[batch])).expect("a mask")),
                || as_array(filter_record_batch(batch, mask).expect("a mask")),
            );
        }
        times.compare(
            5 * len,
            &format!("take_record_batch {len}{nulls}"),
            || as_array(Rows::take(&ids[0], len).and_then(|rows| rows.of_batches(&[batch])).expect("ids")),
            || as_array(take_record_batch(batch, &ids[0]).expect("ids")),
        );
    }
}

/// Takes of numbers of a type, whose values and indices may be null.
fn values<T: ArrowPrimitiveType>(
    times: &mut Times,
    of: &str,
    len: usize,
    dim: usize,
    value: impl Fn(u64) -> T::Native,
) {
    let mut random = Random(3);
    for (null_values, null_ids) in [(false, false), (false, true), (true, false), (true, true)] {
        let (values, ids) = (random.numbers::<T>(dim, null_values, &value), random.ids(len, null_ids, dim));
        let with = |what, some| if some { what } else { "" };
        let nulls = [with(", null values", null_values), with(", null ids", null_ids)].concat();
        let ours = || Rows::take(&ids, dim).expect("ids in range").of(&[&values]).expect("rows");
        times.compare(len, &format!("take {len} of {dim} {of}{nulls}"), ours, || {
            take(&values, &ids, None).expect("ids in range")
        });
    }
}

fn as_array(batch: RecordBatch) -> ArrayRef {
    Arc::new(StructArray::from(batch))
}

/// Takes whole record batches, and arrays of a dictionary.
fn take_batches(times: &mut Times, dim: usize, some: bool) -> Result<(), ArrowError> {
    let mut random = Random(1);
    let numbers = batch(vec![
        Arc::new(random.numbers::<Int64Type>(dim, some, |bits| bits as i64)),
        Arc::new(random.numbers::<Float64Type>(dim, some, |bits| bits as f64)),
        Arc::new(random.fixed_lists(dim, 8, some, some)),
    ]);
    let ids = random.ids(dim, some, dim);
    let nulls = if some { ", nulls" } else { "" };
    let ours = || as_array(Rows::take(&ids, dim).and_then(|rows| rows.of_batches(&[&numbers])).expect("ids in range"));
    let name = format!("take_record_batch {dim} rows of i64, f64, lists of 8 f32{nulls}");
    times.compare(10 * dim, &name, ours, || as_array(take_record_batch(&numbers, &ids).expect("ids in range")));
    let keys = random.numbers::<Int32Type>(dim, some, |bits| (bits % 100) as i32);
    let values = Arc::new(random.numbers::<Int64Type>(100, false, |bits| bits as i64));
    let words: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    let rows = Rows::take(&ids, dim)?;
    let ours = || rows.of(&[&words]).expect("rows");
    let name = format!("take {dim} of a dictionary, by checked ids{nulls}");
    times.compare(dim, &name, ours, || take(&words, &ids, None).expect("ids in range"));
    Ok(())
}

/// Pairs of a batch and its row.
fn interleaved<'a>(batches: &[&RecordBatch], sources: &'a [u32], rows: &'a [u32]) -> Rows<'a> {
    let lengths = batches.iter().map(|batch| batch.num_rows()).collect();
    Rows::interleave(lengths, sources, rows).expect("pairs in range")
}

/// Interleaves `rows` rows of a column of each of five types, of `count` batches of `each` rows.
fn interleave_columns(times: &mut Times, count: usize, each: usize, rows: usize, some: bool) {
    let mut random = Random(77);
    let types =
        [DataType::Int64, DataType::Boolean, DataType::Utf8, list_of(DataType::Float32), list_of(DataType::Utf8)];
    for of in types {
        let batches: Vec<RecordBatch> =
            (0..count).map(|_| batch(vec![random.array(&of, each + 1, some).slice(1, each)])).collect();
        let batches: Vec<&RecordBatch> = batches.iter().collect();
        let (sources, of_source) = (random.list(rows, count), random.list(rows, each));
        let pairs: Vec<(usize, usize)> =
            sources.iter().zip(&of_source).map(|(&a, &b)| (a as usize, b as usize)).collect();
        let ours = || interleaved(&batches, &sources, &of_source).of_batches(&batches).expect("rows");
        let theirs = || interleave_record_batch(&batches, &pairs).expect("pairs in range");
        let name = format!("interleave {rows} {of} of {count} batches{}", if some { ", nulls" } else { "" });
        times.compare(rows, &name, || as_array(ours()), || as_array(theirs()));
    }
}

/// Appends rows of a column of all batches.
fn append_rows<T: ArrowPrimitiveType<Native: Element>>(
    batches: &[&RecordBatch],
    column: usize,
    positions: &Checked<'_, i32>,
    to: &mut Vec<T::Native>,
) -> Result<(), Error> {
    let columns = batches.iter().map(|batch| &batch.column(column).as_primitive::<T>().values()[..]);
    let views = columns.map(|values| View::new(values, &[values.len()])).collect::<Result<Vec<_>, _>>()?;
    Gather::new(0).run_into(&chunks(&views)?, positions, &mut Append(to))
}

/// Appends rows of column `at` to the first list, and of column `at + 1` to the second.
type AppendFn<'a> = &'a dyn Fn(usize, &mut Vec<i64>, &mut Vec<f64>);

/// Interleaves `rows` rows of 8 columns of `count` batches of `each` rows, and appends them to columns that exist.
fn interleave(times: &mut Times, count: usize, each: usize, rows: usize, some: bool) {
    let mut random = Random(99);
    let mut column = |at: usize| -> ArrayRef {
        match at % 2 {
            0 => Arc::new(random.numbers::<Int64Type>(each, some, |bits| bits as i64)),
            _ => Arc::new(random.numbers::<Float64Type>(each, some, |bits| bits as f64)),
        }
    };
    let batches: Vec<RecordBatch> = (0..count).map(|_| batch((0..8).map(&mut column).collect())).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let (sources, of_source) = (random.list(rows, count), random.list(rows, each));
    let pairs: Vec<(usize, usize)> = sources.iter().zip(&of_source).map(|(&a, &b)| (a as usize, b as usize)).collect();
    let theirs = || interleave_record_batch(&batches, &pairs).expect("pairs in range");
    let name = format!("{rows} rows of 8 columns of {count} batches{}", if some { ", nulls" } else { "" });
    let ours = || interleaved(&batches, &sources, &of_source).of_batches(&batches).expect("rows");
    times.compare(rows * 8, &format!("interleave {name}"), || as_array(ours()), || as_array(theirs()));

    let indices_of_rows: Vec<u8> = vec![0; each];
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
    // Without the bridge, whose results are fresh arrays: rows of all chunks of a column go behind its values.
    let ours = || {
        let of_rows: Vec<_> = batches.iter().map(|_| View::new(&indices_of_rows, &[each])).collect();
        let of_rows: Vec<_> = of_rows.into_iter().map(|view| view.expect("rows")).collect();
        let positions = chunks(&of_rows).and_then(|table| table.pairs::<i32, _, _>(&sources, &of_source));
        let positions = positions.expect("pairs in range");
        appended(&|at, ints, floats| {
            append_rows::<Int64Type>(&batches, at, &positions, ints).expect("rows");
            append_rows::<Float64Type>(&batches, at + 1, &positions, floats).expect("rows");
        })
    };
    times.compare(rows * 8, &format!("append {name}"), ours, || {
        let taken = theirs();
        appended(&|at, ints, floats| {
            ints.extend_from_slice(taken.column(at).as_primitive::<Int64Type>().values());
            floats.extend_from_slice(taken.column(at + 1).as_primitive::<Float64Type>().values());
        })
    });
}

fn main() -> Result<(), ArrowError> {
    let quick = std::env::args().any(|of| of == "--quick");
    for of in differences::types() {
        println!("{of}: {} results are arrow's", differences::compare(&of)?);
    }
    differences::refuse()?;

    let times = &mut Times { values: if quick { 1 << 13 } else { 1 << 16 }, quotients: BTreeMap::new() };
    for len in [64, 1024, 65_536, 1_000_000] {
        if !quick || len < 1_000_000 {
            columns(times, len);
        }
    }
    for len in [64, 512, 1024] {
        values::<Int32Type>(times, "i32", len, len, |bits| bits as i32);
    }
    values::<Float32Type>(times, "f32", 65_536, 1 << 20, |bits| bits as f32);
    values::<Int64Type>(times, "i64", 8192, 8192, |bits| bits as i64);
    values::<UInt8Type>(times, "u8", 8192, 8192, |bits| bits as u8);
    values::<Decimal128Type>(times, "decimals", 8192, 8192, |bits| bits as i128);

    // Lists that are null, and lists with nulls inside.
    for (size, null_lists, null_values) in [(16, true, false), (64, true, false), (3, true, true), (5, false, true)] {
        let mut random = Random(11);
        let lists = random.fixed_lists(10_000, size, null_lists, null_values);
        let ids = random.ids(4096, true, 10_000);
        let inside = if null_values { " with nulls inside" } else { "" };
        let ours = || Rows::take(&ids, 10_000).expect("ids in range").of(&[&lists]).expect("rows");
        times.compare(4096 * size as usize, &format!("take 4096 of 10000 lists of {size} f32{inside}"), ours, || {
            take(&lists, &ids, None).expect("ids in range")
        });
    }
    for (dim, some) in [(1000, true), (100_000, false), (100_000, true)] {
        take_batches(times, dim, some)?;
    }
    for (count, each, rows) in [(3, 5, 100), (20, 1000, 64), (20, 8192, 8192), (2, 100_000, 100_000)] {
        for some in [false, true] {
            interleave(times, count, each, rows, some);
            interleave_columns(times, count, each, rows, some);
        }
    }
    times.print_means();
    Ok(())
}

//! Results of the bridge beside `arrow_select`'s for arrays of all types, slices, nulls, masks and ids.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, TimeUnit};
use arrow_select::{filter, interleave, take};
use gather_arrow::Rows;

use crate::arrays::{Random, batch, list_of};

/// Types of columns of all kinds.
pub fn types() -> Vec<DataType> {
    let field = |of| Arc::new(Field::new_list_field(of, true));
    let fixed = |of, size| DataType::FixedSizeList(field(of), size);
    let dictionary = |of| DataType::Dictionary(Box::new(of), Box::new(DataType::Utf8));
    let fields = vec![Field::new("a", DataType::Utf8, true), Field::new("b", list_of(DataType::Int16), true)];
    vec![
        DataType::Int8,
        DataType::UInt16,
        DataType::Float16,
        DataType::Float32,
        DataType::Int64,
        DataType::Date32,
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Microsecond, Some("+02:00".into())),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Decimal32(9, 2),
        DataType::Decimal128(38, 10),
        DataType::Decimal256(76, 10),
        DataType::Boolean,
        DataType::Null,
        DataType::FixedSizeBinary(3),
        DataType::FixedSizeBinary(16),
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::Utf8View,
        DataType::BinaryView,
        list_of(DataType::Utf8View),
        list_of(DataType::Float32),
        list_of(DataType::Boolean),
        list_of(list_of(DataType::Utf8)),
        DataType::LargeList(field(DataType::Int64)),
        DataType::LargeList(field(fixed(DataType::Int8, 3))),
        fixed(DataType::Float32, 3),
        fixed(DataType::Boolean, 5),
        fixed(fixed(DataType::Decimal128(38, 10), 2), 3),
        fixed(dictionary(DataType::UInt8), 2),
        dictionary(DataType::Int8),
        dictionary(DataType::UInt32),
        list_of(dictionary(DataType::Int32)),
        DataType::Struct(fields.into()),
    ]
}

/// Compares the results for arrays of a type.
///
/// # Errors
/// The errors of the bridge: there should be none.
pub fn compare(of: &DataType) -> Result<usize, ArrowError> {
    let (mut random, mut count) = (Random(41), 0);
    let mut same = |what: &str, ours: ArrayRef, theirs: Result<ArrayRef, ArrowError>| {
        ours.to_data().validate_full().unwrap_or_else(|error| panic!("{what} of {of}: {error}"));
        assert_eq!(&ours, &theirs.expect("arrow's result"), "{what} of {of}");
        count += 1;
    };
    for len in [0, 1, 7, 63, 64, 65, 130, 1000] {
        for (some, offset) in [(false, 0), (true, 0), (true, 5), (true, 64 + len % 7)] {
            let sliced = |random: &mut Random| random.array(of, len + offset, some).slice(offset, len);
            let (array, other) = (sliced(&mut random), sliced(&mut random));
            for percent in [0, 1, 30, 70, 99, 100] {
                let mask = random.mask(len, percent, percent == 70);
                let what = format!("filter {percent} of 100 of {len} from {offset} on");
                same(&what, Rows::filter(&mask)?.of(&[&array])?, filter::filter(&array, &mask));
            }
            for ids in [0, 5, len, 200] {
                let ids = if len == 0 { 0 } else { ids };
                let indices = random.ids(ids, some, len);
                let what = format!("take {ids} of {len} from {offset} on");
                same(&what, Rows::take(&indices, len)?.of(&[&array])?, take::take(&array, &indices, None));
            }
            if len > 0 {
                let (sources, rows) = (random.list(len, 2), random.list(len, len));
                let pairs: Vec<_> = sources.iter().zip(&rows).map(|(&a, &b)| (a as usize, b as usize)).collect();
                let ours = Rows::interleave(vec![len; 2], &sources, &rows)?.of(&[&array, &other])?;
                let what = format!("interleave {len} rows from {offset} on");
                same(&what, ours, interleave::interleave(&[&array, &other], &pairs));
            }
        }
    }
    Ok(count)
}

/// Calls with no rows, no columns or ids and masks that do not fit.
///
/// # Errors
/// The errors of the bridge: there should be none.
pub fn refuse() -> Result<(), ArrowError> {
    let mut random = Random(3);
    let few = random.array(&DataType::Int32, 5, true);
    let (beyond, none) = (UInt32Array::from(vec![1, 5]), UInt32Array::from(vec![None, Some(2)]));
    let refused = |what: &str, error: Option<ArrowError>| println!("{what}: {}", error.expect(what));
    refused("an id out of range", Rows::take(&beyond, 5).err());
    refused("a negative id", Rows::take(&Int64Array::from(vec![0, -1]), 5).err());
    refused("a pair of no source", Rows::interleave(vec![5, 5], &[1, 2], &[4, 0]).err());
    refused("a pair of no row", Rows::interleave(vec![5, 4], &[0, 1], &[4, 4]).err());
    refused("lists of different lengths", Rows::interleave(vec![5], &[0, 0], &[4]).err());
    let no_source = Rows::interleave(vec![], &[], &[])?;
    refused("no batch", no_source.of_batches(&[]).err());
    refused("no array", no_source.of(&[]).err());

    let five = batch(vec![few.clone()]);
    for len in [0, 4, 6] {
        let mask = BooleanArray::from(vec![true; len]);
        refused("a mask of another length", Rows::filter(&mask)?.of(&[&few]).err());
        refused("a mask of another length", Rows::filter(&mask)?.of_batches(&[&five]).err());
    }
    refused("ids for another length", Rows::take(&none, 4)?.of(&[&few]).err());
    refused("ids for one array", Rows::take(&none, 5)?.of(&[&few, &few]).err());
    let pairs = Rows::interleave(vec![5, 5], &[1], &[0])?;
    refused("pairs for two arrays", pairs.of(&[&few]).err());
    refused("pairs for another length", pairs.of(&[&few, &few.slice(0, 4)]).err());
    refused("two types", pairs.of(&[&few, &random.array(&DataType::Int16, 5, true)]).err());
    refused("two numbers of columns", pairs.of_batches(&[&five, &batch(vec![few.clone(); 2])]).err());
    let strings = DataType::FixedSizeList(Arc::new(Field::new_list_field(DataType::Utf8, true)), 2);
    refused("strings in lists of a fixed size", Rows::take(&none, 5)?.of(&[&random.array(&strings, 5, true)]).err());

    let taken = Rows::take(&none, 5)?.of(&[&few])?;
    assert!(taken.is_null(0) && taken.len() == 2);
    // All values of the mask are null; no rows; no columns.
    let nulls = BooleanArray::new_null(5);
    assert_eq!(Rows::filter(&nulls)?.of(&[&few])?.len(), 0);
    let empty = five.slice(2, 0);
    assert_eq!(Rows::filter(&nulls.slice(0, 0))?.of_batches(&[&empty])?, empty);
    let options = RecordBatchOptions::new().with_row_count(Some(5));
    let bare = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    let mask = BooleanArray::from(vec![Some(true), None, Some(false), Some(true), Some(true)]);
    assert_eq!(Rows::filter(&mask)?.of_batches(&[&bare])?, filter::filter_record_batch(&bare, &mask)?);
    assert_eq!(Rows::take(&none, 5)?.of_batches(&[&bare])?.num_rows(), 2);
    refused("a mask of another length, no columns", Rows::filter(&mask.slice(1, 4))?.of_batches(&[&bare]).err());
    Ok(())
}

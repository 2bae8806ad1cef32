//! Arrow's `take` and `interleave` of record batches, with their nulls: ids are checked once for all columns.
//!
//! Copy this file. Columns are numbers of any width, dates, times and decimals, lists of a fixed size of these, and
//! dictionaries, whose keys are taken. Arrays may be slices of others: values and bitmaps are read where they lie.
//! Unlike `arrow_select`, an index out of range is an error with numbers, not a panic, and large calls use the threads of
//! rayon's pool.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    downcast_primitive, make_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use gather_core::{
    Append, Bitmap, Checked, Element, Error, Gather, Index, IndexPolicy, NegativeIndex, Nulls, OutOfBounds, View,
    chunks,
};

/// Positions of rows, checked once for all columns, and the nulls among them.
pub struct Rows<'a> {
    positions: Checked<'a, i32>,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Rows<'a> {
    /// The rows of a column of `n` rows that indices name. A null index gives null, whatever its value.
    ///
    /// # Errors
    /// A valid index that is negative or out of range, and columns of more than `i32::MAX` rows.
    pub fn new<I>(indices: &'a PrimitiveArray<I>, n: usize) -> Result<Self, ArrowError>
    where
        I: ArrowPrimitiveType<Native: Index>,
    {
        // Arrow has no negative indices.
        let policy = IndexPolicy { negative: NegativeIndex::Reject, out_of_bounds: OutOfBounds::Error };
        let (ids, nulls) = (indices.values(), indices.nulls().filter(|nulls| nulls.null_count() > 0));
        let positions = match bitmap(nulls).map_err(refused)? {
            Some(valid) => Checked::with_nulls(&ids[..], valid, n, policy),
            None => Checked::new(&ids[..], n, policy),
        };
        Ok(Rows { positions: positions.map_err(refused)?, nulls })
    }

    /// The rows `rows[i]` of the batches `sources[i]`.
    ///
    /// # Errors
    /// Lists of different lengths, and a pair that names no row.
    pub fn of_pairs(batches: &[&RecordBatch], sources: &[u32], rows: &[u32]) -> Result<Rows<'static>, ArrowError> {
        let byte = [0u8];
        let columns: Result<Vec<_>, Error> =
            batches.iter().map(|batch| View::strided(&byte, &[batch.num_rows()], &[0], 0)).collect();
        let positions = columns.and_then(|columns| chunks(&columns)?.pairs(sources, rows)).map_err(refused)?;
        Ok(Rows { positions, nulls: None })
    }

    fn len(&self) -> usize {
        self.positions.positions().len()
    }
}

/// Rows of a record batch: `arrow_select::take::take_record_batch`.
///
/// # Errors
/// As for [`Rows::new`], and columns of other types.
pub fn take_record_batch<I>(batch: &RecordBatch, indices: &PrimitiveArray<I>) -> Result<RecordBatch, ArrowError>
where
    I: ArrowPrimitiveType<Native: Index>,
{
    record_batch(&[batch], &Rows::new(indices, batch.num_rows())?)
}

/// The rows `rows[i]` of the batches `sources[i]`: `arrow_select::interleave::interleave_record_batch`.
///
/// # Errors
/// No batch, batches of different types, columns of other types, and as for [`Rows::of_pairs`].
pub fn interleave_record_batch(
    batches: &[&RecordBatch],
    sources: &[u32],
    rows: &[u32],
) -> Result<RecordBatch, ArrowError> {
    record_batch(batches, &Rows::of_pairs(batches, sources, rows)?)
}

fn record_batch(batches: &[&RecordBatch], rows: &Rows<'_>) -> Result<RecordBatch, ArrowError> {
    let first = batches.first().ok_or_else(|| ArrowError::InvalidArgumentError("no batch".into()))?;
    let is_other = |batch: &RecordBatch| {
        let pairs = batch.columns().iter().zip(first.columns());
        batch.num_columns() != first.num_columns() || pairs.into_iter().any(|(a, b)| a.data_type() != b.data_type())
    };
    if let Some(other) = batches.iter().position(|batch| is_other(batch)) {
        return Err(ArrowError::SchemaError(format!("batch {other} has other types of columns than batch 0")));
    }
    let columns = (0..first.num_columns()).map(|column| {
        let arrays: Vec<&dyn Array> = batches.iter().map(|batch| &**batch.column(column)).collect();
        take_rows(&arrays, rows)
    });
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(first.schema(), columns.collect::<Result<_, _>>()?, &options)
}

/// Values of an array: `arrow_select::take::take`.
///
/// # Errors
/// As for [`Rows::new`], and arrays of other types.
pub fn take<I>(values: &dyn Array, indices: &PrimitiveArray<I>) -> Result<ArrayRef, ArrowError>
where
    I: ArrowPrimitiveType<Native: Index>,
{
    take_rows(&[values], &Rows::new(indices, values.len())?)
}

/// Rows of a column, whose arrays of one type follow each other.
///
/// # Errors
/// Types of columns that are not supported, and arrays of other lengths than the rows were checked for.
pub fn take_rows(arrays: &[&dyn Array], rows: &Rows<'_>) -> Result<ArrayRef, ArrowError> {
    let first = arrays.first().ok_or_else(|| ArrowError::InvalidArgumentError("no array".into()))?;
    let of = first.data_type();
    let data = match of {
        DataType::FixedSizeList(field, size) => {
            let lists: Vec<&FixedSizeListArray> = arrays.iter().map(|array| array.as_fixed_size_list()).collect();
            let values: Vec<&dyn Array> = lists.iter().map(|list| &**list.values()).collect();
            let parts = parts(field.data_type(), &values)?;
            let nulls = lists.iter().map(|list| (list.len(), list.nulls())).collect();
            let (taken, nulls) = moved(&parts, *size as usize, nulls, rows).map_err(refused)?;
            let inner = inner_nulls(&parts, *size as usize, rows).map_err(refused)?;
            let child = ArrayData::builder(field.data_type().clone()).len(rows.len() * *size as usize);
            let child = child.add_buffer(taken).nulls(inner).build()?;
            ArrayData::builder(of.clone()).nulls(nulls).add_child_data(child)
        }
        DataType::Dictionary(keys, _) => {
            let dictionary = first.as_any_dictionary().values();
            let arrays: Vec<_> = arrays.iter().map(|array| array.as_any_dictionary()).collect();
            if arrays.iter().any(|array| !Arc::ptr_eq(array.values(), dictionary) && array.values() != dictionary) {
                return Err(ArrowError::NotYetImplemented("arrays with different dictionaries".into()));
            }
            let parts = parts(keys, &arrays.iter().map(|array| array.keys()).collect::<Vec<_>>())?;
            let (taken, nulls) = moved(&parts, 1, nulls_of(&parts), rows).map_err(refused)?;
            ArrayData::builder(of.clone()).add_buffer(taken).nulls(nulls).add_child_data(dictionary.to_data())
        }
        _ => {
            let parts = parts(of, arrays)?;
            let (taken, nulls) = moved(&parts, 1, nulls_of(&parts), rows).map_err(refused)?;
            ArrayData::builder(of.clone()).add_buffer(taken).nulls(nulls)
        }
    };
    Ok(make_array(data.len(rows.len()).build()?))
}

/// Values of an array, of `width` bytes each.
struct Part<'a> {
    bytes: &'a Buffer,
    width: usize,
    len: usize,
    nulls: Option<&'a NullBuffer>,
}

type PartNulls<'a> = Vec<(usize, Option<&'a NullBuffer>)>;

fn nulls_of<'a>(parts: &[Part<'a>]) -> PartNulls<'a> {
    parts.iter().map(|part| (part.len, part.nulls)).collect()
}

/// The values of arrays of numbers of a type.
fn parts<'a>(of: &DataType, arrays: &[&'a dyn Array]) -> Result<Vec<Part<'a>>, ArrowError> {
    fn numbers<'a, T: ArrowPrimitiveType>(arrays: &[&'a dyn Array]) -> Vec<Part<'a>> {
        let numbers = arrays.iter().map(|array| array.as_primitive::<T>());
        let part = |of: &'a PrimitiveArray<T>| Part {
            bytes: of.values().inner(),
            width: size_of::<T::Native>(),
            len: of.len(),
            nulls: of.nulls(),
        };
        numbers.map(part).collect()
    }
    macro_rules! numbers {
        ($T:ty) => {
            Ok(numbers::<$T>(arrays))
        };
    }
    downcast_primitive! {
        of => (numbers),
        _ => Err(ArrowError::NotYetImplemented(format!("columns of {of}")))
    }
}

/// The bytes of rows of `columns` values each, moved by their width, and the nulls of the rows.
fn moved(
    parts: &[Part<'_>],
    columns: usize,
    of_rows: PartNulls<'_>,
    rows: &Rows<'_>,
) -> Result<(Buffer, Option<NullBuffer>), Error> {
    fn by_width<T: Element + ArrowNativeType>(
        parts: &[Part<'_>],
        columns: usize,
        of_rows: &PartNulls<'_>,
        rows: &Rows<'_>,
    ) -> Result<(Buffer, Option<NullBuffer>), Error> {
        let views = parts.iter().zip(of_rows).map(|(part, (len, _))| {
            View::new(part.bytes.typed_data::<T>(), &[*len, columns * (part.width / size_of::<T>())])
        });
        let mut taken = Vec::new();
        let nulls = append_rows(&views.collect::<Result<Vec<_>, _>>()?, of_rows, rows, &mut taken)?;
        Ok((Buffer::from_vec(taken), nulls))
    }
    match parts[0].width {
        1 => by_width::<u8>(parts, columns, &of_rows, rows),
        2 => by_width::<u16>(parts, columns, &of_rows, rows),
        4 => by_width::<u32>(parts, columns, &of_rows, rows),
        _ => by_width::<u64>(parts, columns, &of_rows, rows),
    }
}

/// Appends rows of all parts; returns their nulls. `nulls` has a bit for each row of a part, or for each value.
fn append_rows<T: Element>(
    parts: &[View<'_, T>],
    nulls: &PartNulls<'_>,
    rows: &Rows<'_>,
    values: &mut Vec<T>,
) -> Result<Option<NullBuffer>, Error> {
    let has_nulls = |nulls: &&NullBuffer| nulls.null_count() > 0;
    let own;
    let data = match &nulls[..] {
        [(_, one)] => one.filter(has_nulls),
        _ if nulls.iter().all(|(_, nulls)| nulls.filter(has_nulls).is_none()) => None,
        _ => {
            let mut bits = NullBufferBuilder::new(nulls.iter().map(|(len, _)| len).sum());
            for (len, nulls) in nulls {
                match nulls {
                    Some(nulls) => bits.append_buffer(nulls),
                    None => bits.append_n_non_nulls(*len),
                }
            }
            own = bits.finish();
            own.as_ref()
        }
    };
    let (gather, out) = (Gather::new(0), &mut Append(values));
    if data.is_none() && rows.nulls.is_none() {
        match parts {
            [one] => gather.run_into(one, &rows.positions, out)?,
            _ => gather.run_into(&chunks(parts)?, &rows.positions, out)?,
        };
        return Ok(None);
    }
    let of_parts: usize = parts.iter().map(|part| part.shape()[0]).sum();
    let len = rows.len() * data.map_or(1, |data| data.len() / of_parts.max(1));
    let (nulls, mut bits) = (Nulls { indices: bitmap(rows.nulls)?, data: bitmap(data)? }, vec![0; len.div_ceil(8)]);
    let count = match parts {
        [one] => gather.nullable().run_into(one, &rows.positions, nulls, out, &mut bits)?,
        _ => gather.nullable().run_into(&chunks(parts)?, &rows.positions, nulls, out, &mut bits)?,
    };
    Ok((count > 0).then(|| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, len))))
}

/// The nulls inside of lists, which have a bit for each value. One byte stands for all values, which have been taken.
fn inner_nulls(parts: &[Part<'_>], size: usize, rows: &Rows<'_>) -> Result<Option<NullBuffer>, Error> {
    if size == 0 || parts.iter().all(|part| part.nulls.is_none()) {
        return Ok(None);
    }
    let len: usize = parts.iter().map(|part| part.len).sum();
    let bytes = View::strided(&[0u8], &[len / size, size], &[0, 0], 0)?;
    append_rows(&[bytes], &nulls_of(parts), rows, &mut Vec::new())
}

/// Appends rows of a column of numbers to values and nulls: `interleave` and a copy in one.
///
/// # Errors
/// Arrays of other lengths than the rows were checked for. Then nothing is appended.
pub fn append<T: ArrowPrimitiveType<Native: Element>>(
    parts: &[&PrimitiveArray<T>],
    rows: &Rows<'_>,
    values: &mut Vec<T::Native>,
    nulls: &mut NullBufferBuilder,
) -> Result<(), ArrowError> {
    let views: Result<Vec<_>, _> = parts.iter().map(|part| View::new(&part.values()[..], &[part.len()])).collect();
    let of_nulls = parts.iter().map(|part| (part.len(), part.nulls())).collect();
    match views.and_then(|views| append_rows(&views, &of_nulls, rows, values)).map_err(refused)? {
        Some(of_rows) => nulls.append_buffer(&of_rows),
        None => nulls.append_n_non_nulls(rows.len()),
    }
    Ok(())
}

/// The bits of an array where they lie, those of a slice too.
fn bitmap(nulls: Option<&NullBuffer>) -> Result<Option<Bitmap<'_>>, Error> {
    nulls.map(|nulls| Bitmap::new(nulls.validity(), nulls.offset(), nulls.len())).transpose()
}

fn refused(error: Error) -> ArrowError {
    ArrowError::ComputeError(error.to_string())
}

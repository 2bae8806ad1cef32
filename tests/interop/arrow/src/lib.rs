//! Arrow's `take`, `filter` and `interleave` of arrays and record batches: rows are checked once for all columns.
//!
//! Copy this file. It needs `arrow-array`, `arrow-buffer` and `arrow-schema` 60.1, and gather-core:
//!
//! ```text
//! let kept: RecordBatch = Rows::filter(&mask)?.of_batches(&[&batch])?;
//! let taken: ArrayRef = Rows::take(&ids, column.len())?.of(&[&column])?;
//! let mixed: ArrayRef = Rows::interleave(vec![a.len(), b.len()], &sources, &rows)?.of(&[&a, &b])?;
//! ```
//!
//! Columns are numbers of any width, dates, times and decimals, booleans, strings, binaries and views of both, structs,
//! dictionaries (keys are taken), and lists of all of these; lists of a fixed size hold no strings and no lists. Arrays
//! may be slices of others: values and bitmaps are read where they lie. Large calls use the threads of rayon's pool. An
//! index or a pair that names no row, and columns of other lengths or types, are errors with numbers, not panics. Views
//! of lists, maps, unions, run-end encoding, and sources with different dictionaries are
//! [`ArrowError::NotYetImplemented`].

use std::sync::Arc;

use arrow_array::{cast::AsArray, types::*, *};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};
use gather_core::{
    Append, Bitmap, Checked, Error, Gather, Index, IndexPolicy, Mask, NegativeIndex, OutOfBounds, Position, Ragged,
    View, gather_bits, ragged_pairs,
};

type Result<T, E = ArrowError> = std::result::Result<T, E>;
/// Fails by an error of gather-core or of Arrow.
type Taken<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
/// Arrays of one type, and the number of adjacent values that are a row.
type Column<'c> = (&'c [&'c dyn Array], usize);
type Get<'g, 'c, T> = &'g dyn Fn(&'c dyn Array) -> T;

/// Rows of columns, checked once for all of them.
pub struct Rows<'a> {
    by: By<'a>,
    len: usize,
}

enum By<'a> {
    /// Positions, and the nulls among them.
    Ids(Checked<'a, i32>, Option<NullBuffer>),
    Mask(Mask<'a>),
    /// Sources and rows, which name rows of sources of these lengths.
    Pairs(&'a [u32], &'a [u32], Vec<usize>),
}

#[allow(unsafe_code, reason = "strings and keys of valid arrays are not checked again")]
impl<'a> Rows<'a> {
    /// The rows that indices name, of columns of `n <= i32::MAX` rows: `arrow_select::take`. A null index gives null.
    pub fn take<I: ArrowPrimitiveType<Native: Index>>(indices: &'a PrimitiveArray<I>, n: usize) -> Result<Self> {
        let policy = IndexPolicy { negative: NegativeIndex::Reject, out_of_bounds: OutOfBounds::Error };
        let (ids, nulls) = (&indices.values()[..], indices.nulls().filter(|nulls| nulls.null_count() > 0));
        let positions = match nulls {
            Some(nulls) => bitmap(nulls.inner()).and_then(|valid| Checked::with_nulls(ids, valid, n, policy)),
            None => Checked::new(ids, n, policy),
        };
        Ok(Rows { by: By::Ids(positions.map_err(refused)?, nulls.cloned()), len: ids.len() })
    }

    /// The rows where a mask is true: `arrow_select::filter`. Null is not true.
    pub fn filter(mask: &'a BooleanArray) -> Result<Self> {
        let bits = Mask::from_bits(bitmap(mask.values()).map_err(refused)?);
        let Some(nulls) = mask.nulls() else { return Ok(Rows { len: bits.count(), by: By::Mask(bits) }) };
        let mask = bitmap(nulls.inner()).and_then(|nulls| bits.with_nulls(nulls)).map_err(refused)?;
        Ok(Rows { len: mask.count(), by: By::Mask(mask) })
    }

    /// The rows `rows[i]` of sources `sources[i]`, columns of these lengths: `arrow_select::interleave`.
    pub fn interleave(lengths: Vec<usize>, sources: &'a [u32], rows: &'a [u32]) -> Result<Self> {
        let is_row = |(&of, &row): (&u32, &u32)| lengths.get(of as usize).is_some_and(|&len| (row as usize) < len);
        let n = sources.iter().zip(rows).take_while(|&pair| is_row(pair)).count();
        let refused = || ArrowError::InvalidArgumentError(format!("pair {n} is no row of sources of {lengths:?} rows"));
        if n < sources.len().max(rows.len()) {
            Err(refused())
        } else {
            Ok(Rows { by: By::Pairs(sources, rows, lengths), len: n })
        }
    }

    /// The rows of a record batch, or of the batches of all sources.
    pub fn of_batches(&self, batches: &[&RecordBatch]) -> Result<RecordBatch> {
        self.check(batches.iter().map(|batch| batch.num_rows()))?;
        let (first, options) = (batches[0], RecordBatchOptions::new().with_row_count(Some(self.len)));
        if batches.iter().any(|batch| batch.num_columns() != first.num_columns()) {
            return Err(ArrowError::SchemaError("batches of different numbers of columns".into()));
        }
        let column = |at| self.of(&batches.iter().map(|batch| &**batch.column(at)).collect::<Vec<_>>());
        let columns = (0..first.num_columns()).map(column).collect::<Result<_, _>>()?;
        RecordBatch::try_new_with_options(first.schema(), columns, &options)
    }

    /// The rows of an array, or of the arrays of all sources.
    pub fn of(&self, arrays: &[&dyn Array]) -> Result<ArrayRef> {
        self.check(arrays.iter().map(|array| array.len()))?;
        if arrays[1..].iter().any(|array| array.data_type() != arrays[0].data_type()) {
            return Err(ArrowError::InvalidArgumentError("arrays of different types".into()));
        }
        match &self.by {
            By::Mask(mask) if mask.count() == mask.len() => Ok(arrays[0].slice(0, mask.len())),
            _ => self.taken((arrays, 1)).map_err(refused),
        }
    }

    fn check(&self, got: impl Iterator<Item = usize> + Clone) -> Result<()> {
        let expected: &[usize] = match &self.by {
            By::Ids(ids, _) => &[ids.n()],
            By::Mask(mask) => &[mask.len()],
            By::Pairs(.., lengths) => lengths,
        };
        let refused = || format!("columns of {:?} rows; expected {expected:?}", got.clone().collect::<Vec<_>>());
        if got.clone().eq(expected.iter().copied()) && !expected.is_empty() {
            Ok(())
        } else {
            Err(ArrowError::InvalidArgumentError(refused()))
        }
    }

    fn taken(&self, column @ (arrays, columns): Column<'_>) -> Taken<ArrayRef> {
        let (of, len, nulls) = (arrays[0].data_type(), self.len * columns, || self.nulls(column));
        macro_rules! numbers {
            ($T:ty) => {
                self.numbers::<$T>(column, of)?
            };
        }
        Ok(downcast_primitive! {
            of => (numbers),
            DataType::Null => Arc::new(NullArray::new(len)),
            DataType::Boolean => {
                let values = self.bits(column, &|of| Some(of.as_boolean().values()))?;
                Arc::new(BooleanArray::new(values.ok_or("no values")?, nulls()?))
            }
            DataType::FixedSizeBinary(size) => {
                let bytes = self.values(column, *size as usize, |of| of.as_fixed_size_binary().values())?;
                Arc::new(FixedSizeBinaryArray::try_new_with_len(*size, bytes, nulls()?, len)?)
            }
            DataType::FixedSizeList(field, size) => {
                let child = self.child(column, *size as usize, &|of| of.as_fixed_size_list().values())?;
                Arc::new(FixedSizeListArray::try_new_with_length(field.clone(), *size, child, nulls()?, len)?)
            }
            DataType::Struct(fields) => {
                let child = |at| self.child(column, 1, &|of| of.as_struct().column(at));
                let children = (0..fields.len()).map(child).collect::<Taken<_>>()?;
                Arc::new(StructArray::try_new_with_length(fields.clone(), children, nulls()?, len)?)
            }
            DataType::Dictionary(..) => {
                let of_first = arrays[0].as_any_dictionary().values();
                let mut all = arrays.iter().map(|array| array.as_any_dictionary().values());
                if all.any(|of| !Arc::ptr_eq(of, of_first) && of != of_first) {
                    return Err(ArrowError::NotYetImplemented("arrays with different dictionaries".into()).into());
                }
                let keys = self.child(column, 1, &|of| of.as_any_dictionary().keys())?.into_data().into_builder();
                // SAFETY: each key that is not null is a key of an array with this dictionary.
                make_array(unsafe { keys.data_type(of.clone()).add_child_data(of_first.to_data()).build_unchecked() })
            }
            DataType::Utf8 if columns == 1 => self.strings::<Utf8Type>(column)?,
            DataType::LargeUtf8 if columns == 1 => self.strings::<LargeUtf8Type>(column)?,
            DataType::Binary if columns == 1 => self.strings::<BinaryType>(column)?,
            DataType::LargeBinary if columns == 1 => self.strings::<LargeBinaryType>(column)?,
            DataType::Utf8View if columns == 1 => self.views::<StringViewType>(column)?,
            DataType::BinaryView if columns == 1 => self.views::<BinaryViewType>(column)?,
            DataType::List(field) if columns == 1 => self.lists::<i32>(column, field)?,
            DataType::LargeList(field) if columns == 1 => self.lists::<i64>(column, field)?,
            _ => return Err(ArrowError::NotYetImplemented(format!("columns of {of}")).into()),
        })
    }

    fn numbers<T: ArrowPrimitiveType>(&self, column: Column<'_>, of: &DataType) -> Taken<ArrayRef> {
        let values = match (&self.by, column.1) {
            (By::Pairs(sources, rows, _), 1) => {
                let all: Vec<_> = column.0.iter().map(|of| &of.as_primitive::<T>().values()[..]).collect();
                let value = |(&of, &at): (&u32, &u32)| all[of as usize][at as usize];
                Buffer::from_vec(sources.iter().zip(*rows).map(value).collect::<Vec<_>>())
            }
            _ => self.values(column, size_of::<T::Native>(), |of| of.as_primitive::<T>().values().inner())?,
        };
        Ok(Arc::new(PrimitiveArray::<T>::new(values.into(), self.nulls(column)?).with_data_type(of.clone())))
    }

    fn child<'c>(&self, of: Column<'c>, size: usize, get: Get<'_, 'c, &'c dyn Array>) -> Taken<ArrayRef> {
        let arrays: Vec<_> = of.0.iter().map(|array| get(*array)).collect();
        if size == 0 { Ok(new_empty_array(arrays[0].data_type())) } else { self.taken((&arrays, of.1 * size)) }
    }

    /// Values of `width` bytes each, which are moved as bytes.
    #[inline(always)]
    fn values<'c>(&self, of: Column<'c>, width: usize, get: impl Fn(&'c dyn Array) -> &'c Buffer) -> Taken<Buffer> {
        let one = View::new(&get(of.0[0])[..], &[of.0[0].len() / of.1, of.1 * width])?;
        let (gather, mut taken) = (Gather::new(0), Vec::<u8>::new());
        match &self.by {
            By::Ids(ids, _) => gather.run_into(&one, ids, &mut Append(&mut taken))?,
            By::Mask(mask) => gather.masked().run_into(&one, mask, &mut Append(&mut taken))?,
            By::Pairs(sources, rows, _) => {
                let all: Vec<_> = of.0.iter().map(|array| &get(*array)[..]).collect();
                taken.reserve_exact(self.len * of.1 * width);
                for (&source, &row) in sources.iter().zip(*rows) {
                    let row = all[source as usize][row as usize * of.1 * width..].chunks_exact(width.max(1));
                    row.take(of.1).for_each(|value| taken.extend_from_slice(value));
                }
            }
        }
        let taken = Buffer::from_vec(taken);
        Ok(if taken.as_ptr().cast::<u128>().is_aligned() { taken } else { Buffer::from_slice_ref(&taken[..]) })
    }

    /// The bits of rows, if an array has any.
    fn bits<'c>(&self, of: Column<'c>, get: Get<'_, 'c, Option<&'c BooleanBuffer>>) -> Taken<Option<BooleanBuffer>> {
        let Some(one) = of.0.iter().find_map(|array| get(*array)) else { return Ok(None) };
        let taken = match &self.by {
            By::Ids(ids, _) => gather_bits(bitmap(one)?, of.1, ids)?,
            By::Mask(mask) => mask.select_bits(bitmap(one)?, of.1)?,
            By::Pairs(sources, rows, ..) => {
                let parts: Vec<_> = of.0.iter().map(|array| get(*array)).collect();
                let row = |at: usize| (parts[sources[at] as usize], rows[at] as usize * of.1);
                let bit = |(part, at): (Option<&BooleanBuffer>, _), column| part.is_none_or(|of| of.value(at + column));
                return Ok(Some(BooleanBuffer::collect_bool(self.len * of.1, |at| bit(row(at / of.1), at % of.1))));
            }
        };
        let len = taken.len();
        Ok(Some(BooleanBuffer::new(taken.into_bytes().into(), 0, len)))
    }

    fn nulls(&self, column: Column<'_>) -> Taken<Option<NullBuffer>> {
        let some = |of: &&NullBuffer| of.null_count() > 0;
        let bits = self.bits(column, &|array| array.nulls().filter(some).map(NullBuffer::inner))?;
        Ok(match (bits.map(NullBuffer::new), &self.by) {
            (None, By::Ids(_, nulls)) if column.1 == 1 => nulls.clone(),
            (nulls, _) => nulls.filter(|nulls| nulls.null_count() > 0),
        })
    }

    fn strings<T: ByteArrayType<Offset: Position>>(&self, column: Column<'_>) -> Taken<ArrayRef> {
        let all = column.0.iter().map(|array| array.as_bytes::<T>());
        let all = all.map(|of| Ragged::new(of.value_offsets(), of.value_data())).collect::<Result<Vec<_>, _>>()?;
        let (offsets, bytes) = match &self.by {
            By::Ids(ids, _) => all[0].gather(ids)?,
            By::Mask(mask) => all[0].masked(mask)?,
            By::Pairs(sources, rows, ..) => ragged_pairs(&all, sources, rows)?,
        };
        // SAFETY: the offsets of rows ascend from 0 to the number of bytes.
        let offsets = unsafe { OffsetBuffer::new_unchecked(offsets.into()) };
        // SAFETY: each row is a row of an array, so valid for `T`, and nulls have a bit for each row.
        Ok(Arc::new(unsafe { GenericByteArray::<T>::new_unchecked(offsets, bytes.into(), self.nulls(column)?) }))
    }

    /// Views of strings or binaries, which keep their buffers.
    fn views<T: ByteViewType>(&self, column: Column<'_>) -> Taken<ArrayRef> {
        let all: Vec<_> = column.0.iter().map(|array| array.as_byte_view::<T>()).collect();
        let (mut buffers, mut starts) = (Vec::new(), Vec::new());
        for of in &all {
            starts.push((buffers.len() as u128) << 64);
            buffers.extend(of.data_buffers().iter().cloned());
        }
        let views = match &self.by {
            By::Pairs(sources, rows, _) => {
                // The number of a view's buffer is in its bits 64 to 95; up to 12 bytes have no buffer.
                let view = |(&of, &at): (&u32, &u32)| match all[of as usize].views()[at as usize] {
                    view if view as u32 <= 12 => view,
                    view => view + starts[of as usize],
                };
                sources.iter().zip(*rows).map(view).collect::<Vec<u128>>().into()
            }
            _ => self.values(column, size_of::<u128>(), |of| of.as_byte_view::<T>().views().inner())?.into(),
        };
        // SAFETY: each view is a view of an array, whose buffers begin at its start; of a null id it is 0, no bytes.
        Ok(Arc::new(unsafe { GenericByteViewArray::<T>::new_unchecked(views, buffers.into(), self.nulls(column)?) }))
    }

    fn lists<O: OffsetSizeTrait + Position>(&self, column: Column<'_>, field: &FieldRef) -> Taken<ArrayRef> {
        let lists: Vec<_> = column.0.iter().map(|array| array.as_list::<O>()).collect();
        let one = Ragged::from_offsets(lists[0].value_offsets(), lists[0].values().len())?;
        let of = |(offsets, ids)| (offsets, By::Ids(ids, None));
        let (mut of_values, mut values) = (vec![], vec![]);
        let (offsets, by) = match &self.by {
            By::Ids(ids, _) => of(one.positions(ids)?),
            By::Mask(mask) => of(one.positions_masked(mask)?),
            By::Pairs(sources, rows, ..) => {
                let mut offsets = vec![O::zero()];
                for (&source, &row) in sources.iter().zip(*rows) {
                    let of = &lists[source as usize].value_offsets()[row as usize..];
                    values.extend(u32::try_from(of[0].as_usize())?..u32::try_from(of[1].as_usize())?);
                    of_values.resize(values.len(), source);
                    offsets.push(O::from_usize(values.len()).ok_or(ArrowError::OffsetOverflowError(values.len()))?);
                }
                let lengths = lists.iter().map(|list| list.values().len()).collect();
                (offsets, Rows::interleave(lengths, &of_values, &values)?.by)
            }
        };
        let child =
            Rows { by, len: offsets[self.len].as_usize() }.child(column, 1, &|of| of.as_list::<O>().values())?;
        let (offsets, nulls) = (OffsetBuffer::new(offsets.into()), self.nulls(column)?);
        Ok(Arc::new(GenericListArray::try_new(field.clone(), offsets, child, nulls)?))
    }
}

/// Bits where they lie, those of a slice too.
fn bitmap(bits: &BooleanBuffer) -> Result<Bitmap<'_>, Error> {
    Bitmap::new(bits.values(), bits.offset(), bits.len())
}

/// An error of Arrow as it is, another one as [`ArrowError::ExternalError`].
fn refused(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ArrowError {
    error.into().downcast().map_or_else(ArrowError::ExternalError, |error| *error)
}

//! Arrow's `take` of primitive arrays and of lists of a fixed size, with their nulls.
//!
//! Copy this file. Arrays may be slices of others: values and bitmaps are read where they lie. What differs from
//! `arrow_select::take::take`: an index out of range is an error with numbers, not a panic, and large calls use the
//! threads of rayon's pool.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrowPrimitiveType, FixedSizeListArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use gather_core::{Bitmap, Element, Error, Gather, Index, NegativeIndex, Nulls, Validity, View};
use std::sync::Arc;

/// Values by their indices. A null index gives null, whatever its value, and so does a valid one that names a null.
///
/// # Errors
/// A valid index that is negative or out of range.
pub fn take<T, I>(values: &PrimitiveArray<T>, indices: &PrimitiveArray<I>) -> Result<PrimitiveArray<T>, ArrowError>
where
    T: ArrowPrimitiveType<Native: Element>,
    I: ArrowPrimitiveType<Native: Index>,
{
    let (taken, nulls) = run(values.values(), &[values.len()], values.nulls(), indices).map_err(refused)?;
    Ok(PrimitiveArray::try_new(taken.into(), nulls)?.with_data_type(values.data_type().clone()))
}

/// Lists of a fixed size by their indices. Lists may be null, and so may their values.
///
/// # Errors
/// As for [`take`], and lists of another type of values than `T`.
pub fn take_lists<T, I>(
    lists: &FixedSizeListArray,
    indices: &PrimitiveArray<I>,
) -> Result<FixedSizeListArray, ArrowError>
where
    T: ArrowPrimitiveType<Native: Element>,
    I: ArrowPrimitiveType<Native: Index>,
{
    let DataType::FixedSizeList(field, size) = lists.data_type() else { unreachable!("the type of such lists") };
    let values = lists.values().as_primitive_opt::<T>();
    let values = values.ok_or_else(|| ArrowError::CastError(format!("lists of {}", field.data_type())))?;
    let shape = [lists.len(), *size as usize];
    let (taken, nulls) = run(values.values(), &shape, lists.nulls(), indices).map_err(refused)?;
    // Nulls inside of lists have a bit for each value. One byte stands for all values, which have been taken.
    let inner = values.nulls().filter(|nulls| nulls.null_count() > 0).map(|inner| {
        let bytes = View::strided(&[0u8], &shape, &[0, 0], 0)?;
        let ids = View::new(indices.values(), &[indices.len()])?;
        let nulls = Nulls { indices: bitmap(indices.nulls())?, data: bitmap(Some(inner))? };
        let (_, validity) = gather().nullable().run(&bytes, &ids, nulls)?;
        Ok(validity.map(null_buffer))
    });
    let inner = inner.transpose().map_err(refused)?.flatten();
    let taken = PrimitiveArray::<T>::try_new(taken.into(), inner)?.with_data_type(values.data_type().clone());
    FixedSizeListArray::try_new_with_length(field.clone(), *size, Arc::new(taken), nulls, indices.len())
}

/// Rows of values of a shape, and their nulls.
fn run<T: Element, I: ArrowPrimitiveType<Native: Index>>(
    values: &[T],
    shape: &[usize],
    nulls: Option<&NullBuffer>,
    indices: &PrimitiveArray<I>,
) -> Result<(Vec<T>, Option<NullBuffer>), Error> {
    let ids = View::new(indices.values(), &[indices.len()])?;
    let nulls = Nulls { indices: bitmap(indices.nulls())?, data: bitmap(nulls)? };
    let (taken, validity) = gather().nullable().run(&View::new(values, shape)?, &ids, nulls)?;
    Ok((taken.into_vec(), validity.map(null_buffer)))
}

/// Arrow has no negative indices.
fn gather() -> Gather {
    Gather::new(0).negative_index(NegativeIndex::Reject)
}

/// The bits of an array where they lie, those of a slice too.
fn bitmap(nulls: Option<&NullBuffer>) -> Result<Option<Bitmap<'_>>, Error> {
    nulls.map(|nulls| Bitmap::new(nulls.validity(), nulls.offset(), nulls.len())).transpose()
}

/// The bits of a result, without a copy.
fn null_buffer(validity: Validity) -> NullBuffer {
    let len = validity.len();
    NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(validity.into_bytes()), 0, len))
}

fn refused(error: Error) -> ArrowError {
    ArrowError::ComputeError(error.to_string())
}

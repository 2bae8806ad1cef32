//! The crate `arrow-select`: `take` on a column of numbers, or of lists of one size where data has rows.
//!
//! Not equal: allocates its output; a column has one axis, so there is only Gather along axis 0, without batch_dims; a
//! bad index panics. One thread.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::{ArrowError, Field};
use arrow_select::take::take;
use bytemuck::Pod;
use half::f16;

use super::{NotRun, Peer, Ready, into_fresh, only_axis_0};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::workloads::Workload;
use crate::{versions, with_positions, with_values};

/// The crate.
pub(super) struct Arrow;

impl Peer for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn version(&self) -> String {
        versions::of("arrow-select").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; axis 0 only, of a column of numbers or lists; a bad index panics; one thread"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        only_axis_0(&case.workload.kind)?;
        let indices = with_positions!(&case.indices, indices => column(indices));
        with_values!(&case.data, data => {
            let data = rows(column(data), data.shape()).map_err(NotRun::failed)?;
            Ok(into_fresh(move || take(&data, &indices, None), bytes))
        })
    }
}

/// An element with a column of its own.
trait Cell: Pod + ArrowNativeType {
    type Type: ArrowPrimitiveType<Native = Self>;
}

macro_rules! cells {
    ($($cell:ty: $column:ty,)*) => {$(
        impl Cell for $cell {
            type Type = $column;
        }
    )*};
}
cells! { f32: Float32Type, f16: Float16Type, u8: UInt8Type, i32: Int32Type, i64: Int64Type, }

fn column<T: Cell>(elements: &Buffer<T>) -> ArrayRef {
    let elements = ScalarBuffer::from(elements.as_slice().to_vec());
    Arc::new(PrimitiveArray::<T::Type>::new(elements, None))
}

/// The column as one of lists, if a row has more than one element.
fn rows(elements: ArrayRef, shape: &[usize]) -> Result<ArrayRef, ArrowError> {
    let row: usize = shape[1..].iter().product();
    if shape.len() == 1 {
        return Ok(elements);
    }
    let field = Arc::new(Field::new_list_field(elements.data_type().clone(), false));
    Ok(Arc::new(FixedSizeListArray::try_new(field, row as i32, elements, None)?))
}

fn bytes(taken: &Result<ArrayRef, ArrowError>) -> Result<Vec<u8>, String> {
    let taken = taken.as_ref().map_err(ToString::to_string)?.to_data();
    let numbers = taken.child_data().first().unwrap_or(&taken);
    Ok(numbers.buffers().first().ok_or("no buffer")?.as_slice().to_vec())
}

//! The crate `vortex-array`: `take` of a column of numbers, or of lists of one size where data has rows, executed into
//! plain columns.
//!
//! Not equal: allocates its output; a column has one axis, so there is only Gather along axis 0, without batch_dims;
//! indices are made unsigned, of the same width, outside the timing; `take` builds an expression first, within the
//! timing. One thread.

use vortex_array::arrays::fixed_size_list::FixedSizeListArraySlotsExt;
use vortex_array::arrays::{FixedSizeListArray, PrimitiveArray};
use vortex_array::dtype::NativePType;
use vortex_array::validity::Validity;
use vortex_array::{ArrayRef, ExecutionCtx, IntoArray, VortexSessionExecute, array_session};
use vortex_buffer::Buffer as Column;
use vortex_error::VortexResult;

use super::{NotRun, Peer, Ready, into_fresh, only_axis_0};
use crate::buffer::Buffer;
use crate::case::{Case, Positions};
use crate::inputs::Value;
use crate::workloads::Workload;
use crate::{versions, with_values};

/// The crate.
pub(super) struct Vortex;

impl Peer for Vortex {
    fn name(&self) -> &'static str {
        "vortex"
    }

    fn version(&self) -> String {
        versions::of("vortex-array").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; axis 0 only; indices made unsigned outside the timing; builds an expression; one thread"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        only_axis_0(&case.workload.kind)?;
        let indices = match &case.indices {
            Positions::I64(_) => column(case.indices.map(|position| position as u64)),
            Positions::I32(_) => column(case.indices.map(|position| position as u32)),
            Positions::U8(_) => column(case.indices.map(|position| position as u8)),
        };
        with_values!(&case.data, data => Ok(prepare(data, indices)))
    }
}

fn prepare<'a, T: Value + NativePType>(data: &'a Buffer<T>, indices: ArrayRef) -> Ready<'a> {
    let mut context = array_session().create_execution_ctx();
    let elements = column(data.as_slice().to_vec());
    let bytes = |taken: &PrimitiveArray| Ok(bytemuck::cast_slice(taken.as_slice::<T>()).to_vec());
    let shape = data.shape();
    if shape.len() == 1 {
        let run = move || numbers(&elements, &indices, &mut context).expect("a legal workload");
        return into_fresh(run, bytes);
    }
    let row: usize = shape[1..].iter().product();
    let lists = FixedSizeListArray::new(elements, row as u32, Validity::NonNullable, shape[0]).into_array();
    into_fresh(move || rows(&lists, &indices, &mut context).expect("a legal workload"), bytes)
}

fn column<T: NativePType>(elements: Vec<T>) -> ArrayRef {
    PrimitiveArray::new(Column::from(elements), Validity::NonNullable).into_array()
}

fn numbers(column: &ArrayRef, indices: &ArrayRef, context: &mut ExecutionCtx) -> VortexResult<PrimitiveArray> {
    column.take(indices.clone())?.execute(context)
}

fn rows(lists: &ArrayRef, indices: &ArrayRef, context: &mut ExecutionCtx) -> VortexResult<PrimitiveArray> {
    let taken: FixedSizeListArray = lists.take(indices.clone())?.execute(context)?;
    taken.elements().clone().execute(context)
}

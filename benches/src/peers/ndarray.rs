//! The crate `ndarray`: `select` for Gather; reshape, transpose and slice for BatchToSpace.
//!
//! Not equal: allocates its output; indices are `usize`, converted outside the timing; a bad index panics. It has no
//! batch_dims and no operator for GatherElements and GatherNd. One thread.

use ndarray::{ArrayD, ArrayViewD, Axis, Slice};

use super::{NotRun, Peer, Ready, into_fresh, lacks};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::inputs::Value;
use crate::space::Steps;
use crate::workloads::{Kind, Workload};
use crate::{versions, with_values};

/// The crate.
pub(super) struct NdArray;

impl Peer for NdArray {
    fn name(&self) -> &'static str {
        "ndarray"
    }

    fn version(&self) -> String {
        versions::of("ndarray").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; indices converted to usize outside the timing; a bad index panics; one thread"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        with_values!(&case.data, data => prepare(case, data))
    }
}

fn prepare<'a, T: Value>(case: &'a Case, data: &'a Buffer<T>) -> Result<Ready<'a>, NotRun> {
    let view = ArrayViewD::from_shape(data.shape(), data.as_slice()).map_err(NotRun::failed)?;
    match case.workload.kind {
        Kind::Gather { axis, batch_dims: 0 } => {
            let indices = case.indices.map(|position| position);
            Ok(into_fresh(move || view.select(Axis(axis), &indices), bytes))
        }
        Kind::BatchToSpace { .. } => {
            let steps = Steps::new(&case.workload).ok_or_else(|| lacks("BatchToSpace"))?;
            Ok(into_fresh(move || batch_to_space(&view, &steps), bytes))
        }
        kind => Err(lacks(kind.lack())),
    }
}

fn batch_to_space<T: Clone>(data: &ArrayViewD<'_, T>, steps: &Steps) -> ArrayD<T> {
    let split = data.to_shape(&steps.split[..]).expect("as many elements");
    let moved = split.permuted_axes(&steps.order[..]);
    let mut merged = moved.as_standard_layout().into_owned().into_shape_with_order(&steps.merged[..]).expect("as many");
    if steps.crops() {
        merged.slice_each_axis_inplace(|axis| Slice::from(steps.kept[axis.axis.index()].clone()));
        merged = merged.as_standard_layout().into_owned();
    }
    merged
}

fn bytes<T: Value>(array: &ArrayD<T>) -> Result<Vec<u8>, String> {
    let elements = array.as_standard_layout();
    Ok(bytemuck::cast_slice(elements.as_slice().ok_or("not contiguous")?).to_vec())
}

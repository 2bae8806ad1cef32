//! The crate `burn-flex`, burn's backend for processors: `select` for Gather, `gather` for GatherElements,
//! `gather_nd`; reshape, permute and narrow for BatchToSpace. Data of `u8` are its integers, others its floats.
//!
//! Not equal: allocates its output; called below burn's own tensors, which makes a call cheaper; indices that are not
//! `i64` are converted at every call, within the timing; a bad index panics. It has no batch_dims. Its threads are
//! those of the pool that we call from.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_backend::{Element, Shape, TensorData};
use burn_flex::{Flex, FlexTensor};
use bytemuck::Pod;

use super::{NotRun, Peer, Ready, into_fresh, lacks};
use crate::buffer::Buffer;
use crate::case::{Case, Values};
use crate::space::Steps;
use crate::workloads::Kind;
use crate::{versions, with_positions, with_values};

/// The crate.
pub(super) struct Burn;

impl Peer for Burn {
    fn name(&self) -> &'static str {
        "burn"
    }

    fn version(&self) -> String {
        versions::of("burn-flex").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; below burn's own tensors; indices that are not i64 converted within the timing"
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        let data = with_values!(&case.data, data => tensor(data, data.shape()));
        let indices = |shape: &[usize]| with_positions!(&case.indices, indices => tensor(indices, shape));
        let integers = matches!(case.data, Values::U8(_));
        match case.workload.kind {
            Kind::Gather { axis, batch_dims: 0 } => {
                let indices = indices(&[case.workload.index_shape.iter().product()]);
                let select = if integers { Flex::int_select } else { Flex::float_select };
                Ok(into_fresh(move || select(data.clone(), axis, indices.clone()), bytes))
            }
            Kind::GatherElements { axis } => {
                let indices = indices(case.workload.index_shape);
                let gather = if integers { Flex::int_gather } else { Flex::float_gather };
                Ok(into_fresh(move || gather(axis, data.clone(), indices.clone()), bytes))
            }
            Kind::GatherNd { batch_dims: 0 } => {
                let indices = indices(case.workload.index_shape);
                let gather = if integers { Flex::int_gather_nd } else { Flex::float_gather_nd };
                Ok(into_fresh(move || gather(data.clone(), indices.clone()), bytes))
            }
            Kind::BatchToSpace { .. } => {
                let steps = Steps::new(&case.workload).ok_or_else(|| lacks("BatchToSpace"))?;
                Ok(into_fresh(move || batch_to_space(&data, &steps), bytes))
            }
            kind => Err(lacks(kind.lack())),
        }
    }
}

fn tensor<T: Pod + Element>(elements: &Buffer<T>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(elements.as_slice().to_vec(), Shape::from(shape)))
}

fn batch_to_space(data: &FlexTensor, steps: &Steps) -> FlexTensor {
    let moved = data.reshape(Shape::from(&steps.split[..])).permute(&steps.order);
    let merged = moved.reshape(Shape::from(&steps.merged[..]));
    let kept = steps.kept.iter().enumerate();
    kept.fold(merged, |tensor, (dim, kept)| tensor.narrow(dim, kept.start, kept.len())).to_contiguous()
}

fn bytes(tensor: &FlexTensor) -> Result<Vec<u8>, String> {
    Ok(tensor.clone().into_data().as_bytes().to_vec())
}

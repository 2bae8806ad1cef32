//! The crate `candle-core`: `index_select` for Gather, `gather` for GatherElements; reshape, permute and narrow for
//! BatchToSpace.
//!
//! Not equal: allocates its output; indices of `i32` become `u32` outside the timing, others are read at their own
//! width; the largest number of an index type stands for a row of zeros, so the `u8` index 255 gives a wrong answer.
//! It has no batch_dims and no GatherNd. One thread.

use candle_core::{Device, Result as Candle, Tensor, WithDType};

use super::{NotRun, Peer, Ready, into_fresh, lacks};
use crate::buffer::Buffer;
use crate::case::{Case, Positions};
use crate::inputs::Value;
use crate::space::Steps;
use crate::workloads::{Kind, Workload};
use crate::{versions, with_values};

/// The crate.
pub(super) struct CandleCore;

impl Peer for CandleCore {
    fn name(&self) -> &'static str {
        "candle"
    }

    fn version(&self) -> String {
        versions::of("candle-core").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; i32 indices converted to u32 outside the timing; one thread"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        with_values!(&case.data, data => prepare(case, data))
    }
}

fn prepare<'a, T: Value + WithDType>(case: &'a Case, data: &Buffer<T>) -> Result<Ready<'a>, NotRun> {
    let data = Tensor::from_slice(data.as_slice(), data.shape(), &Device::Cpu).map_err(NotRun::failed)?;
    let bytes = |tensor: &Candle<Tensor>| bytes::<T>(tensor);
    match case.workload.kind {
        Kind::Gather { axis, batch_dims: 0 } => {
            let indices = indices(case).and_then(|indices| indices.flatten_all()).map_err(NotRun::failed)?;
            Ok(into_fresh(move || data.index_select(&indices, axis), bytes))
        }
        Kind::GatherElements { axis } => {
            let indices = indices(case).map_err(NotRun::failed)?;
            Ok(into_fresh(move || data.gather(&indices, axis), bytes))
        }
        Kind::BatchToSpace { .. } => {
            let steps = Steps::new(&case.workload).ok_or_else(|| lacks("BatchToSpace"))?;
            Ok(into_fresh(move || batch_to_space(&data, &steps), bytes))
        }
        kind => Err(lacks(kind.lack())),
    }
}

fn indices(case: &Case) -> Candle<Tensor> {
    let shape = case.workload.index_shape;
    match &case.indices {
        Positions::I64(indices) => Tensor::from_slice(indices.as_slice(), shape, &Device::Cpu),
        Positions::I32(_) => Tensor::from_vec(case.indices.map(|position| position as u32), shape, &Device::Cpu),
        Positions::U8(indices) => Tensor::from_slice(indices.as_slice(), shape, &Device::Cpu),
    }
}

fn batch_to_space(data: &Tensor, steps: &Steps) -> Candle<Tensor> {
    let mut merged = data.reshape(&steps.split[..])?.permute(&steps.order[..])?.reshape(&steps.merged[..])?;
    for (dim, kept) in steps.kept.iter().enumerate() {
        merged = merged.narrow(dim, kept.start, kept.len())?;
    }
    merged.contiguous()
}

fn bytes<T: Value + WithDType>(tensor: &Candle<Tensor>) -> Result<Vec<u8>, String> {
    let elements = tensor.as_ref().map_err(ToString::to_string)?.flatten_all().and_then(|flat| flat.to_vec1::<T>());
    Ok(bytemuck::cast_slice(&elements.map_err(|error| error.to_string())?).to_vec())
}

//! The crate `rten`: its functions for Gather, GatherElements and GatherNd; reshape, permute and slice of
//! `rten-tensor` for BatchToSpace.
//!
//! Not equal: the output's memory comes from a pool and is warm, as within a model; indices are `i32`, converted
//! outside the timing, as a model does when it is loaded; a model has no `f16`, but the functions take any element.
//! Gather has no batch_dims. Only GatherElements along the last axis takes more than one thread, from the pool that we
//! call from.

use rten::{BufferPool, ops};
use rten_tensor::prelude::*;
use rten_tensor::{SliceItem, SliceRange, Tensor, TensorView};

use super::call::on_state;
use super::{NotRun, Peer, Ready, lacks};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::inputs::Value;
use crate::space::Steps;
use crate::workloads::{Kind, Workload};
use crate::{versions, with_values};

/// The crate.
pub(super) struct Rten;

impl Peer for Rten {
    fn name(&self) -> &'static str {
        "rten"
    }

    fn version(&self) -> String {
        versions::of("rten").into()
    }

    fn unequal(&self) -> &'static str {
        "into pooled memory; indices converted to i32 outside the timing; threads along the last axis only"
    }

    fn one_thread(&self, workload: &Workload) -> bool {
        !matches!(workload.kind, Kind::GatherElements { axis } if axis + 1 == workload.shape.len())
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        with_values!(&case.data, data => prepare(case, data))
    }
}

fn prepare<'a, T: Value>(case: &'a Case, data: &'a Buffer<T>) -> Result<Ready<'a>, NotRun> {
    let data = TensorView::from_data(data.shape(), data.as_slice());
    let indices = case.indices.map(|position| position as i32);
    let indices = Tensor::from_data(case.indices.shape(), indices);
    match case.workload.kind {
        Kind::Gather { axis, batch_dims: 0 } => {
            Ok(pooled(move |pool| ops::gather(pool, data.view(), axis as isize, indices.view())))
        }
        Kind::GatherElements { axis } => {
            Ok(pooled(move |pool| ops::gather_elements(pool, data.view(), indices.view(), axis as isize)))
        }
        Kind::GatherNd { batch_dims } => {
            Ok(pooled(move |pool| ops::gather_nd(pool, data.view(), indices.view(), batch_dims)))
        }
        Kind::BatchToSpace { .. } => {
            let steps = Steps::new(&case.workload).ok_or_else(|| lacks("BatchToSpace"))?;
            Ok(pooled(move |pool| Ok::<_, String>(batch_to_space(pool, &data, &steps))))
        }
        kind => Err(lacks(kind.lack())),
    }
}

fn batch_to_space<T: Value>(pool: &BufferPool, data: &TensorView<'_, T>, steps: &Steps) -> Tensor<T> {
    let split = data.reshaped(&steps.split[..]);
    let merged = split.permuted(&steps.order[..]).to_tensor_in(pool).into_shape(&steps.merged[..]);
    if !steps.crops() {
        return merged;
    }
    let part = |kept: &std::ops::Range<usize>| {
        SliceItem::Range(SliceRange::new(kept.start as isize, Some(kept.end as isize), 1))
    };
    let kept: Vec<SliceItem> = steps.kept.iter().map(part).collect();
    let cropped = merged.slice(&kept[..]).to_tensor_in(pool);
    pool.add(merged.into_data());
    cropped
}

/// A call whose output goes back to the pool at the next one.
fn pooled<'a, T: Value, E: std::fmt::Debug>(run: impl Fn(&BufferPool) -> Result<Tensor<T>, E> + 'a) -> Ready<'a> {
    let pool = BufferPool::new();
    let run = move |out: &mut Option<Tensor<T>>| {
        if let Some(last) = out.take() {
            pool.add(last.into_data());
        }
        *out = Some(run(&pool).expect("a legal workload"));
    };
    on_state(None, run, |out| Ok(bytemuck::cast_slice(&out.as_ref().ok_or("not run yet")?.to_vec()).to_vec()))
}

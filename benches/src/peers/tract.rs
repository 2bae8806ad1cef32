//! The crate `tract-core`: its operators Gather, GatherElements and GatherNd, evaluated by themselves.
//!
//! Not equal: allocates its output; no graph around the operator, which makes a call cheaper; indices are converted
//! outside the timing, to `i32` for GatherNd and to `i64` for the others, where a graph would convert those of
//! GatherNd at every call. Gather has no batch_dims. It has the parts of BatchToSpace, but cannot transpose data
//! without copying it first. One thread.

use tract_core::internal::{Datum, EvalContext, EvalOp, IntoTValue, TValue, Tensor, TractResult, tvec};
use tract_core::ops::array::{Gather, GatherElements, GatherNd};

use super::{NotRun, Peer, Ready, into_fresh, lacks};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::inputs::Value;
use crate::workloads::{Kind, Workload};
use crate::{versions, with_values};

/// The crate.
pub(super) struct Tract;

impl Peer for Tract {
    fn name(&self) -> &'static str {
        "tract"
    }

    fn version(&self) -> String {
        versions::of("tract-core").into()
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; no graph around the operator; indices converted outside the timing; one thread"
    }

    fn one_thread(&self, _: &Workload) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        let data = with_values!(&case.data, data => tensor(data)).map_err(NotRun::failed)?;
        let wide = || Tensor::from_shape(case.indices.shape(), &case.indices.map(|position| position as i64));
        let narrow = || Tensor::from_shape(case.indices.shape(), &case.indices.map(|position| position as i32));
        match case.workload.kind {
            Kind::Gather { axis, batch_dims: 0 } => call(Gather::new(axis), data, wide()),
            Kind::GatherElements { axis } => call(GatherElements::new(axis), data, wide()),
            Kind::GatherNd { batch_dims } => call(GatherNd::new(batch_dims), data, narrow()),
            kind => Err(lacks(kind.lack())),
        }
    }
}

fn tensor<T: Value + Datum>(data: &Buffer<T>) -> TractResult<TValue> {
    Ok(Tensor::from_shape(data.shape(), data.as_slice())?.into_tvalue())
}

fn call<'a>(op: impl EvalOp + 'a, data: TValue, indices: TractResult<Tensor>) -> Result<Ready<'a>, NotRun> {
    let indices = indices.map_err(NotRun::failed)?.into_tvalue();
    let context = EvalContext::out_of_plan();
    let run = move || op.eval(&context, tvec!(data.clone(), indices.clone())).expect("a legal workload");
    Ok(into_fresh(run, |outputs| Ok(outputs[0].as_bytes().to_vec())))
}

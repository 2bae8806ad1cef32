//! TensorFlow, by eager calls of its C interface: GatherV2, GatherNd and BatchToSpaceND.
//!
//! Not equal: allocates its output; every call makes a new operation, like eager Python, but without Python; `u8`
//! indices pass through a Cast to `i32`, within the timing. It has no GatherElements, and GatherNd only without
//! batch_dims. The number of threads is that within an operation.

use super::call::on_state;
use super::tensorflow_c::{Api, Attribute, Context, DataType, Handle};
use super::{NotRun, Peer, Ready, lacks, library};
use crate::case::{Case, Positions, Values};
use crate::workloads::{Indices, Kind};

/// The variable with the path of the library that has the C interface.
const VARIABLE: &str = "GATHER_TENSORFLOW";

/// The engine.
pub(super) struct TensorFlow;

impl Peer for TensorFlow {
    fn name(&self) -> &'static str {
        "tensorflow"
    }

    fn version(&self) -> String {
        api().map_or("unknown".into(), Api::version)
    }

    fn unequal(&self) -> &'static str {
        "allocates its output; eager calls; u8 indices cast to i32 within the timing"
    }

    fn missing(&self) -> Option<String> {
        library::missing(VARIABLE)
    }

    fn native(&self) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
        let kind = case.workload.kind;
        if matches!(kind, Kind::GatherElements { .. } | Kind::GatherNd { batch_dims: 1.. }) {
            return Err(lacks(kind.lack()));
        }
        let context = Context::new(api()?, threads).map_err(NotRun::Failed)?;
        let inputs = inputs(&context, case).map_err(NotRun::Failed)?;
        let cast = case.has_indices() && case.workload.indices == Indices::U8;
        let run = move |Eager { context, inputs, out }: &mut Eager| {
            *out = None;
            *out = Some(call(context, kind, inputs, cast).expect("a legal workload"));
        };
        let state = Eager { out: None, inputs, context };
        Ok(on_state(state, run, |Eager { out, .. }| out.as_ref().ok_or("not run yet")?.bytes()))
    }
}

/// What calls need. The context is dropped last.
struct Eager {
    out: Option<Handle>,
    inputs: Vec<Handle>,
    context: Context,
}

fn api() -> Result<&'static Api, NotRun> {
    Api::loaded(&library::path(VARIABLE)?).map_err(NotRun::Failed)
}

/// Data, followed by the operator's other inputs.
fn inputs(context: &Context, case: &Case) -> Result<Vec<Handle>, String> {
    let (element, bytes) = match &case.data {
        Values::F32(data) => (DataType::F32, data.as_bytes()),
        Values::F16(data) => (DataType::F16, data.as_bytes()),
        Values::U8(data) => (DataType::U8, data.as_bytes()),
    };
    let mut inputs = vec![context.tensor(element, case.workload.shape, bytes)?];
    if case.has_indices() {
        let (element, bytes) = match &case.indices {
            Positions::I64(indices) => (DataType::I64, indices.as_bytes()),
            Positions::I32(indices) => (DataType::I32, indices.as_bytes()),
            Positions::U8(indices) => (DataType::U8, indices.as_bytes()),
        };
        inputs.push(context.tensor(element, case.workload.index_shape, bytes)?);
    }
    let mut numbers = |shape: &[usize], numbers: &[i64]| {
        inputs.push(context.tensor(DataType::I64, shape, bytemuck::cast_slice(numbers))?);
        Ok::<_, String>(())
    };
    match case.workload.kind {
        Kind::Gather { axis, .. } => numbers(&[], &[axis as i64])?,
        Kind::BatchToSpace { block, begin, end } => {
            let crops: Vec<i64> = begin.iter().zip(&end).skip(1).flat_map(|(&begin, &end)| [begin, end]).collect();
            numbers(&[3], &block[1..])?;
            numbers(&[3, 2], &crops)?;
        }
        Kind::GatherElements { .. } | Kind::GatherNd { .. } => {}
    }
    Ok(inputs)
}

fn call(context: &Context, kind: Kind, inputs: &[Handle], cast: bool) -> Result<Handle, String> {
    let mut operands: Vec<&Handle> = inputs.iter().collect();
    let indices;
    if cast {
        indices = context.execute(c"Cast", &operands[1..2], &[Attribute::Type(c"DstT", DataType::I32)])?;
        operands[1] = &indices;
    }
    match kind {
        Kind::Gather { batch_dims, .. } => {
            context.execute(c"GatherV2", &operands, &[Attribute::Int(c"batch_dims", batch_dims as i64)])
        }
        Kind::BatchToSpace { .. } => context.execute(c"BatchToSpaceND", &operands, &[]),
        Kind::GatherElements { .. } | Kind::GatherNd { .. } => context.execute(c"GatherNd", &operands, &[]),
    }
}

//! ONNX Runtime: a session of one node, with inputs and output bound ahead.
//!
//! Not equal: shapes are known ahead and the output's memory is warm. Indices of a type that the operator lacks pass
//! through a Cast in the graph, within the timing: `u8`, and for GatherND also `i32`. Gather has no batch_dims, and
//! there is no BatchToSpace. The threads are those of the session; the caller is one of them.

use std::fmt::Debug;
use std::sync::OnceLock;

use bytemuck::Pod;
use ort::editor::{Graph, Model, Node, ONNX_DOMAIN, Opset};
use ort::environment::Environment;
use ort::memory::Allocator;
use ort::operator::Attribute;
use ort::session::Session;
use ort::session::builder::SessionBuilder;
use ort::value::{Outlet, PrimitiveTensorElementType, Tensor};

use super::call::on_state;
use super::{NotRun, Peer, Ready, lacks, library};
use crate::buffer::Buffer;
use crate::case::Case;
use crate::workloads::{Indices, Kind};
use crate::{with_positions, with_values};

/// The variable with the path of the library.
const VARIABLE: &str = "ORT_DYLIB_PATH";
/// The codes of `i32` and `i64` among ONNX's types.
const INT32: i64 = 6;
const INT64: i64 = 7;

/// The engine.
pub(super) struct OnnxRuntime;

impl Peer for OnnxRuntime {
    fn name(&self) -> &'static str {
        "onnxruntime"
    }

    /// The library's version, which is part of its file name.
    fn version(&self) -> String {
        let path = library::path(VARIABLE).unwrap_or_default();
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        file.split_once(".so.").map_or("unknown", |(_, version)| version).into()
    }

    fn unequal(&self) -> &'static str {
        "shapes known ahead, output bound ahead; indices of types it lacks cast within the timing"
    }

    fn fresh(&self) -> bool {
        false
    }

    fn missing(&self) -> Option<String> {
        library::missing(VARIABLE)
    }

    fn native(&self) -> bool {
        true
    }

    fn prepare<'a>(&self, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
        let (operator, attribute, value) = match case.workload.kind {
            Kind::Gather { axis, batch_dims: 0 } => ("Gather", "axis", axis),
            Kind::GatherElements { axis } => ("GatherElements", "axis", axis),
            Kind::GatherNd { batch_dims } => ("GatherND", "batch_dims", batch_dims),
            kind => return Err(lacks(kind.lack())),
        };
        let environment = environment()?;
        let attribute = Attribute::new(attribute, value as i64).map_err(NotRun::failed)?;
        let call = with_values!(&case.data, data => with_positions!(&case.indices, indices => {
            bind(environment, case, threads, (operator, attribute), data, indices)
        }));
        call.map_err(NotRun::failed)
    }
}

fn environment() -> Result<&'static Environment, NotRun> {
    static ENVIRONMENT: OnceLock<Result<Environment, NotRun>> = OnceLock::new();
    let load = || {
        ort::init_from(library::path(VARIABLE)?)
            .map_err(NotRun::failed)?
            .with_telemetry(false)
            .build()
            .map_err(NotRun::failed)
    };
    ENVIRONMENT.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn bind<'a, T: Cell, I: Cell>(
    environment: &Environment,
    case: &Case,
    threads: usize,
    operator: (&str, Attribute),
    data: &Buffer<T>,
    indices: &Buffer<I>,
) -> ort::Result<Ready<'a>> {
    let [data, mut output] = [tensor(data)?, tensor(&Buffer::<T>::zeroed(&case.output_shape))?];
    let indices = tensor(indices)?;
    let inputs = [Outlet::new("data", data.dtype().clone()), Outlet::new("indices", indices.dtype().clone())];
    let outputs = [Outlet::new("output", output.dtype().clone())];
    let cast = cast(operator.0, case.workload.indices);
    let graph = graph(inputs, outputs, operator, cast)?;
    let mut session = session(environment, graph, threads)?;
    let mut binding = session.create_binding()?;
    binding.bind_input("data", &data)?;
    binding.bind_input("indices", &indices)?;
    binding.bind_output("output", &mut output)?;
    let run = move |_: &mut Tensor<T>| drop(session.run_binding(&binding).expect("a legal workload"));
    Ok(on_state(output, run, |output| Ok(bytemuck::cast_slice(output.extract_tensor().1).to_vec())))
}

/// An element of a tensor.
trait Cell: Pod + PrimitiveTensorElementType + Debug {}
impl<T: Pod + PrimitiveTensorElementType + Debug> Cell for T {}

/// A tensor in memory that the runtime has allocated.
fn tensor<T: Cell>(buffer: &Buffer<T>) -> ort::Result<Tensor<T>> {
    let shape: Vec<i64> = buffer.shape().iter().map(|&dim| dim as i64).collect();
    let mut tensor = Tensor::new(&Allocator::default(), shape)?;
    tensor.extract_tensor_mut().1.copy_from_slice(buffer.as_slice());
    Ok(tensor)
}

/// The type that indices must be cast to.
fn cast(operator: &str, indices: Indices) -> Option<i64> {
    match (operator, indices) {
        ("GatherND", Indices::I32 | Indices::U8) => Some(INT64),
        (_, Indices::U8) => Some(INT32),
        _ => None,
    }
}

fn graph(
    inputs: [Outlet; 2],
    outputs: [Outlet; 1],
    (operator, attribute): (&str, Attribute),
    cast: Option<i64>,
) -> ort::Result<Graph> {
    let mut graph = Graph::new()?;
    graph.set_inputs(inputs)?;
    graph.set_outputs(outputs)?;
    let mut positions = "indices";
    if let Some(to) = cast {
        let to = Attribute::new("to", to)?;
        graph.add_node(Node::new("Cast", ONNX_DOMAIN, "cast", [positions], ["positions"], [to])?)?;
        positions = "positions";
    }
    graph.add_node(Node::new(operator, ONNX_DOMAIN, "gather", ["data", positions], ["output"], [attribute])?)?;
    Ok(graph)
}

fn session(environment: &Environment, graph: Graph, threads: usize) -> ort::Result<Session> {
    let mut model = Model::new([Opset::new(ONNX_DOMAIN, 17)?])?;
    model.set_graph(graph)?;
    let options = SessionBuilder::new(environment)?.with_intra_threads(threads)?.with_inter_threads(1)?;
    model.into_session(&options)
}

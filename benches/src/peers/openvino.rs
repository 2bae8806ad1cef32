//! OpenVINO: Gather-8, GatherElements-6, GatherND-8 and BatchToSpace-2, compiled for the CPU, tensors set ahead.
//!
//! Not equal: shapes are known ahead and the output's memory is warm. A type that the plugin lacks is converted by it,
//! within the timing. Threads are a property of the plugin.

use openvino::{Core, DeviceType, ElementType, InferRequest, InferenceError, RwPropertyKey, Shape, Tensor};

use super::call::on_state;
use super::openvino_ir::{Ir, Port};
use super::{NotRun, Peer, Ready, lacks, library};
use crate::case::{Case, Positions, Values};
use crate::workloads::{Indices, Kind};

/// The variable with the path of the C library.
const VARIABLE: &str = "GATHER_OPENVINO";

/// The engine.
pub(super) struct OpenVino;

impl Peer for OpenVino {
    fn name(&self) -> &'static str {
        "openvino"
    }

    fn version(&self) -> String {
        match load() {
            Ok(()) => openvino::version().build_number,
            Err(_) => "unknown".into(),
        }
    }

    fn unequal(&self) -> &'static str {
        "shapes known ahead, output set ahead"
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
        if let (Kind::GatherElements { .. }, Indices::U8) = (case.workload.kind, case.workload.indices) {
            return Err(lacks("GatherElements with u8 indices"));
        }
        load()?;
        let mut core = Core::new().map_err(NotRun::failed)?;
        let request = request(&mut core, case, threads).map_err(NotRun::failed)?;
        // The core is dropped last.
        let run = |(request, _): &mut (InferRequest, Core)| request.infer().expect("a legal workload");
        Ok(on_state((request, core), run, |(request, _)| output(request).map_err(|error| error.to_string())))
    }
}

fn load() -> Result<(), NotRun> {
    openvino_sys::library::load_from(library::path(VARIABLE)?).map_err(NotRun::Failed)
}

fn request(core: &mut Core, case: &Case, threads: usize) -> Result<InferRequest, InferenceError> {
    let settings = [
        (RwPropertyKey::InferenceNumThreads, &*threads.to_string()),
        // Otherwise `f32` becomes `bf16` where the processor has it.
        (RwPropertyKey::HintInferencePrecision, "f32"),
    ];
    core.set_properties(&DeviceType::CPU, settings)?;
    let (xml, constants) = model(case);
    let constants = tensor(ElementType::U8, &[constants.len()], &constants)?;
    let model = core.read_model_from_buffer(xml.as_bytes(), Some(&constants))?;
    let mut request = core.compile_model(&model, DeviceType::CPU)?.create_infer_request()?;
    let (element, bytes) = match &case.data {
        Values::F32(data) => (ElementType::F32, data.as_bytes()),
        Values::F16(data) => (ElementType::F16, data.as_bytes()),
        Values::U8(data) => (ElementType::U8, data.as_bytes()),
    };
    request.set_input_tensor_by_index(0, &tensor(element, case.workload.shape, bytes)?)?;
    if case.has_indices() {
        let (element, bytes) = match &case.indices {
            Positions::I64(indices) => (ElementType::I64, indices.as_bytes()),
            Positions::I32(indices) => (ElementType::I32, indices.as_bytes()),
            Positions::U8(indices) => (ElementType::U8, indices.as_bytes()),
        };
        request.set_input_tensor_by_index(1, &tensor(element, case.workload.index_shape, bytes)?)?;
    }
    Ok(request)
}

fn tensor(element: ElementType, shape: &[usize], bytes: &[u8]) -> Result<Tensor, InferenceError> {
    let shape: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
    let mut tensor = Tensor::new(element, &Shape::new(&shape)?)?;
    tensor.get_raw_data_mut()?.copy_from_slice(bytes);
    Ok(tensor)
}

fn output(request: &InferRequest) -> Result<Vec<u8>, InferenceError> {
    Ok(request.get_output_tensor_by_index(0)?.get_raw_data()?.to_vec())
}

/// The graph of one operator, and its constants.
fn model(case: &Case) -> (String, Vec<u8>) {
    let mut ir = Ir::default();
    let element = match case.data {
        Values::F32(_) => "f32",
        Values::F16(_) => "f16",
        Values::U8(_) => "u8",
    };
    let mut inputs = vec![ir.parameter(Port::new(element, case.workload.shape))];
    if case.has_indices() {
        inputs.push(ir.parameter(Port::new(case.workload.indices.name(), case.workload.index_shape)));
    }
    let (operator, attribute) = match case.workload.kind {
        Kind::Gather { axis, batch_dims } => {
            inputs.push(ir.constant(&[], &[axis as i64]));
            (("Gather", "opset8"), Some(("batch_dims", batch_dims)))
        }
        Kind::GatherElements { axis } => (("GatherElements", "opset6"), Some(("axis", axis))),
        Kind::GatherNd { batch_dims } => (("GatherND", "opset8"), Some(("batch_dims", batch_dims))),
        Kind::BatchToSpace { block, begin, end } => {
            inputs.extend([block, begin, end].map(|list| ir.constant(&[list.len()], &list)));
            (("BatchToSpace", "opset2"), None)
        }
    };
    let output = ir.operator(operator, attribute, &inputs, Port::new(element, &case.output_shape));
    ir.finish(&output)
}

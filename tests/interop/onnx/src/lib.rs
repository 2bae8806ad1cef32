//! A runner of ONNX graphs of `Gather`, `GatherElements`, `GatherND`, `ScatterElements`, `ScatterND`, `DepthToSpace`
//! and `SpaceToDepth`, opsets 11 to 28, of the types that the model has.
//!
//! Copy this folder without `main.rs`. Attributes and constants are checked when a model is loaded; types, shapes and
//! indices when it runs. Numbers are read as they are in the file, so the machine is little-endian.

use std::borrow::Cow;
use std::collections::HashMap;

use gather_core::{
    DType, DepthMode, DepthToSpace, DynTensor, DynView, Gather, GatherElements, GatherNd, GatherOperator,
    IndexAttributes, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, SpaceAttributes,
    SpaceOperator, SpaceToDepth,
};
use prost::Message;
use proto::{ModelProto, NodeProto, TensorProto};

mod error;
pub mod proto;

pub use error::Error;

#[cfg(target_endian = "big")]
compile_error!("the bytes of numbers would have to be reversed");

/// An operator with its attributes, to be run on the inputs of its node.
type Run = Box<dyn Fn(&[DynView<'_>]) -> Result<DynTensor, gather_core::Error> + Send + Sync>;

fn gather<A: IndexAttributes + Send + Sync + 'static>(op: GatherOperator<A>) -> Run {
    Box::new(move |inputs| op.run(&inputs[0], &inputs[1]))
}

fn scatter<A: ScatterAttributes + Send + Sync + 'static>(op: ScatterOperator<A>) -> Run {
    Box::new(move |inputs| op.run(&inputs[0], &inputs[1], &inputs[2]))
}

fn space<A: SpaceAttributes + Send + Sync + 'static>(op: SpaceOperator<A>) -> Run {
    Box::new(move |inputs| op.run(&inputs[0]))
}

/// The operator of a node.
fn operator(node: &NodeProto, opset: i64) -> Result<Run, Error> {
    let refused = |name: &str| Error::Attribute(label(node), name.into());
    let find = |name: &str| node.attribute.iter().find(|attribute| attribute.name == name);
    let int = |name: &str| match find(name) {
        None if name == "blocksize" => Err(refused(name)),
        None => Ok(0),
        Some(found) if found.r#type == 2 => Ok(found.i),
        Some(_) => Err(refused(name)),
    };
    let text = |name: &str, default| match find(name) {
        None => Ok(default),
        Some(found) => std::str::from_utf8(&found.s).map_err(|_| refused(name)),
    };
    let axis = || int("axis");
    let reduction = || text("reduction", "none")?.parse::<Reduction>().map_err(|_| refused("reduction"));
    let mode = || text("mode", "DCR")?.parse::<DepthMode>().map_err(|_| refused("mode"));

    // The number of inputs, and each attribute with the first opset that has it.
    let (run, inputs, known): (_, _, &[_]) = match node.op_type.as_str() {
        _ if !["", "ai.onnx"].contains(&node.domain.as_str()) => return Err(Error::Operator(label(node))),
        "Gather" => (gather(Gather::onnx13(axis()?)), 2, &[("axis", 11)]),
        "GatherElements" => (gather(GatherElements::onnx13(axis()?)), 2, &[("axis", 11)]),
        "GatherND" => (gather(GatherNd::onnx13(int("batch_dims")?)), 2, &[("batch_dims", 12)]),
        "ScatterElements" => {
            (scatter(ScatterElements::onnx18(axis()?, reduction()?)), 3, &[("axis", 11), ("reduction", 16)])
        }
        "ScatterND" => (scatter(ScatterNd::onnx18(reduction()?)), 3, &[("reduction", 16)]),
        "DepthToSpace" => {
            (space(DepthToSpace::onnx28(int("blocksize")?, mode()?)), 1, &[("blocksize", 11), ("mode", 11)])
        }
        "SpaceToDepth" => {
            (space(SpaceToDepth::onnx28(int("blocksize")?, mode()?)), 1, &[("blocksize", 11), ("mode", 28)])
        }
        _ => return Err(Error::Operator(label(node))),
    };
    let is_known = |name: &str| known.iter().any(|&(own, since)| own == name && since <= opset);
    match node.attribute.iter().find(|attribute| !is_known(&attribute.name)) {
        Some(unknown) => Err(refused(&unknown.name)),
        None if (node.input.len(), node.output.len()) != (inputs, 1) => Err(Error::Operator(label(node))),
        None => Ok(run),
    }
}

/// A node as errors call it.
fn label(node: &NodeProto) -> String {
    format!("{} {:?}", node.op_type, node.output.first().unwrap_or(&node.name))
}

/// A model, with its constants.
pub struct Model {
    nodes: Vec<(NodeProto, Run)>,
    constants: HashMap<String, DynTensor>,
    /// The names of its inputs, in order, without constants.
    pub inputs: Vec<String>,
    /// The names of its outputs, in order.
    pub outputs: Vec<String>,
}

impl Model {
    /// Loads the bytes of a `.onnx` file.
    ///
    /// # Errors
    /// All but [`Error::Missing`].
    pub fn load(file: &[u8]) -> Result<Self, Error> {
        let model = ModelProto::decode(file).map_err(Error::File)?;
        let opset = model.opset_import.iter().find(|set| ["", "ai.onnx"].contains(&set.domain.as_str()));
        let (opset, graph) = opset.map(|set| set.version).zip(model.graph).ok_or(Error::Opset(None))?;
        if !(11..=28).contains(&opset) {
            return Err(Error::Opset(Some(opset)));
        }
        let constants = graph.initializer.iter().map(|constant| Ok((constant.name.clone(), tensor(constant)?)));
        let constants: HashMap<_, _> = constants.collect::<Result<_, _>>()?;
        let nodes = graph.node.into_iter().map(|node| operator(&node, opset).map(|run| (node, run)));
        let inputs = graph.input.into_iter().map(|input| input.name).filter(|name| !constants.contains_key(name));
        Ok(Model {
            nodes: nodes.collect::<Result<_, _>>()?,
            inputs: inputs.collect(),
            outputs: graph.output.into_iter().map(|output| output.name).collect(),
            constants,
        })
    }

    /// Runs the nodes in their order on inputs by name. One that has the name of a constant stands for it.
    ///
    /// # Errors
    /// [`Error::Missing`] and [`Error::Gather`].
    pub fn run(&self, inputs: HashMap<String, DynTensor>) -> Result<Vec<DynTensor>, Error> {
        let mut made = inputs;
        for (node, run) in &self.nodes {
            let find = |name: &String| {
                let found = made.get(name).or_else(|| self.constants.get(name));
                found.map(DynTensor::view).ok_or_else(|| Error::Missing(name.clone()))
            };
            let tensors = node.input.iter().map(find).collect::<Result<Vec<_>, _>>()?;
            let out = run(&tensors).map_err(|error| Error::Gather(label(node), error))?;
            made.insert(node.output[0].clone(), out);
        }
        let take = |name: &String| made.remove(name).ok_or_else(|| Error::Missing(name.clone()));
        self.outputs.iter().map(take).collect()
    }
}

/// A tensor of a file.
///
/// # Errors
/// [`Error::Tensor`] and [`Error::Gather`].
pub fn tensor(proto: &TensorProto) -> Result<DynTensor, Error> {
    let refused = |what| Error::Tensor(proto.name.clone(), what);
    let dtype = DType::from_onnx(proto.data_type).ok_or_else(|| refused("its data type is not known"))?;
    if proto.data_location != 0 {
        return Err(refused("its numbers are in another file"));
    }
    let shape = proto.dims.iter().map(|&size| usize::try_from(size));
    let shape: Vec<_> = shape.collect::<Result<_, _>>().map_err(|_| refused("a size is negative"))?;
    // Each number of a list is as wide as the list's type: its low bytes are the number.
    macro_rules! low_bytes {
        ($list:expr, $size:expr) => {
            $list.iter().flat_map(|number| number.to_le_bytes().into_iter().take($size)).collect()
        };
    }
    let bytes = match dtype.name() {
        _ if !proto.raw_data.is_empty() => Cow::Borrowed(&*proto.raw_data),
        "f32" | "complex64" => low_bytes!(proto.float_data, 4),
        "f64" | "complex128" => low_bytes!(proto.double_data, 8),
        "i64" => low_bytes!(proto.int64_data, 8),
        "u32" | "u64" => low_bytes!(proto.uint64_data, dtype.size()),
        _ => low_bytes!(proto.int32_data, dtype.size()),
    };
    DynTensor::from_bytes(dtype, &bytes, &shape).map_err(|error| Error::Gather(proto.name.clone(), error))
}

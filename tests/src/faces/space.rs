//! The operators that rearrange space: one operand, and parameters that may be tensors.

use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, DynTensor, DynView, Element, Error, Op, Shape, SpaceToBatch, SpaceToDepth,
    Tensor, View,
};

use super::erased;
use crate::cases::Case;

/// An operator with its attributes.
#[derive(Clone, Debug)]
pub enum Space {
    /// BatchToSpace.
    BatchToSpace(BatchToSpace),
    /// SpaceToBatch.
    SpaceToBatch(SpaceToBatch),
    /// DepthToSpace.
    DepthToSpace(DepthToSpace),
    /// SpaceToDepth.
    SpaceToDepth(SpaceToDepth),
}

/// Does the same with every operator.
macro_rules! each {
    ($space:expr, $op:pat => $what:expr) => {
        match $space {
            Space::BatchToSpace($op) => $what,
            Space::SpaceToBatch($op) => $what,
            Space::DepthToSpace($op) => $what,
            Space::SpaceToDepth($op) => $what,
        }
    };
}

impl Space {
    /// The operator of a case by its profile, or why its parameters are refused; nothing for other operators.
    pub(super) fn of(case: &Case) -> Result<Option<Result<Self, Error>>, String> {
        let size = case.attr("block_size");
        let mode = || match case.word("mode") {
            "DCR" | "blocks_first" => Ok(DepthMode::Dcr),
            "CRD" | "depth_first" => Ok(DepthMode::Crd),
            mode => Err(format!("unknown mode {mode}")),
        };
        Ok(Some(Ok(match (case.op.as_str(), case.profile.as_str()) {
            ("batch_to_space", "openvino2") => {
                let [block, begin, end] = parameters(case, ["block_shape", "crops_begin", "crops_end"])?;
                return Ok(Some(BatchToSpace::from_tensors(&block, &begin, &end).map(Space::BatchToSpace)));
            }
            ("space_to_batch", "openvino2") => {
                let [block, begin, end] = parameters(case, ["block_shape", "pads_begin", "pads_end"])?;
                return Ok(Some(SpaceToBatch::from_tensors(&block, &begin, &end).map(Space::SpaceToBatch)));
            }
            ("depth_to_space", "onnx13") => Space::DepthToSpace(DepthToSpace::onnx13(size, mode()?)),
            ("depth_to_space", "openvino1") => Space::DepthToSpace(DepthToSpace::openvino1(size, mode()?)),
            ("space_to_depth", "onnx13") if mode()? == DepthMode::Dcr => {
                Space::SpaceToDepth(SpaceToDepth::onnx13(size))
            }
            // Cases of PyTorch's, whose mode ONNX has since version 28.
            ("space_to_depth", "onnx13" | "onnx28") => Space::SpaceToDepth(SpaceToDepth::onnx28(size, mode()?)),
            ("space_to_depth", "openvino1") => Space::SpaceToDepth(SpaceToDepth::openvino1(size, mode()?)),
            ("batch_to_space" | "space_to_batch" | "depth_to_space" | "space_to_depth", profile) => {
                return Err(format!("unknown profile {profile}"));
            }
            _ => return Ok(None),
        })))
    }

    pub(super) fn output_shape(&self, data: &[usize]) -> Result<Shape, Error> {
        each!(self, op => op.output_shape(data))
    }

    pub(super) fn run<T: Element>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        each!(self, op => op.run(data))
    }

    pub(super) fn run_cloned<T: Clone + Default>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        each!(self, op => op.run_cloned(data))
    }

    pub(super) fn run_dyn(&self, data: &DynView<'_>) -> Result<DynTensor, Error> {
        each!(self, op => op.run(data))
    }

    pub(super) fn op(&self) -> Op {
        match self {
            Space::BatchToSpace(_) => Op::BatchToSpace,
            Space::SpaceToBatch(_) => Op::SpaceToBatch,
            Space::DepthToSpace(_) => Op::DepthToSpace,
            Space::SpaceToDepth(_) => Op::SpaceToDepth,
        }
    }
}

/// The parameter tensors of a case.
fn parameters<'a>(case: &'a Case, names: [&str; 3]) -> Result<[DynView<'a>; 3], String> {
    let parameter = |name: &str| erased(case.input(name)?)?.ok_or(format!("`{name}` holds strings"));
    let [block, begin, end] = names;
    Ok([parameter(block)?, parameter(begin)?, parameter(end)?])
}

//! Names of operators and of their arguments.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;

closed_set! {
/// The operator of an error, a plan or a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Op {
    /// OpenVINO Gather-8, ONNX Gather, `tf.gather`.
    Gather = "gather",
    /// ONNX GatherElements, `torch.gather`.
    GatherElements = "gather_elements",
    /// ONNX GatherND, `tf.gather_nd`.
    GatherNd = "gather_nd",
    /// OpenVINO BatchToSpace-2.
    BatchToSpace = "batch_to_space",
    /// OpenVINO SpaceToBatch-2.
    SpaceToBatch = "space_to_batch",
    /// ONNX and OpenVINO DepthToSpace.
    DepthToSpace = "depth_to_space",
    /// ONNX and OpenVINO SpaceToDepth.
    SpaceToDepth = "space_to_depth",
    /// ONNX ScatterElements, OpenVINO ScatterElementsUpdate, `torch.scatter`.
    ScatterElements = "scatter_elements",
    /// ONNX ScatterND, OpenVINO ScatterNDUpdate, `tf.tensor_scatter_nd_update`.
    ScatterNd = "scatter_nd",
    /// OpenVINO EmbeddingBagOffsets and EmbeddingBagPacked, `torch.nn.EmbeddingBag`.
    EmbeddingBag = "embedding_bag",
}
/// The operator's name in lower case, as spelled by kernels, benchmarks and errors.
pub const fn name;
}

impl Op {
    pub(crate) const fn scatters(self) -> bool {
        matches!(self, Op::ScatterElements | Op::ScatterNd)
    }

    /// The scatter whose kernels run the operator, or the adjoint of a gather.
    pub(crate) const fn scatter(self) -> Self {
        match self {
            Op::GatherElements | Op::ScatterElements => Op::ScatterElements,
            _ => Op::ScatterNd,
        }
    }

    /// Whether the operator rearranges space; then it has no indices.
    pub(crate) const fn rearranges(self) -> bool {
        matches!(self, Op::BatchToSpace | Op::SpaceToBatch | Op::DepthToSpace | Op::SpaceToDepth)
    }
}

closed_set! {
/// The argument that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Argument {
    /// Data: the table that a gather or a bag reads, or that a scatter updates.
    Data = "data",
    /// The tensor of indices.
    Indices = "indices",
    /// The tensor that is written.
    Output = "output",
    /// The tensor of updates, which a scatter reads.
    Updates = "updates",
    /// The mask of a masked gather.
    Mask = "mask",
    /// The scales of block-quantised data.
    Scales = "scales",
    /// The zero points of block-quantised data.
    ZeroPoints = "zero_points",
    /// `block_shape` of BatchToSpace and SpaceToBatch.
    BlockShape = "block_shape",
    /// `crops_begin` of BatchToSpace.
    CropsBegin = "crops_begin",
    /// `crops_end` of BatchToSpace.
    CropsEnd = "crops_end",
    /// `pads_begin` of SpaceToBatch.
    PadsBegin = "pads_begin",
    /// `pads_end` of SpaceToBatch.
    PadsEnd = "pads_end",
    /// The offsets of EmbeddingBag: bag `b` is `indices[offsets[b]..offsets[b + 1]]`.
    Offsets = "offsets",
    /// The weights of EmbeddingBag.
    Weights = "weights",
    /// `padding_index` of EmbeddingBag.
    PaddingIndex = "padding_index",
    /// `default_index` of EmbeddingBag.
    DefaultIndex = "default_index",
}
const fn name;
}

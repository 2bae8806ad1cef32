//! Names of operators and of their arguments.

#![forbid(unsafe_code)]

use core::fmt;

/// Which operator an error, a plan or a kernel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Op {
    /// OpenVINO Gather-8, ONNX Gather, `tf.gather`.
    Gather,
    /// ONNX GatherElements, `torch.gather`.
    GatherElements,
    /// ONNX GatherND, `tf.gather_nd`.
    GatherNd,
    /// OpenVINO BatchToSpace-2.
    BatchToSpace,
    /// OpenVINO SpaceToBatch-2.
    SpaceToBatch,
    /// ONNX and OpenVINO DepthToSpace.
    DepthToSpace,
    /// ONNX and OpenVINO SpaceToDepth.
    SpaceToDepth,
    /// ONNX ScatterElements, OpenVINO ScatterElementsUpdate, `torch.scatter`.
    ScatterElements,
    /// ONNX ScatterND, OpenVINO ScatterNDUpdate, `tf.tensor_scatter_nd_update`.
    ScatterNd,
    /// OpenVINO EmbeddingBagOffsets and EmbeddingBagPacked, `torch.nn.EmbeddingBag`.
    EmbeddingBag,
}

impl Op {
    /// The operator's name in lower case, as kernels, benchmarks and errors spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Gather => "gather",
            Op::GatherElements => "gather_elements",
            Op::GatherNd => "gather_nd",
            Op::BatchToSpace => "batch_to_space",
            Op::SpaceToBatch => "space_to_batch",
            Op::DepthToSpace => "depth_to_space",
            Op::SpaceToDepth => "space_to_depth",
            Op::ScatterElements => "scatter_elements",
            Op::ScatterNd => "scatter_nd",
            Op::EmbeddingBag => "embedding_bag",
        }
    }

    /// Whether the operator is a scatter.
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

    /// Whether the operator rearranges space, and so has no indices.
    pub(crate) const fn rearranges(self) -> bool {
        matches!(self, Op::BatchToSpace | Op::SpaceToBatch | Op::DepthToSpace | Op::SpaceToDepth)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which argument an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Argument {
    /// The tensor that is read.
    Data,
    /// The tensor of indices.
    Indices,
    /// The tensor that is written.
    Output,
    /// The tensor of updates, which a scatter reads.
    Updates,
    /// The scales of block-quantised data.
    Scales,
    /// The zero points of block-quantised data.
    ZeroPoints,
    /// `block_shape` of BatchToSpace and SpaceToBatch.
    BlockShape,
    /// `crops_begin` of BatchToSpace.
    CropsBegin,
    /// `crops_end` of BatchToSpace.
    CropsEnd,
    /// `pads_begin` of SpaceToBatch.
    PadsBegin,
    /// `pads_end` of SpaceToBatch.
    PadsEnd,
    /// The offsets of EmbeddingBag, where bags begin.
    Offsets,
    /// The weights of EmbeddingBag.
    Weights,
    /// `padding_index` of EmbeddingBag.
    PaddingIndex,
    /// `default_index` of EmbeddingBag.
    DefaultIndex,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Argument::Data => "data",
            Argument::Indices => "indices",
            Argument::Output => "output",
            Argument::Updates => "updates",
            Argument::Scales => "scales",
            Argument::ZeroPoints => "zero_points",
            Argument::BlockShape => "block_shape",
            Argument::CropsBegin => "crops_begin",
            Argument::CropsEnd => "crops_end",
            Argument::PadsBegin => "pads_begin",
            Argument::PadsEnd => "pads_end",
            Argument::Offsets => "offsets",
            Argument::Weights => "weights",
            Argument::PaddingIndex => "padding_index",
            Argument::DefaultIndex => "default_index",
        })
    }
}

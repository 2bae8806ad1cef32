//! The public description of a kernel.

#![forbid(unsafe_code)]

use crate::types::element::DType;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;

/// A row of the table: a kernel, its operator and its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The operator.
    pub op: Op,
    /// The data type.
    pub dtype: DType,
    /// The index type; `None` for operators without indices.
    pub index: Option<IndexType>,
    /// The rank of the folded loop nest; `None` for the kernels of any rank, which run all other ranks.
    pub rank: Option<usize>,
    /// The level.
    pub level: Level,
    /// The name of the kernel.
    pub name: &'static str,
}

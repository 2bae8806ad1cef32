//! Why a model is refused.

use std::fmt;

/// Why a model does not load or run.
#[derive(Debug)]
pub enum Error {
    /// The file is not a model, or is cut short.
    File(prost::DecodeError),
    /// The model has no graph, or an opset other than 11 to 28.
    Opset(Option<i64>),
    /// A node whose operator is unknown, or has other numbers of inputs and outputs.
    Operator(String),
    /// A node with an attribute that is missing, of another type, or not in this opset.
    Attribute(String, String),
    /// A tensor that is neither an input, nor a constant, nor the output of an earlier node.
    Missing(String),
    /// A tensor of the file: its data type, its shape, or that its numbers are elsewhere.
    Tensor(String, &'static str),
    /// A node or a tensor, and why gather-core refuses it.
    Gather(String, gather_core::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(error) => write!(f, "not a model: {error}"),
            Error::Opset(Some(version)) => write!(f, "opset {version}, where 11 to 28 are known"),
            Error::Opset(None) => write!(f, "no graph, or no opset"),
            Error::Operator(node) => write!(f, "{node}: unknown, or with other inputs and outputs than it has"),
            Error::Attribute(node, name) => write!(f, "{node}: the attribute {name} is missing or not known"),
            Error::Missing(name) => write!(f, "tensor {name:?} is used, but neither given nor made before"),
            Error::Tensor(name, what) => write!(f, "tensor {name:?}: {what}"),
            Error::Gather(name, error) => write!(f, "{name}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

//! The validated model of a call: what is to be emitted.

use proc_macro2::{Ident, TokenStream};

/// What one lane moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// This many bytes.
    Bytes(usize),
    /// As many bytes as the element at this position has.
    SizeOf(usize),
    /// Rows of any length.
    Rows,
}

/// A unit that kernels are emitted for.
#[derive(Debug)]
pub(crate) struct Unit {
    /// In kernels' names.
    pub(crate) name: String,
    pub(crate) width: Width,
}

/// A data type.
#[derive(Debug)]
pub(crate) struct Element {
    /// Attributes such as `#[cfg(..)]`, on everything that names the type.
    pub(crate) attrs: TokenStream,
    /// The type.
    pub(crate) ty: TokenStream,
    /// The width class that it is said to have.
    pub(crate) class: Option<Ident>,
    /// Position of its unit.
    pub(crate) unit: usize,
}

/// An index type.
#[derive(Debug)]
pub(crate) struct Index {
    /// Its `IndexType`.
    pub(crate) variant: &'static str,
    /// Positions of its word where pointers have 64 and 32 bits.
    pub(crate) word: [usize; 2],
}

/// Everything that is to be emitted.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    pub(crate) elements: Vec<Element>,
    pub(crate) units: Vec<Unit>,
    pub(crate) indices: Vec<Index>,
    /// Names of the primitive types that kernels read indices as.
    pub(crate) words: Vec<&'static str>,
    /// Nest ranks, ascending; 0, last, for any.
    pub(crate) ranks: Vec<u8>,
    /// The operators on indices, by the names of their `Op`s.
    pub(crate) index_ops: Vec<&'static str>,
    /// Whether BatchToSpace is among the operators.
    pub(crate) batch_to_space: bool,
}

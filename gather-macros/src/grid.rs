//! The validated model of a call: what is to be emitted.

use proc_macro2::{Ident, TokenStream};
use syn::Attribute;

/// The size of the rows that a kernel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// This many bytes.
    Bytes(usize),
    /// As many bytes as the element at this position has.
    OfElement(usize),
    /// Any length, known when the kernel runs.
    Any,
}

/// A width: a size of rows that kernels are emitted for.
pub(crate) struct Width {
    /// In kernels' names.
    pub(crate) name: String,
    pub(crate) size: Size,
}

/// A data type.
pub(crate) struct Element {
    /// Attributes such as `#[cfg(..)]`. The conditions among them hold for everything that names the element.
    pub(crate) attrs: Vec<Attribute>,
    /// The name of its data type in emitted code.
    pub(crate) name: Ident,
    /// The type.
    pub(crate) ty: TokenStream,
    /// The width class that it is said to have.
    pub(crate) class: Option<Ident>,
    /// Position of its width.
    pub(crate) width: usize,
}

/// An index type.
pub(crate) struct Index {
    /// Its `IndexType`.
    pub(crate) variant: &'static str,
    /// Positions of its representation where pointers have 64 and 32 bits.
    pub(crate) repr: [usize; 2],
}

/// Everything that is to be emitted.
#[derive(Default)]
pub(crate) struct Grid {
    pub(crate) elements: Vec<Element>,
    pub(crate) widths: Vec<Width>,
    pub(crate) indices: Vec<Index>,
    /// Representations of indices: the names of the primitive types that kernels read them as.
    pub(crate) reprs: Vec<&'static str>,
    /// Ranks of loop nests, ascending; 0, last, for any.
    pub(crate) ranks: Vec<u8>,
    /// The gathers, by the names of their `Op`s.
    pub(crate) index_ops: Vec<&'static str>,
    /// The scatters, likewise.
    pub(crate) scatter_ops: Vec<&'static str>,
    /// The operators that rearrange space, likewise.
    pub(crate) space_ops: Vec<&'static str>,
}

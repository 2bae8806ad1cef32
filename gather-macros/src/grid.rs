//! The validated model of a call.

use proc_macro2::{Ident, TokenStream};
use syn::Attribute;

/// The size of rows moved by a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Bytes(usize),
    /// The size of the element at this position of `Grid::elements`.
    OfElement(usize),
    /// Any length, known when the kernel runs.
    Any,
}

/// A width: a size of rows that has kernels.
pub(crate) struct Width {
    /// The width's part of kernel names.
    pub(crate) name: String,
    pub(crate) size: Size,
}

pub(crate) struct Element {
    /// Attributes such as `#[cfg(..)]`. Their conditions hold for everything that names the element.
    pub(crate) attrs: Vec<Attribute>,
    /// The name of its data type in emitted code.
    pub(crate) name: Ident,
    pub(crate) ty: TokenStream,
    /// The declared width class.
    pub(crate) class: Option<Ident>,
    /// The position of its width in `Grid::widths`.
    pub(crate) width: usize,
}

pub(crate) struct Index {
    pub(crate) variant: &'static str,
    /// The positions in `Grid::reprs` of its representations for pointers of 64 and of 32 bits.
    pub(crate) repr: [usize; 2],
}

#[derive(Default)]
pub(crate) struct Grid {
    pub(crate) elements: Vec<Element>,
    pub(crate) widths: Vec<Width>,
    pub(crate) indices: Vec<Index>,
    /// Representations of indices: the names of the primitive types that kernels read.
    pub(crate) reprs: Vec<&'static str>,
    /// Ranks of loop nests, ascending, then 0 if `any` is listed.
    pub(crate) ranks: Vec<u8>,
    /// Gathers, by the names of their `Op`s.
    pub(crate) index_ops: Vec<&'static str>,
    /// Scatters, by the names of their `Op`s.
    pub(crate) scatter_ops: Vec<&'static str>,
    /// Operators that rearrange space, by the names of their `Op`s.
    pub(crate) space_ops: Vec<&'static str>,
}

//! A crate whose types are known to the compiler: gather-core without the feature `registry`.
//!
//! `cargo test -p gather-tests-typed` builds the library without the feature, and compiles here what it does not hold.
//! With other packages the library has it, and the tests expect that.
#![forbid(unsafe_code)]

use gather_core::{Error, IndexType, Registry};

gather_core::kernels! {
    /// Kernels for two types by two index types, of which one is usual.
    pub static OWN;
    elements: [f32, u8];
    indices: [u16, i64];
    ranks: 1..=2, any;
    ops: [gather, gather_elements, gather_nd, scatter_elements, scatter_nd, depth_to_space, space_to_depth];
}

/// The registry of these kernels.
pub static REGISTRY: Registry = Registry::builtin().with(&OWN);

/// Whether the library has the kernels of all built-in types.
#[must_use]
pub fn has_registry() -> bool {
    Registry::builtin().kernels().next().is_some()
}

/// Whether an error says that kernels are missing, for an index type if they depend on it.
#[must_use]
pub fn is_not_compiled<T>(result: &Result<T, Error>, expected: Option<IndexType>) -> bool {
    matches!(result, Err(Error::KernelsNotCompiled { index, .. }) if *index == expected)
}

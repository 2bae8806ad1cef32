//! Which kernel runs a nest.

#![forbid(unsafe_code)]

use crate::error::Op;
use crate::index::IndexType;
use crate::kernels::{self, BUILTIN, CopyEntry, IndexEntry, KernelSet, MapNest};
use crate::level::Level;

/// The kernel of an index operator for lanes of `row` bytes: that of a unit of these bytes in `set`, else the built-in
/// one, else the built-in one for rows of any length.
#[inline]
pub(crate) fn index_kernel(
    set: &'static KernelSet,
    op: Op,
    row: usize,
    index: IndexType,
    rank: usize,
    level: Level,
) -> Option<&'static IndexEntry> {
    let find = |set: &'static KernelSet, bytes| {
        let unit = set.unit(bytes)?;
        set.index_kernel(op, unit, set.word(index)?, rank, level)
    };
    candidates(set, row).find_map(|(set, bytes)| find(set, bytes))
}

/// The kernel of BatchToSpace for lanes of `row` bytes, chosen likewise.
#[inline]
pub(crate) fn copy_kernel(
    set: &'static KernelSet,
    row: usize,
    rank: usize,
    level: Level,
) -> Option<&'static CopyEntry> {
    candidates(set, row).find_map(|(set, bytes)| set.copy_kernel(set.unit(bytes)?, rank, level))
}

/// The nest of a map.
pub(crate) fn map_nest(index: IndexType, level: Level) -> MapNest {
    kernels::map_nest(index, level)
}

/// Where to look for a kernel, in order: (set, bytes of the unit), 0 bytes standing for rows.
#[inline]
fn candidates(set: &'static KernelSet, row: usize) -> impl Iterator<Item = (&'static KernelSet, usize)> {
    let all = [(set, row), (&BUILTIN, row), (&BUILTIN, 0)];
    // The built-in set stands in for itself.
    all.into_iter().skip(usize::from(core::ptr::eq(set, &raw const BUILTIN)))
}

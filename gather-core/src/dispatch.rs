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
    first(set, row, |set, unit| set.index_kernel(op, unit, set.word(index)?, rank, level))
}

/// The kernel of BatchToSpace for lanes of `row` bytes, chosen likewise.
#[inline]
pub(crate) fn copy_kernel(
    set: &'static KernelSet,
    row: usize,
    rank: usize,
    level: Level,
) -> Option<&'static CopyEntry> {
    first(set, row, |set, unit| set.copy_kernel(unit, rank, level))
}

/// The nest of a map.
pub(crate) fn map_nest(index: IndexType, level: Level) -> MapNest {
    kernels::map_nest(index, level)
}

/// What is found for a unit of `row` bytes: in `set`, or else in the built-in set, which has rows for all others.
#[inline(always)]
fn first<T>(set: &'static KernelSet, row: usize, find: impl Fn(&'static KernelSet, usize) -> Option<T>) -> Option<T> {
    if !core::ptr::eq(set, &raw const BUILTIN)
        && let Some(found) = set.unit(row).and_then(|unit| find(set, unit))
    {
        return Some(found);
    }
    find(&BUILTIN, BUILTIN.unit(row).or_else(|| BUILTIN.unit(0))?)
}

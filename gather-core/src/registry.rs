//! The registry: sets of kernels, looked up by what is known at run time.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::element::DType;
use crate::error::Op;
use crate::index::IndexType;
use crate::kernels::{BUILTIN, KernelSet};
use crate::level::Level;

/// Sets of kernels for calls whose types are known at run time.
///
/// ```
/// use gather_core::{DynView, Gather, Registry, View};
///
/// let registry = Registry::builtin();
/// let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0]);
/// let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2])?);
/// let out = Gather::new(0).run_dyn(&registry, &DynView::from(&table), &DynView::from(&ids))?;
/// assert_eq!(out.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
/// # Ok::<(), gather_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    sets: SmallVec<[&'static KernelSet; 4]>,
}

/// A row of the table: what it takes and the kernel that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The operator.
    pub op: Op,
    /// The data type.
    pub dtype: DType,
    /// The index type; `None` for operators without indices.
    pub index: Option<IndexType>,
    /// The rank of the nest after folding; `None` for the rank-generic kernels, which run all others.
    pub rank: Option<usize>,
    /// The level.
    pub level: Level,
    /// The name of the kernel's function.
    pub name: &'static str,
}

/// What a kernel is looked up by: made by callers, who name every field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelKey {
    /// The operator.
    pub op: Op,
    /// The data type.
    pub dtype: DType,
    /// The index type; `None` for operators without indices.
    pub index: Option<IndexType>,
    /// The rank of the nest after folding.
    pub rank: usize,
    /// The level.
    pub level: Level,
}

impl Registry {
    /// The built-in kernels.
    #[must_use]
    pub fn builtin() -> Self {
        Registry { sets: SmallVec::from_slice(&[&BUILTIN]) }
    }

    /// Adds a set made by [`kernels!`](crate::kernels!). Where two sets have one data type, the one added last runs.
    #[must_use]
    pub fn with(mut self, set: &'static KernelSet) -> Self {
        self.sets.push(set);
        self
    }

    /// Every row: data type x index type x rank x operator x level.
    pub fn kernels(&self) -> impl Iterator<Item = KernelInfo> + '_ {
        self.sets.iter().flat_map(|set| rows(set))
    }

    /// The row of a key; `None` when no set has one. A rank without a kernel of its own gets the rank-generic one.
    #[must_use]
    pub fn select(&self, key: &KernelKey) -> Option<KernelInfo> {
        self.sets.iter().rev().find_map(|set| {
            let unit = set.unit_of(key.dtype)?;
            let (name, exact) = match (key.op, key.index) {
                (Op::BatchToSpace, None) => (set.copy_kernel(unit, key.rank, key.level)?.name, set.has_rank(key.rank)),
                (op, Some(index)) => {
                    (set.index_kernel(op, unit, set.word(index)?, key.rank, key.level)?.name, set.has_rank(key.rank))
                }
                (_, None) => return None,
            };
            let KernelKey { op, dtype, index, rank, level } = *key;
            Some(KernelInfo { op, dtype, index, rank: exact.then_some(rank), level, name })
        })
    }

    /// The set that runs a data type.
    pub(crate) fn set_of(&self, dtype: DType) -> Option<&'static KernelSet> {
        self.sets.iter().rev().find(|set| set.unit_of(dtype).is_some()).copied()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

/// The rows of a set, level by level.
fn rows(set: &'static KernelSet) -> impl Iterator<Item = KernelInfo> {
    let tables = set.tables();
    tables.levels.iter().flat_map(move |level| {
        tables.ops.iter().flat_map(move |&op| {
            tables.elements.iter().flat_map(move |element| {
                let index_rows = if op == Op::BatchToSpace { &[] } else { tables.indices };
                let index = index_rows.iter().map(|row| Some(row.index));
                let none = (op == Op::BatchToSpace).then_some(None);
                index.chain(none).flat_map(move |index| {
                    tables.ranks.iter().filter_map(move |&rank| {
                        let nest = usize::from(rank);
                        // A rank that no kernel has of its own is one that the generic kernel runs.
                        let wanted = if rank == 0 { usize::MAX } else { nest };
                        let name = match index {
                            None => set.copy_kernel(element.unit, wanted, level.level)?.name,
                            Some(index) => {
                                let word = set.word(index)?;
                                set.index_kernel(op, element.unit, word, wanted, level.level)?.name
                            }
                        };
                        let rank = (rank != 0).then_some(nest);
                        Some(KernelInfo { op, dtype: element.dtype, index, rank, level: level.level, name })
                    })
                })
            })
        })
    })
}

//! The registry: sets of kernels, looked up by what is known at run time.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::builtin::BUILTIN;
use crate::kernels::select::Kernels;
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::table::KernelSet;
use crate::types::element::DType;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;

/// Sets of kernels for calls whose types are known at run time.
///
/// ```
/// use gather_core::{DynView, Gather, Registry, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let registry = Registry::builtin();
///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0]);
///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2])?);
///     let out = Gather::new(0).run_dyn(&registry, &DynView::from(&table), &DynView::from(&ids))?;
///     assert_eq!(out.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    sets: SmallVec<[&'static KernelSet; 20]>,
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
    /// The rank of the folded loop nest; `None` for the kernels of any rank, which run all others.
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
    /// The rank of the folded loop nest.
    pub rank: usize,
    /// The level.
    pub level: Level,
}

impl Registry {
    /// The built-in kernels.
    #[must_use]
    pub fn builtin() -> Self {
        Registry { sets: SmallVec::from_slice(&BUILTIN) }
    }

    /// Adds a set made by [`kernels!`](crate::kernels!) or [`specialize!`](crate::specialize!). Where two sets have one
    /// data type, the one added last runs.
    #[must_use]
    pub fn with(mut self, set: &'static KernelSet) -> Self {
        self.sets.push(set);
        self
    }

    /// Every row: data type x index type x rank x operator x level.
    pub fn kernels(&self) -> impl Iterator<Item = KernelInfo> + '_ {
        self.sets.iter().flat_map(|set| rows(set).chain(shaped_rows(set)))
    }

    /// The row of a key; `None` when no set has one. A rank without a kernel of its own gets the kernel for any rank.
    #[must_use]
    pub fn select(&self, key: &KernelKey) -> Option<KernelInfo> {
        self.sets.iter().rev().find_map(|set| {
            let KernelKey { op, dtype, index, rank, level } = *key;
            let name = kernel_name(set, op, set.width_of(dtype)?, index, rank, level)?;
            Some(KernelInfo { op, dtype, index, rank: set.has_rank(rank).then_some(rank), level, name })
        })
    }

    /// The kernels for calls of a gather; `None` where no set knows the data type.
    pub(crate) fn index_kernels(&self, op: Op, dtype: DType, index: IndexType) -> Option<Kernels> {
        let takes = |set: &&&KernelSet| set.takes(op, index);
        let shaped = self.shaped(op, dtype, Some(index));
        let kernels = match self.known(dtype) {
            Some(mut known) => {
                known.find(takes).map_or_else(|| Kernels::builtin(index), |set| Kernels::with(set, index))
            }
            // The built-in kernels move rows of any length.
            None => shaped.map(|_| Kernels::builtin(index))?,
        };
        Some(kernels.with_shaped(shaped.unwrap_or_default()))
    }

    /// The kernels for calls of a scatter, or of the adjoint of a gather; `None` where no set knows the data type.
    pub(crate) fn scatter_kernels(&self, op: Op, dtype: DType, index: IndexType) -> Option<Kernels> {
        let own = match self.known(dtype) {
            Some(mut known) => known.find(|set| set.takes(op.scatter(), index)),
            // Of an adjoint, whose gather has declared shapes.
            None => self.shaped(op, dtype, Some(index)).map(|_| None)?,
        };
        Some(Kernels::scatters(own.copied(), index))
    }

    /// The kernels for calls of an operator that rearranges space; `None` where no set knows the data type.
    pub(crate) fn space_kernels(&self, op: Op, dtype: DType) -> Option<Kernels> {
        let lists = |set: &&&KernelSet| set.lists(op);
        let shaped = self.shaped(op, dtype, None);
        let kernels = match self.known(dtype) {
            Some(mut known) => known.find(lists).map_or_else(Kernels::space, |set| Kernels::space_with(set)),
            None => shaped.map(|_| Kernels::space())?,
        };
        Some(kernels.with_shaped(shaped.unwrap_or_default()))
    }

    /// The kernels for declared shapes of the last set that has any for an operator and types.
    fn shaped(&self, op: Op, dtype: DType, index: Option<IndexType>) -> Option<&'static [ShapedRow]> {
        let has_any = |set: &&&KernelSet| set.shaped_rows().iter().any(|row| row.takes(op, dtype, index));
        self.sets.iter().rev().find(has_any).map(|set| set.shaped_rows())
    }

    /// The sets that know a data type, the one added last first; `None` where there is none.
    fn known(&self, dtype: DType) -> Option<impl Iterator<Item = &&'static KernelSet>> {
        let mut known = self.sets.iter().rev().filter(move |set| set.width_of(dtype).is_some()).peekable();
        known.peek().is_some().then_some(known)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

/// The name of the kernel of an operator in a set; `None` where it has none.
fn kernel_name(
    set: &KernelSet,
    op: Op,
    width: usize,
    index: Option<IndexType>,
    rank: usize,
    level: Level,
) -> Option<&'static str> {
    Some(match index {
        None if op.rearranges() && set.lists(op) => set.space_kernel(width, rank, level)?.name,
        None => return None,
        Some(index) if op.scatters() => set.scatter_kernel(op, index, rank, level)?.name,
        Some(index) => set.index_kernel(op, width, index, rank, level)?.name,
    })
}

/// The kernels of a set for declared shapes, level by level.
fn shaped_rows(set: &'static KernelSet) -> impl Iterator<Item = KernelInfo> {
    let of_level = |&level| set.shaped_rows().iter().map(move |row| row.info(level));
    ShapedRow::LEVELS.iter().flat_map(of_level)
}

/// The rows of a set, level by level.
fn rows(set: &'static KernelSet) -> impl Iterator<Item = KernelInfo> {
    let tables = set.tables();
    tables.levels.iter().flat_map(move |level| {
        tables.ops.iter().flat_map(move |&op| {
            tables.elements.iter().flat_map(move |element| {
                let index = IndexType::ALL.iter().filter(move |&&index| set.takes(op, index)).map(|&index| Some(index));
                let none = op.rearranges().then_some(None);
                index.chain(none).flat_map(move |index| {
                    tables.ranks.iter().filter_map(move |&rank| {
                        let loops = usize::from(rank);
                        // Loop nests of a rank without a kernel of its own are run by the kernel for any rank.
                        let wanted = if rank == 0 { usize::MAX } else { loops };
                        let name = kernel_name(set, op, element.width, index, wanted, level.level)?;
                        let rank = (rank != 0).then_some(loops);
                        Some(KernelInfo { op, dtype: element.dtype, index, rank, level: level.level, name })
                    })
                })
            })
        })
    })
}

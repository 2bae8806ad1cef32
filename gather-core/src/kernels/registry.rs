//! The registry: sets of kernels, looked up by run-time types.

#![forbid(unsafe_code)]

use crate::kernels::builtin::BUILTIN;
use crate::kernels::info::KernelInfo;
use crate::kernels::select::Kernels;
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::table::KernelSet;
use crate::types::element::DType;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;

/// Whether the library holds the built-in sets of all built-in types.
const HOLDS_ALL: bool = cfg!(feature = "registry");

/// Maximum sets added to a registry.
const MOST_SETS: usize = 16;

/// Sets of kernels for calls whose types are known at run time. A gather uses the built-in registry unless
/// [`registry`](crate::GatherOperator::registry) sets another.
///
/// ```
/// use gather_core::{DynView, Gather, Registry, View};
///
/// static REGISTRY: Registry = Registry::builtin();
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0]);
///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2])?);
///     let gather = Gather::new(0).registry(&REGISTRY);
///     let out = gather.run(&DynView::from(&table), &DynView::from(&ids))?;
///     assert_eq!(out.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    /// Sets added to the built-in ones, in the order of addition.
    added: [Option<&'static KernelSet>; MOST_SETS],
    len: usize,
}

/// The key of a kernel in a registry. Built by a struct literal that names every field.
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
    /// A registry of the kernels of all built-in types. Without the feature `registry` it has only the sets that are
    /// added to it.
    #[must_use]
    pub const fn builtin() -> Self {
        Registry { added: [None; MOST_SETS], len: 0 }
    }

    /// Adds a set made by [`kernels!`](crate::kernels!) or [`specialize!`](crate::specialize!). If several sets have
    /// kernels for a data type, calls run the kernels of the set added last.
    ///
    /// # Panics
    /// For more than 16 sets.
    #[must_use]
    pub const fn with(mut self, set: &'static KernelSet) -> Self {
        assert!(self.len < MOST_SETS, "a registry has at most 16 sets");
        self.added[self.len] = Some(set);
        self.len += 1;
        self
    }

    fn added(&self) -> impl DoubleEndedIterator<Item = &'static KernelSet> + '_ {
        self.added[..self.len].iter().flatten().copied()
    }

    /// Every row: data type x index type x rank x operator x level.
    pub fn kernels(&self) -> impl Iterator<Item = KernelInfo> + '_ {
        BUILTIN.iter().copied().chain(self.added()).flat_map(|set| rows(set).chain(shaped_rows(set)))
    }

    /// The row of a key; `None` if no set has one. A rank without its own kernel gets the kernel for any rank.
    #[must_use]
    pub fn select(&self, key: &KernelKey) -> Option<KernelInfo> {
        self.added().rev().chain(BUILTIN.iter().copied()).find_map(|set| {
            let KernelKey { op, dtype, index, rank, level } = *key;
            let name = kernel_name(set, op, set.width_of(dtype)?, index, rank, level)?;
            Some(KernelInfo { op, dtype, index, rank: set.has_rank(rank).then_some(rank), level, name })
        })
    }

    /// The kernels for calls of a gather; `None` if no set (without `registry`: no added set) has the data type.
    pub(crate) fn index_kernels(&self, op: Op, dtype: DType, index: IndexType) -> Option<Kernels> {
        let shaped = self.shaped(op, dtype, Some(index));
        let kernels = match self.own(dtype, |set| set.takes(op, index)) {
            Some(set) => Kernels::with(set, index),
            // The built-in kernels move rows of any length, so they take every data type.
            None if shaped.is_some() || self.knows(dtype) => Kernels::builtin(index).filter(|_| HOLDS_ALL)?,
            None => return None,
        };
        Some(kernels.with_shaped(shaped.unwrap_or_default()))
    }

    #[cfg(feature = "scatter")]
    /// The kernels for calls of a scatter, or of the adjoint of a gather; `None` as in `index_kernels`.
    pub(crate) fn scatter_kernels(&self, op: Op, dtype: DType, index: IndexType) -> Option<Kernels> {
        if let Some(own) = self.own(dtype, |set| set.takes(op.scatter(), index)) {
            return Some(Kernels::scatters_with(own, index));
        }
        // The gather of this adjoint may have kernels for declared shapes only.
        let known = self.knows(dtype) || self.shaped(op, dtype, Some(index)).is_some();
        Kernels::builtin_scatters(index).filter(|_| HOLDS_ALL && known)
    }

    /// The kernels for calls that rearrange space; `None` as in `index_kernels`.
    pub(crate) fn space_kernels(&self, op: Op, dtype: DType) -> Option<Kernels> {
        let shaped = self.shaped(op, dtype, None);
        let kernels = match self.own(dtype, |set| set.lists(op)) {
            Some(set) => Kernels::space_with(set),
            #[cfg(feature = "registry")]
            None if shaped.is_some() || self.knows(dtype) => Kernels::space::<()>(),
            None => return None,
        };
        Some(kernels.with_shaped(shaped.unwrap_or_default()))
    }

    /// The kernels for declared shapes of the last added set that has any for the operator and types.
    fn shaped(&self, op: Op, dtype: DType, index: Option<IndexType>) -> Option<&'static [ShapedRow]> {
        let has_any = |set: &&'static KernelSet| set.shaped_rows().iter().any(|row| row.takes(op, dtype, index));
        self.added().rev().find(has_any).map(|set| set.shaped_rows())
    }

    /// The last added set that has the data type and takes the call.
    fn own(&self, dtype: DType, takes: impl Fn(&KernelSet) -> bool) -> Option<&'static KernelSet> {
        self.added().rev().find(|set| takes(set) && set.width_of(dtype).is_some())
    }

    /// Whether any set has a data type. All built-in sets have the same data types.
    fn knows(&self, dtype: DType) -> bool {
        self.added().chain(BUILTIN.first().copied()).any(|set| set.width_of(dtype).is_some())
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

/// The name of an operator's kernel in a set; `None` if the set has none.
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
        Some(_) if op.rearranges() => return None,
        Some(index) if op.scatters() => set.scatter_kernel(op, index, rank, level)?.name,
        Some(index) => set.index_kernel(op, width, index, rank, level)?.name,
    })
}

/// The set's kernels for declared shapes, level by level.
fn shaped_rows(set: &'static KernelSet) -> impl Iterator<Item = KernelInfo> {
    let of_level = |&level| set.shaped_rows().iter().map(move |row| row.info(level));
    ShapedRow::LEVELS.iter().flat_map(of_level)
}

/// The set's rows, level by level.
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
                        // The kernel for any rank runs loop nests of a rank without its own kernel.
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

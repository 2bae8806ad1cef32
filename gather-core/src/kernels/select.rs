//! Kernel selection for a loop nest.

#![forbid(unsafe_code)]

use crate::kernels::builtin::{compiled_gathers, gathers, rearrange, rows};
#[cfg(feature = "scatter")]
use crate::kernels::builtin::{compiled_scatters, scatters};
#[cfg(feature = "scatter")]
use crate::kernels::kernel::ScatterEntry;
use crate::kernels::kernel::{IndexEntry, SpaceEntry};
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::table::KernelSet;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::op::Op;

/// The sets of kernels of a call: the user's set, if any, before the built-in set.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    own: Option<&'static KernelSet>,
    builtin: &'static KernelSet,
    /// Kernels for declared shapes, which take precedence over `own` and `builtin`.
    shaped: &'static [ShapedRow],
}

impl Kernels {
    #[inline(always)]
    const fn alone(builtin: &'static KernelSet) -> Self {
        Kernels { own: None, builtin, shaped: &[] }
    }

    /// The built-in gathers of elements `T` by indices `I`. The program links no other set.
    #[inline(always)]
    pub(crate) fn of<T, I: Index>() -> Self {
        Self::alone(const { gathers::<I>(size_of::<T>()) })
    }

    /// The built-in gathers for an index type known at run time; `None` if the library does not hold them.
    pub(crate) fn builtin(index: IndexType) -> Option<Self> {
        compiled_gathers(index).map(Self::alone)
    }

    /// A set's gathers, and the built-in kernels that it lacks.
    pub(crate) fn with(own: &'static KernelSet, index: IndexType) -> Self {
        Kernels { own: Some(own), ..Self::alone(own.rest_of_gathers(index)) }
    }

    /// The built-in gathers of rows of any length by indices `I`.
    #[inline(always)]
    pub(crate) fn of_rows<I: Index>() -> Self {
        Self::alone(const { rows::<I>() })
    }

    #[cfg(feature = "scatter")]
    /// The built-in scatters by indices `I`. The program links no other set.
    #[inline(always)]
    pub(crate) fn scatters_of<I: Index>() -> Self {
        Self::alone(const { scatters::<I>() })
    }

    #[cfg(feature = "scatter")]
    /// The built-in scatters for an index type known at run time; `None` if the library does not hold them.
    pub(crate) fn builtin_scatters(index: IndexType) -> Option<Self> {
        compiled_scatters(index).map(Self::alone)
    }

    #[cfg(feature = "scatter")]
    /// A set's scatters, and the built-in kernels that it lacks.
    pub(crate) fn scatters_with(own: &'static KernelSet, index: IndexType) -> Self {
        Kernels { own: Some(own), ..Self::alone(own.rest_of_scatters(index)) }
    }

    /// The built-in kernels that rearrange space, for elements `T`.
    #[inline(always)]
    pub(crate) fn space<T>() -> Self {
        Self::alone(const { rearrange::<T>(size_of::<T>()) })
    }

    /// A set's kernels that rearrange space, and the built-in kernels that it lacks.
    pub(crate) fn space_with(own: &'static KernelSet) -> Self {
        Kernels { own: Some(own), ..Self::alone(own.rest_of_space()) }
    }

    pub(crate) fn with_shaped(self, shaped: &'static [ShapedRow]) -> Self {
        Kernels { shaped, ..self }
    }

    #[inline]
    pub(crate) fn shaped(&self) -> &'static [ShapedRow] {
        self.shaped
    }

    /// The kernel of a gather for rows of `row` bytes.
    #[inline(never)]
    pub(crate) fn index_kernel(
        &self,
        op: Op,
        row: usize,
        index: IndexType,
        rank: usize,
        level: Level,
    ) -> &'static IndexEntry {
        self.find(row, move |set, width| set.index_kernel(op, width, index, rank, level))
    }

    #[cfg(feature = "scatter")]
    pub(crate) fn scatter_kernel(&self, op: Op, index: IndexType, rank: usize, level: Level) -> &'static ScatterEntry {
        let find = |set: &'static KernelSet| set.scatter_kernel(op, index, rank, level);
        self.own.and_then(find).or_else(|| find(self.builtin)).expect(BUILTIN)
    }

    /// The kernel that rearranges space, for rows of `row` bytes.
    #[inline]
    pub(crate) fn space_kernel(&self, row: usize, rank: usize, level: Level) -> &'static SpaceEntry {
        self.find(row, move |set, width| set.space_kernel(width, rank, level))
    }

    /// The kernel for rows of `row` bytes: from the user's set, else from the built-in set, which has rows of any
    /// length.
    #[inline(always)]
    fn find<T>(&self, row: usize, find: impl Fn(&'static KernelSet, usize) -> Option<T> + Copy) -> T {
        if let Some(own) = self.own
            && let Some(found) = Self::find_in(own, row, find)
        {
            return found;
        }
        let Some(width) = self.builtin.width(row).or(self.builtin.rows()) else { unreachable!("{BUILTIN}") };
        find(self.builtin, width).expect(BUILTIN)
    }

    /// The kernel of the user's set. Outlined: most calls have no such set.
    #[cold]
    #[inline(never)]
    fn find_in<T>(
        set: &'static KernelSet,
        row: usize,
        find: impl Fn(&'static KernelSet, usize) -> Option<T>,
    ) -> Option<T> {
        find(set, set.width(row)?)
    }
}

const BUILTIN: &str = "there is a built-in kernel for every width, index type, rank and level";

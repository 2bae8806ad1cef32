//! The table of kernels: emitted by the macro, looked up by plans.
//!
//! A row is a data type x index type x rank x operator x level. Rows are not stored individually: data types map to
//! widths, index types map to representations, all gathers share kernels, and all scatters share kernels. Arrays of
//! kernels are ordered by width (except scatters), representation and rank, so a row is found by arithmetic.

#![forbid(unsafe_code)]

use gather_macros::limit;

use crate::kernels::kernel::{IndexEntry, Kernel, Place, ScatterEntry, SpaceEntry};
use crate::kernels::shaped::row::ShapedRow;
use crate::types::element::DType;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::op::Op;

/// The scatter kernels of a level, which [`kernels!`](crate::kernels!) emits.
#[cfg(feature = "scatter")]
#[doc(hidden)]
#[macro_export]
macro_rules! __scatter_rows {
    ($($kernel:expr),*) => { &[$($kernel),*] };
}

/// Without the feature `scatter`: no kernels.
#[cfg(not(feature = "scatter"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __scatter_rows {
    () => {
        &[]
    };
    ($($kernel:expr),+) => {
        compile_error!("scatters need the feature `scatter` of gather-core")
    };
}

/// The lists that make a set of kernels.
#[derive(Clone, Copy)]
pub struct Lists {
    /// The static's name.
    pub name: &'static str,
    /// Data types, each with its width.
    pub elements: &'static [ElementRow],
    /// Index types, each with its representation.
    pub indices: &'static [IndexRow],
    /// Ranks of loop nests, ascending; 0, last, for any.
    pub ranks: &'static [u8],
    /// The operators: gathers use `LevelTable::index`, scatters `LevelTable::scatter`, operators that rearrange space
    /// `LevelTable::space`.
    pub ops: &'static [Op],
    /// Widths.
    pub widths: &'static [WidthRow],
    /// Representations of indices: the types by which kernels read them.
    pub reprs: &'static [IndexType],
    /// The kernels of every level.
    pub levels: &'static [LevelTable],
    /// The sets with the kernels that this set lacks.
    pub rests: Rests,
}

/// The fallback sets for kernels that a user's set lacks. Without a fallback, the set itself has them all.
#[derive(Clone, Copy)]
pub struct Rests {
    /// By position in [`Lists::reprs`]; empty if the set lacks nothing.
    pub(crate) by_repr: &'static [IndexRest],
    /// For the operators that rearrange space.
    pub(crate) space: Option<&'static KernelSet>,
}

impl Rests {
    /// No fallback: the set lacks nothing.
    pub const NONE: Self = Rests { by_repr: &[], space: None };
}

/// The fallback sets for one representation of indices.
#[derive(Clone, Copy)]
pub struct IndexRest {
    pub(crate) gathers: Option<&'static KernelSet>,
    pub(crate) scatters: Option<&'static KernelSet>,
}

impl IndexRest {
    /// No fallback: the set lacks nothing.
    pub const NONE: Self = IndexRest { gathers: None, scatters: None };
}

/// A data type and its width.
#[derive(Clone, Copy)]
pub struct ElementRow {
    /// The data type.
    pub dtype: DType,
    /// Position in [`Lists::widths`].
    pub width: usize,
}

/// An index type and its representation.
#[derive(Clone, Copy)]
pub struct IndexRow {
    /// The index type.
    pub index: IndexType,
    /// Position in [`Lists::reprs`].
    pub repr: usize,
}

/// A width.
#[derive(Clone, Copy)]
pub struct WidthRow {
    /// The width in kernel names.
    pub name: &'static str,
    /// Bytes per row; `None` for rows of any length.
    pub bytes: Option<usize>,
}

/// The kernels of one level.
#[derive(Clone, Copy)]
pub struct LevelTable {
    /// The level.
    pub level: Level,
    /// Ordered by width, representation, rank; empty without a gather.
    pub index: &'static [Kernel<IndexEntry>],
    /// Ordered by representation, rank; empty without a scatter.
    pub scatter: &'static [Kernel<ScatterEntry>],
    /// Ordered by width, rank; empty without an operator that rearranges space.
    pub space: &'static [Kernel<SpaceEntry>],
}

impl Lists {
    /// Kernels per level: `[gathers, scatters, space]`.
    const fn counts(&self) -> [usize; 3] {
        let (mut counts, mut at) = ([0; 3], 0);
        while at < self.ops.len() {
            let op = self.ops[at];
            if op.rearranges() {
                counts[2] = self.widths.len() * self.ranks.len();
            } else if op.scatters() {
                counts[1] = self.reprs.len() * self.ranks.len();
            } else {
                counts[0] = self.widths.len() * self.reprs.len() * self.ranks.len();
            }
            at += 1;
        }
        counts
    }

    /// The place of a kernel with a width, if it has one, a representation, if it has one, and a rank.
    const fn place(&self, width: Option<usize>, repr: Option<usize>, rank: usize, level: Level) -> Place {
        let bytes = if let Some(width) = width { self.widths[width].bytes } else { None };
        let index = if let Some(repr) = repr { Some(self.reprs[repr]) } else { None };
        Place { bytes, index, rank: self.ranks[rank], level }
    }

    /// Asserts T1 for types, and that positions fit in [`TableLookup`].
    #[track_caller]
    const fn check_rows(&self) {
        const MOST: usize = u16::MAX as usize;
        let fit = self.widths.len() <= MOST && self.reprs.len() <= MOST && self.ranks.len() <= MOST;
        assert!(fit && self.levels.len() <= MOST, "more widths, index types, ranks or levels than a set can have");
        let mut row = 0;
        while row < self.elements.len() {
            let ElementRow { dtype, width } = self.elements[row];
            assert!(width < self.widths.len(), "an element without kernels");
            let is_width = matches!(self.widths[width].bytes, Some(bytes) if bytes == dtype.size());
            assert!(is_width, "an element of another size than its width");
            row += 1;
        }
        let mut row = 0;
        while row < self.indices.len() {
            let IndexRow { index, repr } = self.indices[row];
            assert!(repr < self.reprs.len(), "an index type without kernels");
            let is_repr = index.fixed_width() as usize == self.reprs[repr].fixed_width() as usize;
            assert!(is_repr, "an index type with other values than its representation");
            row += 1;
        }
    }
}

impl LevelTable {
    /// Asserts that each kernel is at its place, and that every place has a kernel (T1).
    #[track_caller]
    const fn check(&self, tables: &Lists) {
        let ([gathers, scatters, spaces], level) = (tables.counts(), self.level);
        let is_whole = self.index.len() == gathers && self.scatter.len() == scatters && self.space.len() == spaces;
        assert!(is_whole, "a kernel table of another length");
        let (reprs, ranks) = (tables.reprs.len(), tables.ranks.len());
        let mut at = 0;
        while at < gathers {
            let (row, rank) = (at / ranks, at % ranks);
            self.index[at].stands_at(&tables.place(Some(row / reprs), Some(row % reprs), rank, level));
            at += 1;
        }
        at = 0;
        while at < scatters {
            self.scatter[at].stands_at(&tables.place(None, Some(at / ranks), at % ranks, level));
            at += 1;
        }
        at = 0;
        while at < spaces {
            self.space[at].stands_at(&tables.place(Some(at / ranks), None, at % ranks, level));
            at += 1;
        }
    }
}

/// A set of kernels: [`kernels!`](crate::kernels!) makes a static of this type.
///
/// Invariant T1: each kernel of the tables runs the width, the representation, the rank and the level of its place. A
/// data type has the bytes of its width, and an index type the values of its representation.
pub struct KernelSet {
    tables: Lists,
    lookup: TableLookup,
    shaped: &'static [ShapedRow],
}

/// The positions of a set's widths, representations and ranks in its tables, computed at compile time for calls without
/// a plan.
struct TableLookup {
    /// By bytes, up to [`NARROW`].
    widths: [Option<u16>; NARROW + 1],
    /// The width of rows of any length.
    rows: Option<u16>,
    /// The greatest width in bytes.
    widest: usize,
    /// By index type; a pointer-sized type without its own entry has the entry of its width.
    reprs: [Option<u16>; INDEX_TYPES],
    /// By rank of the loop nest. 0, and each rank without its own kernels, has the kernels for any rank.
    ranks: [Option<u16>; MAX_RANK + 1],
    levels: [Option<u16>; Level::ALL.len()],
    /// Whether there are kernels, by operator.
    ops: [bool; OPS],
}

/// The greatest width in `TableLookup::widths`; `Lists::widths` is searched for greater widths.
const NARROW: usize = 16;
const OPS: usize = limit!(ops);
const INDEX_TYPES: usize = limit!(index_types);
/// The greatest rank of an unrolled loop nest.
const MAX_RANK: usize = limit!(max_rank);

/// The macro's limits include every operator, index type and level.
const _: () = {
    assert!(OPS == Op::ScatterNd as usize + 1);
    assert!(INDEX_TYPES == IndexType::ALL.len());
    assert!(limit!(levels) == Level::ALL.len());
};

impl TableLookup {
    const fn new(tables: &Lists) -> Self {
        let mut lookup = TableLookup {
            widths: [None; NARROW + 1],
            rows: None,
            widest: 0,
            reprs: [None; INDEX_TYPES],
            ranks: [None; MAX_RANK + 1],
            levels: [None; Level::ALL.len()],
            ops: [false; OPS],
        };
        // In reverse: among equal entries, the first wins.
        let mut at = tables.widths.len();
        while at > 0 {
            at -= 1;
            match tables.widths[at].bytes {
                None => lookup.rows = Some(at as u16),
                Some(bytes) => {
                    if bytes <= NARROW {
                        lookup.widths[bytes] = Some(at as u16);
                    }
                    if bytes > lookup.widest {
                        lookup.widest = bytes;
                    }
                }
            }
        }
        let mut at = tables.indices.len();
        while at > 0 {
            at -= 1;
            lookup.reprs[tables.indices[at].index as usize] = Some(tables.indices[at].repr as u16);
        }
        while at < INDEX_TYPES {
            if lookup.reprs[at].is_none() {
                lookup.reprs[at] = lookup.reprs[IndexType::ALL[at].fixed_width() as usize];
            }
            at += 1;
        }
        let mut at = tables.ranks.len();
        while at > 0 {
            at -= 1;
            lookup.ranks[tables.ranks[at] as usize] = Some(at as u16);
        }
        while at <= MAX_RANK {
            if lookup.ranks[at].is_none() {
                lookup.ranks[at] = lookup.ranks[0];
            }
            at += 1;
        }
        let mut at = tables.levels.len();
        while at > 0 {
            at -= 1;
            lookup.levels[tables.levels[at].level as usize] = Some(at as u16);
        }
        let mut at = tables.ops.len();
        while at > 0 {
            at -= 1;
            lookup.ops[tables.ops[at] as usize] = true;
        }
        lookup
    }
}

impl KernelSet {
    /// A set from the tables that the macro emits.
    ///
    /// # Panics
    /// At compile time if the tables violate T1: a list has another length than its order implies, or a kernel's
    /// `place` differs from its position (T2). Or if a fallback set lacks kernels.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn new(tables: Lists) -> Self {
        tables.check_rows();
        let mut level = 0;
        while level < tables.levels.len() {
            tables.levels[level].check(&tables);
            level += 1;
        }
        let lookup = TableLookup::new(&tables);
        let set = KernelSet { tables, lookup, shaped: &[] };
        set.check_rests();
        set
    }

    /// Asserts that the set or its fallback has a kernel for every row of the set's elements. The kernel for rows of
    /// any length does not run rows of a width that has its own kernel (K9).
    #[track_caller]
    const fn check_rests(&self) {
        let Lists { ops, reprs, elements, rests, .. } = &self.tables;
        let mut at = 0;
        while at < ops.len() {
            let op = ops[at];
            if op.rearranges() {
                let rest = if let Some(rest) = rests.space { rest } else { self };
                assert!(rest.runs_all(op, elements), "what runs the rest of a set lacks kernels too");
            }
            let mut repr = 0;
            while !op.rearranges() && repr < reprs.len() {
                let rest = if repr < rests.by_repr.len() { rests.by_repr[repr] } else { IndexRest::NONE };
                let rest = if op.scatters() { rest.scatters } else { rest.gathers };
                let rest = if let Some(rest) = rest { rest } else { self };
                assert!(rest.repr(reprs[repr]).is_some(), "what runs the rest of a set has other index types");
                assert!(rest.runs_all(op, elements), "what runs the rest of a set lacks kernels too");
                repr += 1;
            }
            at += 1;
        }
    }

    /// Whether an operator has kernels for rows of any number of elements, for each of `elements` and any rank.
    const fn runs_all(&self, op: Op, elements: &[ElementRow]) -> bool {
        let TableLookup { widths, rows, ranks, ops, .. } = &self.lookup;
        if !ops[op as usize] || ranks[0].is_none() {
            return false;
        }
        let (mut width, mut has_all) = (1, op.scatters() || rows.is_some());
        while width <= NARROW && !op.scatters() {
            let mut at = 0;
            while at < elements.len() {
                let is_row = width.is_multiple_of(elements[at].dtype.size());
                has_all &= !is_row || widths[width].is_some();
                at += 1;
            }
            width *= 2;
        }
        has_all
    }

    /// A set of kernels for declared shapes: [`specialize!`](crate::specialize!) makes a static of this type.
    #[doc(hidden)]
    #[must_use]
    pub const fn shaped(name: &'static str, shaped: &'static [ShapedRow]) -> Self {
        let rests = Rests::NONE;
        let tables = Lists {
            name,
            elements: &[],
            indices: &[],
            ranks: &[],
            ops: &[],
            widths: &[],
            reprs: &[],
            levels: &[],
            rests,
        };
        let lookup = TableLookup::new(&tables);
        KernelSet { tables, lookup, shaped }
    }

    pub(crate) fn shaped_rows(&self) -> &'static [ShapedRow] {
        self.shaped
    }

    /// The name of the static.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.tables.name
    }

    /// The number of distinct functions in the set.
    #[must_use]
    pub fn function_count(&self) -> usize {
        let (reprs, spaces) = (self.tables.reprs.len(), 1);
        let of_level = |level: &LevelTable| match level.level.is_fallback() {
            true => level.index.len().min(reprs) + level.scatter.len().min(reprs) + level.space.len().min(spaces),
            false => level.index.len() + level.scatter.len() + level.space.len(),
        };
        self.tables.levels.iter().map(of_level).sum::<usize>() + self.shaped.len() * ShapedRow::LEVELS.len()
    }

    pub(crate) fn tables(&self) -> &Lists {
        &self.tables
    }

    /// The position of the width of `bytes` bytes.
    #[inline(always)]
    pub(crate) fn width(&self, bytes: usize) -> Option<usize> {
        match self.lookup.widths.get(bytes) {
            Some(position) => position.map(usize::from),
            None if bytes > self.lookup.widest => None,
            None => self.tables.widths.iter().position(|width| width.bytes == Some(bytes)),
        }
    }

    /// The position of the width of rows of any length.
    #[inline]
    pub(crate) fn rows(&self) -> Option<usize> {
        self.lookup.rows.map(usize::from)
    }

    pub(crate) fn width_of(&self, dtype: DType) -> Option<usize> {
        self.tables.elements.iter().find(|row| row.dtype == dtype).map(|row| row.width)
    }

    #[inline]
    pub(crate) fn lists(&self, op: Op) -> bool {
        self.lookup.ops.get(op as usize).is_some_and(|&listed| listed)
    }

    /// Whether the set has kernels of an operator for an index type.
    pub(crate) fn takes(&self, op: Op, index: IndexType) -> bool {
        !op.rearranges() && self.lists(op) && self.repr(index).is_some()
    }

    /// The position of an index type's representation. A pointer-sized type without one has the position of its width.
    #[inline]
    const fn repr(&self, index: IndexType) -> Option<usize> {
        match self.lookup.reprs[index as usize] {
            Some(repr) => Some(repr as usize),
            None => None,
        }
    }

    /// The fallback set for gathers by an index type; `self` if there is no fallback.
    pub(crate) fn rest_of_gathers(&'static self, index: IndexType) -> &'static KernelSet {
        self.index_rest(index).and_then(|rest| rest.gathers).unwrap_or(self)
    }

    /// The fallback set for scatters by an index type; `self` if there is no fallback.
    pub(crate) fn rest_of_scatters(&'static self, index: IndexType) -> &'static KernelSet {
        self.index_rest(index).and_then(|rest| rest.scatters).unwrap_or(self)
    }

    /// The fallback set for kernels that rearrange space; `self` if there is no fallback.
    pub(crate) fn rest_of_space(&'static self) -> &'static KernelSet {
        self.tables.rests.space.unwrap_or(self)
    }

    fn index_rest(&self, index: IndexType) -> Option<&IndexRest> {
        self.tables.rests.by_repr.get(self.repr(index)?)
    }

    /// Whether a rank has its own kernels.
    pub(crate) fn has_rank(&self, rank: usize) -> bool {
        rank != 0 && self.tables.ranks.iter().any(|&own| usize::from(own) == rank)
    }

    /// The position of the kernels of a rank; of the kernels for any rank, if the rank has none of its own.
    #[inline]
    fn rank(&self, rank: usize) -> Option<usize> {
        let ranks = &self.lookup.ranks;
        ranks.get(rank).unwrap_or(&ranks[0]).map(usize::from)
    }

    #[inline]
    fn level(&self, level: Level) -> Option<&'static LevelTable> {
        Some(&self.tables.levels[usize::from(self.lookup.levels[level as usize]?)])
    }

    #[inline(always)]
    pub(crate) fn index_kernel(
        &self,
        op: Op,
        width: usize,
        index: IndexType,
        rank: usize,
        level: Level,
    ) -> Option<&'static IndexEntry> {
        debug_assert!(!op.rearranges() && !op.scatters());
        if !self.lists(op) {
            return None;
        }
        let (repr, rank) = (self.repr(index)?, self.rank(rank)?);
        let at = (width * self.tables.reprs.len() + repr) * self.tables.ranks.len() + rank;
        self.level(level)?.index.get(at).map(|kernel| &kernel.entry)
    }

    #[inline]
    pub(crate) fn scatter_kernel(
        &self,
        op: Op,
        index: IndexType,
        rank: usize,
        level: Level,
    ) -> Option<&'static ScatterEntry> {
        if !op.scatters() || !self.lists(op) {
            return None;
        }
        let (repr, rank) = (self.repr(index)?, self.rank(rank)?);
        self.level(level)?.scatter.get(repr * self.tables.ranks.len() + rank).map(|kernel| &kernel.entry)
    }

    #[inline]
    pub(crate) fn space_kernel(&self, width: usize, rank: usize, level: Level) -> Option<&'static SpaceEntry> {
        let rank = self.rank(rank)?;
        self.level(level)?.space.get(width * self.tables.ranks.len() + rank).map(|kernel| &kernel.entry)
    }
}

impl core::fmt::Debug for KernelSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KernelSet").field("name", &self.name()).field("functions", &self.function_count()).finish()
    }
}

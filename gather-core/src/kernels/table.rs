//! The table of kernels: what the macro emits and plans look up.
//!
//! A row is a data type x index type x rank x operator x level. Rows are not stored one by one. Data types map to
//! widths and index types to representations, and the gathers share their kernels, as the scatters do. The kernels
//! stand in arrays ordered by width (not those of scatters), representation and rank, so that a row is found by
//! arithmetic.

use gather_macros::limit;

use crate::kernels::args::{IndexArgs, Outcome};
use crate::kernels::bodies::one_pass_of;
use crate::kernels::isa::Isa;
use crate::kernels::moves::Width;
use crate::kernels::moves::placed::RowSize;
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::space::args::SpaceArgs;
use crate::types::element::DType;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::op::Op;

/// A kernel of an index operator.
pub(crate) type IndexKernel = unsafe fn(&IndexArgs<'_>) -> Outcome;

/// What a set of kernels is made of.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The static's name.
    pub name: &'static str,
    /// Data types and the width of each.
    pub elements: &'static [ElementRow],
    /// Index types and the representation of each.
    pub indices: &'static [IndexRow],
    /// Ranks of loop nests in order; 0, last, for any.
    pub ranks: &'static [u8],
    /// The operators: gathers run on `LevelTable::index`, scatters on `LevelTable::scatter`, those that rearrange space
    /// on `LevelTable::space`.
    pub ops: &'static [Op],
    /// Widths.
    pub widths: &'static [WidthRow],
    /// Representations of indices.
    pub reprs: &'static [&'static str],
    /// The kernels of every level.
    pub levels: &'static [LevelTable],
}

/// A data type and its width.
#[derive(Clone, Copy)]
pub struct ElementRow {
    /// The data type.
    pub dtype: DType,
    /// Position in [`Tables::widths`].
    pub width: usize,
}

/// An index type and its representation.
#[derive(Clone, Copy)]
pub struct IndexRow {
    /// The index type.
    pub index: IndexType,
    /// Position in [`Tables::reprs`].
    pub repr: usize,
}

/// A width.
#[derive(Clone, Copy)]
pub struct WidthRow {
    /// Its name in kernels' names.
    pub name: &'static str,
    /// Its bytes; `None` for rows of any length.
    pub bytes: Option<usize>,
}

/// The kernels of one level.
#[derive(Clone, Copy)]
pub struct LevelTable {
    /// The level.
    pub level: Level,
    /// Ordered by width, representation, rank; empty without a gather.
    pub index: &'static [IndexEntry],
    /// Ordered by representation, rank; empty without a scatter.
    pub scatter: &'static [ScatterEntry],
    /// Ordered by width, rank; empty without an operator that rearranges space.
    pub space: &'static [SpaceEntry],
}

/// A kernel of the gathers under its name.
#[derive(Clone, Copy, Debug)]
pub struct IndexEntry {
    /// The function's name.
    pub name: &'static str,
    /// The function.
    pub run: unsafe fn(&IndexArgs<'_>) -> Outcome,
    /// What runs rows of a size in its place, in one pass; packed or not.
    pub(crate) one_pass: fn(RowSize, bool) -> IndexKernel,
}

impl IndexEntry {
    /// The entry of a kernel for rows of the width `W`, the indices `I` and the level `L`.
    #[must_use]
    pub const fn new<W: Width, I: Index, L: Isa>(
        name: &'static str,
        run: unsafe fn(&IndexArgs<'_>) -> Outcome,
    ) -> Self {
        IndexEntry { name, run, one_pass: one_pass_of::<W, I, L> }
    }
}

/// A kernel of the scatters under its name.
#[derive(Clone, Copy, Debug)]
pub struct ScatterEntry {
    /// The function's name.
    pub name: &'static str,
    /// The function.
    pub run: unsafe fn(&IndexArgs<'_>) -> Outcome,
}

/// A kernel of the operators that rearrange space under its name.
#[derive(Clone, Copy, Debug)]
pub struct SpaceEntry {
    /// The function's name.
    pub name: &'static str,
    /// The function.
    pub run: unsafe fn(&SpaceArgs<'_>),
}

/// A set of kernels: what [`kernels!`](crate::kernels!) makes a static of.
///
/// Invariant T1: each kernel of the tables runs what its place says: the operator, the width, the representation, the
/// rank and the level.
pub struct KernelSet {
    tables: Tables,
    lookup: Lookup,
    shaped: &'static [ShapedRow],
}

/// Where the widths, representations and ranks of a set stand in its tables. They are found at compile time, for
/// calls that are not planned.
struct Lookup {
    /// By bytes, up to [`NARROW`].
    widths: [Option<u16>; NARROW + 1],
    /// Of rows of any length.
    rows: Option<u16>,
    /// The greatest bytes of a width.
    widest: usize,
    /// By index type.
    reprs: [Option<u16>; INDEX_TYPES],
    /// By the rank of the loop nest; of the kernels for any rank at 0.
    ranks: [Option<u16>; MAX_RANK + 1],
    /// By level.
    levels: [Option<u16>; Level::ALL.len()],
    /// Whether there are kernels, by operator.
    ops: [bool; OPS],
}

/// Bytes of the greatest width that is found by its bytes; greater ones are looked for.
const NARROW: usize = 16;
const OPS: usize = limit!(ops);
const INDEX_TYPES: usize = limit!(index_types);
/// The most loops of a loop nest that is unrolled.
const MAX_RANK: usize = limit!(max_rank);

/// The macro knows every operator, index type and level.
const _: () = {
    assert!(OPS == Op::ScatterNd as usize + 1);
    assert!(INDEX_TYPES == IndexType::ALL.len());
    assert!(limit!(levels) == Level::ALL.len());
};

impl Lookup {
    const fn new(tables: &Tables) -> Self {
        let mut lookup = Lookup {
            widths: [None; NARROW + 1],
            rows: None,
            widest: 0,
            reprs: [None; INDEX_TYPES],
            ranks: [None; MAX_RANK + 1],
            levels: [None; Level::ALL.len()],
            ops: [false; OPS],
        };
        // From the last on: of several, the first counts.
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
        let mut at = tables.ranks.len();
        while at > 0 {
            at -= 1;
            lookup.ranks[tables.ranks[at] as usize] = Some(at as u16);
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
    /// A set from what the macro emits.
    ///
    /// # Panics
    /// At compile time when the arrays have not the lengths that their order implies, or a rank is above what the
    /// macro unrolls.
    ///
    /// # Safety
    /// Each kernel of the tables runs what its place says (T1).
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn new(tables: Tables) -> Self {
        let (mut gathers, mut scatters, mut spaces) = (0, 0, 0);
        let mut i = 0;
        while i < tables.ops.len() {
            if tables.ops[i].rearranges() {
                spaces = tables.widths.len() * tables.ranks.len();
            } else if tables.ops[i].scatters() {
                scatters = tables.reprs.len() * tables.ranks.len();
            } else {
                gathers = tables.widths.len() * tables.reprs.len() * tables.ranks.len();
            }
            i += 1;
        }
        let mut level = 0;
        while level < tables.levels.len() {
            let table = &tables.levels[level];
            let is_whole = table.index.len() == gathers && table.scatter.len() == scatters;
            assert!(is_whole && table.space.len() == spaces, "a kernel table of another length");
            level += 1;
        }
        let mut row = 0;
        while row < tables.elements.len() {
            assert!(tables.elements[row].width < tables.widths.len(), "an element without kernels");
            row += 1;
        }
        let mut row = 0;
        while row < tables.indices.len() {
            assert!(tables.indices[row].repr < tables.reprs.len(), "an index type without kernels");
            row += 1;
        }
        let lookup = Lookup::new(&tables);
        KernelSet { tables, lookup, shaped: &[] }
    }

    /// A set of kernels for declared shapes: what [`specialize!`](crate::specialize!) makes a static of.
    #[doc(hidden)]
    #[must_use]
    pub const fn shaped(name: &'static str, shaped: &'static [ShapedRow]) -> Self {
        let tables =
            Tables { name, elements: &[], indices: &[], ranks: &[], ops: &[], widths: &[], reprs: &[], levels: &[] };
        let lookup = Lookup::new(&tables);
        KernelSet { tables, lookup, shaped }
    }

    /// The kernels for declared shapes.
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
    pub fn functions(&self) -> usize {
        let of_level = |level: &LevelTable| level.index.len() + level.scatter.len() + level.space.len();
        self.tables.levels.iter().map(of_level).sum::<usize>() + self.shaped.len() * ShapedRow::LEVELS.len()
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The position of the width of so many bytes.
    #[inline]
    pub(crate) fn width(&self, bytes: usize) -> Option<usize> {
        match self.lookup.widths.get(bytes) {
            Some(position) => position.map(usize::from),
            None if bytes > self.lookup.widest => None,
            None => self.tables.widths.iter().position(|width| width.bytes == Some(bytes)),
        }
    }

    /// The position of rows of any length.
    #[inline]
    pub(crate) fn rows(&self) -> Option<usize> {
        self.lookup.rows.map(usize::from)
    }

    /// The position of a data type's width.
    pub(crate) fn width_of(&self, dtype: DType) -> Option<usize> {
        self.tables.elements.iter().find(|row| row.dtype == dtype).map(|row| row.width)
    }

    /// Whether an operator is in the set's list.
    #[inline]
    pub(crate) fn lists(&self, op: Op) -> bool {
        self.lookup.ops.get(op as usize).is_some_and(|&listed| listed)
    }

    /// Whether the set has kernels of an operator for an index type.
    pub(crate) fn takes(&self, op: Op, index: IndexType) -> bool {
        !op.rearranges() && self.lists(op) && self.repr(index).is_some()
    }

    /// The position of an index type's representation: of a pointer-sized type, its own or that of its width.
    #[inline]
    fn repr(&self, index: IndexType) -> Option<usize> {
        let reprs = &self.lookup.reprs;
        reprs[index as usize].or(reprs[index.fixed_width() as usize]).map(usize::from)
    }

    /// Whether loop nests of a rank have kernels of their own.
    pub(crate) fn has_rank(&self, rank: usize) -> bool {
        rank != 0 && self.lookup.ranks.get(rank).is_some_and(Option::is_some)
    }

    /// The position of the kernels for loop nests of a rank, or of those for any rank.
    #[inline]
    fn rank(&self, rank: usize) -> Option<usize> {
        let ranks = &self.lookup.ranks;
        let exact = ranks.get(rank).copied().flatten();
        exact.or(ranks[0]).map(usize::from)
    }

    #[inline]
    fn level(&self, level: Level) -> Option<&'static LevelTable> {
        Some(&self.tables.levels[usize::from(self.lookup.levels[level as usize]?)])
    }

    /// The kernel of a gather.
    #[inline]
    pub(crate) fn index_kernel(
        &self,
        op: Op,
        width: usize,
        index: IndexType,
        rank: usize,
        level: Level,
    ) -> Option<&'static IndexEntry> {
        if op.rearranges() || op.scatters() || !self.lists(op) {
            return None;
        }
        let (repr, rank) = (self.repr(index)?, self.rank(rank)?);
        self.level(level)?.index.get((width * self.tables.reprs.len() + repr) * self.tables.ranks.len() + rank)
    }

    /// The kernel of a scatter.
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
        self.level(level)?.scatter.get(repr * self.tables.ranks.len() + rank)
    }

    /// The kernel of the operators that rearrange space.
    #[inline]
    pub(crate) fn space_kernel(&self, width: usize, rank: usize, level: Level) -> Option<&'static SpaceEntry> {
        let rank = self.rank(rank)?;
        self.level(level)?.space.get(width * self.tables.ranks.len() + rank)
    }
}

impl core::fmt::Debug for KernelSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KernelSet").field("name", &self.name()).field("functions", &self.functions()).finish()
    }
}

//! The table of kernels: what the macro emits and the dispatcher reads.
//!
//! A row is a data type x index type x rank x operator x level. Rows are not stored one by one: data types map to
//! units, index types to words, the operators on indices share their kernels, and the kernels stand in arrays ordered by
//! unit, word and rank, so that a row is found by arithmetic.

#![forbid(unsafe_code)]

use crate::element::DType;
use crate::error::Op;
use crate::index::IndexType;
use crate::kernels::args::{CopyArgs, IndexArgs, Verdict};
use crate::level::Level;

/// A kernel of an index operator.
pub type IndexKernel = unsafe fn(&IndexArgs<'_>) -> Verdict;
/// A kernel of BatchToSpace.
pub type CopyKernel = unsafe fn(&CopyArgs<'_>);

/// What a set of kernels is made of.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The static's name.
    pub name: &'static str,
    /// Data types and the unit that moves each.
    pub elements: &'static [ElementRow],
    /// Index types and the word that reads each.
    pub indices: &'static [IndexRow],
    /// Nest ranks in order; 0, last, for any.
    pub ranks: &'static [u8],
    /// The operators: those on indices run on `LevelTable::index`, BatchToSpace on `LevelTable::copy`.
    pub ops: &'static [Op],
    /// Units.
    pub units: &'static [UnitRow],
    /// Index words.
    pub words: &'static [&'static str],
    /// The kernels of every level.
    pub levels: &'static [LevelTable],
}

/// A data type and the unit that moves it.
#[derive(Clone, Copy)]
pub struct ElementRow {
    /// The data type.
    pub dtype: DType,
    /// Position in [`Tables::units`].
    pub unit: usize,
}

/// An index type and the word that reads it.
#[derive(Clone, Copy)]
pub struct IndexRow {
    /// The index type.
    pub index: IndexType,
    /// Position in [`Tables::words`].
    pub word: usize,
}

/// A unit.
#[derive(Clone, Copy)]
pub struct UnitRow {
    /// Its name in kernels' names.
    pub name: &'static str,
    /// Its bytes; 0 for rows of any length.
    pub bytes: usize,
}

/// The kernels of one level.
#[derive(Clone, Copy)]
pub struct LevelTable {
    /// The level.
    pub level: Level,
    /// Ordered by unit, word, rank; empty without an operator on indices.
    pub index: &'static [IndexEntry],
    /// Ordered by unit, rank; empty without BatchToSpace.
    pub copy: &'static [CopyEntry],
}

/// A kernel of the index operators under its name.
#[derive(Clone, Copy, Debug)]
pub struct IndexEntry {
    /// The function's name.
    pub name: &'static str,
    /// The function.
    pub run: IndexKernel,
}

/// A kernel of BatchToSpace under its name.
#[derive(Clone, Copy, Debug)]
pub struct CopyEntry {
    /// The function's name.
    pub name: &'static str,
    /// The function.
    pub run: CopyKernel,
}

/// A set of kernels: what [`kernels!`](crate::kernels!) makes a static of.
pub struct KernelSet {
    tables: Tables,
    positions: Positions,
}

/// Where the units, words and ranks of a set stand in its tables, found at compile time for calls that are not planned.
struct Positions {
    /// By bytes: of the units up to [`NARROW`], and of rows at 0.
    units: [Option<u16>; NARROW + 1],
    /// By index type.
    words: [Option<u16>; INDEX_TYPES],
    /// By nest rank; of the rank-generic kernels at 0.
    ranks: [Option<u16>; MAX_RANK + 1],
}

/// Bytes of the widest unit that is found by its bytes; wider ones are looked for.
const NARROW: usize = 16;
const INDEX_TYPES: usize = IndexType::Usize as usize + 1;
/// The most loops that a nest is unrolled for.
const MAX_RANK: usize = 8;

impl Positions {
    const fn new(tables: &Tables) -> Self {
        let mut positions =
            Positions { units: [None; NARROW + 1], words: [None; INDEX_TYPES], ranks: [None; MAX_RANK + 1] };
        // From the last on: of several, the first counts.
        let mut at = tables.units.len();
        while at > 0 {
            at -= 1;
            if tables.units[at].bytes <= NARROW {
                positions.units[tables.units[at].bytes] = Some(at as u16);
            }
        }
        let mut at = tables.indices.len();
        while at > 0 {
            at -= 1;
            positions.words[tables.indices[at].index as usize] = Some(tables.indices[at].word as u16);
        }
        let mut at = tables.ranks.len();
        while at > 0 {
            at -= 1;
            positions.ranks[tables.ranks[at] as usize] = Some(at as u16);
        }
        positions
    }
}

impl KernelSet {
    /// A set from what the macro emits.
    ///
    /// # Panics
    /// At compile time when the arrays have not the lengths that their order implies, or a rank is above 8.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(tables: Tables) -> Self {
        let (mut gathers, mut copies) = (0, 0);
        let mut i = 0;
        while i < tables.ops.len() {
            match tables.ops[i] {
                Op::BatchToSpace => copies = tables.units.len() * tables.ranks.len(),
                _ => gathers = tables.units.len() * tables.words.len() * tables.ranks.len(),
            }
            i += 1;
        }
        let mut level = 0;
        while level < tables.levels.len() {
            let table = &tables.levels[level];
            assert!(table.index.len() == gathers && table.copy.len() == copies, "a kernel table of another length");
            level += 1;
        }
        let positions = Positions::new(&tables);
        KernelSet { tables, positions }
    }

    /// The name of the static.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.tables.name
    }

    /// The number of distinct functions in the set.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.tables.levels.iter().map(|level| level.index.len() + level.copy.len()).sum()
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The position of the unit that moves `bytes` bytes; 0 bytes stands for rows.
    #[inline]
    pub(crate) fn unit(&self, bytes: usize) -> Option<usize> {
        match self.positions.units.get(bytes) {
            Some(position) => position.map(usize::from),
            None => self.tables.units.iter().position(|unit| unit.bytes == bytes),
        }
    }

    /// The position of the unit that moves a data type.
    pub(crate) fn unit_of(&self, dtype: DType) -> Option<usize> {
        self.tables.elements.iter().find(|row| row.dtype == dtype).map(|row| row.unit)
    }

    /// The position of the word that reads an index type.
    #[inline]
    pub(crate) fn word(&self, index: IndexType) -> Option<usize> {
        self.positions.words[index as usize].map(usize::from)
    }

    /// The position of a nest rank, or of the rank-generic kernels.
    #[inline]
    fn rank(&self, rank: usize) -> Option<usize> {
        let ranks = &self.positions.ranks;
        let exact = ranks.get(rank).copied().flatten();
        exact.or(ranks[0]).map(usize::from)
    }

    /// Whether a nest rank has kernels of its own.
    pub(crate) fn has_rank(&self, rank: usize) -> bool {
        rank != 0 && self.positions.ranks.get(rank).is_some_and(Option::is_some)
    }

    fn level(&self, level: Level) -> Option<&'static LevelTable> {
        self.tables.levels.iter().find(|table| table.level == level)
    }

    /// The kernel of an index operator.
    #[inline]
    pub(crate) fn index_kernel(
        &self,
        op: Op,
        unit: usize,
        word: usize,
        rank: usize,
        level: Level,
    ) -> Option<&'static IndexEntry> {
        if op == Op::BatchToSpace || !self.tables.ops.contains(&op) {
            return None;
        }
        let rank = self.rank(rank)?;
        self.level(level)?.index.get((unit * self.tables.words.len() + word) * self.tables.ranks.len() + rank)
    }

    /// The kernel of BatchToSpace.
    #[inline]
    pub(crate) fn copy_kernel(&self, unit: usize, rank: usize, level: Level) -> Option<&'static CopyEntry> {
        let rank = self.rank(rank)?;
        self.level(level)?.copy.get(unit * self.tables.ranks.len() + rank)
    }
}

impl core::fmt::Debug for KernelSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KernelSet").field("name", &self.name()).field("functions", &self.functions()).finish()
    }
}

//! The functions that kernels of index operators run for a width of rows, at a level.

#![forbid(unsafe_code)]

use crate::kernels::bodies::elements::{self, PlaneFn};
use crate::kernels::bodies::{Pass, one_pass};
use crate::kernels::levels::Isa;
use crate::kernels::moves::MOST_ELEMENT;
use crate::kernels::moves::placed::{Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::moves::{Fixed, GatherFn, LookUpFn, MoveJobFn, Rows, Width};
use crate::kernels::nest::args::IndexKernel;
use crate::types::index::Index;

/// A width of rows that index operators move.
pub trait IndexWidth: Width {
    /// Bytes of the rows that [`IndexWidth::gather`] moves, if [`gathers_rows`].
    const GATHERED: usize;

    fn move_rows<L: Isa>(level: L) -> MoveJobFn;

    /// The kernel that resolves and moves rows of a size in one pass, for [`Method::Direct`](crate::Method::Direct);
    /// `None` for tuples of rows that are not elements.
    fn one_pass<I: Index, L: Isa>(size: RowSize, pass: Pass) -> Option<IndexKernel>;

    /// The function that runs a plane row by row, from any address; `None` for rows that are not elements.
    #[must_use]
    fn one_by_one<I: Index>() -> Option<PlaneFn> {
        None
    }

    /// The function that looks elements up in a table; `None` if the level has no table.
    #[must_use]
    fn look_up<L: Isa>(_: L) -> Option<LookUpFn> {
        None
    }

    fn gather<I: Index, L: Isa>(level: L) -> GatherFn;
}

/// Whether levels that gather resolve and move rows of `row` bytes by indices of `index` bytes in one loop. Rows of 12
/// bytes gain only if data is large, and indices of one and two bytes do not reach large data.
pub(crate) const fn gathers_rows(row: usize, index: usize) -> bool {
    matches!(row, 4 | 8) || (row == 12 && index >= 4)
}

impl<const BYTES: usize> IndexWidth for Fixed<BYTES> {
    const GATHERED: usize = BYTES;

    #[inline(always)]
    fn move_rows<L: Isa>(level: L) -> MoveJobFn {
        level.move_fixed::<BYTES>()
    }

    #[inline(always)]
    fn one_pass<I: Index, L: Isa>(_: RowSize, pass: Pass) -> Option<IndexKernel> {
        Some(match pass {
            Pass::Rows { packed: true } => one_pass::kernel::<Exactly<BYTES>, I, L, true>(),
            Pass::Rows { .. } if const { BYTES > MOST_ELEMENT } => one_pass::kernel::<Exactly<BYTES>, I, L, false>(),
            Pass::Rows { .. } => elements::kernel::<BYTES, I>,
            Pass::Tuples if const { BYTES > MOST_ELEMENT } => return None,
            Pass::Tuples => elements::tuples::<BYTES, I>,
        })
    }

    fn one_by_one<I: Index>() -> Option<PlaneFn> {
        if const { BYTES <= MOST_ELEMENT } { Some(elements::one_by_one::<BYTES, I>) } else { None }
    }

    #[inline(always)]
    fn look_up<L: Isa>(level: L) -> Option<LookUpFn> {
        level.look_up::<BYTES>()
    }

    #[inline(always)]
    fn gather<I: Index, L: Isa>(level: L) -> GatherFn {
        level.gather::<BYTES, I>()
    }
}

impl IndexWidth for Rows {
    const GATHERED: usize = 12;

    #[inline(always)]
    fn move_rows<L: Isa>(level: L) -> MoveJobFn {
        level.move_rows()
    }

    #[inline(always)]
    fn one_pass<I: Index, L: Isa>(size: RowSize, pass: Pass) -> Option<IndexKernel> {
        let Pass::Rows { .. } = pass else { return None };
        Some(by_size!(size, |Way| one_pass::kernel::<Way, I, L, false>()))
    }

    /// Rows that are gathered have 12 bytes (K9).
    #[inline(always)]
    fn gather<I: Index, L: Isa>(level: L) -> GatherFn {
        level.gather::<12, I>()
    }
}

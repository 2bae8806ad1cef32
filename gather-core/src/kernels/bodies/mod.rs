//! The bodies of loop nests: the functions that kernels of index operators run on each plane, by the plan's method.
//!
//! A plane is the inner loop and the loop around it. A body runs any loop nest of its method (K9). `Direct` first
//! checks whether a loop over elements suffices.
//!
//! Resolving depends on the index type, and moving on the width. Loops over blocks, chunks and rounds call a function
//! of each kind through a pointer, once for many rows. So kernels of every index type, width and level share these
//! loops. `Gathered` and the one-pass kernels resolve and move in one loop, compiled for each index type and width.

mod blocks;
mod direct;
pub(crate) mod elements;
mod filled;
mod gathered;
mod one_pass;
pub(crate) mod padded;
mod prefetched;
pub(crate) mod rearranged;
#[cfg(feature = "scatter")]
mod scattered;
mod width;

pub(crate) use blocks::{run_block, run_blocks};
pub(crate) use direct::{direct_converted, fill_plane};
pub(crate) use filled::{MoveBy, Moves, Short};
#[cfg(feature = "scatter")]
pub(crate) use scattered::scatter_body;
pub(super) use width::IndexWidth;
pub(crate) use width::gathers_rows;

use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::FillRow;
use crate::kernels::moves::placed::RowSize;
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::{Plane, Strip};
use crate::kernels::nest::positions::{Block, Positions};
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::prefetch::NextSlice;
use crate::kernels::resolve::block::ResolveFns;
use crate::types::index::Index;
use crate::types::method::Method;

pub(crate) type Body = fn(&mut State, Plane<'_>);

/// Maximum row bytes to prefetch a round ahead: longer rows would not stay in the first-level cache.
pub(crate) const MOST_PREFETCHED: usize = 256;

/// The body of a kernel, by its plan's method. Kernels of every rank share this function.
#[inline(never)]
#[must_use]
pub(crate) fn body<W: IndexWidth, I: Index, L: Isa>(args: &IndexArgs<'_>) -> Body {
    let spec = args.spec();
    debug_assert!(L::LEVEL <= *spec.level, "K7: {:?} at {:?}", L::LEVEL, spec.level);
    match spec.method {
        Method::Blocks => blocks::blocks::<W, I, L>,
        _ if const { L::LEVEL.is_fallback() } => direct::direct::<W, I, L::Plain>,
        Method::Chunks => blocks::chunks::<W, I, L>,
        Method::Gathered if const { L::GATHERS && gathers_rows(W::GATHERED, size_of::<I>()) } => {
            gathered::gathered::<W, I, L>
        }
        Method::Prefetched => prefetched::prefetched::<W, I, L>,
        Method::Table => blocks::table::<W, I, L>,
        Method::Streamed if spec.row <= MOST_PREFETCHED => prefetched::streamed::<I, L>,
        Method::Streamed => blocks::streamed::<I, L>,
        Method::StridedCopy => blocks::strided::<W, I, L::Plain>,
        _ => direct::direct::<W, I, L::Plain>,
    }
}

/// How rows or elements are resolved and moved in one pass.
#[derive(Clone, Copy, Debug)]
pub enum Pass {
    /// Rows of contiguous indices, contiguous in the output; `packed` if elements are contiguous in data.
    Rows { packed: bool },
    /// Elements indexed by tuples, without a fill.
    Tuples,
}

/// The kernel that resolves and moves rows of a size in one pass, for [`Method::Direct`] on one plane. Few rows and
/// short inner loops gain, since it sets up no state. `None` for tuples of rows that are not elements.
#[must_use]
pub(crate) fn one_pass_of<W: IndexWidth, I: Index, L: Isa>(size: RowSize, pass: Pass) -> Option<IndexKernel> {
    W::one_pass::<I, L::Plain>(size, pass)
}

/// The state of one kernel run, shared by its planes.
pub(crate) struct State {
    positions: Positions,
    block: Block,
    /// The address of the indices of the resolved block, if it is the whole inner loop; else null.
    resolved: *const u8,
    /// Rows written; in a scatter, rows reduced or skipped.
    done: usize,
    /// Rows of the loop nest.
    asked: usize,
    fill: FillRow,
    /// The length of whole strips, for an assertion.
    #[cfg(debug_assertions)]
    whole_strips: Option<usize>,
}

/// The rows of a block, and the fill of rows out of range.
type RowsAndFill<'s> = (ResolvedRows<'s>, &'s mut FillRow);

impl State {
    #[inline(always)]
    #[must_use]
    pub(crate) fn new(args: &IndexArgs<'_>) -> Self {
        args.debug_check();
        State {
            positions: Positions::new(),
            block: Block::new(),
            resolved: core::ptr::null(),
            done: 0,
            asked: args.rows(),
            fill: FillRow::new(),
            #[cfg(debug_assertions)]
            whole_strips: None,
        }
    }

    /// Resolves the indices of a strip of at most [`BLOCK`](crate::kernels::BLOCK) iterations, unless the previous
    /// block had the same indices. Returns its rows, and the fill of rows out of range.
    ///
    /// If the strip is `whole`, a later strip may have its indices. All `whole` strips of a state have one length: the
    /// inner loop's, or 1 for a strided copy.
    #[inline(always)]
    fn resolve(&mut self, strip: &Strip<'_>, whole: bool, fns: ResolveFns, next: NextSlice) -> RowsAndFill<'_> {
        #[cfg(debug_assertions)]
        assert!(!whole || *self.whole_strips.get_or_insert(strip.n()) == strip.n(), "whole strips of two lengths");
        let State { positions, block, resolved, fill, .. } = self;
        let index = strip.at().index;
        // Positions of a partial block are never reused: another strip with the same first index may be longer.
        if !whole || index != *resolved {
            *resolved = if whole { index } else { core::ptr::null() };
            block.resolve(positions, strip, fns);
        }
        // SAFETY: the positions have just been resolved, or earlier for another whole strip: `index == *resolved`, and
        // the step and the length are equal too. The result borrows the positions.
        (unsafe { ResolvedRows::new(strip, positions.as_ptr(), next, *block) }, fill)
    }

    #[inline(always)]
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of_rows(self.done, self.asked)
    }
}

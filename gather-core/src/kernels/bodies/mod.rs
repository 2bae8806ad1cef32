//! The bodies of loop nests: what a kernel of an index operator runs on each plane, by the method that its plan has
//! chosen.
//!
//! A plane is the inner loop and the one around it. A body takes what its method takes (K9) and looks at no shape to
//! choose another way; only `Direct` looks whether a loop over elements does.
//!
//! What resolves indices depends on their type, and what moves rows on the width. Loops over blocks, chunks and rounds
//! call both by pointers, once for many rows: there is one loop for each level, which kernels of every index type and
//! width share. `Gathered` and the kernels of one pass resolve and move in one loop, and have one for each type and
//! width.

mod blocks;
mod chunks;
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
mod strided;
mod width;

pub(crate) use blocks::{run_block, run_blocks};
pub(crate) use direct::{direct_converted, fill_plane};
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

/// Runs a plane.
pub(crate) type Body = fn(&mut State, Plane<'_>);

/// Bytes of a row up to which rows are prefetched a round ahead: longer ones would not stay in the first-level cache.
pub(crate) const MOST_PREFETCHED: usize = 256;

/// The body of a kernel, by its plan's method: a function of its own, which kernels of every rank share.
#[inline(never)]
#[must_use]
pub(crate) fn body<W: IndexWidth, I: Index, L: Isa>(args: &IndexArgs<'_>) -> Body {
    let spec = args.spec();
    debug_assert!(L::LEVEL <= *spec.level, "K7: {:?} at {:?}", L::LEVEL, spec.level);
    match spec.method {
        Method::Blocks => blocks::blocks::<W, I, L>,
        _ if const { L::LEVEL.is_fallback() } => direct::direct::<W, I, L::Plain>,
        Method::Chunks => chunks::chunks::<W, I, L>,
        Method::Gathered if const { L::GATHERS && gathers_rows(W::GATHERED, size_of::<I>()) } => {
            gathered::gathered::<W, I, L>
        }
        Method::Prefetched => prefetched::prefetched::<W, I, L>,
        Method::Table if const { size_of::<I>() == 1 } && blocks::are_bytes(args) => blocks::byte_table::<I, L>,
        Method::Table => blocks::table::<W, I, L>,
        Method::Streamed if spec.row <= MOST_PREFETCHED => prefetched::streamed::<I, L>,
        Method::Streamed => blocks::streamed::<I, L>,
        Method::StridedCopy => strided::strided::<W, I, L::Plain>,
        _ => direct::direct::<W, I, L::Plain>,
    }
}

/// Rows, or elements, that are resolved and moved in one pass.
#[derive(Clone, Copy, Debug)]
pub enum Pass {
    /// Rows of contiguous indices that are contiguous in the output, and elements in data, or not.
    Rows { packed: bool },
    /// Elements that tuples name, none of which is filled.
    Tuples,
}

/// The kernel that resolves rows of a size and moves them in one pass, for [`Method::Direct`] on one plane: for few
/// rows, or few at a time, which set up no state. `None` for tuples of rows that are no elements.
#[must_use]
pub(crate) fn one_pass_of<W: IndexWidth, I: Index, L: Isa>(size: RowSize, pass: Pass) -> Option<IndexKernel> {
    W::one_pass::<I, L::Plain>(size, pass)
}

/// The state of one run of a kernel, which its planes share.
pub(crate) struct State {
    positions: Positions,
    block: Block,
    /// Where the indices of the resolved block lie, if it is all of the inner loop; else null.
    resolved: *const u8,
    /// Rows that have been written, or reduced or skipped by a scatter, and rows of the loop nest.
    done: usize,
    asked: usize,
    fill: FillRow,
    /// The length of strips that are whole, for an assertion.
    #[cfg(debug_assertions)]
    whole_strips: Option<usize>,
}

/// The rows of a block, and what fills those that are out of range.
type RowsAndFill<'s> = (ResolvedRows<'s>, &'s mut FillRow);

impl State {
    /// The state before the first plane.
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

    /// Resolves the indices of a strip of at most [`BLOCK`](crate::kernels::BLOCK) iterations, unless they are those of
    /// the block before; returns its rows, and what fills those that are out of range. Where the strip is `whole`, the
    /// inner loop may come back to its indices.
    ///
    /// Whole strips of one state have one length: all of the inner loop, or the one iteration that stands for it.
    #[inline(always)]
    fn resolve(&mut self, strip: &Strip<'_>, whole: bool, fns: ResolveFns, next: NextSlice) -> RowsAndFill<'_> {
        #[cfg(debug_assertions)]
        assert!(!whole || *self.whole_strips.get_or_insert(strip.n()) == strip.n(), "whole strips of two lengths");
        let State { positions, block, resolved, fill, .. } = self;
        let index = strip.at().index;
        // Several blocks share the buffer where the inner loop is longer than one. One that is not all of the loop is
        // not come back to: what begins where it does may be longer.
        if !whole || index != *resolved {
            *resolved = if whole { index } else { core::ptr::null() };
            block.resolve(positions, strip, fns);
        }
        // SAFETY: the positions of the strip: they have just been resolved, or were for another whole strip, which has
        // the same indices, since it begins where this one does, steps as it does, and is as long. They are borrowed.
        (unsafe { ResolvedRows::new(strip, positions.as_ptr(), next, *block) }, fill)
    }

    /// The outcome of a run.
    #[inline(always)]
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::of_rows(self.done, self.asked)
    }
}

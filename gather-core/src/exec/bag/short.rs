//! Short calls of bags: at most [`FEW`] rows, none skipped, resolved in one step and reduced in one step.
//!
//! Between the two steps a call of several tables resolves and prefetches the rows of the next table.

use core::mem::MaybeUninit;

use crate::exec::bag::window::{AHEAD, PLACEHOLDER};
use crate::exec::bag::{BagCall, BagRun};
use crate::kernels::reduce::bag::{BagArgs, BagRows};
use crate::kernels::{Outcome, prefetch};
use crate::plan::FEW;

/// Maximum bytes of rows to prefetch.
const FETCHED: usize = 4 << 10;

pub(super) struct Short {
    /// Invariant: `positions[..n]` is initialised.
    positions: [MaybeUninit<i64>; FEW + AHEAD],
    n: usize,
}

impl Short {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Short { positions: [const { MaybeUninit::uninit() }; FEW + AHEAD], n: 0 }
    }

    /// Resolves the indices of a call that [is short](BagCall::is_short); if `fetches`, prefetches its rows.
    /// [`finish`](Self::finish) may follow if the outcome is complete.
    #[inline(always)]
    pub(super) fn begin(&mut self, call: &BagCall<'_>, fetches: bool) -> Outcome {
        let (plan, n) = (call.plan, call.bags.rows);
        let bad = (call.bags.positions)((call.indices(), 0, &mut self.positions[..n]));
        self.n = n;
        if fetches {
            for &row in &self.rows(n, 0)[..n.min(FETCHED / plan.row_in.max(1))] {
                prefetch(call.data.wrapping_offset(plan.stride.wrapping_mul(row as isize)), plan.row_in);
            }
        }
        Outcome::complete_if(!bad)
    }

    /// Reduces the rows of the last call that began.
    #[inline(always)]
    pub(super) fn finish(&mut self, call: &BagCall<'_>) {
        let (plan, rows) = (call.plan, call.bags.rows);
        let distance = if plan.prefetch_distance < rows { plan.prefetch_distance } else { 0 };
        let (positions, lengths) = (self.rows(rows, distance), call.bags.bounds.lengths());
        let stretch = BagRun { bag: 0, at: 0, rows, positions, lengths, part: None };
        let args = call.args(&stretch, call.data, call.out);
        let args = BagArgs { distance, elements: plan.elements * plan.values, ..args };
        // SAFETY: X1 gives the contract of bags, as for `Chunk::reduce`: all bags and columns, whose output the caller
        // owns. B4: each bag has a row or is zeros, and no row is skipped; B6: `rows + distance` positions.
        (call.reduce_fn())(&unsafe { BagRows::new(args) });
    }

    /// Positions of `n` rows, then `more` placeholders to prefetch.
    #[inline(always)]
    fn rows(&mut self, n: usize, more: usize) -> &[i64] {
        assert!(n <= self.n, "rows of another call");
        self.positions[n..n + more].fill(PLACEHOLDER);
        // SAFETY: `..n` is initialised by the invariant, since `n <= self.n`; `n..n + more` has just been filled.
        unsafe { &*(core::ptr::from_ref(&self.positions[..n + more]) as *const [i64]) }
    }
}

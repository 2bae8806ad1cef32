//! Short calls of bags: at most [`FEW`] rows, which all count, are resolved in one go, and reduced in one go.
//!
//! Between both steps a call of several tables begins with the next table, whose rows are then on their way.

use core::mem::MaybeUninit;

use crate::exec::bag::window::{AHEAD, PLACEHOLDER};
use crate::exec::bag::{BagCall, BagRun};
use crate::kernels::reduce::bag::{BagArgs, BagRows};
use crate::kernels::{Outcome, prefetch};
use crate::plan::FEW;

/// Bytes of the rows that are prefetched.
const FETCHED: usize = 4 << 10;

/// The positions of a short call.
pub(super) struct Short {
    /// Invariant: the first `n` have been written.
    positions: [MaybeUninit<i64>; FEW + AHEAD],
    n: usize,
}

impl Short {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Short { positions: [const { MaybeUninit::uninit() }; FEW + AHEAD], n: 0 }
    }

    /// Resolves the indices of a call that [is short](BagCall::is_short). Its rows are prefetched if it is not to be
    /// finished at once. It may be finished if the outcome is complete.
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

    /// Reduces the rows of the call that was begun last.
    #[inline(always)]
    pub(super) fn finish(&mut self, call: &BagCall<'_>) {
        let (plan, rows) = (call.plan, call.bags.rows);
        let distance = if plan.prefetch_distance < rows { plan.prefetch_distance } else { 0 };
        let (positions, lengths) = (self.rows(rows, distance), call.bags.bounds.lengths());
        let stretch = BagRun { bag: 0, at: 0, rows, positions, lengths, part: None };
        let args = call.args(&stretch, call.data, call.out);
        let args = BagArgs { distance, elements: plan.elements * plan.values, ..args };
        // SAFETY: X1 gives the contract of bags, as for `Chunk::reduce`: all bags and columns, of which the caller has
        // the output to itself; B4, as each bag has a row or is zeros, and all rows count; B6: as many positions were
        // written.
        (call.reduce_fn())(&unsafe { BagRows::new(args) });
    }

    /// The positions of `n` rows, and of `more` to prefetch.
    #[inline(always)]
    fn rows(&mut self, n: usize, more: usize) -> &[i64] {
        assert!(n <= self.n, "rows of another call");
        self.positions[n..n + more].fill(PLACEHOLDER);
        // SAFETY: those of rows by the invariant, and placeholders.
        unsafe { &*(core::ptr::from_ref(&self.positions[..n + more]) as *const [i64]) }
    }
}

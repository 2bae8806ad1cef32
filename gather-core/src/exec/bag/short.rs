//! Short calls of bags: at most [`FEW`] rows, which all count, are resolved in one go, and reduced in one go.
//!
//! Between both steps a call of several tables begins with the next table, whose rows are then on their way.

use core::mem::MaybeUninit;

use crate::exec::bag::window::{AHEAD, PLACEHOLDER};
use crate::exec::bag::{BagOperands, Proven, Stretch};
use crate::kernels::reduce::bag::{BagArgs, BagRows};
use crate::kernels::{Outcome, prefetch};
use crate::types::error::Error;

/// The most rows of a short call.
const FEW: usize = 64;
/// Bytes of the rows that are prefetched.
const FETCHED: usize = 4 << 10;

/// A call whose indices have been resolved, if they are few.
pub(super) struct Begun<'a> {
    call: Option<Proven<'a>>,
    /// Invariant: the first `n` are positions of the indices of `call`, which has `n`. 0 where it is not short.
    positions: [MaybeUninit<i64>; FEW + AHEAD],
    n: usize,
    out_of_range: bool,
}

impl<'a> Begun<'a> {
    /// Without a call.
    #[inline(always)]
    pub(super) fn new() -> Self {
        let positions = [const { MaybeUninit::uninit() }; FEW + AHEAD];
        Begun { call: None, positions, n: 0, out_of_range: false }
    }

    /// Begins a call. Its rows are prefetched if it is not to be finished at once.
    #[inline]
    pub(super) fn begin(&mut self, call: Proven<'a>, fetches: bool) {
        let (plan, request, n) = (&call.plan, call.plan.request(), call.plan.bounds().used());
        self.n = 0;
        let all_count = request.padding.is_none() && !request.skips_negative && plan.axis().dim > 0;
        let is_read_as_it_is = plan.conversion().is_none() && plan.loops().is_empty();
        let is_even = plan.bounds().none_is_empty().is_some() && call.even_weights();
        if n <= FEW && all_count && is_read_as_it_is && is_even {
            self.out_of_range = (plan.positions())((&call.indices(), 0, &mut self.positions[..n]));
            self.n = n;
            if fetches {
                for &row in &self.rows(n)[..n.min(FETCHED / plan.row_in().max(1))] {
                    let at = plan.stride().wrapping_mul(row as isize);
                    prefetch(call.operands.data.wrapping_offset(at), plan.row_in());
                }
            }
        }
        self.call = Some(call);
    }

    /// Finishes the call that was begun, if there is one.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], before anything is written.
    #[inline]
    pub(super) fn finish(&mut self) -> Result<Outcome, Error> {
        let Some(call) = self.call.take() else { return Ok(Outcome::NOTHING) };
        let (plan, n) = (&call.plan, self.n);
        let (1.., Some(lengths)) = (n, plan.bounds().none_is_empty()) else { return call.in_windows() };
        let distance = if plan.prefetch_distance() < n { plan.prefetch_distance() } else { 0 };
        self.positions[n..n + distance].fill(PLACEHOLDER);
        let stretch = Stretch { bag: 0, at: 0, rows: n, positions: self.rows(n + distance), lengths, part: None };
        let BagOperands { data, out, .. } = call.operands;
        let args = call.args(&stretch, &(0..plan.elements()), data, out);
        let args = BagArgs { distance, elements: args.elements * plan.values(), ..args };
        // SAFETY: X1 gives the contract of bags, as for `Piece::reduce`: all bags and columns, of which the caller has
        // the output to itself; B4, as each bag has a row, and all rows count; B6: as many positions were written.
        (call.reduce)(&unsafe { BagRows::new(args) });
        Ok(Outcome::complete_if(!self.out_of_range))
    }

    /// The positions of rows, of which some are placeholders that have just been written.
    #[inline(always)]
    fn rows(&self, n: usize) -> &[i64] {
        let rows = &self.positions[..n];
        // SAFETY: those of indices by the invariant, and placeholders.
        unsafe { &*(core::ptr::from_ref(rows) as *const [i64]) }
    }
}

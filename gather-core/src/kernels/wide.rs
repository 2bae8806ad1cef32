//! The bodies for what the blocked kernels do not take: axes and offsets beyond `i32`, and axes without elements.

use core::marker::PhantomData;

use crate::index::Index;
use crate::kernels::args::{Cursor, IndexArgs, Verdict};
use crate::kernels::block::{Units, fill_row};
use crate::kernels::bodies::IndexBody;
use crate::ops::{IndexRules, OutOfBounds};

/// Resolves and moves lane by lane, in 64-bit arithmetic: any rank, any row, any number of components.
pub(crate) struct Wide<I> {
    out_of_range: bool,
    index: PhantomData<I>,
}

impl<I: Index> IndexBody for Wide<I> {
    fn start(_: &IndexArgs<'_>) -> Self {
        Wide { out_of_range: false, index: PhantomData }
    }

    unsafe fn lanes(&mut self, _: &mut Units, args: &IndexArgs<'_>, mut at: Cursor) {
        let lane = args.lane();
        let rules = IndexRules { negative: args.negative, out_of_bounds: args.out_of_bounds };
        for _ in 0..lane.n {
            let mut units = Some(0i64);
            for component in args.components {
                let index = at.index.wrapping_offset(component.index).cast::<I>();
                // SAFETY: K3 for this lane and component.
                let value = unsafe { index.read_unaligned() };
                let position = rules.resolve(value, component.dim);
                units = units.zip(position).map(|(sum, i)| sum.wrapping_add(i.wrapping_mul(component.scale)));
            }
            match units {
                Some(units) => {
                    let from = at.data.wrapping_offset(args.unit.wrapping_mul(units as isize));
                    // SAFETY: K1, K2 and K4 for this lane: every component is in range.
                    unsafe { at.out.copy_from_nonoverlapping(from, args.row) };
                }
                None => {
                    self.out_of_range = true;
                    if args.out_of_bounds == OutOfBounds::Zero {
                        // SAFETY: K1 and K6 for this lane.
                        unsafe { fill_row(args, at.out) };
                    }
                }
            }
            at = at.step(lane);
        }
    }

    fn verdict(&self) -> Verdict {
        Verdict { out_of_range: self.out_of_range }
    }
}

/// Fills every lane and reads nothing: `OutOfBounds::Zero` on an axis without elements.
pub(crate) struct Fill;

impl IndexBody for Fill {
    fn start(_: &IndexArgs<'_>) -> Self {
        Fill
    }

    unsafe fn lanes(&mut self, _: &mut Units, args: &IndexArgs<'_>, mut at: Cursor) {
        let lane = args.lane();
        for _ in 0..lane.n {
            // SAFETY: K1 and K6 for this lane.
            unsafe { fill_row(args, at.out) };
            at = at.step(lane);
        }
    }

    fn verdict(&self) -> Verdict {
        Verdict { out_of_range: false }
    }
}

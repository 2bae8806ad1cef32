//! Elements one by one, wherever each lies: widths of up to 16 bytes under [`Method::Direct`](crate::Method::Direct).
//!
//! ```text
//! for each element:
//!     resolve its index     (out of range: stop, or select the fill in its place)
//!     move it
//!     step along indices, data and output
//! ```
//!
//! Indices that are not contiguous are not resolved by vectors. What is left of a row is then a load and a store,
//! and to hand it from one loop to another would take as long again.

use core::hint::select_unpredictable;

use crate::kernels::args::{Component, Cursor, IndexArgs, Outcome};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::moves::copy_fixed;
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The most bytes of an element.
pub(crate) const MOST_ELEMENT: usize = 16;

/// Runs the plane at a cursor; returns whether an index was out of range.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(crate) type PlaneFn = unsafe fn(&IndexArgs<'_>, &Cursor) -> bool;

/// Whether [`one_by_one`] takes the rows of a nest, where they have a width that it takes.
#[inline(always)]
pub(super) fn takes(args: &IndexArgs<'_>) -> bool {
    let spec = args.spec;
    let ends = matches!(spec.policy.out_of_bounds, OutOfBounds::Error | OutOfBounds::Zero);
    ends && spec.components.len() == 1 && spec.prefetch_distance == 0
}

/// Runs a plane of elements of `BYTES` bytes.
///
/// # Safety
/// As for [`Body`](super::Body); there is one component, and the policy is `Error` or `Zero`.
#[inline(never)]
pub(crate) unsafe fn one_by_one<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
    debug_assert!(args.spec.row == BYTES && takes(args), "K6, K9");
    if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
        // SAFETY: the caller's promise.
        unsafe { plane::<BYTES, I, true>(args, at) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { plane::<BYTES, I, false>(args, at) }
    }
}

/// As [`one_by_one`]; `FILLS` says whether the policy is `Zero`.
///
/// # Safety
/// As for [`one_by_one`].
#[inline(always)]
unsafe fn plane<const BYTES: usize, I: Index, const FILLS: bool>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
    let fill = if FILLS { repeated::<BYTES>(&args.spec.fill) } else { [0; BYTES] };
    let Component { dim, index: component, .. } = args.spec.components[0];
    let rule = IndexRule::new(args.spec.policy.negative, dim);
    let (outer, inner, stride, mut plane, mut missed) = (*args.outer(), *args.inner(), args.stride, *at, false);
    for _ in 0..outer.n {
        let mut at = plane;
        for _ in 0..inner.n {
            // SAFETY: K3 for this index.
            let (x, inside) = rule.check(unsafe { at.index.wrapping_offset(component).cast::<I>().read_unaligned() });
            if !FILLS && !inside {
                return true;
            }
            let from = at.data.wrapping_offset(stride.wrapping_mul(x as isize));
            // Random indices would mispredict a branch.
            let from = if FILLS { select_unpredictable(inside, from, fill.as_ptr()) } else { from };
            missed |= !inside;
            // SAFETY: K1, K2 and K4 for this row, whose index is in range; or the fill, which is as long.
            unsafe { copy_fixed::<BYTES>(from, at.out) };
            at = at.step(&inner);
        }
        plane = plane.step(&outer);
    }
    missed
}

/// A fill, as often as it goes into `BYTES` bytes.
#[inline(always)]
pub(crate) fn repeated<const BYTES: usize>(fill: &[u8]) -> [u8; BYTES] {
    debug_assert!(!fill.is_empty() && BYTES.is_multiple_of(fill.len()), "K6: a fill");
    let mut bytes = [0; BYTES];
    bytes.chunks_exact_mut(fill.len()).for_each(|part| part.copy_from_slice(fill));
    bytes
}

/// [`one_by_one`] as the kernel of a plane.
///
/// # Safety
/// The kernel contract for the arguments; K9: there are one or two loops and one component, and the policy is `Error`
/// or `Zero`.
pub(crate) unsafe fn kernel<const BYTES: usize, I: Index>(args: &IndexArgs<'_>) -> Outcome {
    args.debug_check();
    // SAFETY: the caller's promise.
    Outcome { out_of_range: unsafe { one_by_one::<BYTES, I>(args, &args.origin) } }
}

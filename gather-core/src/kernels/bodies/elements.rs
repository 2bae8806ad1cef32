//! Elements moved one by one from any address, and elements indexed by tuples: widths of up to 16 bytes under
//! [`Method::Direct`](crate::Method::Direct).
//!
//! ```text
//! for each element:
//!     resolve its index     (out of range: stop, or select the fill as the source)
//!     move it
//!     step along indices, data and output
//! ```
//!
//! Vectors resolve contiguous indices only. An element takes a load and a store; passing its position to another loop
//! would take as long again.

use core::hint::select_unpredictable;

use crate::kernels::bodies::direct::resolve_tuple;
use crate::kernels::index_rule::IndexRule;
use crate::kernels::moves::copy_fixed;
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::types::index::Index;

/// Runs a plane; returns whether all rows have been written.
pub(crate) type PlaneFn = fn(Plane<'_>) -> bool;

/// Whether [`one_by_one`] runs a nest of elements: one component, and no prefetching.
#[inline(always)]
pub(super) fn takes(args: &IndexArgs<'_>) -> bool {
    let spec = args.spec();
    spec.components.len() == 1 && spec.prefetch_distance == 0
}

/// Runs a plane of elements of `BYTES` bytes that [`takes`] accepts.
#[inline(never)]
pub(crate) fn one_by_one<const BYTES: usize, I: Index>(plane: Plane<'_>) -> bool {
    debug_assert!(plane.spec().row == BYTES && takes(plane.args()), "K6, K9");
    if plane.spec().policy.fills() { run::<BYTES, I, true>(plane) } else { run::<BYTES, I, false>(plane) }
}

/// [`one_by_one`], where `FILLS` says whether rows with an index out of range are filled.
#[inline(always)]
fn run<const BYTES: usize, I: Index, const FILLS: bool>(plane: Plane<'_>) -> bool {
    let (args, spec) = (plane.args(), plane.spec());
    let fill = if FILLS { repeated::<BYTES>(&spec.fill) } else { [0; BYTES] };
    let component = spec.components[0];
    let rule = IndexRule::new(spec.policy, component.dim);
    let (outer, inner, stride, mut first) = (*args.outer(), *args.inner(), args.stride(), *plane.at());
    for _ in 0..outer.n {
        let mut at = first;
        for _ in 0..inner.n {
            // SAFETY: K3: the cursor is at an iteration of the plane's loops.
            let index = unsafe { at.index.wrapping_offset(component.index).cast::<I>().read_unaligned() };
            let (x, inside) = rule.check(index);
            if !FILLS && !inside {
                return false;
            }
            let from = at.data.wrapping_offset(stride.wrapping_mul(x as isize));
            // Random indices would mispredict a branch.
            let from = if FILLS { select_unpredictable(inside, from, fill.as_ptr()) } else { from };
            // SAFETY: K1, K2 and K4: the index is in range, or `from` is the fill, which has `BYTES` bytes too.
            unsafe { copy_fixed::<BYTES>(from, at.out) };
            at = at.step(&inner);
        }
        first = first.step(&outer);
    }
    true
}

/// `fill`, repeated to `BYTES` bytes.
#[inline(always)]
pub(crate) fn repeated<const BYTES: usize>(fill: &[u8]) -> [u8; BYTES] {
    debug_assert!(!fill.is_empty() && BYTES.is_multiple_of(fill.len()), "K6: a fill");
    let mut bytes = [0; BYTES];
    bytes.chunks_exact_mut(fill.len()).for_each(|part| part.copy_from_slice(fill));
    bytes
}

/// [`one_by_one`] as the kernel of a plane (K9).
#[inline(never)]
pub(crate) fn kernel<const BYTES: usize, I: Index>(args: &IndexArgs<'_>) -> Outcome {
    args.debug_check();
    Outcome::complete_if(one_by_one::<BYTES, I>(Plane::of(args)))
}

/// The kernel of a plane (K9) of elements indexed by tuples, without a fill.
#[inline(never)]
pub(crate) fn tuples<const BYTES: usize, I: Index>(args: &IndexArgs<'_>) -> Outcome {
    args.debug_check();
    debug_assert!(args.spec().row == BYTES && !args.spec().policy.fills(), "K6, K9");
    // SAFETY: K6: rows have `BYTES` bytes.
    Outcome::complete_if(unsafe { each_tuple::<I>(Plane::of(args), copy_fixed::<BYTES>) })
}

/// Copies an element.
///
/// # Safety
/// An element may be read at the first address and written at the second, and the two do not overlap.
type CopyFn = unsafe fn(*const u8, *mut u8);

/// Runs a plane of elements indexed by tuples; returns whether all rows have been written.
///
/// # Safety
/// `copy` copies the bytes of a row of the plane.
#[inline(never)]
unsafe fn each_tuple<I: Index>(plane: Plane<'_>, copy: CopyFn) -> bool {
    let components = &plane.spec().components[..];
    for mut strip in plane.strips() {
        while strip.n() > 0 {
            let Some(position) = resolve_tuple::<I>(&strip, components) else { return false };
            let from = strip.at().data.wrapping_offset(plane.args().stride().wrapping_mul(position as isize));
            // SAFETY: K1, K2 and K4: all components are in range. `copy` copies a row, by the caller's contract.
            unsafe { copy(from, strip.at().out) };
            strip.step();
        }
    }
    true
}

//! Gathering elements of 4 and 8 bytes out of a panel that leaves room in the second-level cache, by indices and into
//! an output whose rows lie far apart.
//!
//! ```text
//! for each sixteen rows:
//!     prefetch the indices of later ones, and the output of these
//!     turn the indices into offsets     (up to sixteen rows in which an index is negative or out of range)
//!     load the elements, store them
//! ```
//!
//! Indices and output come from memory, elements out of the second-level cache. A core waits for few lines of its
//! first-level cache at a time. Where both kinds of misses share those places, elements wait for memory. So lines are
//! prefetched into the second-level cache, and all indices are read before the first element is. Lines of rows a
//! power of two apart would not stay in the first-level cache either: they share few of its sets.

use core::mem::MaybeUninit;

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::gather_positions::RestFn;
use crate::kernels::moves::loads::copy_four;
use crate::kernels::moves::prefetch::{LINE, prefetch_near};
use crate::kernels::resolve::vectors::Bounds;
use crate::kernels::words::{Eight, Indices, Words, is_wide};
use crate::types::index::Index;

/// Rows whose indices become offsets before the first element is moved (workload `gather_elements/axis0_4096x4096`).
const ROWS: usize = 16;
/// Elements of as many rows of a panel, at most.
const MOST: usize = 1 << 10;
/// Indices that are resolved at once.
const EIGHT: usize = Eight::N;
/// Elements that are stored at once.
const FOUR: usize = 4;

/// Offsets of elements in bytes.
type Offsets = [MaybeUninit<i32>; MOST];

/// Gathers a plane of a panel's columns; `rest` does so from the rows on in which an index is negative or out of range,
/// and where rows are short or there is one.
///
/// # Safety
/// As for [`GatherFn`](crate::kernels::moves::GatherFn), with [`offsets_first`](crate::kernels::KernelSpec) (K9);
/// K7 for AVX2, and for the level of `rest`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, mut at: Cursor, rest: RestFn) -> bool {
    let (outer, n) = (*args.outer(), args.inner().n);
    let (panel, mut offsets) = (Panel::<BYTES>::new(args), [const { MaybeUninit::uninit() }; MOST]);
    let takes = (EIGHT..=MOST).contains(&n) && outer.n > 1 && matches!(BYTES, 4 | 8);
    let (most, mut left) = (ROWS.min(MOST / n), outer.n);
    while left > 0 {
        let rows = most.min(left);
        // SAFETY: the caller's promise, for these rows: at most `MOST / n`, of `EIGHT` elements or more.
        if !takes || !unsafe { panel.resolve::<I>(args, at, rows, &mut offsets) } {
            // SAFETY: the caller's promise, for all that is left of the plane.
            return unsafe { rest(args, at, 0, left) };
        }
        // SAFETY: the caller's promise; the offsets of these rows have been written, and none is out of range.
        unsafe { panel.load(args, at, rows, &offsets) };
        at = at.skip(&outer, rows);
        left -= rows;
    }
    false
}

/// The arguments that the rows of a plane share.
#[derive(Clone, Copy)]
struct Panel<const BYTES: usize> {
    bounds: Bounds<Eight>,
    stride: Eight,
}

impl<const BYTES: usize> Panel<BYTES> {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn new(args: &IndexArgs<'_>) -> Self {
        let (level, component) = (Avx2::here(), &args.spec().components[0]);
        let bounds = Bounds::of(level, component.dim as i32, args.spec().policy);
        Panel { bounds, stride: Eight::splat(level, args.stride() as i32) }
    }

    /// Turns the indices of `rows` rows from a cursor on into offsets, row after row, and prefetches later indices and
    /// the rows of the output. Returns whether all are valid indices.
    ///
    /// # Safety
    /// K2, K3 and K9 for these rows, of `EIGHT` elements or more each and `MOST` together.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn resolve<I: Index>(self, args: &IndexArgs<'_>, mut at: Cursor, rows: usize, to: &mut Offsets) -> bool {
        let (outer, inner) = (args.outer(), args.inner());
        debug_assert!(inner.n >= EIGHT && rows * inner.n <= MOST, "{rows} rows of {}", inner.n);
        let (component, ahead) = (args.spec().components[0].index, args.spec().outer_prefetch_distance);
        let mut are_positions = Eight::lanes(self.stride, true);
        for row in 0..rows {
            let index = at.index.wrapping_offset(component);
            let later = index.wrapping_offset(outer.index.wrapping_mul(ahead as isize));
            prefetch_near(at.out, inner.n * BYTES);
            if !later.addr().is_multiple_of(LINE) {
                // The line that the row ends in is one more.
                prefetch_near(later.wrapping_add(inner.n * size_of::<I>() - 1), 1);
            }
            for first in (0..inner.n).step_by(EIGHT) {
                if (first * size_of::<I>()).is_multiple_of(LINE) {
                    prefetch_near(later.wrapping_add(first * size_of::<I>()), 1);
                }
                // The last eight may share some with those before.
                let first = first.min(inner.n - EIGHT);
                // SAFETY: K3: eight of the `n` indices of the row, which are contiguous.
                let indices = unsafe { Indices::<Eight>::load(self.stride, index.cast::<I>().wrapping_add(first)) };
                are_positions = Eight::both(are_positions, self.bounds.positions(indices));
                let positions = if is_wide::<I>() { Eight::wide_in_order(indices.low) } else { indices.low };
                // K9: they fit in 32 bits.
                let offsets = Eight::times(positions, self.stride);
                let to = to.as_mut_ptr().wrapping_add(row * inner.n + first);
                // SAFETY: `row * n + first + EIGHT <= rows * n <= MOST`.
                unsafe { Eight::store(offsets, to.cast()) };
            }
            at = at.step(outer);
        }
        Eight::are_all(are_positions)
    }

    /// Moves the elements of `rows` rows from a cursor on.
    ///
    /// # Safety
    /// K1, K2, K4 and K9 for these rows, at most `MOST / n` of `FOUR` elements or more each; `offsets` has been written
    /// for all of these, none of which is out of range.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn load(self, args: &IndexArgs<'_>, mut at: Cursor, rows: usize, offsets: &Offsets) {
        let (outer, n) = (args.outer(), args.inner().n);
        for row in offsets.chunks_exact(n).take(rows) {
            for first in (0..n).step_by(FOUR) {
                let first = first.min(n - FOUR);
                let mut places = [at.data.wrapping_add(first * BYTES); FOUR];
                for (k, place) in places.iter_mut().enumerate() {
                    // SAFETY: the caller's promise.
                    let offset = unsafe { row[first + k].assume_init() };
                    *place = place.wrapping_offset(offset as isize + (k * BYTES) as isize);
                }
                // SAFETY: K1, K2 and K4 for four elements, whose positions are in range.
                unsafe { copy_four::<BYTES>(places, at.out.wrapping_add(first * BYTES)) };
            }
            at = at.step(outer);
        }
    }
}

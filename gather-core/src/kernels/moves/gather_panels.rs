//! Gathering elements of 4 and 8 bytes from a panel smaller than the second-level cache; rows of indices and output are
//! far apart.
//!
//! ```text
//! for each sixteen rows:
//!     prefetch later indices, and the output of these rows
//!     turn the indices into offsets     (stop at the first negative or out-of-range index)
//!     load the elements, store them
//! ```
//!
//! Indices and output come from memory, elements from the second-level cache. A core tracks few first-level cache
//! misses at a time. If both kinds of misses share the slots, elements wait for memory. So lines are prefetched into
//! the second-level cache, and all indices are read before the first element. Lines of rows a power of two apart would
//! not stay in the first-level cache either: they share few of its sets.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::moves::contiguous::{DataRow, Numbers, Places};
use crate::kernels::moves::gather_positions::RestFn;
use crate::kernels::moves::loads::copy_four;
use crate::kernels::nest::args::IndexArgs;
use crate::kernels::nest::plane::Strips;
use crate::kernels::prefetch::{LINE, prefetch_near};
use crate::kernels::resolve::vectors::VectorBounds;
use crate::kernels::vector::Vector;
use crate::kernels::words::{Eight, Words, is_wide};
use crate::types::index::Index;

/// Rows whose indices become offsets before the first element is moved (workload `gather_elements/axis0_4096x4096`).
const ROWS: usize = 16;
/// Maximum elements of the rows that are resolved together.
const MOST: usize = 1 << 10;
/// Indices resolved at once.
const EIGHT: usize = Eight::N;
/// Elements stored at once.
const FOUR: usize = 4;

/// Offsets of elements in bytes.
type PanelOffsets = [MaybeUninit<i32>; MOST];

/// Strips of `n` iterations, and the offsets of their positions, all in range, row after row.
#[derive(Clone, Copy)]
struct ResolvedPositions<'a> {
    rows: Strips<'a>,
    n: usize,
    offsets: &'a [i32],
}

/// Gathers a plane of a panel's columns. `rest` continues from the first rows with a negative or out-of-range index.
/// `rest` gathers all rows if there is only one row, or if rows do not have `EIGHT..=MOST` elements.
pub(super) struct GatherPanel<const BYTES: usize, I>(PhantomData<I>);

impl<const BYTES: usize, I: Index> LevelFn for GatherPanel<BYTES, I> {
    type Args<'a> = (Strips<'a>, RestFn);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (mut strips, rest): Self::Args<'_>) -> bool {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        let Some(&strip) = strips.peek() else { return false };
        debug_assert!(strip.spec().offsets_first, "K9");
        let panel = GatheredPanel::<BYTES>::new(level, strip.args());
        let mut offsets = [const { MaybeUninit::uninit() }; MOST];
        let takes = (EIGHT..=MOST).contains(&strip.n()) && strips.n() > 1 && matches!(BYTES, 4 | 8);
        let most = ROWS.min(MOST / strip.n());
        while strips.n() > 0 {
            let rows = strips.first(most.min(strips.n()));
            let resolved = if takes { panel.resolve::<I>(rows, strip.n(), &mut offsets) } else { None };
            let Some(resolved) = resolved else { return rest((strips, 0)) };
            level.run::<LoadElements<BYTES>>(resolved);
            strips = strips.from(rows.n());
        }
        false
    }
}

/// The arguments that the rows of a plane share.
#[derive(Clone, Copy)]
struct GatheredPanel<const BYTES: usize> {
    bounds: VectorBounds<Eight>,
    stride: Eight,
}

impl<const BYTES: usize> GatheredPanel<BYTES> {
    #[inline(always)]
    fn new(level: Avx2, args: &IndexArgs<'_>) -> Self {
        let component = &args.spec().components[0];
        let bounds = VectorBounds::of(level, component.dim as i32, args.spec().policy);
        GatheredPanel { bounds, stride: Eight::splat(level, args.stride() as i32) }
    }

    /// Turns the indices of strips of `n` iterations into offsets, strip after strip. Prefetches later indices and the
    /// output rows. Returns `None` if an index is not valid.
    ///
    /// # Panics
    /// If `n < EIGHT`, or the strips have more than `MOST` iterations in total.
    #[inline(always)]
    fn resolve<'a, I: Index>(
        self,
        rows: Strips<'a>,
        n: usize,
        to: &'a mut PanelOffsets,
    ) -> Option<ResolvedPositions<'a>> {
        let count = rows.n();
        assert!(n >= EIGHT && count * n <= MOST, "{count} rows of {n}");
        let mut are_positions = Eight::lanes(self.stride, true);
        for (row, strip) in rows.enumerate() {
            assert_eq!(strip.n(), n);
            let (indices, ahead) = (Numbers::<I>::indices(&strip), strip.spec().outer_prefetch_distance);
            let later = indices.later(0).wrapping_offset(strip.args().outer().index.wrapping_mul(ahead as isize));
            prefetch_near(strip.at().out, n * BYTES);
            if !later.addr().is_multiple_of(LINE) {
                // The row ends in one more line.
                prefetch_near(later.wrapping_add(n * size_of::<I>() - 1), 1);
            }
            for first in (0..n).step_by(EIGHT) {
                if (first * size_of::<I>()).is_multiple_of(LINE) {
                    prefetch_near(later.wrapping_add(first * size_of::<I>()), 1);
                }
                // The last eight indices may overlap the previous eight.
                let first = first.min(n - EIGHT);
                let indices = indices.load_words(self.stride, first);
                are_positions = Eight::both(are_positions, self.bounds.positions(indices));
                let positions = if is_wide::<I>() { Eight::wide_in_order(indices.low) } else { indices.low };
                // K9: the offsets fit in 32 bits.
                let offsets = Eight::times(positions, self.stride);
                let to = to.as_mut_ptr().wrapping_add(row * n + first);
                // SAFETY: `row * n + first + EIGHT <= count * n <= MOST`, asserted above.
                unsafe { offsets.store(to.cast()) };
            }
        }
        if !Eight::are_all(are_positions) {
            return None;
        }
        // SAFETY: the loops have written `count * n` offsets.
        let offsets = unsafe { core::slice::from_raw_parts(to.as_ptr().cast(), count * n) };
        Some(ResolvedPositions { rows, n, offsets })
    }
}

/// Moves the elements of resolved strips.
struct LoadElements<const BYTES: usize>;

impl<const BYTES: usize> LevelFn for LoadElements<BYTES> {
    type Args<'a> = ResolvedPositions<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, ResolvedPositions { rows, n, offsets }: Self::Args<'_>) {
        for (row, strip) in offsets.chunks_exact(n).zip(rows) {
            let (places, data) = (Places::<BYTES>::along(&strip), strip.at().data);
            for first in (0..n).step_by(FOUR) {
                let first = first.min(n - FOUR);
                let place = |k: usize| {
                    let offset = row[first + k] as isize + (k * BYTES) as isize;
                    // SAFETY: K2 and K4: all positions are in range. K9: this offset fits in 32 bits.
                    unsafe { DataRow::new(data.wrapping_add(first * BYTES).wrapping_offset(offset)) }
                };
                copy_four([place(0), place(1), place(2), place(3)], places, first);
            }
        }
    }
}

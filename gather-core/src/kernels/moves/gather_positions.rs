//! Gathering rows of 4, 8 and 12 bytes by valid indices: none negative, none out of range.
//!
//! ```text
//! for each index:
//!     load it, compare it with the size of the axis, load its row        (four rows are stored at once)
//! ```
//!
//! Each row takes few operations, and no row waits for another. Vectors of indices take more operations, because their
//! lanes have to be extracted for the loads. So fewer rows fit in the processor's out-of-order window.
//!
//! The first index that is negative or out of range ends the loop. The branch is predicted as long as all indices are
//! valid. The remainder of the plane is gathered by vectors, which take the same time for any indices. Under
//! `Missing::Fill` vectors also fill elements, unless indices of packed rows have 32 or 64 bits and do not count from
//! the end. In that case, and for rows of 12 bytes, rows are moved or filled one by one (`remainder.rs`).

use core::marker::PhantomData;

use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::moves::contiguous::{DataRow, Numbers, Places};
use crate::kernels::moves::gather_avx2::{FillingElements, Rest};
use crate::kernels::moves::gather_panels::GatherPanel;
use crate::kernels::moves::loads::copy_four;
use crate::kernels::moves::placed::Exactly;
use crate::kernels::moves::remainder::{MoveOrFill, Remainder};
use crate::kernels::nest::plane::{Plane, Strip, Strips};
use crate::kernels::prefetch::{LINE, NextSlice, STEP, prefetch, prefetch_to_write};
use crate::types::index::{Index, IndexType};

/// Gathers the remaining strips of a plane; the first strip from a row on that is a multiple of eight. Returns the
/// result of a [`GatherFn`](crate::kernels::moves::GatherFn).
pub(super) type RestFn = for<'a> fn((Strips<'a>, usize)) -> bool;

/// Rows between two prefetches of later indices and later output rows.
pub(super) const GROUP: usize = 16;

/// [`GatherFn`](crate::kernels::moves::GatherFn) with AVX2.
///
/// Unsigned indices of 32 and 64 bits are read as signed indices. Valid positions have the same value in both types,
/// and invalid indices are invalid in both, since axes have at most `i32::MAX` elements (K2).
pub(crate) struct Gather<const BYTES: usize, I>(PhantomData<I>);

impl<const BYTES: usize, I: Index> LevelFn for Gather<BYTES, I> {
    type Args<'a> = Plane<'a>;
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, plane: Plane<'_>) -> bool {
        let Some(level) = here.avx2() else { unreachable!("K9: plans gather at levels that have instructions for it") };
        let (rest, filling): (RestFn, RestFn) = (level.entry::<Rest<BYTES, I>>(), level.entry::<Filling<BYTES, I>>());
        if const { matches!(I::TYPE.fixed_width(), IndexType::U32) } {
            planes::<BYTES, i32>(level, plane, rest, filling)
        } else if const { matches!(I::TYPE.fixed_width(), IndexType::U64) } {
            planes::<BYTES, i64>(level, plane, rest, filling)
        } else {
            planes::<BYTES, I>(level, plane, rest, filling)
        }
    }
}

/// Moves or fills the remainder of a plane: a [`RestFn`] under `Missing::Fill`.
pub(super) struct Filling<const BYTES: usize, I>(PhantomData<I>);

impl<const BYTES: usize, I: Index> LevelFn for Filling<BYTES, I> {
    type Args<'a> = (Strips<'a>, usize);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (strips, first): Self::Args<'_>) -> bool {
        let Some(spec) = strips.peek().map(|strip| strip.spec()) else { return false };
        if const { matches!(BYTES, 4 | 8) } {
            let rule = IndexRule::new(spec.policy, spec.components[0].dim);
            // Vectors resolve indices that count from the end, and indices of 8 and 16 bits.
            if const { size_of::<I>() >= 4 } && spec.packed && rule.is_plain::<I>() {
                move_or_fill::<BYTES, I, false>(here, strips, first);
            } else {
                here.run::<FillingElements<BYTES, I>>((strips, first));
            }
        } else if spec.packed {
            move_or_fill::<BYTES, I, false>(here, strips, first);
        } else {
            move_or_fill::<BYTES, I, true>(here, strips, first);
        }
        false
    }
}

/// Runs [`MoveOrFill`] on strips, the first of them from row `first` on.
#[inline(always)]
fn move_or_fill<const BYTES: usize, I: Index, const MOVES: bool>(
    level: impl Token,
    mut strips: Strips<'_>,
    first: usize,
) {
    if let Some(strip) = strips.next() {
        level.run::<MoveOrFill<Exactly<BYTES>, I, MOVES>>(Remainder::new(strip.skip(first), strips));
    }
}

/// Runs [`Gather`] by indices read as type `I`. From an index on that is negative or out of range, `filling` continues
/// if the policy fills, else `rest`.
#[inline(always)]
fn planes<const BYTES: usize, I: Index>(level: Avx2, plane: Plane<'_>, rest: RestFn, filling: RestFn) -> bool {
    let (args, spec, strips) = (plane.args(), plane.spec(), plane.strips());
    if spec.offsets_first {
        return level.run::<GatherPanel<BYTES, I>>((strips, rest));
    }
    let prefetches = spec.prefetch_distance != 0 || spec.next_slice_bytes != 0;
    let is_adjacent = spec.packed || args.inner().data == BYTES as isize;
    // For panels with an `outer_prefetch_distance`, `rest` takes the same time.
    if !is_adjacent || spec.outer_prefetch_distance != 0 {
        return rest((strips, 0));
    }
    let rest = if spec.policy.fills() { filling } else { rest };
    match (spec.packed, prefetches) {
        (true, false) => level.run::<GatherPositions<BYTES, I, true, false>>((strips, rest)),
        (true, true) => level.run::<GatherPositions<BYTES, I, true, true>>((strips, rest)),
        (false, false) => level.run::<GatherPositions<BYTES, I, false, false>>((strips, rest)),
        (false, true) => level.run::<GatherPositions<BYTES, I, false, true>>((strips, rest)),
    }
}

/// [`planes`], where `PACKED` says whether the plan found the rows packed, `PREFETCH` whether anything is prefetched.
struct GatherPositions<const BYTES: usize, I, const PACKED: bool, const PREFETCH: bool>(PhantomData<I>);

impl<const BYTES: usize, I: Index, const PACKED: bool, const PREFETCH: bool> LevelFn
    for GatherPositions<BYTES, I, PACKED, PREFETCH>
{
    type Args<'a> = (Strips<'a>, RestFn);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (mut strips, rest): Self::Args<'_>) -> bool {
        while let Some(strip) = strips.peek() {
            let done = positions::<BYTES, I, PACKED, PREFETCH>(strip);
            if done < strip.n() {
                return rest((strips, done));
            }
            strips.advance();
        }
        false
    }
}

/// Moves rows of a strip while their indices are valid. Returns the number of rows, or the first row of the [`GROUP`]
/// with an invalid index.
#[inline(always)]
fn positions<const BYTES: usize, I: Index, const PACKED: bool, const PREFETCH: bool>(strip: &Strip<'_>) -> usize {
    let (args, at) = (strip.args(), strip.at());
    let (indices, places) = (Numbers::<I>::indices(strip), Places::<BYTES>::along(strip));
    let component = &args.spec().components[0];
    let (dim, n, distance) = (component.dim as u64, args.inner().n, args.spec().prefetch_distance);
    let (stride, step) = if PACKED { (BYTES as isize, 0) } else { (args.stride(), BYTES as isize) };
    let next = if PREFETCH { strip.next_slice(0) } else { NextSlice::NONE };
    let (mut data, mut done) = (at.data, 0);
    // Row `done + k`. A macro, because it may return from the function.
    macro_rules! row {
        ($k:expr) => {{
            let position = indices.get(done + $k).widen();
            if position as u64 >= dim {
                return done;
            }
            let from = data.wrapping_offset(stride.wrapping_mul(position as isize) + $k as isize * step);
            // SAFETY: K2 and K4: `position < dim`, by the branch above.
            unsafe { DataRow::new(from) }
        }};
    }
    while n - done >= GROUP {
        if PREFETCH {
            next.fetch(done / STEP);
            next.fetch(done / STEP + 1);
            let later = done + distance;
            prefetch(indices.later(later), GROUP * size_of::<I>());
            if BYTES <= 8 {
                for line in (0..GROUP * BYTES).step_by(LINE) {
                    prefetch_to_write(places.later(later).wrapping_add(line));
                }
            }
        }
        // Not a loop: compilers do not unroll a loop that can end at every row.
        macro_rules! move_fours {
            ($($k:literal)*) => {$(
                let rows = [row!($k), row!($k + 1), row!($k + 2), row!($k + 3)];
                copy_four(rows, places, done + $k);
            )*};
        }
        move_fours!(0 4 8 12);
        data = data.wrapping_offset(step * GROUP as isize);
        done += GROUP;
    }
    for k in 0..n - done {
        places.copy(done + k, row!(k));
    }
    n
}

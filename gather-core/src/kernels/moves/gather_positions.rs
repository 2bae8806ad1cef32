//! Gathering rows of 4, 8 and 12 bytes by valid indices: none negative, none out of range.
//!
//! ```text
//! for each index:
//!     load it, compare it with the size of the axis, load its row        (four rows are stored at once)
//! ```
//!
//! These are few operations, and no row waits for another. Vectors of indices take more, because their lanes have to
//! be taken apart for the loads. So fewer rows fit in the window in which a processor looks for misses. The first
//! index that is negative or out of range ends the loop. The branch is predicted as long as all indices are valid. What is
//! left of the plane is gathered by vectors, which resolve indices of any kind in the same time. Where indices out of
//! range become rows of zeros, vectors fill elements too, and rows of 12 bytes are moved or filled one by one
//! (`bodies/one_pass.rs`).

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::{Left, MoveOrFill, next_slice_at};
use crate::kernels::level_fn::avx2;
use crate::kernels::moves::loads::copy_four;
use crate::kernels::moves::placed::Exactly;
use crate::kernels::moves::prefetch::{LINE, NextSlice, STEP, prefetch, prefetch_to_write};
use crate::kernels::moves::{copy_fixed, gather_avx2, gather_panels};
use crate::kernels::plane::Strips;
use crate::types::index::{Index, IndexType};
use crate::types::policy::OutOfBounds;

/// Gathers the rest of a plane at a level: the inner loop at a cursor, from a row on, and the inner loops after
/// it. The last number is how many these are, the first one counted. It returns what
/// [`GatherFn`](crate::kernels::moves::GatherFn) does.
///
/// # Safety
/// As for [`GatherFn`](crate::kernels::moves::GatherFn). The row is a multiple of [`GROUP`], and one of the loop.
pub(super) type RestFn = unsafe fn(&IndexArgs<'_>, Cursor, usize, usize) -> bool;

/// The number of rows after which later indices, and later rows of the output, are prefetched.
pub(super) const GROUP: usize = 16;

/// [`GatherFn`](crate::kernels::moves::GatherFn), of which a level does what follows an index that is negative or out of range.
///
/// Unsigned indices of 32 and 64 bits are read as signed ones: positions are the same values in both types, and what is
/// none in one is none in the other, since axes have at most `i32::MAX` elements (K2).
///
/// # Safety
/// As for [`GatherFn`](crate::kernels::moves::GatherFn); K7 for AVX2, and for the level of `rest`.
pub(super) unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor, rest: RestFn) -> bool {
    let filling = filling::<BYTES, I>;
    if const { matches!(I::TYPE.fixed_width(), IndexType::U32) } {
        // SAFETY: the caller's promise; K3: the types have the same size.
        unsafe { planes::<BYTES, i32>(args, at, rest, filling) }
    } else if const { matches!(I::TYPE.fixed_width(), IndexType::U64) } {
        // SAFETY: as above.
        unsafe { planes::<BYTES, i64>(args, at, rest, filling) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { planes::<BYTES, I>(args, at, rest, filling) }
    }
}

/// Moves what is left of a plane, or fills it: a [`RestFn`].
///
/// # Safety
/// As for [`RestFn`], under `OutOfBounds::Zero`; K7 for AVX2.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn filling<const BYTES: usize, I: Index>(
    args: &IndexArgs<'_>,
    at: Cursor,
    first: usize,
    left: usize,
) -> bool {
    if const { matches!(BYTES, 4 | 8) } {
        // SAFETY: the caller's promise.
        unsafe { gather_avx2::filling::<BYTES, I>(args, at, first, left) };
        return false;
    }
    // SAFETY: the cursor is that of a coordinate of the outer loop, of which `left` remain.
    let mut strips = unsafe { Strips::new(args, at, left) };
    let Some(strip) = strips.next() else { return false };
    let rest = Left::new(strip.from(first), strips);
    if args.spec().packed {
        avx2::<MoveOrFill<Exactly<BYTES>, I, false>>(rest);
    } else {
        avx2::<MoveOrFill<Exactly<BYTES>, I, true>>(rest);
    }
    false
}

/// As [`gather`], by indices that are read as type `I`; `filling` does what `rest` does where rows may be filled.
///
/// # Safety
/// As for [`gather`]; positions are the same values as `I`, and other indices are none.
#[inline(always)]
unsafe fn planes<const BYTES: usize, I: Index>(
    args: &IndexArgs<'_>,
    at: &Cursor,
    rest: RestFn,
    filling: RestFn,
) -> bool {
    if args.spec().offsets_first {
        // SAFETY: the caller's promise.
        return unsafe { gather_panels::gather::<BYTES, I>(args, *at, rest) };
    }
    // Other panels, whose output is prefetched by outer coordinates, take as long either way.
    let prefetches = args.spec().prefetch_distance != 0 || args.spec().next_slice_bytes != 0;
    let is_adjacent = args.spec().packed || args.inner().data == BYTES as isize;
    if !is_adjacent || args.spec().outer_prefetch_distance != 0 {
        // SAFETY: the caller's promise, for all of the plane.
        return unsafe { rest(args, *at, 0, args.outer().n) };
    }
    let rest = if args.spec().policy.out_of_bounds == OutOfBounds::Zero { filling } else { rest };
    match (args.spec().packed, prefetches) {
        // SAFETY: the caller's promise; the plan found the rows packed.
        (true, false) => unsafe { plane::<BYTES, I, true, false>(args, *at, rest) },
        // SAFETY: as above.
        (true, true) => unsafe { plane::<BYTES, I, true, true>(args, *at, rest) },
        // SAFETY: the caller's promise.
        (false, false) => unsafe { plane::<BYTES, I, false, false>(args, *at, rest) },
        // SAFETY: as above.
        (false, true) => unsafe { plane::<BYTES, I, false, true>(args, *at, rest) },
    }
}

/// As [`planes`]; `PACKED` says whether the plan found the rows packed, `PREFETCH` whether anything is prefetched.
///
/// # Safety
/// As for [`planes`].
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn plane<const BYTES: usize, I: Index, const PACKED: bool, const PREFETCH: bool>(
    args: &IndexArgs<'_>,
    mut at: Cursor,
    rest: RestFn,
) -> bool {
    let (outer, n) = (*args.outer(), args.inner().n);
    for left in (1..=outer.n).rev() {
        // SAFETY: the caller's promise, for an inner loop.
        let done = unsafe { positions::<BYTES, I, PACKED, PREFETCH>(args, at) };
        if done < n {
            // SAFETY: as above, for what is left.
            return unsafe { rest(args, at, done, left) };
        }
        at = at.step(&outer);
    }
    false
}

/// Moves rows of the inner loop at a cursor as long as their indices are positions. Returns how many there are, or the
/// first row of the [`GROUP`] in which an index is none.
///
/// # Safety
/// As for [`plane`], for the inner loop.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn positions<const BYTES: usize, I: Index, const PACKED: bool, const PREFETCH: bool>(
    args: &IndexArgs<'_>,
    at: Cursor,
) -> usize {
    let component = &args.spec().components[0];
    let index = at.index.wrapping_offset(component.index).cast::<I>();
    let (dim, n, distance) = (component.dim as u64, args.inner().n, args.spec().prefetch_distance);
    let (stride, step) = if PACKED { (BYTES as isize, 0) } else { (args.stride(), BYTES as isize) };
    let next = if PREFETCH { next_slice_at(args, at, 0) } else { NextSlice::NONE };
    let (mut data, mut done) = (at.data, 0);
    // Where row `done + k` lies: a macro, because it may end the function.
    macro_rules! place {
        ($k:expr) => {{
            // SAFETY: K3: one of the `n` indices, which are contiguous.
            let position = unsafe { index.wrapping_add(done + $k).read_unaligned() }.widen();
            if position as u64 >= dim {
                return done;
            }
            data.wrapping_offset(stride.wrapping_mul(position as isize) + $k as isize * step)
        }};
    }
    while n - done >= GROUP {
        if PREFETCH {
            next.fetch(done / STEP);
            next.fetch(done / STEP + 1);
            let later = done + distance;
            prefetch(index.wrapping_add(later).cast(), GROUP * size_of::<I>());
            if BYTES <= 8 {
                for line in (0..GROUP * BYTES).step_by(LINE) {
                    prefetch_to_write(at.out.wrapping_add(later * BYTES + line));
                }
            }
        }
        // Not a loop: compilers do not unroll one that can end at every row.
        macro_rules! move_fours {
            ($($k:literal)*) => {$(
                let rows = [place!($k), place!($k + 1), place!($k + 2), place!($k + 3)];
                // SAFETY: K1, K2 and K4 for four rows, whose positions are in range.
                unsafe { copy_four::<BYTES>(rows, at.out.wrapping_add((done + $k) * BYTES)) };
            )*};
        }
        move_fours!(0 4 8 12);
        data = data.wrapping_offset(step * GROUP as isize);
        done += GROUP;
    }
    for k in 0..n - done {
        let row = place!(k);
        // SAFETY: K1, K2 and K4 for the row, whose position is in range.
        unsafe { copy_fixed::<BYTES>(row, at.out.wrapping_add((done + k) * BYTES)) };
    }
    n
}

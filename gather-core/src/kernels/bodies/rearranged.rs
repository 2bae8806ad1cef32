//! The body that rearranges space: it runs planes of rows.
//!
//! Along the inner loop one tensor is whole, and the other consists of `block` streams: row `i` of the whole tensor
//! belongs to stream `(phase + i) % block`. Either streams of data are interleaved into the output, or data is split
//! into streams of the output. A block of 1 is a strided copy. Otherwise a period is one row of every stream, and crops
//! and pads may begin inside a period.
//!
//! ```text
//! pairs:    two rows at a time, if a loop with a block of 1 or 2 consists of whole pairs
//! periods:  a loop over the rows of each period; with a block of 1 all rows are one period
//! any:      row by row, with a carry; whole periods by vectors, if there is a function for them
//! ```
//!
//! Levels with vectors zip (`zip.rs`) or unzip (`unzip_avx2.rs`) whole periods, if both tensors are contiguous and the
//! block is 2, 3, 4 or 8.

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::placed::NARROW;
use crate::kernels::moves::rows::copy_halves;
use crate::kernels::moves::{Fixed, Rows, Width, copy_fixed};
use crate::kernels::space::PeriodsFn;
use crate::kernels::space::args::{BlockLoop, SpaceCursor, WholeTensor};
use crate::kernels::space::periods::Periods;
use crate::kernels::space::plane::SpacePlane;

pub(crate) type SpaceBody = fn(SpacePlane<'_>);

/// The body of kernels of a width and a level.
#[inline(always)]
pub(crate) fn space_plane<W: SpaceWidth, L: Isa>(plane: SpacePlane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    W::interleave(level, plane);
}

/// A width of rows that space-rearranging operators move.
pub trait SpaceWidth: Width {
    /// Interleaves streams, or takes them apart, at a level.
    fn interleave<L: Isa>(level: L, plane: SpacePlane<'_>);
}

impl<const BYTES: usize> SpaceWidth for Fixed<BYTES> {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, plane: SpacePlane<'_>) {
        level.entry::<InterleaveFixed<BYTES>>()((plane, periods::<BYTES, L>(level, plane.args().inner())));
    }
}

impl SpaceWidth for Rows {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, plane: SpacePlane<'_>) {
        match plane.args().row() {
            1 => Fixed::<1>::interleave(level, plane),
            2 => Fixed::<2>::interleave(level, plane),
            3 => Fixed::<3>::interleave(level, plane),
            6 => Fixed::<6>::interleave(level, plane),
            12 => Fixed::<12>::interleave(level, plane),
            _ => level.entry::<InterleaveRows>()(plane),
        }
    }
}

/// The function that runs whole periods of a loop by vectors, for rows of `BYTES` bytes. `None` unless rows of 1, 2, 4
/// or 8 bytes are contiguous, in 2, 3, 4 or 8 streams of at least a vector.
#[inline(always)]
fn periods<const BYTES: usize, L: Isa>(level: L, inner: &BlockLoop) -> Option<PeriodsFn> {
    // On x86-64, vectors of 16 bytes serve three streams only.
    let least = if cfg!(target_arch = "x86_64") && inner.block != 3 { 32 } else { 16 };
    let taken = matches!(BYTES, 1 | 2 | 4 | 8) && matches!(inner.block, 2 | 3 | 4 | 8);
    if !taken || inner.n / inner.block * BYTES < least {
        return None;
    }
    match inner.whole(BYTES as isize)? {
        WholeTensor::Output => level.zip::<BYTES>(),
        WholeTensor::Data => level.unzip::<BYTES>(),
    }
}

/// Interleaves streams of `BYTES` bytes, or takes them apart. The [`PeriodsFn`] runs whole periods.
enum InterleaveFixed<const BYTES: usize> {}

impl<const BYTES: usize> LevelFn for InterleaveFixed<BYTES> {
    type Args<'a> = (SpacePlane<'a>, Option<PeriodsFn>);
    type Output = ();

    const NARROW: bool = BYTES <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (plane, whole): Self::Args<'_>) {
        debug_assert_eq!(plane.args().row(), BYTES, "K6");
        // SAFETY: `each` passes rows to read and to write that do not overlap (K1, K4), of `BYTES` bytes (K6).
        each(plane, |from, to| unsafe { copy_fixed::<BYTES>(from, to) }, whole);
    }
}

/// Interleaves streams of rows, or takes them apart, row by row.
enum InterleaveRows {}

impl LevelFn for InterleaveRows {
    type Args<'a> = SpacePlane<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, plane: SpacePlane<'_>) {
        let row = plane.args().row();
        macro_rules! halves {
            ($half:literal) => {
                // SAFETY: `each` passes rows to read and to write that do not overlap; `row` is in `$half..=2 * $half`.
                each(plane, |from, to| unsafe { copy_halves::<$half>(from, to, row) }, None)
            };
        }
        match row {
            4..=8 => halves!(4),
            9..=15 => halves!(8),
            16..=32 => halves!(16),
            33..=64 => halves!(32),
            65..=128 => halves!(64),
            129..=256 => halves!(128),
            _ => {
                // SAFETY: `each` passes rows of `row` bytes to read and to write that do not overlap.
                each(plane, |from, to| unsafe { to.copy_from_nonoverlapping(from, row) }, None);
            }
        }
    }
}

/// Runs `copy` on the source and the target of every row, which may be read and written and do not overlap (K1, K4).
/// `whole` runs whole periods of each line in place of `copy`, and returns how many. Sizes are locals: the compiler
/// would reload fields after each copy.
#[inline(always)]
fn each(plane: SpacePlane<'_>, copy: impl Fn(*const u8, *mut u8), whole: Option<PeriodsFn>) {
    let inner = plane.args().inner();
    let BlockLoop { n, block, phase, step, wrap } = *inner;
    let copy = |at: SpaceCursor| copy(at.data(), at.out());
    // With a block of 1, all rows are one period.
    let (rows, step) = if block == 1 { (n, wrap) } else { (block, step) };
    let first = (rows - phase).min(n);
    match (block, whole) {
        (1 | 2, None) if phase == 0 && n % 2 == 0 => lines(plane, |mut at| {
            for _ in 0..n / 2 {
                copy(at);
                copy(at.after(step));
                at = at.after(step.and(wrap));
            }
        }),
        (1 | 3.., None) => lines(plane, |mut at| {
            let (mut left, mut period) = (n, first);
            while left > 0 {
                for _ in 0..period {
                    copy(at);
                    at = at.after(step);
                }
                at = at.after(wrap.and(step.times(-1)));
                left -= period;
                period = rows.min(left);
            }
        }),
        _ => lines(plane, |at| {
            let (mut cursor, mut left, mut whole) = (at.enter(inner), n, whole);
            while left > 0 {
                if left == n - first % block
                    && let Some(whole) = whole.take()
                {
                    // SAFETY: by the `if`, the cursor is at the start of a period; the loop has `left` more rows.
                    let done = whole(&unsafe { Periods::new(inner, cursor.at(), left / block) });
                    cursor = cursor.after(inner.period().times(done as isize));
                    left -= done * block;
                    continue;
                }
                copy(cursor.at());
                (cursor, left) = (cursor.step(inner), left - 1);
            }
        }),
    }
}

/// Runs `line` at the first row of every line of a plane.
#[inline(always)]
fn lines(plane: SpacePlane<'_>, line: impl Fn(SpaceCursor)) {
    let outer = plane.args().outer();
    let mut cursor = plane.at().enter(outer);
    for _ in 0..outer.n {
        let at = cursor.at();
        cursor = cursor.step(outer);
        line(at);
    }
}

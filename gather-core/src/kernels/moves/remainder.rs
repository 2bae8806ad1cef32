//! A pass along inner loops up to the first index out of range, and the remainder of a plane under `Missing::Fill`.

use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::fill::{FillRow, MOST_SELECTED};
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::nest::args::{Component, Cursor, IndexArgs};
use crate::kernels::nest::plane::{Indices, Strip, Strips};
use crate::types::index::Index;

/// The remainder of a plane: a strip that ends with the inner loop, and the inner loops after it. There is one
/// component; indices and rows are contiguous along the inner loop (K9).
pub(crate) struct Remainder<'a> {
    first: Strip<'a>,
    later: Strips<'a>,
    /// Widens the indices to the type they are read as; `None` if they have that type.
    widen: Option<WidenFn>,
}

impl<'a> Remainder<'a> {
    #[inline(always)]
    pub(crate) fn new(first: Strip<'a>, later: Strips<'a>) -> Self {
        debug_assert!(first.spec().policy.fills());
        Remainder { first, later, widen: None }
    }

    /// The same remainder, whose indices `widen` widens to the type they are read as.
    #[inline(always)]
    pub(crate) fn widened(self, widen: WidenFn) -> Self {
        Remainder { widen: Some(widen), ..self }
    }
}

/// Indices to widen, at most [`PROBED`].
pub(crate) struct WidenJob<'a> {
    indices: Indices,
    to: &'a mut [MaybeUninit<i32>; PROBED],
}

/// Writes the indices of a job as `i32`.
pub(crate) type WidenFn = for<'a> fn(WidenJob<'a>);

/// [`WidenFn`] for an index type of 8 or 16 bits.
pub(crate) struct WidenTo<I>(PhantomData<I>);

impl<I: Index> LevelFn for WidenTo<I> {
    type Args<'a> = WidenJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, WidenJob { indices, to }: WidenJob<'_>) {
        let indices = indices.adjacent::<I>();
        for (i, to) in to[..indices.n()].iter_mut().enumerate() {
            to.write(indices.read::<I>(i).widen() as i32);
        }
    }
}

/// Moves rows whose index is in range, and fills the others, in the remainder of a plane.
///
/// ```text
/// for each 64 rows:
///     if all of 8 probed rows are out of range:     fill every row up to the next row in range, at once
///     else select the source of each row, its row of data or the fill
/// ```
///
/// Rows of more than 256 bytes are moved or filled one by one. Indices of 8 and 16 bits are first widened to 32 bits,
/// 64 at a time, so that they need no separate loop.
pub(crate) struct MoveOrFill<C, I, const MOVES: bool>(PhantomData<(C, I)>);

impl<C: CopyRow, I: Index, const MOVES: bool> LevelFn for MoveOrFill<C, I, MOVES> {
    type Args<'a> = Remainder<'a>;
    type Output = ();

    /// Data moves along the inner loop iff `MOVES`. Indices have type `I`, or are widened to `I = i32`.
    #[inline(always)]
    fn call<Here: Token>(_: Here, Remainder { first: mut strip, mut later, widen }: Remainder<'_>) {
        let (args, spec) = (strip.args(), strip.spec());
        let Pass { rule, component, row, stride, .. } = Pass::new::<C>(args, false);
        let (copy, mut fill) = (C::of(row), FillRow::new());
        let step = if MOVES { args.inner().data } else { 0 };
        let short = const { C::MOST <= MOST_SELECTED };
        // The index is the position, which saves six of twelve instructions per row.
        let is_plain = const { !MOVES && C::BYTES.is_some() } && rule.is_plain::<I>() && stride == row as isize;
        let mut widened = [const { MaybeUninit::uninit() }; PROBED];
        loop {
            let (at, indices, mut done) = (strip.at(), strip.indices(component), 0);
            while done < strip.n() {
                // The index of row `i` is at `index + i`, for `done <= i < n`.
                let (index, n) = match widen {
                    None => (indices.at().cast::<I>(), strip.n()),
                    Some(widen) => {
                        let count = PROBED.min(strip.n() - done);
                        widen(WidenJob { indices: indices.part(done, count), to: &mut widened });
                        (widened.as_ptr().cast::<I>().wrapping_sub(done), done + count)
                    }
                };
                // SAFETY: K3 for index `done <= i < n`, contiguous by K9; or `widen` has written it.
                let read = |i: usize| unsafe { index.wrapping_add(i).read_unaligned() };
                let position = |i: usize| rule.check(read(i));
                let inside = |i: usize| position(i).1;
                let group = |i: usize| [position(i), position(i + 1), position(i + 2), position(i + 3)];
                while done < n {
                    let rows = if short { PROBED.min(n - done) } else { 1 };
                    // No branch per probe: random indices would mispredict it.
                    let mut any = false;
                    for k in 0..if short { PROBES } else { 1 } {
                        any |= inside(done + rows * k / PROBES);
                    }
                    if !any {
                        let first = done;
                        while n - done >= GROUP {
                            if group(done).into_iter().fold(false, |any, (_, inside)| any | inside) {
                                break;
                            }
                            done += GROUP;
                        }
                        while done < n && !inside(done) {
                            done += 1;
                        }
                        fill.fill(spec, strip.outputs().part(first, done - first));
                        continue;
                    }
                    let filled = if short { fill.row(spec).as_ptr() } else { core::ptr::null() };
                    let (mut data, mut out) =
                        (at.data.wrapping_offset(step.wrapping_mul(done as isize)), at.out.wrapping_add(done * row));
                    let mut next = |(x, inside): (i64, bool)| {
                        let from = data.wrapping_offset(stride.wrapping_mul(x as isize));
                        data = data.wrapping_offset(step);
                        if short { select_unpredictable(inside, from, filled) } else { from }
                    };
                    let end = done + rows;
                    while is_plain && end - done >= GROUP {
                        let from = |i: usize| {
                            let (x, inside) = rule.check_plain(read(i));
                            select_unpredictable(inside, at.data.wrapping_add(x.wrapping_mul(row)), filled)
                        };
                        let from = [from(done), from(done + 1), from(done + 2), from(done + 3)];
                        // SAFETY: K1, K2 and K4 for four rows: in range, or from the fill, of `row` bytes.
                        unsafe { copy.copy_four(from, out, row) };
                        (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
                    }
                    while C::BYTES.is_some() && end - done >= GROUP {
                        let [a, b, c, d] = group(done);
                        let from = [next(a), next(b), next(c), next(d)];
                        // SAFETY: K1, K2 and K4 for four rows: in range, or from the fill, of `row` bytes.
                        unsafe { copy.copy_four(from, out, row) };
                        (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
                    }
                    while done < end {
                        // SAFETY: K1, K2 and K4 for a row: in range, or from the fill, of `row` bytes.
                        unsafe { copy.copy(next(position(done)), out) };
                        (out, done) = (out.wrapping_add(row), done + 1);
                    }
                }
            }
            let Some(next) = later.next() else { return };
            strip = next;
        }
    }
}

/// Rows of a probed chunk.
const PROBED: usize = 64;
/// Probes per chunk.
const PROBES: usize = 8;

/// The fields used by one pass along the inner loop, read up front: the compiler would reload them after every store.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    n: usize,
    rule: IndexRule,
    component: &'a Component,
    row: usize,
    stride: isize,
    /// Whether an index was negative or out of range, so that later indices are resolved with the policy.
    counts: bool,
}

impl<'a> Pass<'a> {
    #[inline(always)]
    pub(crate) fn new<C: CopyRow>(args: &IndexArgs<'a>, packed: bool) -> Self {
        let spec = args.spec();
        debug_assert_eq!(spec.components.len(), 1, "K9: one component");
        let (component, row) = (&spec.components[0], C::BYTES.unwrap_or(spec.row));
        let rule = IndexRule::new(spec.policy, component.dim);
        let stride = if packed { row as isize } else { args.stride() };
        Pass { n: args.inner().n, rule, component, row, stride, counts: false }
    }

    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Resolves and moves rows of an inner loop up to the first index out of range; returns the number of rows moved.
    /// The cursor is borrowed, as in [`Plane`](crate::kernels::nest::plane::Plane).
    ///
    /// # Safety
    /// `at` is the cursor of the arguments' inner loop at a coordinate of the loops around it. Along the inner loop,
    /// indices and rows are contiguous, and data does not move (K9).
    #[inline(always)]
    pub(crate) unsafe fn run<C: CopyRow, I: Index>(&mut self, at: &Cursor) -> usize {
        let Pass { n, rule, component, .. } = *self;
        // SAFETY: K3: the inner loop has `n` indices, contiguous by the caller's contract.
        let indices = unsafe { Indices::new(at.index.wrapping_offset(component.index), size_of::<I>() as isize, n) };
        // Most indices are positions. From the first exception on, negative indices are counted from the end without a
        // branch, which random indices would mispredict.
        let mut done = 0;
        if !self.counts {
            // SAFETY: the caller's cursor, with no row done; `rule.position` returns positions in range.
            done = unsafe { self.move_from::<C, I>(at, &indices, 0, |index| rule.position(index)) };
            if done == n || !I::TYPE.is_signed() {
                return done;
            }
            self.counts = true;
        }
        let position = |index| {
            let (position, inside) = rule.check(index);
            if inside { Some(position) } else { None }
        };
        // SAFETY: the caller's cursor; `done <= n`, and `position` returns positions in range.
        unsafe { self.move_from::<C, I>(at, &indices, done, position) }
    }

    /// Moves rows of an inner loop from row `done` up to the first row without a position; returns that row, or `n`.
    ///
    /// # Safety
    /// The cursor is as for [`Pass::run`], `indices` are the indices of its inner loop, `done <= n`, and `position`
    /// returns positions in range.
    #[inline(always)]
    unsafe fn move_from<C: CopyRow, I: Index>(
        &self,
        at: &Cursor,
        indices: &Indices,
        mut done: usize,
        position: impl Fn(I) -> Option<i64>,
    ) -> usize {
        let &Pass { n, row, stride, .. } = self;
        let (copy, mut out) = (C::of(row), at.out.wrapping_add(done * row));
        let position = |i: usize| position(indices.read::<I>(i));
        let from = |x: i64| at.data.wrapping_offset(stride.wrapping_mul(x as isize));
        // For rows of a few bytes the loop overhead would exceed the copies.
        while C::BYTES.is_some() && n - done >= GROUP {
            let group = [position(done), position(done + 1), position(done + 2), position(done + 3)];
            let [Some(a), Some(b), Some(c), Some(d)] = group else { break };
            // SAFETY: K1, K2 and K4 for rows `done..done + 4`: `position` returned positions in range.
            unsafe { copy.copy_four([from(a), from(b), from(c), from(d)], out, row) };
            (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
        }
        while done < n {
            let Some(x) = position(done) else { break };
            // SAFETY: K1, K2 and K4 for row `done`: `position` returned a position in range.
            unsafe { copy.copy(from(x), out) };
            (out, done) = (out.wrapping_add(row), done + 1);
        }
        done
    }
}

/// Rows of constant size that are resolved before the first is moved.
const GROUP: usize = 4;

//! Rows that are resolved and moved in one pass, for [`Method::Direct`](crate::Method::Direct): nothing is set up
//! before the first row, which is what calls of few rows need, and short inner loops.
//!
//! ```text
//! for each row, or four short ones:
//!     resolve its index     (out of range: stop, or go on in a loop that moves or fills)
//!     move it
//! ```

use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::args::{Component, Cursor, IndexArgs, Outcome};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::kernel::IndexKernel;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::{FillRow, MOST_SELECTED};
use crate::kernels::moves::placed::{CopyRow, NARROW};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The kernel of [`Method::Direct`](crate::Method::Direct) for one plane whose rows are resolved and moved in one
/// pass.
struct OnePass<C, I, L, const PACKED: bool>(PhantomData<(C, I, L)>);

/// [`OnePass`] at a level.
pub(super) fn kernel<C: CopyRow, I: Index, L: Isa, const PACKED: bool>() -> IndexKernel {
    L::compiled::<OnePass<C, I, L, PACKED>>()
}

impl<C: CopyRow, I: Index, L: Isa, const PACKED: bool> LevelFn for OnePass<C, I, L, PACKED> {
    type Args<'a> = &'a IndexArgs<'a>;
    type Output = Outcome;

    const NARROW: bool = C::MOST <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, args: &IndexArgs<'_>) -> Outcome {
        args.debug_check();
        let pass = Pass::new::<C>(args, PACKED);
        if let [_] = args.loops {
            // SAFETY: the caller's promise.
            let done = unsafe { pass.run::<C, I>(&args.origin) };
            // SAFETY: as above.
            return if done == pass.n { OK } else { unsafe { go_on::<C, I, L>(args, &args.origin, done, 1) } };
        }
        let (outer, mut at) = (*args.outer(), args.origin);
        for left in (1..=outer.n).rev() {
            // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
            let done = unsafe { pass.run::<C, I>(&at) };
            if done < pass.n {
                // SAFETY: as above.
                return unsafe { go_on::<C, I, L>(args, &at, done, left) };
            }
            at = at.step(&outer);
        }
        OK
    }
}

/// Every index was in range.
const OK: Outcome = Outcome { out_of_range: false };

/// Runs what is left of a plane: the inner loop at a cursor from row `done` on, whose index is out of range, and the
/// inner loops after it. There are `left` of these, the first one counted.
///
/// # Safety
/// As for [`OnePass`], for these rows.
#[cold]
#[inline(never)]
unsafe fn go_on<C: CopyRow, I: Index, L: Isa>(args: &IndexArgs<'_>, at: &Cursor, done: usize, left: usize) -> Outcome {
    if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
        // SAFETY: K7: kernels of the level alone name this function.
        let level = unsafe { L::of_kernel() };
        let rest = Left { args, at: *at, done, left, widen: None };
        if const { size_of::<I>() >= 4 } {
            level.entry::<MoveOrFill<C, I, false>>()(&rest)
        } else if const { I::TYPE.is_signed() } {
            level.entry::<MoveOrFill<C, i32, false>>()(&Left { widen: Some(level.entry::<Widen<I>>()), ..rest })
        } else {
            level.entry::<MoveOrFill<C, u32, false>>()(&Left { widen: Some(level.entry::<Widen<I>>()), ..rest })
        }
    }
    Outcome { out_of_range: true }
}

/// The rest of a plane: the inner loop at a cursor from row `done` on, and `left - 1` inner loops after it.
pub(crate) struct Left<'a> {
    pub(crate) args: &'a IndexArgs<'a>,
    pub(crate) at: Cursor,
    pub(crate) done: usize,
    pub(crate) left: usize,
    /// Widens the indices to the type that they are read as, where they have another one.
    pub(crate) widen: Option<WidenFn>,
}

/// Indices to be widened: `n <= PROBED` of the contiguous ones at an address, from number `first` on.
pub(crate) struct WidenJob<'a> {
    index: *const u8,
    first: usize,
    n: usize,
    to: &'a mut [MaybeUninit<i32>; PROBED],
}

/// Writes the indices of a job as numbers of 32 bits.
///
/// # Safety
/// K7; the indices may be read, at any alignment, and are of the function's type.
pub(crate) type WidenFn = for<'a> fn(WidenJob<'a>);

/// [`WidenFn`] for a type of 8 or 16 bits.
struct Widen<I>(PhantomData<I>);

impl<I: Index> LevelFn for Widen<I> {
    type Args<'a> = WidenJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, WidenJob { index, first, n, to }: WidenJob<'_>) {
        let index = index.cast::<I>().wrapping_add(first);
        for (i, to) in to[..n].iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let index = unsafe { index.wrapping_add(i).read_unaligned() };
            to.write(index.widen() as i32);
        }
    }
}

/// Moves the rows of inner loops whose index is in range, and fills the others: those of the loop at a cursor from row
/// `done` on, and those of `left - 1` loops after it.
///
/// ```text
/// for each 64 rows:
///     if some of them, far apart, are all out of range:     fill all rows up to the next one in range, at once
///     else select the source of each row, its own or the fill
/// ```
///
/// Rows of more than 256 bytes are moved, or filled, one by one.
///
/// Indices of 8 and 16 bits are widened to 32 first, 64 at a time, so that they need no loop of their own.
pub(crate) struct MoveOrFill<C, I, const MOVES: bool>(PhantomData<(C, I)>);

impl<C: CopyRow, I: Index, const MOVES: bool> LevelFn for MoveOrFill<C, I, MOVES> {
    type Args<'a> = &'a Left<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, &Left { args, mut at, mut done, left, widen }: &Left<'_>) {
        let (Pass { n, rule, component, row, stride }, outer) = (Pass::new::<C>(args, false), *args.outer());
        let (copy, mut fill) = (C::of(row), FillRow::new());
        let step = if MOVES { args.inner().data } else { 0 };
        let short = const { C::MOST <= MOST_SELECTED };
        // SAFETY: K6 for rows that are short.
        let filled = if short { unsafe { fill.row(args) } } else { core::ptr::null() };
        let mut widened = [const { MaybeUninit::uninit() }; PROBED];
        for _ in 0..left {
            let first_index = at.index.wrapping_offset(component);
            while done < n {
                // Where the index of row 0 lies, or would lie, and up to which row indices lie there.
                let (index, n) = match widen {
                    None => (first_index.cast::<I>(), n),
                    Some(widen) => {
                        let some = PROBED.min(n - done);
                        widen(WidenJob { index: first_index, first: done, n: some, to: &mut widened });
                        (widened.as_ptr().cast::<I>().wrapping_sub(done), done + some)
                    }
                };
                // SAFETY: K3 for this index; indices are contiguous. Or it has been widened.
                let position = |i: usize| rule.check(unsafe { index.wrapping_add(i).read_unaligned() });
                let inside = |i: usize| position(i).1;
                let group = |i: usize| [position(i), position(i + 1), position(i + 2), position(i + 3)];
                while done < n {
                    let rows = if short { PROBED.min(n - done) } else { 1 };
                    // Without a branch for each of the probes, which random indices would mispredict.
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
                        // SAFETY: K1 and K6 for these rows.
                        unsafe { fill.fill(args, at.out.wrapping_add(first * row), done - first) };
                        continue;
                    }
                    let (mut data, mut out) =
                        (at.data.wrapping_offset(step.wrapping_mul(done as isize)), at.out.wrapping_add(done * row));
                    let mut next = |(x, inside): (i64, bool)| {
                        let from = data.wrapping_offset(stride.wrapping_mul(x as isize));
                        data = data.wrapping_offset(step);
                        if short { select_unpredictable(inside, from, filled) } else { from }
                    };
                    let end = done + rows;
                    while C::BYTES.is_some() && end - done >= GROUP {
                        let [a, b, c, d] = group(done);
                        let from = [next(a), next(b), next(c), next(d)];
                        // SAFETY: K1, K2 and K4 for rows whose index is in range; or the fill, which is as long.
                        unsafe { copy.copy_four(from, out, row) };
                        (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
                    }
                    while done < end {
                        // SAFETY: as above.
                        unsafe { copy.copy(next(position(done)), out) };
                        (out, done) = (out.wrapping_add(row), done + 1);
                    }
                }
            }
            (at, done) = (at.step(&outer), 0);
        }
    }
}

/// Rows among which some are probed, and how many these are.
const PROBED: usize = 64;
const PROBES: usize = 8;

/// The fields that one pass along the inner loop needs, read up front: otherwise the compiler reads them again after
/// every store.
#[derive(Clone, Copy)]
struct Pass {
    n: usize,
    rule: IndexRule,
    /// Bytes from an index to its component.
    component: isize,
    row: usize,
    stride: isize,
}

impl Pass {
    #[inline(always)]
    fn new<C: CopyRow>(args: &IndexArgs<'_>, packed: bool) -> Self {
        debug_assert_eq!(args.spec.components.len(), 1, "K9: one component");
        let Component { dim, index: component, .. } = args.spec.components[0];
        let row = C::BYTES.unwrap_or(args.spec.row);
        let rule = IndexRule::new(args.spec.policy.negative, dim);
        let stride = if packed { row as isize } else { args.stride };
        Pass { n: args.inner().n, rule, component, row, stride }
    }

    /// Resolves each row of the inner loop at a cursor and moves it, up to the first whose index is out of range;
    /// returns how many. The cursor is borrowed, as that of a [`Body`](super::Body) is.
    ///
    /// # Safety
    /// As for [`OnePass`].
    #[inline(always)]
    unsafe fn run<C: CopyRow, I: Index>(self, at: &Cursor) -> usize {
        let Pass { n, rule, component, row, stride } = self;
        let index = at.index.wrapping_offset(component).cast::<I>();
        let (copy, mut out, mut done) = (C::of(row), at.out, 0);
        // For rows of a few bytes the loop itself would cost more than the copies.
        while C::BYTES.is_some() && n - done >= GROUP {
            let mut group = [(0, false); GROUP];
            for (i, x) in group.iter_mut().enumerate() {
                // SAFETY: K3 for this index; they are contiguous.
                *x = rule.check(unsafe { index.wrapping_add(done + i).read_unaligned() });
            }
            if group.iter().any(|&(_, inside)| !inside) {
                break;
            }
            for (x, _) in group {
                let from = at.data.wrapping_offset(stride.wrapping_mul(x as isize));
                // SAFETY: K1, K2 and K4 for this row, whose index is in range.
                unsafe { copy.copy(from, out) };
                out = out.wrapping_add(row);
            }
            done += GROUP;
        }
        for done in done..n {
            // SAFETY: K3 for this index; they are contiguous.
            let index = unsafe { index.wrapping_add(done).read_unaligned() };
            let Some(x) = rule.check_valid_first(index) else { return done };
            let from = at.data.wrapping_offset(stride.wrapping_mul(x as isize));
            // SAFETY: K1, K2 and K4 for this row, whose index is in range.
            unsafe { copy.copy(from, out) };
            out = out.wrapping_add(row);
        }
        n
    }
}

/// Rows of a constant size that are resolved before the first of them is moved.
const GROUP: usize = 4;

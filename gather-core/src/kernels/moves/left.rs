//! The rest of a plane from the first index out of range on, under `Missing::Fill`: rows are moved or filled. And
//! the pass along an inner loop that comes before it.

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

/// The rest of a plane: a strip that ends with the inner loop, and the inner loops after it. There is one component;
/// along the inner loop indices and rows are contiguous (K9).
pub(crate) struct Left<'a> {
    first: Strip<'a>,
    later: Strips<'a>,
    /// Widens the indices to the type that they are read as, where they have another one.
    widen: Option<WidenFn>,
}

impl<'a> Left<'a> {
    /// The rest of a plane, whose indices have the type that they are read as.
    #[inline(always)]
    pub(crate) fn new(first: Strip<'a>, later: Strips<'a>) -> Self {
        debug_assert!(first.spec().policy.fills());
        Left { first, later, widen: None }
    }

    /// The same, whose indices are widened to the type that they are read as.
    #[inline(always)]
    pub(crate) fn widened(self, widen: WidenFn) -> Self {
        Left { widen: Some(widen), ..self }
    }
}

/// Indices to be widened, at most [`PROBED`].
pub(crate) struct WidenJob<'a> {
    indices: Indices,
    to: &'a mut [MaybeUninit<i32>; PROBED],
}

/// Writes the indices of a job as numbers of 32 bits.
pub(crate) type WidenFn = for<'a> fn(WidenJob<'a>);

/// [`WidenFn`] for a type of 8 or 16 bits.
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
    type Args<'a> = Left<'a>;
    type Output = ();

    /// Data moves along the inner loop if `MOVES`. Indices are of type `I`; or of one that is widened to it, which has
    /// 32 bits then.
    #[inline(always)]
    fn call<Here: Token>(_: Here, Left { first: mut strip, mut later, widen }: Left<'_>) {
        let (args, spec) = (strip.args(), strip.spec());
        let Pass { rule, component, row, stride, .. } = Pass::new::<C>(args, false);
        let (copy, mut fill) = (C::of(row), FillRow::new());
        let step = if MOVES { args.inner().data } else { 0 };
        let short = const { C::MOST <= MOST_SELECTED };
        // The index is the position: of twelve instructions a row six are left.
        let is_plain = const { !MOVES && C::BYTES.is_some() } && rule.is_plain::<I>() && stride == row as isize;
        let mut widened = [const { MaybeUninit::uninit() }; PROBED];
        loop {
            let (at, indices, mut done) = (strip.at(), strip.indices(component), 0);
            while done < strip.n() {
                // Where the index of row 0 lies, or would lie, and up to which row indices lie there.
                let (index, n) = match widen {
                    None => (indices.at().cast::<I>(), strip.n()),
                    Some(widen) => {
                        let some = PROBED.min(strip.n() - done);
                        widen(WidenJob { indices: indices.part(done, some), to: &mut widened });
                        (widened.as_ptr().cast::<I>().wrapping_sub(done), done + some)
                    }
                };
                // SAFETY: K3: index `i < n` of the strip, which are contiguous; or it has been widened.
                let read = |i: usize| unsafe { index.wrapping_add(i).read_unaligned() };
                let position = |i: usize| rule.check(read(i));
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
                        // SAFETY: K1, K2 and K4 for rows whose index is in range; or the fill, which is as long.
                        unsafe { copy.copy_four(from, out, row) };
                        (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
                    }
                    while C::BYTES.is_some() && end - done >= GROUP {
                        let [a, b, c, d] = group(done);
                        let from = [next(a), next(b), next(c), next(d)];
                        // SAFETY: K1, K2 and K4 for rows whose index is in range; or the fill, which is as long.
                        unsafe { copy.copy_four(from, out, row) };
                        (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
                    }
                    while done < end {
                        // SAFETY: K1, K2 and K4 for a row whose index is in range; or the fill, which is as long.
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

/// Rows among which some are probed, and how many these are.
const PROBED: usize = 64;
const PROBES: usize = 8;

/// The fields that one pass along the inner loop needs, read up front: otherwise the compiler reads them again after
/// every store.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    n: usize,
    rule: IndexRule,
    component: &'a Component,
    row: usize,
    stride: isize,
    /// Whether an index was no position by itself, so that others may be none.
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

    /// The iterations of the inner loop.
    #[inline(always)]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Resolves each row of an inner loop and moves it, up to the first whose index is out of range; returns how many.
    /// The cursor is borrowed, as that of a plane is.
    ///
    /// # Safety
    /// The cursor is that of the inner loop of the arguments at a coordinate of the loops around it. Along it indices
    /// and rows are contiguous, and data does not move (K9).
    #[inline(always)]
    pub(crate) unsafe fn run<C: CopyRow, I: Index>(&mut self, at: &Cursor) -> usize {
        let Pass { n, rule, component, .. } = *self;
        // SAFETY: K3: the indices of the inner loop.
        let indices = unsafe { Indices::new(at.index.wrapping_offset(component.index), size_of::<I>() as isize, n) };
        // Most indices are positions by themselves. From the first that is none, negative ones are counted from the end
        // without a branch, which random ones would mispredict.
        let mut done = 0;
        if !self.counts {
            // SAFETY: the cursor is that of our contract, and no row is done. These are positions.
            done = unsafe { self.go_on::<C, I>(at, &indices, 0, |index| rule.position(index)) };
            if done == n || !I::TYPE.is_signed() {
                return done;
            }
            self.counts = true;
        }
        let position = |index| {
            let (position, inside) = rule.check(index);
            if inside { Some(position) } else { None }
        };
        // SAFETY: as before; at most all rows are done.
        unsafe { self.go_on::<C, I>(at, &indices, done, position) }
    }

    /// Moves rows of an inner loop from row `done` on, up to the first whose index has no position; returns up to
    /// where.
    ///
    /// # Safety
    /// The cursor is as for [`Pass::run`], the indices are those of its inner loop, `done` is at most their number, and
    /// `position` finds positions in range.
    #[inline(always)]
    unsafe fn go_on<C: CopyRow, I: Index>(
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
        // For rows of a few bytes the loop itself would cost more than the copies.
        while C::BYTES.is_some() && n - done >= GROUP {
            let group = [position(done), position(done + 1), position(done + 2), position(done + 3)];
            let [Some(a), Some(b), Some(c), Some(d)] = group else { break };
            // SAFETY: K1, K2 and K4 for these rows, whose indices are in range.
            unsafe { copy.copy_four([from(a), from(b), from(c), from(d)], out, row) };
            (out, done) = (out.wrapping_add(GROUP * row), done + GROUP);
        }
        while done < n {
            let Some(x) = position(done) else { break };
            // SAFETY: K1, K2 and K4 for this row, whose index is in range.
            unsafe { copy.copy(from(x), out) };
            (out, done) = (out.wrapping_add(row), done + 1);
        }
        done
    }
}

/// Rows of a constant size that are resolved before the first of them is moved.
const GROUP: usize = 4;

//! Direct: rows are resolved in 64 bits and moved from where they lie. Any shape.
//!
//! Mostly rows are resolved and moved in one pass (`one_pass.rs`), and elements that are not contiguous one by one
//! (`elements.rs`). Longer rows that are not, tuples, indices that are clamped or wrapped, and long rows that are
//! prefetched are resolved 64 at a time here, and then moved.

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use crate::kernels::args::{Component, Cursor, IndexArgs};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::elements;
use crate::kernels::bodies::{MoveFn, State};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::{FillRow, MOST_SELECTED};
use crate::kernels::moves::placed::{CopyRow, FEW, MovePlaced, PlacedRows, Sources};
use crate::kernels::moves::prefetch::NextSlice;
use crate::kernels::moves::{ByWay, MoveJob};
use crate::types::index::Index;
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// The body of [`Method::Direct`](crate::Method::Direct) where one pass does not do.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn direct<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    if let Some(one_by_one) = W::one_by_one::<I>()
        && elements::takes(args)
    {
        // SAFETY: the caller's promise.
        state.out_of_range |= unsafe { one_by_one(args, at) };
        return;
    }
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise.
    unsafe { planes::<I>(state, args, at, W::by_way(args.spec.row, AtLevel(level))) }
}

/// Moves rows from where each lies.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows.
type MovePlacedFn = fn(&PlacedRows<'_>);

/// [`MovePlaced`] at a level.
struct AtLevel<L>(L);

impl<L: Isa> ByWay for AtLevel<L> {
    type Fn = MovePlacedFn;

    #[inline(always)]
    fn of<C: CopyRow>(self) -> MovePlacedFn {
        self.0.entry::<MovePlaced<C>>()
    }
}

/// Runs a plane.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MovePlacedFn`].
#[inline(never)]
unsafe fn planes<I: Index>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, move_placed: MovePlacedFn) {
    let (outer, inner, mut at) = (args.outer(), args.inner(), *at);
    let mut sources: Sources = [const { MaybeUninit::uninit() }; FEW];
    for _ in 0..outer.n {
        let mut done = 0;
        while done < inner.n {
            let (n, from) = ((inner.n - done).min(FEW), at.skip(inner, done));
            // SAFETY: K2 and K3 for these indices.
            let bad = unsafe { resolve::<I>(args, from, n, &mut sources) };
            let rows = PlacedRows {
                sources: &sources,
                n,
                out: from.out,
                out_step: inner.out,
                row: args.spec.row,
                prefetch_distance: args.spec.prefetch_distance,
            };
            if bad == 0 {
                move_placed(&rows);
            } else {
                state.out_of_range = true;
                if args.spec.policy.out_of_bounds != OutOfBounds::Zero {
                    return;
                }
                // SAFETY: K1, K2, K4, K6 and K7 for these rows.
                unsafe { move_some(args, &rows, bad, &mut state.fill, move_placed) };
            }
            done += n;
        }
        at = at.step(outer);
    }
}

/// Moves the rows whose bits are not set, and fills the others. Short rows come from the fill, which takes their place
/// among the sources.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows, the fill under `OutOfBounds::Zero`. Sources of rows whose bits are not set may
/// be read.
#[cold]
#[inline(never)]
unsafe fn move_some(
    args: &IndexArgs<'_>,
    rows: &PlacedRows<'_>,
    bad: u64,
    fill: &mut FillRow,
    move_placed: MovePlacedFn,
) {
    if rows.row <= MOST_SELECTED && bad.count_ones() as usize != rows.n {
        let mut sources = *rows.sources;
        // SAFETY: K6 for rows that are short.
        let fill = unsafe { fill.row(args) };
        for (i, source) in sources[..rows.n].iter_mut().enumerate() {
            // SAFETY: the sources of `n` rows have been written.
            let own = unsafe { source.assume_init() };
            source.write(select_unpredictable(bad >> i & 1 != 0, fill, own));
        }
        return move_placed(&PlacedRows { sources: &sources, ..*rows });
    }
    let mut first = 0;
    while first < rows.n {
        let is_bad = bad >> first & 1 != 0;
        let same = if is_bad { (bad >> first).trailing_ones() } else { (bad >> first).trailing_zeros() } as usize;
        let (n, out) = (same.min(rows.n - first), rows.out.wrapping_offset(rows.out_step.wrapping_mul(first as isize)));
        if is_bad {
            // SAFETY: K1 and K6 for these rows.
            unsafe { fill.fill(args, out, n) };
        } else {
            let mut sources: Sources = [const { MaybeUninit::uninit() }; FEW];
            sources[..n].copy_from_slice(&rows.sources[first..first + n]);
            move_placed(&PlacedRows { sources: &sources, n, out, ..*rows });
        }
        first += n;
    }
}

/// Writes where `n <= FEW` rows from `at` on lie; returns which have an index out of range, one bit each. These lie
/// anywhere.
///
/// # Safety
/// K2 and K3 for the rows.
#[inline(always)]
unsafe fn resolve<I: Index>(args: &IndexArgs<'_>, at: Cursor, n: usize, sources: &mut Sources) -> u64 {
    match args.spec.components.as_slice() {
        // SAFETY: the caller's promise.
        [component] => unsafe { resolve_one::<I>(args, component, at, n, sources) },
        // SAFETY: the caller's promise.
        components => unsafe { resolve_tuples::<I>(args, components, at, n, sources) },
    }
}

/// As [`resolve`], of one component.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn resolve_one<I: Index>(
    args: &IndexArgs<'_>,
    component: &Component,
    at: Cursor,
    n: usize,
    sources: &mut Sources,
) -> u64 {
    let (inner, policy, dim) = (args.inner(), args.spec.policy, component.dim);
    if matches!(policy.out_of_bounds, OutOfBounds::Clamp | OutOfBounds::Wrap) {
        let component = core::slice::from_ref(component);
        // SAFETY: the caller's promise.
        return unsafe { resolve_tuples::<I>(args, component, at, n, sources) };
    }
    let rule = IndexRule::new(policy.negative, dim);
    let (mut index, mut data, mut bad) = (at.index.wrapping_offset(component.index), at.data, 0);
    for (i, source) in sources[..n].iter_mut().enumerate() {
        // SAFETY: K3 for this index.
        let (x, inside) = rule.check(unsafe { index.cast::<I>().read_unaligned() });
        bad |= u64::from(!inside) << i;
        source.write(data.wrapping_offset(args.stride.wrapping_mul(x as isize)));
        index = index.wrapping_offset(inner.index);
        data = data.wrapping_offset(inner.data);
    }
    bad
}

/// As [`resolve`], of any number of components and under any policy.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn resolve_tuples<I: Index>(
    args: &IndexArgs<'_>,
    components: &[Component],
    at: Cursor,
    n: usize,
    sources: &mut Sources,
) -> u64 {
    let (inner, policy, mut at, mut bad) = (args.inner(), args.spec.policy, at, 0);
    let ends = matches!(policy.out_of_bounds, OutOfBounds::Error | OutOfBounds::Zero);
    for (i, source) in sources[..n].iter_mut().enumerate() {
        let position = if ends {
            // SAFETY: the caller's promise.
            unsafe { tuple_inside::<I>(components, at.index, policy.negative) }
        } else {
            // SAFETY: as above.
            unsafe { resolve_tuple::<I>(args, components, at.index) }
        };
        bad |= u64::from(position.is_none()) << i;
        let position = position.unwrap_or(0);
        source.write(at.data.wrapping_offset(args.stride.wrapping_mul(position as isize)));
        at = at.step(inner);
    }
    bad
}

/// As [`resolve_tuple`], under the policies `Error` and `Zero`: without a branch for each component.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn tuple_inside<I: Index>(components: &[Component], index: *const u8, negative: NegativeIndex) -> Option<i64> {
    let (mut sum, mut inside) = (0i64, true);
    for component in components {
        // SAFETY: K3 for this component.
        let value = unsafe { index.wrapping_offset(component.index).cast::<I>().read_unaligned() };
        let (x, is_inside) = IndexRule::new(negative, component.dim).check(value);
        inside &= is_inside;
        sum = sum.wrapping_add(x.wrapping_mul(component.scale));
    }
    inside.then_some(sum)
}

/// The sum of the positions of a tuple, each times its scale; `None` where a component is out of range.
///
/// # Safety
/// K2 and K3 for the tuple at `index`.
#[inline(always)]
pub(super) unsafe fn resolve_tuple<I: Index>(
    args: &IndexArgs<'_>,
    components: &[Component],
    index: *const u8,
) -> Option<i64> {
    components.iter().try_fold(0i64, |sum, component| {
        let at = index.wrapping_offset(component.index).cast::<I>();
        // SAFETY: K3 for this component.
        let value = unsafe { at.read_unaligned() };
        let position = args.spec.policy.resolve(value, component.dim)?;
        Some(sum.wrapping_add(position.wrapping_mul(component.scale)))
    })
}

/// The body of a map's kernel under [`Method::Direct`](crate::Method::Direct): converts row by row.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MoveFn`], with K8.
pub(crate) unsafe fn direct_converted<I: Index>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, convert: MoveFn) {
    let (outer, inner, mut plane) = (args.outer(), args.inner(), *at);
    for _ in 0..outer.n {
        let mut at = plane;
        for _ in 0..inner.n {
            // SAFETY: K2 and K3 for this index.
            match unsafe { resolve_tuple::<I>(args, &args.spec.components, at.index) } {
                Some(position) => {
                    let data = at.data.wrapping_offset(args.stride.wrapping_mul(position as isize));
                    let zero = 0i32;
                    let job = MoveJob::new(args, Cursor { data, ..at }, &raw const zero, 1, NextSlice::NONE);
                    let job = MoveJob { first_position: position as usize, ..job };
                    convert(args, &job);
                }
                None => {
                    state.out_of_range = true;
                    if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
                        // SAFETY: K1 and K6 for this row.
                        unsafe { state.fill.fill(args, at.out, 1) };
                    }
                }
            }
            at = at.step(inner);
        }
        plane = plane.step(outer);
    }
}

/// Fills every row and reads nothing: `OutOfBounds::Zero` on an axis without elements.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(crate) unsafe fn fill_plane(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    let (outer, mut plane) = (args.outer(), *at);
    for _ in 0..outer.n {
        // SAFETY: K1 and K6 for these rows.
        unsafe { state.fill.fill(args, plane.out, args.inner().n) };
        plane = plane.step(outer);
    }
}

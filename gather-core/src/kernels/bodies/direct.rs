//! Direct: rows are resolved in 64 bits and moved from individual addresses. Any shape.
//!
//! ```text
//! most dense rows by one component, in at most two loops:     resolved and moved in one pass   (`one_pass.rs`)
//! other elements by one component, most tuples of elements:   resolved and moved one by one    (`elements.rs`)
//! all other rows:                                             resolved 64 at a time, then moved
//! ```

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use crate::kernels::bodies::elements;
use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::index_rule::IndexRule;
use crate::kernels::levels::Isa;
use crate::kernels::moves::RowLoopFn;
use crate::kernels::moves::fill::{FillRow, MOST_SELECTED};
use crate::kernels::moves::placed::{FEW, MovePlaced, PlacedRows, Sources};
use crate::kernels::nest::args::MoveFn;
use crate::kernels::nest::args::{Component, KernelSpec};
use crate::kernels::nest::plane::{OutputRows, Plane, Strip};
use crate::kernels::nest::rows::MoveJob;
use crate::types::index::Index;

/// The body of [`Method::Direct`](crate::Method::Direct) if one pass does not suffice.
#[inline(never)]
pub(super) fn direct<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    if let Some(one_by_one) = W::one_by_one::<I>()
        && elements::takes(plane.args())
    {
        if one_by_one(plane) {
            state.done += plane.rows();
        }
        return;
    }
    // SAFETY: K7: only kernels of the level or of a higher level use this body.
    let level = unsafe { L::of_kernel() };
    planes::<I>(state, plane, W::by_way::<MovePlaced>(level, plane.spec().row));
}

/// Runs a plane, [`FEW`] rows at a time.
#[inline(never)]
fn planes<I: Index>(state: &mut State, plane: Plane<'_>, move_placed: RowLoopFn<MovePlaced>) {
    let spec = plane.spec();
    let mut sources: Sources = [const { MaybeUninit::uninit() }; FEW];
    for strip in plane.strips() {
        let mut done = 0;
        while done < strip.n() {
            let few = strip.part(done, FEW);
            let bad = resolve::<I>(&few, &mut sources);
            if bad == 0 {
                // SAFETY: `resolve` has written the sources, and returned 0: every index is in range (K2, K4).
                move_placed(&unsafe { PlacedRows::new(&sources, few.outputs(), spec) });
            } else {
                if !spec.policy.fills() {
                    return;
                }
                move_or_fill(spec, &mut sources, few.outputs(), bad, &mut state.fill, move_placed);
            }
            (state.done, done) = (state.done + few.n(), done + few.n());
        }
    }
}

/// Moves the rows whose bit in `bad` is 0, and fills the others. A short row to fill gets the fill as its source.
#[cold]
#[inline(never)]
fn move_or_fill(
    spec: &KernelSpec,
    sources: &mut Sources,
    rows: OutputRows,
    bad: u64,
    fill: &mut FillRow,
    move_placed: RowLoopFn<MovePlaced>,
) {
    if spec.row <= MOST_SELECTED && bad.count_ones() as usize != rows.n() {
        let fill = fill.row(spec).as_ptr();
        for (i, source) in sources[..rows.n()].iter_mut().enumerate() {
            // SAFETY: `planes` passes sources of these rows, which `resolve` has written.
            let own = unsafe { source.assume_init() };
            source.write(select_unpredictable(bad >> i & 1 != 0, fill, own));
        }
        // SAFETY: each source is a row of data whose index is in range (K2, K4), or the fill, of `spec.row` bytes.
        return move_placed(&unsafe { PlacedRows::new(sources, rows, spec) });
    }
    let mut first = 0;
    while first < rows.n() {
        let is_bad = bad >> first & 1 != 0;
        let same = if is_bad { (!(bad >> first)).trailing_zeros() } else { (bad >> first).trailing_zeros() } as usize;
        let run = rows.part(first, same.min(rows.n() - first));
        if is_bad {
            fill.fill(spec, run);
        } else {
            let mut own: Sources = [const { MaybeUninit::uninit() }; FEW];
            own[..run.n()].copy_from_slice(&sources[first..first + run.n()]);
            // SAFETY: `own` has the sources of `run`, whose bits are 0: their indices are in range (K2, K4).
            move_placed(&unsafe { PlacedRows::new(&own, run, spec) });
        }
        first += run.n();
    }
}

/// Writes the sources of a strip of at most [`FEW`] rows. Sets bit `i` of the result if an index of row `i` is out of
/// range; the source of row `i` may then be any address.
#[inline(always)]
fn resolve<I: Index>(strip: &Strip<'_>, sources: &mut Sources) -> u64 {
    let (args, spec, n, mut bad) = (strip.args(), strip.spec(), strip.n(), 0);
    let mut data = strip.at().data;
    for source in &mut sources[..n] {
        source.write(data);
        data = data.wrapping_offset(args.inner().data);
    }
    for component in &spec.components {
        let (rule, indices) = (IndexRule::new(spec.policy, component.dim), strip.indices(component));
        let step = args.stride().wrapping_mul(component.scale as isize);
        for (i, source) in sources[..n].iter_mut().enumerate() {
            let (x, inside) = rule.check(indices.read::<I>(i));
            bad |= u64::from(!inside) << i;
            // SAFETY: the first loop has written the first `n` sources.
            let from = unsafe { source.assume_init() };
            source.write(from.wrapping_offset(step.wrapping_mul(x as isize)));
        }
    }
    bad
}

/// `Σ scale · position` of the first tuple of a strip; `None` if a component is out of range.
#[inline(always)]
pub(super) fn resolve_tuple<I: Index>(strip: &Strip<'_>, components: &[Component]) -> Option<i64> {
    components.iter().try_fold(0i64, |sum, component| {
        let (position, inside) = IndexRule::new(strip.spec().policy, component.dim).check(strip.index::<I>(component));
        inside.then_some(sum.wrapping_add(position.wrapping_mul(component.scale)))
    })
}

/// The body of a map's kernel under [`Method::Direct`](crate::Method::Direct): converts row by row.
pub(crate) fn direct_converted<I: Index>(state: &mut State, plane: Plane<'_>, convert: MoveFn) {
    let (args, spec) = (plane.args(), plane.spec());
    for mut strip in plane.strips() {
        while strip.n() > 0 {
            if let Some(position) = resolve_tuple::<I>(&strip, &spec.components) {
                let zero = 0;
                // SAFETY: `resolve_tuple` found each component in range, and `zero` is 0.
                convert(args, &unsafe { MoveJob::of_one(&strip, position, &zero) });
            } else if spec.policy.fills() {
                state.fill.fill(spec, strip.outputs().part(0, 1));
            } else {
                return;
            }
            state.done += 1;
            strip.step();
        }
    }
}

/// Fills every row and reads nothing: `Missing::Fill` on an axis without elements.
pub(crate) fn fill_plane(state: &mut State, plane: Plane<'_>) {
    for strip in plane.strips() {
        state.fill.fill(plane.spec(), strip.outputs());
        state.done += strip.n();
    }
}

//! Rows that are resolved and moved in one pass, for [`Method::Direct`](crate::Method::Direct): nothing is set up
//! before the first row, which is what calls of few rows need, and short inner loops.
//!
//! ```text
//! for each row, or four short ones:
//!     resolve its index     (out of range: stop, or go on as in `direct.rs`, which writes the fill)
//!     move it
//! ```

use crate::kernels::args::{Component, Cursor, IndexArgs, Loop, Outcome};
use crate::kernels::bodies::State;
use crate::kernels::bodies::direct::direct;
use crate::kernels::index_rule::IndexRule;
use crate::kernels::isa::Isa;
use crate::kernels::moves::Width;
use crate::kernels::moves::placed::CopyRow;
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The kernel of [`Method::Direct`](crate::Method::Direct) for one plane whose rows are resolved and moved in one
/// pass.
///
/// # Safety
/// The kernel contract for the arguments; K9: along the inner loop indices and rows lie side by side, and data does
/// not move; there are one or two loops; and `PACKED` says whether elements of data lie side by side too.
#[inline(always)]
pub(crate) unsafe fn one_pass<C: CopyRow, W: Width, I: Index, L: Isa, const PACKED: bool>(
    args: &IndexArgs<'_>,
) -> Outcome {
    args.debug_check();
    let pass = Pass::new::<C>(args, PACKED);
    if let [_] = args.loops {
        // SAFETY: the caller's promise.
        let done = unsafe { pass.run::<C, I>(&args.origin) };
        // SAFETY: as above.
        return if done == pass.n { OK } else { unsafe { go_on(args, &args.origin, done, rest::<W, I, L>) } };
    }
    let (outer, mut at, mut outcome) = (*args.outer(), args.origin, OK);
    for _ in 0..outer.n {
        // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
        let done = unsafe { pass.run::<C, I>(&at) };
        if done < pass.n {
            // SAFETY: as above.
            outcome = unsafe { go_on(args, &at, done, rest::<W, I, L>) };
            if args.spec.policy.out_of_bounds == OutOfBounds::Error {
                break;
            }
        }
        at = at.step(&outer);
    }
    outcome
}

/// Every index was in range.
const OK: Outcome = Outcome { out_of_range: false };

/// Runs what is left of a loop.
///
/// # Safety
/// The kernel contract for the loop.
type RestFn = unsafe fn(&IndexArgs<'_>, &Cursor);

/// Runs the inner loop at a cursor from row `done` on, whose index is out of range.
///
/// # Safety
/// The kernel contract for the inner loop, and that of [`RestFn`].
#[cold]
#[inline(never)]
unsafe fn go_on(args: &IndexArgs<'_>, at: &Cursor, done: usize, rest: RestFn) -> Outcome {
    if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
        let (inner, at) = (args.inner(), at.skip(args.inner(), done));
        let args = IndexArgs { loops: &[Loop { n: inner.n - done, ..*inner }], origin: at, ..*args };
        // SAFETY: the caller's promise, for what is left of the loop.
        unsafe { rest(&args, &at) };
    }
    Outcome { out_of_range: true }
}

/// [`direct`] as a [`RestFn`].
///
/// # Safety
/// As there.
unsafe fn rest<W: Width, I: Index, L: Isa>(args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: the caller's promise.
    unsafe { direct::<W, I, L>(&mut State::new(args), args, at) }
}

/// What one pass along the inner loop needs, read up front: otherwise the compiler reads it again after every store.
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
    /// As for [`one_pass`].
    #[inline(always)]
    unsafe fn run<C: CopyRow, I: Index>(self, at: &Cursor) -> usize {
        let Pass { n, rule, component, row, stride } = self;
        let index = at.index.wrapping_offset(component).cast::<I>();
        let (copy, mut out, mut done) = (C::of(row), at.out, 0);
        // For rows of a few bytes the loop itself would cost more than the copies.
        while C::BYTES.is_some() && n - done >= GROUP {
            let mut group = [(0, false); GROUP];
            for (i, x) in group.iter_mut().enumerate() {
                // SAFETY: K3 for this index; they lie side by side.
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
            // SAFETY: K3 for this index; they lie side by side.
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

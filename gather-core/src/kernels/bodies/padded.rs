//! Padding: rows that are filled.

use crate::kernels::moves::copy_fixed;
use crate::kernels::space::args::{SpaceArgs, SpaceCursor};

/// Fills the rows of the plane at a cursor.
pub(crate) fn fill_plane(args: &SpaceArgs<'_>, at: SpaceCursor) {
    let (row, fill) = (args.row(), args.fill());
    debug_assert!(!fill.is_empty() && row.is_multiple_of(fill.len()), "K6: a fill");
    macro_rules! of_one_element {
        ($($bytes:literal)*) => {
            match (row, fill.len()) {
                $(($bytes, $bytes) => return each(args, at, |to| {
                    // SAFETY: K1 for the row, which is as long as the fill.
                    unsafe { copy_fixed::<$bytes>(fill.as_ptr(), to) }
                }),)*
                _ => {}
            }
        };
    }
    of_one_element!(1 2 4 8 16);
    match fill {
        &[first, ref rest @ ..] if rest.iter().all(|&byte| byte == first) => each(args, at, |to| {
            // SAFETY: K1 for the row.
            unsafe { to.write_bytes(first, row) }
        }),
        _ => each(args, at, |to| {
            for start in (0..row).step_by(fill.len()) {
                // SAFETY: K6: `start + fill.len() <= row`, which K1 lets us write; the fill lies apart from the output.
                unsafe { to.wrapping_add(start).copy_from_nonoverlapping(fill.as_ptr(), fill.len()) };
            }
        }),
    }
}

/// Runs `write` on every row of the plane at a cursor.
#[inline(always)]
fn each(args: &SpaceArgs<'_>, at: SpaceCursor, write: impl Fn(*mut u8)) {
    let (outer, inner) = (args.outer(), args.inner());
    let mut plane = at.enter(outer);
    for _ in 0..outer.n {
        let mut row = plane.at().enter(inner);
        for _ in 0..inner.n {
            write(row.at().out());
            row = row.step(inner);
        }
        plane = plane.step(outer);
    }
}

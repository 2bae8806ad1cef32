//! Padding: filling rows.

use crate::kernels::moves::copy_fixed;
use crate::kernels::space::plane::SpacePlane;

/// Fills the rows of a plane.
pub(crate) fn fill_plane(plane: SpacePlane<'_>) {
    let args = plane.args();
    let (row, fill) = (args.row(), args.fill());
    debug_assert!(!fill.is_empty() && row.is_multiple_of(fill.len()), "K6: a fill");
    macro_rules! of_one_element {
        ($($bytes:literal)*) => {
            match (row, fill.len()) {
                $(($bytes, $bytes) => return each(plane, |to| {
                    // SAFETY: K1, and `row == fill.len()`. The fill is borrowed, so it is apart from the output.
                    unsafe { copy_fixed::<$bytes>(fill.as_ptr(), to) }
                }),)*
                _ => {}
            }
        };
    }
    of_one_element!(1 2 4 8 16);
    match fill {
        &[first, ref rest @ ..] if rest.iter().all(|&byte| byte == first) => each(plane, |to| {
            // SAFETY: K1 for the row.
            unsafe { to.write_bytes(first, row) }
        }),
        _ => each(plane, |to| {
            for start in (0..row).step_by(fill.len()) {
                // SAFETY: K1: `start + fill.len() <= row`, by K6. The fill is borrowed, so it is apart from the output.
                unsafe { to.wrapping_add(start).copy_from_nonoverlapping(fill.as_ptr(), fill.len()) };
            }
        }),
    }
}

#[inline(always)]
fn each(plane: SpacePlane<'_>, write: impl Fn(*mut u8)) {
    let (outer, inner) = (plane.args().outer(), plane.args().inner());
    let mut cursor = plane.at().enter(outer);
    for _ in 0..outer.n {
        let mut row = cursor.at().enter(inner);
        for _ in 0..inner.n {
            write(row.at().out());
            row = row.step(inner);
        }
        cursor = cursor.step(outer);
    }
}

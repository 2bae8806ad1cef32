//! Gathered: one loop over a whole plane resolves indices in registers, and gathers rows by them.

use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::nest::plane::Plane;
use crate::types::index::Index;

/// The body of [`Method::Gathered`](crate::Method::Gathered).
#[inline(never)]
pub(super) fn gathered<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    if !W::gather::<I, L>(level)(plane) {
        state.done += plane.rows();
    }
}

//! Gathered: indices are resolved in a register and data is gathered by it, in one loop over a whole plane.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::State;
use crate::kernels::isa::Isa;
use crate::kernels::moves::Width;
use crate::types::index::Index;

/// The body of [`Method::Gathered`](crate::Method::Gathered).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn gathered<W: Width, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: the caller's promise; K9: the level gathers elements of this width.
    state.out_of_range |= unsafe { W::gather::<I, L>()(args, at) };
}

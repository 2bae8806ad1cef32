//! Gathered: indices are resolved in a register and data is gathered by it, in one loop over a whole plane.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::State;
use crate::kernels::levels::Isa;
use crate::types::index::Index;

/// The body of [`Method::Gathered`](crate::Method::Gathered).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn gathered<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    state.out_of_range |= W::gather::<I, L>(level)(args, at);
}

//! Loops for shapes known at compile time, for functions of [`specialize!`](crate::specialize!) and kernels of their
//! sets.
//!
//! | module | contents |
//! |---|---|
//! | `size` | products of known and open sizes |
//! | `fold` | from declarations to loops, in constants |
//! | `rows` | the loops of the operators on indices |
//! | `lookup_avx2` | short axes in a register |
//! | `blocks` | the loops of BatchToSpace |
//! | `row`, `space_row` | the loops as kernels of a set |

pub(crate) mod blocks;
pub(crate) mod fold;
#[cfg(target_arch = "x86_64")]
mod lookup_avx2;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod size;
pub(crate) mod space_row;

/// Output bytes from which the operator's kernels gain more than a plan costs (bench `specialize`).
pub(crate) const LARGE: usize = 16 << 10;
/// [`LARGE`] for rows of at least [`SHORT_ROW`] bytes, which plain loops move as quickly.
const LARGE_ROWS: usize = 128 << 10;
/// Row bytes below which a row is short.
const SHORT_ROW: usize = 32;
/// [`LARGE`] for data of more than [`FAR`] bytes, whose rows plans prefetch.
const LARGE_FAR: usize = 8 << 10;
/// Data bytes above which data does not fit in the caches.
const FAR: usize = 4 << 20;

/// Whether the operator's kernels are faster than plain loops, by bytes of a row, of data and of the output.
#[inline(always)]
pub(crate) const fn is_large(row: usize, data: usize, out: usize) -> bool {
    out >= if row < SHORT_ROW { LARGE } else { LARGE_ROWS } || data > FAR && out >= LARGE_FAR
}

//! Loops for shapes that the source knows: what functions of [`specialize!`](crate::specialize!) run, and the
//! kernels of their sets.
//!
//! | module | what it is |
//! |---|---|
//! | `size` | products of known and open sizes |
//! | `fold` | from declarations to loops, in constants |
//! | `rows` | the loops of the operators on indices |
//! | `lookup_avx2` | short axes in a register |
//! | `row` | these loops as kernels of a set |
//! | `blocks` | those of BatchToSpace |

pub(crate) mod blocks;
pub(crate) mod fold;
#[cfg(target_arch = "x86_64")]
mod lookup_avx2;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod size;

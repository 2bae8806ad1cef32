//! The kernels: what moves bytes. They never see views, plans or errors.
//!
//! # The one form of an index operator
//!
//! Gather, GatherElements and GatherNd are one nest of loops over the coordinates `c` of the output:
//!
//! ```text
//! out[Σ c·out_stride] = data[Σ c·data_stride + unit · Σ_k scale_k · resolve(index[Σ c·index_stride + k])]
//! ```
//!
//! They differ in which strides are 0: Gather has loops without an index stride (one index serves a whole slice) and
//! loops without a data stride (the index alone says where); GatherElements steps through all three tensors at once;
//! GatherNd adds up `K` components. The plan folds the loops until no two can be merged, turns the innermost
//! contiguous run into a row of bytes, and puts the loop worth blocking last: the *lanes*.
//!
//! A kernel is a nest of constant rank, emitted by the macro, around a body written by hand:
//!
//! ```text
//! for each outer coordinate:            nest (emitted for each rank, unrolled)
//!     for each block of lanes:          body (`bodies`)
//!         resolve the block's indices   (`arch`: index type x level), into i32 units, with one verdict
//!         move the block's lanes        (`arch`: width x level), without a branch
//!         patch the lanes out of range  (`OutOfBounds::Zero` only)
//! ```
//!
//! Resolving depends on the index type and moving on the width, so their machine code adds up instead of multiplying:
//! only the small nests exist for each width x index type x rank.
//!
//! A block is 512 lanes where its units serve several outer coordinates, and else a turn of 64 (`resolve.rs` says why).
//!
//! Where it pays, a level has ways of its own: lanes of 4 and 8 bytes are resolved and gathered in one loop, for a whole
//! plane of lanes at once (`arch/fused`); tuples are resolved by vectors (`arch/resolve`); data that fits in registers is
//! looked up by shuffles (`arch/lookup`); streams are zipped (`arch/zip`). Each refuses what it does not take, and the
//! blocked way above runs. Lanes that one index serves need no units: they are a strided copy (`interleave`).
//!
//! # Contract (what `exec` guarantees and every `unsafe` here refers to)
//!
//! - **K1** Along every coordinate of the loops, `out` reaches memory that may be written for `row` bytes, and no two
//!   coordinates share a byte of it.
//! - **K2** Along every coordinate, `data` plus `unit · Σ scale_k · i_k`, for every `0 <= i_k < dim_k`, reaches memory
//!   that may be read for `row` bytes; and so may what lies between the least and the greatest of these, as a view's slice
//!   is one piece. For all kernels but the wide one every `dim_k`, every `scale_k` and that sum fit in `i32`.
//! - **K3** Along every coordinate and for every component, `index` reaches a value of the kernel's index type, at any
//!   alignment.
//! - **K4** `out` overlaps neither data nor indices.
//! - **K5** The loops are as many as the kernel's rank (any number for a rank-generic one), at least one, each with
//!   `n >= 1`; there is a component, each with `dim >= 1`. One that is alone has scale 1, or `dim == 1`.
//! - **K6** A kernel of a fixed unit is given `row` equal to the unit's bytes. `fill` has `fill_len` readable bytes,
//!   and `fill_len` divides `row`.
//! - **K7** A kernel of a level runs on a machine that has the level.
//! - **K8** A kernel of a map converts `elements` elements a lane: `row` is what they take in the output, and K2 holds for
//!   what they take in data. Data and output are aligned for the types of the map, and data holds values of its input.
//!   There is one component, of scale 1, so that a unit is a position along the axis. `params` points to the lookups of the
//!   map's parameters, each of which has a value for every position `0..dim`.

mod arch;
mod args;
mod block;
mod bodies;
mod builtin;
mod interleave;
mod map;
mod nest;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod resolve;
mod rows;
mod table;
mod turns;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod unit;
mod wide;

#[cfg(target_arch = "x86_64")]
pub use arch::Avx2;
pub use arch::Scalar;
#[cfg(target_arch = "x86_64")]
pub(crate) use arch::lookup_entries;
pub(crate) use args::Component;
pub use args::{CopyArgs, CopyCursor, Cursor, IndexArgs, Loop, Phased, Verdict, Walk};
pub(crate) use block::BLOCK;
pub use block::Units;
pub use bodies::{CopyBody, Gather, IndexBody};
pub(crate) use builtin::BUILTIN;
pub use interleave::BatchToSpace;
pub(crate) use map::MapMover;
#[cfg(target_arch = "x86_64")]
pub(crate) use map::mapped_avx2;
pub(crate) use map::{MapArgs, MapNest, map_nest, mapped_scalar, wide_map_nest};
pub use nest::{copy_nest_any, index_nest_any};
pub(crate) use rows::prefetch;
pub use table::{
    CopyEntry, CopyKernel, ElementRow, IndexEntry, IndexKernel, IndexRow, KernelSet, LevelTable, Tables, UnitRow,
};
pub use unit::{Fixed, Rows};
pub(crate) use wide::{Fill, Wide};

/// Entries of a register table: there are none here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const fn lookup_entries(_: usize) -> usize {
    0
}

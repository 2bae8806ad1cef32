//! The kernels: they move bytes, and take no views, plans or errors.
//!
//! # The general form of an index operator
//!
//! Gather, GatherElements and GatherNd are one loop nest over the coordinates `c` of the output:
//!
//! ```text
//! out[Σ c·out_stride] = data[Σ c·data_stride + stride · position(c)]
//! position(c)         = Σ_k scale_k · resolve(index[Σ c·index_stride + offset_k])
//! ```
//!
//! The operators differ in which strides are 0. Gather has loops with `index_stride == 0`, where one index serves a
//! whole slice, and loops with `data_stride == 0`, where only the index selects the slice. GatherElements steps through
//! all three tensors at once. GatherNd adds up the `K` components of an index tuple.
//!
//! The plan folds the loops until no two can be merged. It turns the innermost contiguous bytes into a *row*. It puts
//! the loop that is worth blocking last: the *inner loop*. The inner loop and the loop around it are a *plane*.
//!
//! # A kernel
//!
//! A kernel is a loop nest of constant rank, emitted by the macro, around a hand-written body:
//!
//! ```text
//! for each coordinate of the loops around the plane:  loop nest (emitted per rank; `loops` has a nest of any rank)
//!     run the plane                                   body (one for each method; `bodies`)
//! ```
//!
//! The plan chooses the method before the kernel runs; a body does not look at shapes. Most bodies vary the body of
//! blocks:
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions     (index type x level; `resolve`)
//!     move its rows by their positions       (width x level; `moves`), or convert them (map x level; `convert`)
//!     or move some and fill the others       (`Missing::Fill` only)
//! ```
//!
//! Resolving depends on the index type, moving on the width. They are separate functions, so the number of functions is
//! a sum, not a product. Only the small loop nests are compiled for each width x index type x rank x level (scatters:
//! index type x rank x level).
//!
//! | module | contents |
//! |---|---|
//! | `nest` | inputs of kernels: arguments, planes, strips, and the rows of resolved indices |
//! | `kernel` | a loop nest around a body, with its types and rank |
//! | `loops` | loop nests |
//! | `bodies` | one body for each method |
//! | `remap` | indices out of range, replaced before a kernel under `Clamp` and `Wrap` |
//! | `resolve` | indices to positions |
//! | `moves` | rows by their positions: one by one, gathered, looked up, prefetched, streamed; rows a step apart |
//! | `convert` | maps: rows converted while they move |
//! | `reduce` | scatters: rows reduced into their destinations |
//! | `space` | the operators that rearrange space: BatchToSpace, DepthToSpace and their inverses |
//! | `shaped` | loops for shapes known at compile time |
//! | `level_fn` | levels as tokens, and functions compiled for each |
//! | `levels` | the function of each step at each level |
//! | `v128` | the levels with vectors of 16 bytes |
//! | `vector` | bytes in registers |
//! | `words` | vectors of 32-bit lanes, of AVX2 and AVX-512 |
//! | `x86` | instructions of x86-64, made safe by tokens |
//! | `table`, `builtin`, `registry`, `select` | sets of kernels, and how a kernel is found |
//! | `by_level` | functions compiled for each level |
//!
//! # The contract
//!
//! `exec` guarantees the contract, and every `unsafe` in this module refers to it. In debug builds, [`IndexArgs`]
//! checks the visible part of it.
//!
//! - **K1** Along every coordinate of the loops, `out` reaches memory that may be written for `row` bytes. No two
//!   coordinates share a byte of it.
//! - **K2** Along every coordinate, `data` plus `stride · Σ scale_k · i_k`, for every `0 <= i_k < dim_k`, reaches
//!   memory that may be read for `row` bytes. For every method but `Direct`, each `dim_k`, each `scale_k` and the sum
//!   fit in `i32`.
//! - **K3** Along every coordinate and for every component, `index` reaches a value of the kernel's index type, at any
//!   alignment. The policy of a kernel has no `remap`: `remap.rs` has replaced the indices.
//! - **K4** `out` overlaps neither data nor indices. In a scatter, which writes data, data does not overlap indices
//!   either.
//! - **K5** The number of loops is the kernel's rank, or any number for a kernel of any rank. There is at least one
//!   loop, and each has `n >= 1`. There is at least one component, and each has `dim >= 1`. A single component has
//!   scale 1, or `dim == 1`.
//! - **K6** A kernel of a fixed width is given rows of that width. Under `Missing::Fill` there is a `fill`, whose
//!   length divides `row`.
//! - **K7** A kernel of a level runs on a machine that has the level.
//! - **K8** A kernel of a map is given a `conversion` of that map. `row` is the size of its `elements` in the output,
//!   and K2 holds for their size in data. Data and output are aligned for the types of the map, and data holds values
//!   of its input. `params` points to `ConversionArgs`: a function of the map at the plan's level, and the map's
//!   params, which threads may share and which outlive the call. A lookup by elements has a value for each element of
//!   data; data is then row-major, and begins at the `data` address of the params. A lookup by rows has, with one
//!   component, a value for every position `0..dim`. With several components, no single axis selects the value, and
//!   there is no lookup by rows. Block-quantised data is bytes in row-major order; its params are a `Quantized` of the
//!   output's type. Bags call a `DecodeFn`; K8 holds for the elements of its rows. A kernel of a row function is given
//!   rows: `row` is the size of a row in the output, K2 holds for the `elements` of a row in data, and the params are
//!   its `BoundRowParams`. If rows are decoded first, K8 holds for the decoder, and the params are a `DecodingJob`,
//!   whose scratch only this thread uses.
//! - **K9** A kernel is given a method that takes the loop nest. `Direct` takes any nest. Its one-pass kernels take one
//!   plane (one loop or two) with one component; along the inner loop, indices and rows of the output are contiguous,
//!   and data does not move. One-pass kernels compiled for packed data need contiguous elements of data, too.
//!   - `Blocks` and `Prefetched` take any loops that K2 allows.
//!   - `Chunks` takes one component, whose index the inner loop moves. Scatters run by `Chunks`, `Blocks`, `Prefetched`
//!     and `Direct`.
//!   - `Gathered` takes rows of 4 and 8 bytes at a level that gathers, and by indices of 4 and 8 bytes also rows of 12
//!     bytes. There is one component. Along the inner loop, indices and rows of the output are contiguous. Data is
//!     `packed`; or rows have 4 or 8 bytes, and the two offsets of each within data add up in 32 bits. With
//!     `offsets_first` rows have 4 or 8 bytes, and are contiguous in data along the inner loop, too.
//!   - `Table` takes `packed` rows of 1, 2, 4 and 8 bytes at a level with tables of `table_entries` entries. Scales are
//!     not negative. All elements from the first to the last that indices reach are contiguous, and may be read.
//!   - `StridedCopy` takes inner loops that do not move the index.
//!   - `Streamed` takes rows of a cache line or more; if they are converted, they are contiguous in the output, and
//!     their elements are of a type that `convert::streams` takes.
//!
//!   At a fallback level, plans choose only `Blocks`, and `Direct` without one-pass kernels.
//! - **K10** A kernel of a declared shape is given the loops, components and rows that the shape has for some open
//!   sizes, all at least 1: `ShapedIndex::matches` and `ShapedSpace::matches`. It is never given a part of the loops.
//!
//! `Panels` is no method of a kernel: `exec` packs each panel, and runs it by `Gathered` or `Blocks`. `Interleaved` and
//! `Deinterleaved` are methods of kernels that rearrange space and have no indices: K1, K4, K5, K6 and K7 hold for
//! them, and data may be read along the loops. A kernel that fills padding has a `fill`, whose length divides `row`,
//! and reads no data.

mod bodies;
pub(crate) mod builtin;
pub(crate) mod by_level;
#[cfg(target_arch = "x86_64")]
mod columns_avx2;
pub(crate) mod convert;
mod index_rule;
pub(crate) mod info;
mod kernel;
mod level_fn;
mod levels;
mod loops;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod moves;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod nest;
mod prefetch;
#[cfg(any(feature = "scatter", feature = "bags"))]
pub(crate) mod reduce;
pub(crate) mod registry;
pub(crate) mod remap;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod resolve;
pub(crate) mod select;
pub(crate) mod shaped;
mod space;
mod table;
pub(crate) mod v128;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod vector;
#[cfg(target_arch = "x86_64")]
pub(crate) mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use bodies::{MOST_PREFETCHED, Pass, gathers_rows};
pub use kernel::Kernel;
pub(crate) use kernel::{PADDING, SpaceEntry};
pub use level_fn::Scalar;
#[cfg(target_arch = "x86_64")]
pub use level_fn::{Avx2, Avx512};
pub(crate) use moves::bits::{BitFns, LookUpBitsFn};
pub(crate) use moves::compress::{SelectFn, SelectJob, select_fn};
pub(crate) use moves::masks::{and_bits, count_ones, nonzero_bytes, pack_bytes};
pub(crate) use moves::placed::{FEW, RowSize};
pub(crate) use moves::strided::{StridedRows, pack_rows};
pub use moves::{Fixed, Rows};
pub(crate) use moves::{MOST_ELEMENT, table_entries};
pub(crate) use nest::args::{
    CompiledMoveFn, Component, Conversion, Cursor, IndexArgs, IndexKernel, KernelSpec, Loop, Loops, Outcome, fits_i32,
    start_of_part,
};
pub(crate) use nest::plane::{Indices, OutputRows};
pub(crate) use nest::positions::{BLOCK, Positions};
pub(crate) use prefetch::{LINE, prefetch};
pub(crate) use resolve::{CompiledResolveFn, ResolveJob, Resolvers, WideJob};
pub(crate) use space::args::{BlockCursor, BlockLoop, Step};
pub(crate) use space::args::{SpaceArgs, SpaceCursor};
pub use table::{ElementRow, IndexRest, IndexRow, KernelSet, LevelTable, Lists, Rests, WidthRow};
#[allow(unused_imports, unreachable_pub, reason = "most targets have no level of vectors of 16 bytes")]
pub use v128::*;

/// The kernel of `Missing::Fill` on an axis without elements: fills every row and reads nothing.
pub(crate) fn fill_nest(args: &IndexArgs<'_>) -> Outcome {
    // Data without elements may have any address, even one in the output.
    loops::index_nest_any(&args.without_data(), bodies::fill_plane)
}

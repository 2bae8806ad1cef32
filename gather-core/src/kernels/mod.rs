//! The kernels: what moves bytes. They never see views, plans or errors.
//!
//! # The one form of an index operator
//!
//! Gather, GatherElements and GatherNd are one loop nest over the coordinates `c` of the output:
//!
//! ```text
//! out[Σ c·out_stride] = data[Σ c·data_stride + stride · position(c)]
//! position(c)         = Σ_k scale_k · resolve(index[Σ c·index_stride + offset_k])
//! ```
//!
//! They differ in which strides are 0. Gather has loops without an index stride, where one index serves a whole slice,
//! and loops without a data stride, where the index alone says which slice. GatherElements steps through all three
//! tensors at once. GatherNd adds up the `K` components of an index tuple.
//!
//! The plan folds the loops until no two can be merged. It turns the innermost contiguous run into a *row* of bytes,
//! and puts the loop with the most to gain last: the *inner loop*. The inner loop and the one around it are a *plane*.
//!
//! # A kernel
//!
//! A kernel is a loop nest of constant rank, which the macro emits, around a body, which is written by hand:
//!
//! ```text
//! for each coordinate of the loops around the plane:  loop nest (emitted for each rank; `loops` has one of any rank)
//!     run the plane                                   body (one for each method; `bodies`)
//! ```
//!
//! The plan has chosen the method before the kernel runs. A body looks at no shape to choose another way. The body of
//! blocks, which most others vary, is
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions     (index type x level; `resolve`)
//!     move its rows by their positions       (width x level; `moves`), or convert them (map x level; `convert`)
//!     or move some and fill the others       (`Missing::Fill` only)
//! ```
//!
//! Resolving depends on the index type and moving on the width. As functions of their own, their machine code adds up
//! instead of multiplying. Only the small loop nests exist for each width x index type x rank x level,
//! and for each index type x rank x level of scatters.
//!
//! | module | what it is |
//! |---|---|
//! | `nest` | what a kernel is given: arguments, planes, strips, and the rows of resolved indices |
//! | `kernel` | a loop nest around a body, and what it is a kernel of |
//! | `loops` | loop nests |
//! | `bodies` | one body for each method |
//! | `remap` | indices out of range, replaced ahead of a kernel under `Clamp` and `Wrap` |
//! | `resolve` | from indices to positions |
//! | `moves` | rows by their positions: one by one, gathered, looked up, prefetched, streamed; rows a step apart |
//! | `convert` | maps: rows that are converted on their way |
//! | `reduce` | scatters: rows that are reduced into their destinations |
//! | `space` | what rearranges space: BatchToSpace, DepthToSpace and their inverses |
//! | `shaped` | loops for shapes known at compile time |
//! | `level_fn` | levels as tokens, and functions that are compiled for each |
//! | `levels` | which function runs each piece at each level |
//! | `v128` | the levels with vectors of 16 bytes |
//! | `vector` | bytes in registers |
//! | `words` | vectors of lanes of 32 bits, of AVX2 and AVX-512 |
//! | `x86` | instructions of x86-64, which tokens make safe |
//! | `table`, `builtin`, `registry`, `select` | sets of kernels, and how one is found |
//! | `by_level` | functions that are compiled for each level |
//!
//! # The contract
//!
//! `exec` guarantees it, and every `unsafe` in this module refers to it. [`IndexArgs`] checks what can be seen of it
//! in debug builds.
//!
//! - **K1** Along every coordinate of the loops, `out` reaches memory that may be written for `row` bytes. No two
//!   coordinates share a byte of it.
//! - **K2** Along every coordinate, `data` plus `stride · Σ scale_k · i_k`, for every `0 <= i_k < dim_k`, reaches
//!   memory that may be read for `row` bytes. For every method but `Direct`, each `dim_k`, each `scale_k` and that sum
//!   fit in `i32`.
//! - **K3** Along every coordinate and for every component, `index` reaches a value of the kernel's index type, at any
//!   alignment. The policy of a kernel does not remap: `remap` has done so.
//! - **K4** `out` overlaps neither data nor indices. In a scatter, which writes data, data does not overlap indices
//!   either.
//! - **K5** The loops are as many as the kernel's rank, or any number for a kernel of any rank. There is at least one,
//!   and each has `n >= 1`. There is at least one component, and each has `dim >= 1`. A component that is alone has
//!   scale 1, or `dim == 1`.
//! - **K6** A kernel of a fixed width is given rows of as many bytes. Under `Missing::Fill` there is a `fill`,
//!   whose length divides `row`.
//! - **K7** A kernel of a level runs on a machine that has the level.
//! - **K8** A kernel of a map is given a `conversion` of that map. `row` is what its `elements` take in the output,
//!   and K2 holds for what they take in data. Data and output are aligned for the types of the map, and data holds
//!   values of its input. `params` points to `ConversionArgs`: a function of the map at the plan's level, and what is
//!   given for the map's parameters, which threads may share and which outlives the call. A lookup by elements has a
//!   value for each of data, which is row-major then and begins at the
//!   address that stands beside it. One by rows has, with one component, a value for every position `0..dim`. With
//!   several, no one axis says which value, and there is none by rows. Block-quantised data is bytes in row-major
//!   order;
//!   what is given is its `Quantized`, of the type of the output, instead. Bags call the function of a row, for whose
//!   elements the same holds. A kernel of a row function is given rows: `row` is what one takes in the output, K2
//!   holds for the `elements` of one in data, and what is given is its `BoundRowParams`. Where rows are decoded first, K8
//!   holds for what does so, and what is given is a `DecodingJob`, whose room this thread alone uses.
//! - **K9** A kernel is given a method that takes the loop nest. `Direct` takes any. Its kernels of one pass take one
//!   plane (one loop or two) with one component; along the inner loop indices are contiguous, the rows of the output too, and data does not move. Where they are compiled for packed data, its
//!   elements are contiguous as well.
//!   - `Blocks` and `Prefetched` take what K2 allows.
//!   - `Chunks` takes one component, whose index the inner loop moves. Scatters run by it, by `Blocks`, by `Prefetched`
//!     and by `Direct`.
//!   - `Gathered` takes rows of 4 and 8 bytes at a level that gathers, and by indices of 4 and 8 bytes also rows of 12
//!     bytes. There is one component. Along the inner loop, indices are contiguous, and so are the rows of the output.
//!     Data is `packed`; or rows have 4 or 8 bytes, and the two offsets of each within data add up in 32 bits. With
//!     `offsets_first` rows have 4 or 8 bytes, and are contiguous in data along the inner loop, too.
//!   - `Table` takes `packed` rows of 1, 2, 4 and 8 bytes at a level with tables of `table_entries` entries. Scales are
//!     not negative. All elements from the first that indices reach to the last are contiguous, and may be read.
//!   - `StridedCopy` takes inner loops that do not move the index.
//!   - `Streamed` takes rows of a cache line or more; where they are converted, they are contiguous in the output,
//!     and are of elements that `convert::streams` takes.
//!
//!   At a level that is a fallback, plans choose `Direct`, not in one pass, and `Blocks`.
//! - **K10** A kernel of a declared shape is given the loops, components and rows that the shape has for some open
//!   sizes, all at least 1: `ShapedIndex::matches` and `ShapedSpace::matches`. It is never given a part of them.
//!
//! `Panels` is no method of a kernel: `exec` packs each panel, and runs it by `Gathered` or `Blocks`. `Interleaved` and
//! `Deinterleaved` are those of kernels that rearrange space and have no indices: of the contract, K1, K4, K5, K6 and
//! K7 hold for them, and data may be read along the loops. Where such a kernel fills what is padded, it has a `fill`,
//! whose length divides `row`, and reads no data.

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
pub(crate) use prefetch::{LINE, prefetch, prefetch_row};
pub(crate) use resolve::{CompiledResolveFn, ResolveJob, Resolvers, WideJob};
pub(crate) use space::args::{BlockCursor, BlockLoop, Step};
pub(crate) use space::args::{SpaceArgs, SpaceCursor};
pub use table::{ElementRow, IndexRest, IndexRow, KernelSet, LevelTable, Lists, Rests, WidthRow};
#[allow(unused_imports, unreachable_pub, reason = "most targets have no level of vectors of 16 bytes")]
pub use v128::*;

/// The kernel of `Missing::Fill` on an axis without elements: fills every row and reads nothing.
pub(crate) fn fill_nest(args: &IndexArgs<'_>) -> Outcome {
    // Data without elements may lie anywhere, in the output too.
    loops::index_nest_any(&args.without_data(), bodies::fill_plane)
}

//! Converting while gathering: the kernels of maps.
//!
//! ```text
//! for each plane:                            loop nest of any rank (an odometer)
//!     for each block of the inner loop:
//!         resolve its indices                as every index operator does
//!         for each row, or chunk of one:     (`row_chunks.rs`)
//!             call the map's row function    (map x level), through a pointer:
//!                 look params up             by the resolved position along the axis, or for each element
//!                 convert the elements       a loop over two slices, which the compiler vectorises
//!         fill rows out of range             (`Missing::Fill` only) with zeros of the output's type
//! ```
//!
//! Input bytes are read once, and output bytes are written once. Code for the index type (the loop nests, here) calls
//! code for the map (two functions per level, compiled with the map) through a pointer. So a map adds no function per
//! index type. Near rows, and rows of one element, are converted in a loop compiled with the map. For these rows a call
//! would take longer than the conversion.
//!
//! Rows that are not in the cache are prefetched chunk by chunk, between the chunks that are converted. Prefetching a
//! whole row at once fills the queue of outstanding misses, in which stores wait too (bench `maps`).
//!
//! Rows out of range are filled without conversion, except elements of up to 8 bytes: those are converted as if at
//! position 0 (`dim >= 1`, K5), and then overwritten by the fill.

pub(crate) mod chunks;
pub(crate) mod decode;
pub(crate) mod fused;
pub(crate) mod given;
pub(crate) mod map;
pub(crate) mod quantized;
pub(crate) mod row;
mod row_chunks;
#[cfg(target_arch = "x86_64")]
mod vectors;

use crate::kernels::bodies::{MoveBy, Moves, Short, State, direct_converted, run_block, run_blocks};
pub(crate) use crate::kernels::convert::decode::{DecodeFns, ErasedParams};
use crate::kernels::convert::row_chunks::CHUNK_BYTES;
use crate::kernels::level_fn::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::levels::Isa;
use crate::kernels::loops::index_nest_any;
use crate::kernels::moves::STREAMED_AT_ONCE;
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{Conversion, IndexArgs, MoveFn, Outcome};
pub(crate) use crate::kernels::nest::args::{DecodeFn, EncodedRow};
use crate::kernels::nest::plane::Plane;
use crate::kernels::nest::positions::BLOCK;
use crate::kernels::prefetch::{LINE, prefetch};
use crate::types::index::{Index, IndexType, by_compiled_index};
use crate::types::level::Level;
use crate::types::method::Method;

/// The kernel of maps for an index type at a level, by a plan's method: `Direct`, `Blocks` or `Streamed`. The last two
/// share a kernel, and differ only in how rows are written.
#[inline(never)]
pub(crate) fn kernel<I: Index>(level: Level, method: Method) -> IndexKernel {
    match level {
        _ if method == Method::Direct => nest_direct::<I>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => nest_blocks::<I, Avx2>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => nest_blocks::<I, Avx512>,
        #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
        Level::Neon => nest_blocks::<I, crate::kernels::v128::Vectors>,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Level::Simd128 => nest_blocks::<I, crate::kernels::v128::Vectors>,
        _ => nest_blocks::<I, Scalar>,
    }
}

/// [`kernel`] for an index type known at run time; `None` if the library does not include it.
#[inline(never)]
pub(crate) fn kernel_of(index: IndexType) -> Option<fn(Level, Method) -> IndexKernel> {
    by_compiled_index!(index, I => kernel::<I>)
}

#[inline(never)]
fn nest_blocks<I: Index, L: Isa>(args: &IndexArgs<'_>) -> Outcome {
    if args.loops().len() > 1 || args.inner().n > BLOCK {
        return index_nest_any(args, blocks::<I, L>);
    }
    // SAFETY: K7: `kernel` returns this function for the level `L` alone.
    let level = unsafe { L::of_kernel() };
    run_block(args, converting::<L>, level.resolve_fns::<I>())
}

/// A kernel that converts row by row, of any shape.
#[inline(never)]
fn nest_direct<I: Index>(args: &IndexArgs<'_>) -> Outcome {
    index_nest_any(args, direct::<I>)
}

fn blocks<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only `nest_blocks`, a kernel of the level `L`, names this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(state, plane, converting::<L>, level.resolve_fns::<I>(), None);
}

/// The functions that convert rows, at a level.
fn converting<L: Isa>(args: &IndexArgs<'_>) -> Moves {
    // SAFETY: K7: only `nest_blocks` and `blocks` of the level `L` name this function.
    let level = unsafe { L::of_kernel() };
    Moves { rows: MoveBy::Convert(conversion_args(args).rows), short: Short::blend(level) }
}

fn direct<I: Index>(state: &mut State, plane: Plane<'_>) {
    direct_converted::<I>(state, plane, conversion_args(plane.args()).rows);
}

#[inline(always)]
fn conversion(args: &IndexArgs<'_>) -> Conversion {
    args.spec().conversion.expect("K8: the plan of a map has a conversion")
}

/// The conversion of a kernel: its function, and the function's params (K8).
#[derive(Clone, Copy)]
pub(crate) struct ConversionArgs {
    /// The map or the row function at the plan's level, or the function that decodes rows for it.
    pub(crate) rows: MoveFn,
    /// The params of the function: a `Decode::Given`, a `BoundRowParams`, or a `DecodingJob`, which each worker makes
    /// from the `DecodedRowParams` of a call.
    pub(crate) given: *const (),
}

#[inline(always)]
fn conversion_args(args: &IndexArgs<'_>) -> ConversionArgs {
    // SAFETY: K8: the params of a kernel that converts point to `ConversionArgs`.
    unsafe { *args.params().cast() }
}

/// Whether elements may be written by non-temporal stores: one fits in the line buffer, at its alignment.
pub(crate) const fn streams(size: usize, align: usize) -> bool {
    cfg!(target_arch = "x86_64") && size <= STREAMED_AT_ONCE && align <= LINE
}

/// Maximum bytes of a row function's output row that is written by non-temporal stores.
pub(crate) const STREAMED_WHOLE: usize = STREAMED_AT_ONCE;

/// Prefetches `n` values from `at` on, of at most `CHUNK_BYTES` bytes.
#[inline(always)]
fn prefetch_given<V>(values: &[V], at: usize, n: usize) {
    prefetch(values.as_ptr().wrapping_add(at).cast(), n.saturating_mul(size_of::<V>()).min(CHUNK_BYTES));
}

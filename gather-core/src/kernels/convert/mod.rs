//! Converting while gathering: the kernels of maps.
//!
//! ```text
//! for each plane:                            loop nest of any rank (an odometer)
//!     for each block of the inner loop:
//!         resolve its indices                as every index operator does
//!         for each row, or piece of one:     (`pieces.rs`)
//!             call the map's row function    (map x level), through a pointer:
//!                 look parameters up         by the resolved position along the axis, or for each of the elements
//!                 convert the elements       a loop over two slices, which the compiler vectorises
//!         fill rows out of range             (`OutOfBounds::Zero` only) with zeros of the output's type
//! ```
//!
//! The bytes of the input are read once, and those of the output are written once. What depends on the index type (the
//! loop nests, here) and what depends on the map (two functions for each level, where the map is made) meet at a
//! pointer, so that a map costs no function for each index type. Rows of one element of a few bytes have a loop of
//! their own where the map is made: a call for each would take longer than the conversion.
//!
//! Rows that are not in the cache are prefetched piece by piece, between the pieces that are converted. To prefetch a
//! whole row at once fills the queue of outstanding misses, and stores wait in that queue too (bench `maps`).
//!
//! Rows out of range are filled, and not converted; but elements of up to 8 bytes are converted as if they were at
//! position 0, which every axis has, before the fill takes their place.

pub(crate) mod given;
pub(crate) mod map;
mod pieces;
pub(crate) mod quantized;
pub(crate) mod row;

use core::mem::MaybeUninit;

use crate::kernels::bodies::{State, direct_converted, run_blocks};
use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::map::{Convert, GivenParams, Params};
pub(crate) use crate::kernels::convert::map::{ErasedParams, Place};
pub(crate) use crate::kernels::convert::pieces::RowFn;
use crate::kernels::convert::pieces::{PIECE, Pieces, pieces_scalar};
#[cfg(target_arch = "x86_64")]
use crate::kernels::convert::pieces::{pieces_avx2, pieces_avx512};
use crate::kernels::level_fn::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::levels::Isa;
use crate::kernels::loops::index_nest_any;
use crate::kernels::moves::STREAMED_AT_ONCE;
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{CompiledMoveFn, MoveFn};
use crate::kernels::nest::args::{Conversion, IndexArgs, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, prefetch};
use crate::types::index::{Index, IndexType, by_compiled_index};
use crate::types::level::Level;
use crate::types::method::Method;

/// The functions of a map, by level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvertFns {
    /// Convert the rows of a job.
    pub(crate) rows: ByLevel<CompiledMoveFn>,
    /// Convert a row.
    pub(crate) row: ByLevel<RowFn>,
}

/// The kernel of maps for an index type at a level, by a plan's method: `Direct`, or else `Blocks` or `Streamed`, which
/// run alike except for how rows are written.
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

/// As [`kernel`], for an index type that is known at run time; `None` where the library does not hold it.
#[inline(never)]
pub(crate) fn kernel_of(index: IndexType) -> Option<fn(Level, Method) -> IndexKernel> {
    by_compiled_index!(index, I => kernel::<I>)
}

/// A kernel that converts block by block.
#[inline(never)]
fn nest_blocks<I: Index, L: Isa>(args: &IndexArgs<'_>) -> Outcome {
    index_nest_any(args, blocks::<I, L>)
}

/// A kernel that converts row by row, of any shape.
#[inline(never)]
fn nest_direct<I: Index>(args: &IndexArgs<'_>) -> Outcome {
    index_nest_any(args, direct::<I>)
}

fn blocks<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(level, state, plane, convert_fn(plane.args()), None, level.resolve_fns::<I>());
}

fn direct<I: Index>(state: &mut State, plane: Plane<'_>) {
    direct_converted::<I>(state, plane, convert_fn(plane.args()));
}

fn conversion(args: &IndexArgs<'_>) -> Conversion {
    args.spec().conversion.expect("K8: the plan of a map has a conversion")
}

fn convert_fn(args: &IndexArgs<'_>) -> MoveFn {
    conversion(args).rows
}

/// A level: what converts the rows of a job; and what converts a row, first without its types, then with slices for
/// arguments, so that the compiler knows them to be apart.
macro_rules! levels {
    ($($(#[$level:meta])* $rows:ident, $pieces:ident, $row:ident, $typed:ident;)*) => {$(
        $(#[$level])*
        pub(crate) fn $rows<C: Convert>(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
            convert_rows::<C>(args, job, |pieces, args, job| $pieces(pieces, args, job), $row::<C>);
        }

        /// # Safety
        /// As for [`RowFn`], for the types of the map. K7: the machine has the level.
        $(#[$level])*
        pub(crate) unsafe fn $row<C: Convert>(
            from: *const u8,
            to: *mut u8,
            elements: usize,
            given: *const (),
            place: Place,
        ) {
            // SAFETY: K8: what is given for this map's parameters.
            let given = unsafe { &*given.cast::<GivenParams<'_, C::Params>>() };
            let (from, to) = (from.cast::<C::In>(), to.cast::<MaybeUninit<C::Out>>());
            debug_assert!(from.is_aligned() && to.is_aligned(), "K8: alignment");
            // SAFETY: K8: `elements` values of the input, aligned for it.
            let from = unsafe { core::slice::from_raw_parts(from, elements) };
            // SAFETY: K8: memory for `elements` values of the output, aligned for it, that nothing else uses.
            let to = unsafe { core::slice::from_raw_parts_mut(to, elements) };
            // SAFETY: K8: what is given has values for these elements.
            unsafe { $typed::<C>(from, to, given, place) };
        }

        /// # Safety
        /// As for [`convert_row`].
        #[inline(never)]
        $(#[$level])*
        unsafe fn $typed<C: Convert>(
            from: &[C::In],
            to: &mut [MaybeUninit<C::Out>],
            given: &GivenParams<'_, C::Params>,
            place: Place,
        ) {
            // SAFETY: the caller's promise.
            unsafe { convert_row::<C>(from, to, given, place) };
        }
    )*};
}
levels! {
    converted_scalar, pieces_scalar, row_scalar, typed_scalar;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2")]
    converted_avx2, pieces_avx2, row_avx2, typed_avx2;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    converted_avx512, pieces_avx512, row_avx512, typed_avx512;
}

/// Converts resolved rows by a map: row by row, or element by element where a row is one of a few bytes.
#[inline(always)]
fn convert_rows<C: Convert>(
    args: &IndexArgs<'_>,
    job: &MoveJob<'_>,
    convert: impl FnOnce(&Pieces<'_>, &IndexArgs<'_>, &MoveJob<'_>),
    row_fn: RowFn,
) {
    // SAFETY: K8: what is given for this map's parameters.
    let given = unsafe { &*args.params().cast::<GivenParams<'_, C::Params>>() };
    if const { size_of::<C::Out>() > WIDE_ELEMENT } || conversion(args).elements > 1 {
        let fetch = |element, elements| given.prefetch_elements(element, elements);
        let pieces = Pieces {
            row_fn,
            given: args.params(),
            data: given.data,
            size_out: size_of::<C::Out>(),
            by_element: given.by_element,
            fetch: &fetch,
        };
        return convert(&pieces, args, job);
    }
    for i in 0..job.n() {
        let (from, to): (*const C::In, *mut C::Out) = (job.source(i).cast(), job.target(i).cast());
        debug_assert!(from.is_aligned() && to.is_aligned(), "K8: alignment");
        // Valid for row-major data; unused otherwise.
        let element = from.addr().wrapping_sub(given.data) / size_of::<C::In>();
        // SAFETY: K8: the call has compared what is given with the axis and with data, in which the place lies (K2).
        let params = unsafe { given.at(Place { row: job.row_of_data(i), element }) };
        // SAFETY: K2 and K8: a value of the map's input, aligned for it.
        let value = unsafe { from.read() };
        // SAFETY: K1 and K8: memory for a value of the map's output, aligned for it.
        unsafe { to.write(C::convert(value, params)) };
    }
}

/// Whether elements of a size and an alignment are written by non-temporal stores: whether some of them fit in the
/// buffer in which lines are put together.
pub(crate) const fn streams(size: usize, align: usize) -> bool {
    cfg!(target_arch = "x86_64") && size <= STREAMED_AT_ONCE && align <= LINE
}

/// The most bytes of a row of a row function that is written by non-temporal stores.
pub(crate) const STREAMED_WHOLE: usize = STREAMED_AT_ONCE;

/// Prefetches the first values of a row, from `at` on.
#[inline(always)]
fn prefetch_given<V>(values: &[V], at: usize, n: usize) {
    prefetch(values.as_ptr().wrapping_add(at).cast(), n.saturating_mul(size_of::<V>()).min(PIECE));
}

/// Converts a row, or a part of one, into one of the same length. The first element comes from `place`.
///
/// Slices are arguments of their own, so that the compiler knows them to be apart.
///
/// # Safety
/// K8: every parameter has a value for the row of the place, and for as many elements from there on.
#[inline(always)]
unsafe fn convert_row<C: Convert>(
    from: &[C::In],
    to: &mut [MaybeUninit<C::Out>],
    given: &GivenParams<'_, C::Params>,
    place: Place,
) {
    debug_assert_eq!(from.len(), to.len());
    if const { C::Params::COUNT > 0 } && given.by_element {
        for (i, (to, &value)) in to.iter_mut().zip(from).enumerate() {
            // SAFETY: the caller's promise, for one of the elements.
            let params = unsafe { given.at(Place { element: place.element + i, ..place }) };
            convert_one::<C>(to, value, params);
        }
    } else {
        // SAFETY: the caller's promise. No parameter has values for elements.
        let params = unsafe { given.at(place) };
        for (to, &value) in to.iter_mut().zip(from) {
            convert_one::<C>(to, value, params);
        }
    }
}

/// Converts an element.
#[inline(always)]
fn convert_one<C: Convert>(to: &mut MaybeUninit<C::Out>, value: C::In, params: C::Params) {
    if size_of::<C::Out>() > WIDE_ELEMENT {
        // The compiler shall vectorise inside an element. Left alone it unrolls the element, and then puts the same
        // parts of several elements together byte by byte (bench `tables`).
        core::hint::black_box(());
    }
    to.write(C::convert(value, params));
}

/// Bytes of results above which an element fills vectors of its own.
const WIDE_ELEMENT: usize = 32;

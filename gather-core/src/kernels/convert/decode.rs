//! Decoding: the functions of a map or a format, compiled for each level.
//!
//! ```text
//! gathers           rows of a job, chunk by chunk, into the output      (`row_chunks.rs`)
//! bags              columns of rows, into a scratch                     (`exec/bag/converted.rs`)
//! row functions     rows, into a scratch                                (`row`)
//! ```
//!
//! All three call one decoding function, compiled for the types of the map or format; the callers have no types.

use core::borrow::Borrow;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::convert::row_chunks::{RowChunks, chunks_scalar};
#[cfg(target_arch = "x86_64")]
use crate::kernels::convert::row_chunks::{chunks_avx2, chunks_avx512};
use crate::kernels::convert::{conversion, conversion_args};
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::level_fn::{Scalar, Token};
use crate::kernels::nest::args::{CompiledMoveFn, DecodeFn, EncodedRow, IndexArgs, Place};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::prefetch_row;
use crate::types::method::Method;

/// A map or a format: how elements of data become other elements.
pub(crate) trait Decode: 'static {
    /// An element of data.
    type In: Copy;
    /// The result of an element.
    type Out: Copy;

    /// The params, as a call gives them.
    type Given<'a>;

    /// Whether rows are decoded whole, not chunk by chunk.
    const WHOLE: bool = false;

    /// Decodes the elements `from`, the first of which is at `place`. Writes all of `to`.
    ///
    /// # Safety
    /// K8: `given` has values for the row of `place`, and for `from.len()` elements from `place.element` on.
    unsafe fn decode(
        level: impl Token,
        from: &[Self::In],
        to: &mut [MaybeUninit<Self::Out>],
        given: &Self::Given<'_>,
        place: Place,
    );

    /// The number of results of `elements` elements of data.
    #[inline(always)]
    fn results(_: &Self::Given<'_>, elements: usize) -> usize {
        elements
    }

    /// The params for a loop over rows: a copy, if that is cheap. The compiler knows that stores to a row do not change
    /// a copy, and loads it once for all rows.
    fn held<'g, 'a>(given: &'g Self::Given<'a>) -> impl Borrow<Self::Given<'a>> + 'g
    where
        'a: 'g;

    /// The params without their types.
    fn erased<'g>(given: &'g Self::Given<'_>) -> ErasedParams<'g>;
}

/// The params of a map or a format, without their types.
#[derive(Clone, Copy)]
pub(crate) struct ErasedParams<'a> {
    /// K8: a [`Decode::Given`]; null without a decoder.
    pub(crate) given: *const (),
    /// The address of the first element of data.
    pub(crate) data: usize,
    /// Whether elements have their own values, by their distance from `data`.
    pub(crate) by_element: bool,
    /// Whether the decoder finds a row by its number, as in chunks: its address in data is not read.
    pub(crate) locates: bool,
    /// Prefetches values; `None` without values to prefetch.
    pub(crate) ahead: Option<&'a dyn PrefetchGiven>,
}

/// Params that can be prefetched.
pub(crate) trait PrefetchGiven {
    /// Prefetches the values of a row, and the first values of `elements` of its elements from `element` on.
    fn prefetch(&self, row: usize, element: usize, elements: usize);

    /// Calls `each` with the address and the bytes of the values of a row, and of `elements` of its elements from
    /// `element` on.
    fn ranges(&self, row: usize, element: usize, elements: usize, each: &mut dyn FnMut(usize, usize));
}

/// Calls `each` with the address and the bytes of `n` values from `at` on, that lie in `values`.
#[inline]
pub(crate) fn range_of<V>(values: &[V], at: usize, n: usize, each: &mut dyn FnMut(usize, usize)) {
    let values = &values[at.min(values.len())..];
    let values = &values[..n.min(values.len())];
    if !values.is_empty() {
        each(values.as_ptr().addr(), size_of_val(values));
    }
}

impl ErasedParams<'_> {
    /// No params.
    pub(crate) const NONE: Self =
        ErasedParams { given: core::ptr::null(), data: 0, by_element: false, locates: false, ahead: None };

    /// The position in data of an element of `size` bytes, if elements have their own values; else 0.
    #[inline(always)]
    pub(crate) fn element(&self, at: *const u8, size: usize) -> usize {
        if self.by_element { at.addr().wrapping_sub(self.data) / size } else { 0 }
    }

    /// Calls `each` with the address and the bytes of `elements` elements of `size` bytes of a row, and of their
    /// values.
    pub(crate) fn ranges(
        &self,
        (from, size): (*const u8, usize),
        row: usize,
        elements: usize,
        each: &mut dyn FnMut(usize, usize),
    ) {
        if !self.locates {
            each(from.addr(), elements.saturating_mul(size));
        }
        if let Some(ahead) = self.ahead {
            ahead.ranges(row, self.element(from, size), elements, each);
        }
    }

    /// Prefetches `elements >= 1` elements of `size` bytes of a row, or the first of them, and their values.
    #[inline(always)]
    pub(crate) fn prefetch(&self, from: *const u8, size: usize, row: usize, elements: usize) {
        if !self.locates {
            prefetch_row(from, elements.saturating_mul(size));
        }
        if let Some(ahead) = self.ahead {
            ahead.prefetch(row, self.element(from, size), elements);
        }
    }
}

/// The functions of a map or of a format, by level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeFns {
    /// Decodes the rows of a job.
    pub(crate) rows: ByLevel<CompiledMoveFn>,
    /// Decodes rows at any addresses.
    pub(crate) each: ByLevel<DecodeFn>,
}

impl DecodeFns {
    pub(crate) const fn of<D: Decode>() -> Self {
        DecodeFns {
            // SAFETY: E1: the first function is safe, and the others are safe on machines that have their level.
            rows: unsafe { by_level!(rows_scalar::<D>, rows_avx2::<D>, rows_avx512::<D>) },
            // SAFETY: E1: a `DecodeFn` is not a `LevelPointer`.
            each: unsafe { by_level!(each_scalar::<D>, each_avx2::<D>, each_avx512::<D>) },
        }
    }
}

/// The functions of a level: for the rows of a job, for rows at any addresses, and for one row as slices. After
/// inlining the compiler does not know that the two slices do not overlap: decoders write into arrays, which are stored
/// when complete.
macro_rules! levels {
    ($($(#[$level:meta])* $rows:ident, $chunks:ident, $each:ident, $typed:ident, $here:expr;)*) => {$(
        $(#[$level])*
        fn $rows<D: Decode>(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
            let decode = |chunks: &RowChunks<'_>, args: &IndexArgs<'_>, job: &MoveJob<'_>| $chunks(chunks, args, job);
            decode_rows::<D>(args, job, decode, $each::<D>, |from, to, given, place| {
                // SAFETY: K8: `given` has values for these elements, which are of a row of the job.
                unsafe { $typed::<D>(from, to, given, place) }
            });
        }

        /// # Safety
        /// As for [`DecodeFn`], for the types of `D`. K7: the machine has the level.
        $(#[$level])*
        unsafe fn $each<D: Decode>(rows: &[EncodedRow], elements: usize, params: *const ()) {
            // SAFETY: K8: the params of `D`.
            let held = D::held(unsafe { &*params.cast::<D::Given<'_>>() });
            let given = held.borrow();
            // SAFETY: K8: the params have values for the elements of these rows.
            let decode = |from: &[D::In], to: &mut [_], place| unsafe { $typed::<D>(from, to, given, place) };
            // SAFETY: K8: by the caller's contract, the rows are as `each_row` requires.
            unsafe { each_row::<D>(rows.iter().copied(), elements, given, decode) };
        }

        /// # Safety
        /// As for [`Decode::decode`].
        #[inline]
        $(#[$level])*
        unsafe fn $typed<D: Decode>(
            from: &[D::In],
            to: &mut [MaybeUninit<D::Out>],
            given: &D::Given<'_>,
            place: Place,
        ) {
            // SAFETY: by the caller's contract, which `D::decode` shares.
            unsafe { D::decode($here, from, to, given, place) };
        }
    )*};
}
levels! {
    rows_scalar, chunks_scalar, each_scalar, typed_scalar, Scalar;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt")]
    rows_avx2, chunks_avx2, each_avx2, typed_avx2, Avx2::here();
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    rows_avx512, chunks_avx512, each_avx512, typed_avx512, Avx512::here();
}

/// Maximum bytes of an element whose decoding is also inlined, for near rows and rows of one short element. A call per
/// row takes as long as the conversion of 64 elements (bench `tables`).
const SHORT_ELEMENT: usize = 256;

/// Maximum bytes of the result of a one-element row that is decoded inline, without prefetches or non-temporal stores.
const LONE_ELEMENT: usize = 32;

/// Whether rows are written by non-temporal stores.
#[inline(always)]
fn is_streamed(args: &IndexArgs<'_>) -> bool {
    args.spec().method == Method::Streamed
}

/// Decodes `elements` elements of each row, in one loop.
///
/// # Safety
/// K8: the elements of each row may be read, are aligned, and nothing writes them. Per row,
/// `D::results(given, elements)` results may be written, aligned; nothing else uses their memory. `given` has values
/// for the elements.
#[inline(always)]
unsafe fn each_row<D: Decode>(
    rows: impl Iterator<Item = EncodedRow>,
    elements: usize,
    given: &D::Given<'_>,
    decode_row: impl Fn(&[D::In], &mut [MaybeUninit<D::Out>], Place),
) {
    let (params, results) = (D::erased(given), D::results(given, elements));
    for EncodedRow { from, to, row } in rows {
        let place = Place { row, element: params.element(from, const { size_of::<D::In>() }) };
        let (from, to): (*const D::In, *mut MaybeUninit<D::Out>) = (from.cast(), to.cast());
        debug_assert!(from.is_aligned() && to.is_aligned(), "K8: alignment");
        // SAFETY: the caller's contract: `elements` elements may be read, are aligned, and nothing writes them.
        let from = unsafe { core::slice::from_raw_parts(from, elements) };
        // SAFETY: the caller's contract: memory for `results` results, aligned, which nothing else uses.
        let to = unsafe { core::slice::from_raw_parts_mut(to, results) };
        decode_row(from, to, place);
    }
}

/// Decodes the resolved rows of a job.
#[inline(always)]
fn decode_rows<D: Decode>(
    args: &IndexArgs<'_>,
    job: &MoveJob<'_>,
    decode: impl FnOnce(&RowChunks<'_>, &IndexArgs<'_>, &MoveJob<'_>),
    decode_fn: DecodeFn,
    decode_row: impl Fn(&[D::In], &mut [MaybeUninit<D::Out>], &D::Given<'_>, Place),
) {
    // SAFETY: K8: the params of a kernel with the functions of `D` are a `D::Given`.
    let given = unsafe { &*conversion_args(args).given.cast::<D::Given<'_>>() };
    let is_near = job.prefetch_distance == 0 && !is_streamed(args);
    let is_lone = const { size_of::<D::Out>() <= LONE_ELEMENT } && conversion(args).elements <= 1;
    if const { size_of::<D::Out>() <= SHORT_ELEMENT } && (is_near || is_lone) {
        // A copy: the compiler need not reload the fields of the job after each store.
        let job = *job;
        let held = D::held(given);
        let given = held.borrow();
        let rows = (0..job.n).map(|i| EncodedRow { from: job.source(i), to: job.target(i), row: job.row_of_data(i) });
        // SAFETY: K1, K2, K4 and K8 for rows `0..n` of the job: rows of data, and rows of the output for their results.
        unsafe {
            each_row::<D>(rows, conversion(args).elements, given, |from, to, place| decode_row(from, to, given, place))
        };
    } else {
        let chunks = RowChunks { decode_fn, params: D::erased(given), size_out: size_of::<D::Out>(), whole: D::WHOLE };
        decode(&chunks, args, job);
    }
}

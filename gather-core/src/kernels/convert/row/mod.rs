//! Row functions: a row becomes a value or another row while it is gathered ([`RowFunction`]).
//!
//! ```text
//! for each row of a job:                   resolved, block by block, as for maps
//!     prefetch a later row                 and its own params
//!     zero the row of the output           so the function gets initialised elements
//!     call the function                    compiled for its types and the level, inlined into this loop
//! ```
//!
//! A plan treats a row as one element. So the kernels of maps run row functions, with the same policies, fills, threads
//! and first bad index. Rows stored as codes are decoded first (`decoded.rs`). Under `Streamed` the function writes to
//! memory in the first-level cache, whose lines are then written by non-temporal stores.

mod decoded;
mod params;

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::convert::conversion_args;
use crate::kernels::convert::map::named;
pub(crate) use crate::kernels::convert::row::decoded::{DecodeLayout, DecodedRowParams, DecodingJob};
pub(crate) use crate::kernels::convert::row::params::BoundRowParams;
use crate::kernels::convert::row::params::Place;
pub use crate::kernels::convert::row::params::{AnySlice, OptionalSlice, RowParam, RowParams, Slice};
pub(crate) use crate::kernels::convert::row::params::{Misfit, Placed, RowShapes};
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::stream::Pending;
use crate::kernels::nest::args::CompiledMoveFn;
use crate::kernels::nest::args::IndexArgs;
use crate::kernels::nest::rows::MoveJob;
#[cfg(target_arch = "x86_64")]
use crate::kernels::prefetch::LINE;
use crate::kernels::prefetch::prefetch;
use crate::types::element::{BY_VALUE, DType, Element, IsElement};
#[cfg(target_arch = "x86_64")]
use crate::types::method::Method;

/// The types of a row function, invariant in the parameter types: params are cast to the types of their function.
pub(crate) type Types<T, U, P> = fn(T, P) -> (U, P);

/// A function that makes a value or a row of `U` from a row of `T` while rows are gathered. `P` is a tuple of its
/// parameter types: value types, and [`rows::Slice`](crate::rows::Slice), [`rows::AnySlice`](crate::rows::AnySlice) or
/// [`rows::OptionalSlice`](crate::rows::OptionalSlice) for slices.
///
/// Run by [`View::rows`](crate::View::rows). Made by [`row_kernels!`](crate::row_kernels!); ready-made functions are in
/// [`rows`](mod@crate::rows).
pub struct RowFunction<T, U, P = ()> {
    erased: &'static ErasedRowFunction,
    /// Elements of a result row, if declared.
    len: Option<usize>,
    fill: Option<U>,
    types: PhantomData<Types<T, U, P>>,
}

impl<T, U: Copy, P> Clone for RowFunction<T, U, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, U: Copy, P> Copy for RowFunction<T, U, P> {}

/// A row function without its types.
#[derive(Clone, Copy)]
pub(crate) struct ErasedRowFunction {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [&'static str],
    pub(crate) rows: ByLevel<CompiledMoveFn>,
    /// Whether a row becomes one value.
    pub(crate) one: bool,
    /// The data types of the elements read and written.
    pub(crate) types: (DType, DType),
}

/// A row function without its types, with the caller's settings.
#[derive(Clone, Copy)]
pub(crate) struct Function<'s> {
    pub(crate) erased: &'static ErasedRowFunction,
    pub(crate) len: Option<usize>,
    /// The bytes that fill result rows out of range; `None` for zeros.
    pub(crate) fill: Option<&'s [u8]>,
}

impl Function<'_> {
    /// The number of results of a row of `elements` elements.
    pub(crate) fn results(&self, elements: usize) -> usize {
        if self.erased.one { 1 } else { self.len.unwrap_or(elements) }
    }
}

impl<T, U, P> RowFunction<T, U, P> {
    /// A row function from the type that the macro emits.
    #[doc(hidden)]
    #[must_use]
    pub const fn new<R: Rowwise<In = T, Out = U, Params = P>>() -> Self
    where
        T: Element,
        U: Element,
        P: RowParams,
    {
        assert!(R::PARAMS.len() == P::COUNT, "a name for each parameter");
        assert!(size_of::<U>() <= BY_VALUE, "a row function gives values of at most 16 KiB, which pass over the stack");
        const { IsElement::<T>::CHECK };
        const { IsElement::<U>::CHECK };
        let erased = const {
            let rows: ByLevel<CompiledMoveFn> =
                // SAFETY: E1: the first function is safe, and the others are safe on machines that have their level.
                unsafe { by_level!(rows_scalar::<R>, rows_avx2::<R>, rows_avx512::<R>) };
            let types = (R::In::DTYPE, R::Out::DTYPE);
            &ErasedRowFunction { name: R::NAME, params: R::PARAMS, rows, one: R::ONE, types }
        };
        RowFunction { erased, len: None, fill: None, types: PhantomData }
    }

    /// The same function, with `value` in place of zeros for rows out of range under
    /// [`OutOfBounds::Zero`](crate::OutOfBounds::Zero), and for [null indices](crate::Nullable): a score of 0 could win
    /// a search. A plan fills with the value of the function that a run is given.
    #[must_use]
    pub const fn with_fill(&self, value: U) -> Self
    where
        U: Copy,
    {
        RowFunction { fill: Some(value), ..*self }
    }

    /// The same function, with result rows of `len` elements. By default a result row is as long as a row of data.
    ///
    /// # Panics
    /// If the function makes a value, which has no length.
    #[must_use]
    pub const fn with_len(&self, len: usize) -> Self
    where
        U: Copy,
    {
        assert!(!self.erased.one, "a function that makes a value has no length of a row");
        RowFunction { len: Some(len), ..*self }
    }

    /// The function without its types.
    #[inline(always)]
    pub(crate) fn erased(&self) -> Function<'_>
    where
        U: Element,
    {
        // SAFETY: `U: Element` has no padding and no uninitialised byte.
        let bytes = |fill: &U| unsafe { core::slice::from_raw_parts(core::ptr::from_ref(fill).cast(), size_of::<U>()) };
        Function { erased: self.erased, len: self.len, fill: self.fill.as_ref().map(bytes) }
    }

    /// The value of rows out of range; `None` for zeros.
    #[must_use]
    pub const fn fill(&self) -> Option<&U> {
        self.fill.as_ref()
    }
}

named!(RowFunction);

/// A row function, as [`row_kernels!`](crate::row_kernels!) emits it for a closure.
#[doc(hidden)]
pub trait Rowwise: 'static {
    type In: Element;
    type Out: Element;
    type Params: RowParams;
    const NAME: &'static str;
    const PARAMS: &'static [&'static str];
    /// Whether a row becomes one value, by `value`; else a row, by `write`.
    const ONE: bool;
    /// Row bytes from which `three` takes less time than `value` of each row (bench `requests`). Not 0.
    const THREE_FROM: usize = usize::MAX;

    /// The closure of a function with a result.
    #[inline(always)]
    fn value(_: &[Self::In], _: <Self::Params as RowParams>::Args<'_>) -> Self::Out {
        Self::Out::ZERO
    }

    /// The values of three rows with the same arguments.
    #[inline(always)]
    fn three(rows: [&[Self::In]; 3], args: <Self::Params as RowParams>::Args<'_>) -> [Self::Out; 3] {
        rows.map(|row| Self::value(row, args))
    }

    /// The closure of a function that writes to a row.
    #[inline(always)]
    fn write(row: &[Self::In], out: &mut [Self::Out], args: <Self::Params as RowParams>::Args<'_>) {
        if let [out] = out {
            *out = Self::value(row, args);
        }
    }
}

/// Maximum bytes of a row to prefetch; the hardware prefetches the remainder of a longer row (bench `rows`).
const MOST_AHEAD: usize = 1 << 10;

/// Bytes of output rows that are zeroed together: a part of the first-level cache.
const ZEROED_AT_ONCE: usize = 2 << 10;

/// Maximum bytes of an element for short rows to be made in registers and then stored.
const MOST_IN_REGISTERS: usize = 8;

/// The functions for the rows of a job, by level, and for a row of any length: by itself, so that the compiler knows
/// that its slices do not overlap. It forgets this of functions that are always inlined.
macro_rules! levels {
    ($($(#[$level:meta])* $rows:ident, $write:ident, $vector:literal;)*) => {$(
        $(#[$level])*
        fn $rows<R: Rowwise>(args: &IndexArgs<'_>, job: &MoveJob<'_>) {
            run::<R, $vector>(args, job, |row, out, args| $write::<R>(row, out, args));
        }

        #[inline(never)]
        $(#[$level])*
        fn $write<R: Rowwise>(row: &[R::In], out: &mut [R::Out], args: Args<'_, R>) {
            R::write(row, out, args);
        }
    )*};
}
levels! {
    rows_scalar, write_scalar, 16;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,fma,f16c")]
    rows_avx2, write_avx2, 32;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    rows_avx512, write_avx512, 64;
}

/// The arguments of a row function.
type Args<'a, R> = <<R as Rowwise>::Params as RowParams>::Args<'a>;

/// Runs a row function on the rows of a job, at a level with vectors of `VECTOR` bytes. `write` is [`Rowwise::write`].
#[inline(always)]
fn run<R: Rowwise, const VECTOR: usize>(
    args: &IndexArgs<'_>,
    job: &MoveJob<'_>,
    write: impl Fn(&[R::In], &mut [R::Out], Args<'_, R>),
) {
    // SAFETY: K8: the params of a kernel of this row function are its `BoundRowParams`.
    let given = unsafe { *conversion_args(args).given.cast::<BoundRowParams<'_, R::Params>>() };
    let (elements, results) = (given.elements, if R::ONE { 1 } else { job.row / size_of::<R::Out>() });
    let for_all = R::Params::for_all(&given.lookups);
    let for_each = for_all.map(|lookups| R::Params::args(&lookups, Place { row: 0, index: 0 }));
    // The output rows of a job are evenly spaced, and so are their indices: two divisions find all indices.
    let Placed { out, out_step, by_index } = given.placed;
    let [first_index, index_step] = match by_index {
        true => [job.out.addr().wrapping_sub(out) as isize, job.out_step].map(|bytes| bytes.wrapping_div(out_step)),
        false => [0; 2],
    };
    // No row is prefetched with a distance of 0.
    let ahead = if job.prefetch_distance > 0 { job.n.saturating_sub(job.prefetch_distance) } else { 0 };
    // A copy: the compiler need not reload its fields after each store.
    let rows = JobRows::<R> { given, args: for_each, job: *job, ahead, elements, results, first_index, index_step };
    #[cfg(target_arch = "x86_64")]
    if (!R::ONE || const { size_of::<R::Out>() >= LINE }) && args.spec().method == Method::Streamed {
        // SAFETY: K1, K4 and K9: the bytes taken are the rows of the output, contiguous. K7 for the vectors.
        let mut pending = unsafe { Pending::<VECTOR>::new(job.out) };
        for i in 0..job.n {
            let to = pending.next();
            // SAFETY: K9: a row fits in the buffer, which has the output's alignment and which nothing else uses.
            unsafe { rows.zero(to, 1) };
            // SAFETY: `i < n` by the loop. `to` is the row of the buffer that has just been zeroed.
            unsafe { rows.run::<0>(i, to, &write) };
            // SAFETY: all of the row has just been written to the buffer.
            unsafe { pending.take(job.row) };
        }
        return;
    }
    // A loop for each short length, for which the function is a few instructions.
    macro_rules! lengths {
        ($($len:literal)*) => {
            match elements {
                $($len => return rows.of_len($len, for_all).each::<$len>(0, &write),)*
                _ => {}
            }
        };
    }
    if for_all.is_some() {
        if const { R::ONE } {
            lengths!(1 2 3 4 5 6 7 8);
            // Three rows have 12 vectors of sums, of 16 registers at AVX2. Shorter vectors would need more registers.
            let bytes = elements.saturating_mul(size_of::<R::In>());
            let long = const { R::THREE_FROM < usize::MAX && VECTOR >= 32 } && bytes >= R::THREE_FROM;
            return rows.each::<0>(if long { rows.threes() } else { 0 }, &write);
        }
        if const { size_of::<R::Out>() <= MOST_IN_REGISTERS } && elements == results && elements > 0 {
            lengths!(1 2 3 4 5 6 7 8 16 32 64);
            // The compiler sees that all slices of a row have one length, which is not 0.
            return rows.of_len(elements, for_all).each::<0>(0, &write);
        }
    } else if const { R::ONE } {
        lengths!(1 2 3 4 5 6 7 8);
    }
    rows.each::<0>(0, &write);
}

struct JobRows<'a, R: Rowwise> {
    given: BoundRowParams<'a, R::Params>,
    /// The arguments of every row, if they are the same.
    args: Option<Args<'a, R>>,
    job: MoveJob<'a>,
    /// The number of rows that prefetch a later row.
    ahead: usize,
    /// Elements of a row that is read, and of a row that is written.
    elements: usize,
    /// Elements of a row that the function writes.
    results: usize,
    /// The index of row 0. Used, like `index_step`, if indices have their own values.
    first_index: isize,
    index_step: isize,
}

impl<'a, R: Rowwise> JobRows<'a, R> {
    /// The same rows with `len` elements, a length the compiler sees. `for_all` gives all rows the same arguments.
    #[inline(always)]
    fn of_len(&self, len: usize, for_all: Option<<R::Params as RowParams>::Lookups<'a>>) -> Self {
        debug_assert_eq!(self.elements, len);
        assert!(R::ONE || self.results == len, "rows of results of another length");
        let args = for_all.map(|all| R::Params::args(&R::Params::of_len(&all, len), Place { row: 0, index: 0 }));
        let given = BoundRowParams { lookups: R::Params::of_len(&self.given.lookups, len), ..self.given };
        JobRows { given, args, elements: len, results: if R::ONE { 1 } else { len }, ..*self }
    }

    /// Runs a function that makes values, three rows at a time, on rows with the same arguments. Returns `n - n % 3`,
    /// the number of rows done.
    #[inline(always)]
    fn threes(&self) -> usize {
        let Some(args) = self.args else { return 0 };
        let n = self.job.n / 3 * 3;
        for i in (0..n).step_by(3) {
            let mut rows: [&[R::In]; 3] = [&[]; 3];
            for (at, row) in rows.iter_mut().enumerate() {
                self.prefetch(i + at);
                // SAFETY: `i + at < n` by the loops, and the job has `n` rows or more.
                *row = unsafe { self.elements(i + at) };
            }
            for (at, value) in R::three(rows, args).into_iter().enumerate() {
                let to = self.job.target(i + at).cast::<R::Out>();
                debug_assert!(to.is_aligned() && size_of::<R::Out>() == self.job.row, "K8: a row of the output");
                // SAFETY: K1 and K8: row `i + at` of the job's output is one element, aligned.
                unsafe { to.write(value) };
            }
        }
        n
    }

    /// Runs the row function on rows `first..n`, of `LEN` results, or of any number if `LEN == 0`. Short contiguous
    /// rows are zeroed together: `memset` takes as long as a short row.
    #[inline(always)]
    fn each<const LEN: usize>(&self, first: usize, write: impl Fn(&[R::In], &mut [R::Out], Args<'_, R>)) {
        let (job, mut first, is_zeroed) = (&self.job, first, const { LEN == 0 && !R::ONE });
        let at_once = match is_zeroed {
            true if job.out_step == job.row as isize => (ZEROED_AT_ONCE / job.row.max(1)).max(1),
            true => 1,
            false => job.n,
        };
        while first < job.n {
            let end = first + at_once.min(job.n - first);
            if is_zeroed {
                // SAFETY: K1 and K8: rows `first..end` of the output, aligned, and contiguous if they are several.
                unsafe { self.zero(job.target(first), end - first) };
            }
            let mut to = job.target(first);
            for i in first..end {
                // SAFETY: K1 and K8: row `i < n`, and its row of the output, aligned for its elements, which holds
                // zeros if `LEN` is 0.
                unsafe { self.run::<LEN>(i, to, &write) };
                to = to.wrapping_offset(job.out_step);
            }
            first = end;
        }
    }

    /// Writes zeros to `rows` contiguous rows of the output, if the function writes to rows.
    ///
    /// # Safety
    /// The rows may be written at `to`, which is aligned, and nothing else uses them.
    #[inline(always)]
    unsafe fn zero(&self, to: *mut u8, rows: usize) {
        let n = if R::ONE { 0 } else { rows * self.results };
        for at in 0..n {
            // SAFETY: by the caller's contract, the rows may be written, and `at < n` is one of their elements.
            unsafe { to.cast::<R::Out>().wrapping_add(at).write(R::Out::ZERO) };
        }
    }

    /// Runs the row function on row `i`, into `to`.
    ///
    /// # Safety
    /// `i` is below the number of rows of the job. A row of the output may be written at `to`, which is aligned, and
    /// nothing else uses it. If `LEN == 0`, [`Self::zero`] has written the row.
    #[inline(always)]
    unsafe fn run<const LEN: usize>(
        &self,
        i: usize,
        to: *mut u8,
        write: impl Fn(&[R::In], &mut [R::Out], Args<'_, R>),
    ) {
        self.prefetch(i);
        // SAFETY: `i < n` by the caller's contract.
        let (from, args, to) = (unsafe { self.elements(i) }, self.args_of(i), to.cast::<R::Out>());
        debug_assert!(to.is_aligned() && self.results * size_of::<R::Out>() == self.job.row, "K8: a row of the output");
        if R::ONE {
            // SAFETY: by the caller's contract, the row at `to` may be written; it is one element.
            return unsafe { to.write(R::value(from, args)) };
        }
        if LEN > 0 && self.results == LEN {
            // An array, stored when complete: the compiler does not know that two slices do not overlap.
            let mut made = [R::Out::ZERO; LEN];
            R::write(from, &mut made, args);
            // SAFETY: by the caller's contract, the row at `to` may be written; it has `LEN` elements.
            return unsafe { to.cast::<[R::Out; LEN]>().write(made) };
        }
        // SAFETY: the row at `to` is initialised by `zero`, and nothing else uses it, by the caller's contract.
        let out = unsafe { core::slice::from_raw_parts_mut(to, self.results) };
        write(from, out, args);
    }

    #[inline(always)]
    fn args_of(&self, i: usize) -> Args<'a, R> {
        if let Some(args) = self.args {
            return args;
        }
        let index = self.first_index.wrapping_add(self.index_step.wrapping_mul(i as isize)) as usize;
        R::Params::args(&self.given.lookups, Place { row: self.job.row_of_data(i), index })
    }

    /// Prefetches the row `prefetch_distance` after row `i`, and its values.
    #[inline(always)]
    fn prefetch(&self, i: usize) {
        if i < self.ahead {
            let (from, row) = self.row(i + self.job.prefetch_distance);
            prefetch(from.cast(), (self.elements * size_of::<R::In>()).min(MOST_AHEAD));
            if self.args.is_none() {
                R::Params::prefetch(&self.given.lookups, row);
            }
        }
    }

    /// The elements of row `i`.
    ///
    /// # Safety
    /// `i` is below the number of rows of the job.
    #[inline(always)]
    unsafe fn elements(&self, i: usize) -> &[R::In] {
        debug_assert!(i < self.job.n, "a row of the job");
        if self.elements == 0 {
            return &[];
        }
        let (from, _) = self.row(i);
        debug_assert!(from.is_aligned(), "K8: alignment");
        // SAFETY: K2 and K8: row `i < n` of data has `elements` aligned elements, which nothing writes (K4).
        unsafe { core::slice::from_raw_parts(from, self.elements) }
    }

    /// The address of row `i`, and its position along the axis.
    #[inline(always)]
    fn row(&self, i: usize) -> (*const R::In, usize) {
        (self.job.source(i).cast(), self.job.row_of_data(i))
    }
}

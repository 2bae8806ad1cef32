//! Row functions: whole rows that become a value or another row on their way ([`RowFunction`]), and what a call gives
//! for their parameters.
//!
//! ```text
//! for each row of a job:                   resolved, block by block, as those of maps are
//!     prefetch a later row                 and what is given for it alone
//!     zero the row of the output           the function sees initialised elements, whatever the output held
//!     call the function                    compiled for its types and the level, inlined into this loop
//! ```
//!
//! To the plan a row is one element, so that a row function runs by the kernels of maps: policies, fills, threads and
//! the first bad index are theirs. Under `Streamed` the function writes to memory in the first-level cache, whose lines
//! are then written by non-temporal stores.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use crate::kernels::args::IndexArgs;
use crate::kernels::bodies::MoveFn;
use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::convert::conversion;
use crate::kernels::convert::map::MAX_PARAMS;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
use crate::kernels::moves::stream::Pending;
use crate::types::element::{BY_VALUE, Element};
#[cfg(target_arch = "x86_64")]
use crate::types::method::Method;
use crate::types::policy::Per;

/// A function of a row of `T`, which makes a value or a row of `U` of it while rows are gathered, with the parameters
/// `P`: a tuple of value types, and of [`rows::Slice`](crate::rows::Slice),
/// [`rows::AnySlice`](crate::rows::AnySlice) or [`rows::OptionalSlice`](crate::rows::OptionalSlice) for slices.
///
/// Run by [`Gather::run_rows`](crate::Gather::run_rows). Made by [`row_kernels!`](crate::row_kernels!); ready-made ones
/// are in [`rows`](mod@crate::rows).
pub struct RowFunction<T, U, P = ()> {
    erased: Erased,
    fill: Option<U>,
    types: PhantomData<fn(T, P) -> U>,
}

/// A row function without its types.
#[derive(Clone, Copy)]
pub(crate) struct Erased {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [&'static str],
    pub(crate) rows: ByLevel<MoveFn>,
    /// Whether a row becomes one value.
    pub(crate) one: bool,
    /// The elements of a row of results, where they are declared.
    pub(crate) len: Option<usize>,
}

impl<T, U, P> RowFunction<T, U, P> {
    /// A row function from what the macro emits.
    #[doc(hidden)]
    #[must_use]
    pub const fn new<R: Rowwise<In = T, Out = U, Params = P>>() -> Self
    where
        P: RowParams,
    {
        assert!(R::PARAMS.len() == P::COUNT, "a name for each parameter");
        assert!(size_of::<U>() <= BY_VALUE, "a row function gives values of at most 16 KiB, which pass over the stack");
        let rows: ByLevel<MoveFn> = by_level!(rows_scalar::<R>, rows_avx2::<R>, rows_avx512::<R>);
        let erased = Erased { name: R::NAME, params: R::PARAMS, rows, one: R::ONE, len: None };
        RowFunction { erased, fill: None, types: PhantomData }
    }

    /// The same function, under [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) with `value` in place of zeros for a row
    /// that is out of range: a score of 0 could win a search.
    #[must_use]
    pub const fn with_fill(&self, value: U) -> Self
    where
        U: Copy,
    {
        RowFunction { erased: self.erased, fill: Some(value), types: PhantomData }
    }

    /// The same function, whose rows of results have `len` elements. Without it they have as many as those of a view
    /// that is written to, or else as many as rows of data.
    #[must_use]
    pub const fn with_len(&self, len: usize) -> Self
    where
        U: Copy,
    {
        RowFunction { erased: Erased { len: Some(len), ..self.erased }, fill: self.fill, types: PhantomData }
    }

    pub(crate) fn erased(&self) -> Erased {
        self.erased
    }

    /// The value of rows that are out of range; `None` for zeros.
    #[must_use]
    pub const fn fill(&self) -> Option<&U> {
        self.fill.as_ref()
    }

    /// The name of the static.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.erased.name
    }

    /// The names of the parameters, in the order in which a call gives them.
    #[must_use]
    pub const fn params(&self) -> &'static [&'static str] {
        self.erased.params
    }
}

impl<T, U, P> fmt::Debug for RowFunction<T, U, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowFunction").field("name", &self.name()).field("params", &self.params()).finish()
    }
}

/// What [`row_kernels!`](crate::row_kernels!) makes of a closure.
#[doc(hidden)]
pub trait Rowwise: 'static {
    /// The elements of a row that is read.
    type In: Element;
    /// What is written.
    type Out: Element;
    /// The types of the parameters.
    type Params: RowParams;
    /// The name of the static.
    const NAME: &'static str;
    /// The names of the parameters.
    const PARAMS: &'static [&'static str];
    /// Whether a row becomes one value, by `value`; or else a row, by `write`.
    const ONE: bool;

    /// The closure, of a function with a result.
    #[inline(always)]
    fn value(_: &[Self::In], _: <Self::Params as RowParams>::Args<'_>) -> Self::Out {
        Self::Out::ZERO
    }

    /// The closure, of a function that writes to a row.
    #[inline(always)]
    fn write(row: &[Self::In], out: &mut [Self::Out], args: <Self::Params as RowParams>::Args<'_>) {
        if let [out] = out {
            *out = Self::value(row, args);
        }
    }
}

/// What a call gives for a parameter of a [`RowFunction`] that is a value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RowValue<'a, V> {
    /// One value for every row.
    Value(V),
    /// One value for each index, in row-major order; or for each of the last dimensions of indices, which the others
    /// repeat.
    PerIndex(&'a [V]),
    /// One value for each row of data, by its position along the axis.
    PerRow(&'a [V]),
}

/// What a call gives for a parameter of a [`RowFunction`] that is a slice. Rows of slices follow one another.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RowSlice<'a, V> {
    /// One slice for every row.
    Slice(&'a [V]),
    /// A slice for each index, in row-major order; or for each of the last dimensions of indices, which the others
    /// repeat: embeddings of 512 positions serve any number of sequences of 512 tokens.
    PerIndex(&'a [V]),
    /// A slice for each row of data, by its position along the axis.
    PerRow(&'a [V]),
}

/// The type of a parameter that is a slice as long as the row: `query: &[f32]`.
pub struct Slice<V>(PhantomData<V>);

/// The type of a parameter that is a slice of any length: `#[any_len] weights: &[f32]`.
pub struct AnySlice<V>(PhantomData<V>);

/// The type of a parameter that is a slice as long as the row, or an empty slice for the whole call:
/// `#[optional] bias: &[f32]`.
pub struct OptionalSlice<V>(PhantomData<V>);

/// The shapes that what is given is compared with.
pub(crate) struct RowShapes<'s> {
    /// Elements of a row of data.
    pub(crate) row: usize,
    /// Rows along the axis.
    pub(crate) dim: usize,
    /// The dimensions of the result, without that of a row.
    pub(crate) lead: &'s [usize],
}

/// What was given, and how much would have fitted.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct WrongLength {
    pub(crate) per: Per,
    pub(crate) len: usize,
    pub(crate) expected: usize,
}

/// How the values of a parameter are found.
#[doc(hidden)]
pub struct Lookup<'a, V> {
    values: &'a [V],
    /// Values for a row.
    len: usize,
    /// Whether rows of data have values of their own.
    by_row: bool,
    /// After how many indices the values repeat; 0 where indices have none of their own.
    period: usize,
}

impl<'a, V> Lookup<'a, V> {
    /// The same values for every row.
    fn call(values: &'a [V], len: Option<usize>) -> Result<Self, WrongLength> {
        match len {
            Some(expected) if expected != values.len() => {
                Err(WrongLength { per: Per::Call, len: values.len(), expected })
            }
            _ => Ok(Lookup { values, len: values.len(), by_row: false, period: 0 }),
        }
    }

    /// `len` values for each row of data, or any number.
    fn rows(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, WrongLength> {
        let given = values.len();
        let len = len.unwrap_or_else(|| given.checked_div(shapes.dim).unwrap_or(0));
        let expected = len.saturating_mul(shapes.dim);
        if given != expected {
            return Err(WrongLength { per: Per::Row, len: given, expected });
        }
        Ok(Lookup { values, len, by_row: true, period: 0 })
    }

    /// `len` values for each index, or any number.
    fn indices(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, WrongLength> {
        let (given, all) = (values.len(), shapes.lead.iter().fold(1, |all: usize, &dim| all.saturating_mul(dim)));
        let len = len.unwrap_or_else(|| given.checked_div(all).unwrap_or(0));
        // The values of all indices, or of those of the last dimensions.
        let mut period = 1usize;
        let mut periods = shapes.lead.iter().rev().map(|&dim| {
            period = period.saturating_mul(dim);
            period
        });
        match core::iter::once(all).chain(periods.by_ref()).find(|&period| period.saturating_mul(len) == given) {
            Some(period) => Ok(Lookup { values, len, by_row: false, period: period.max(1) }),
            None => Err(WrongLength { per: Per::Index, len: given, expected: all.saturating_mul(len) }),
        }
    }

    fn range(&self, place: Place) -> Range<usize> {
        let at = match (self.by_row, self.period) {
            (true, _) => place.row,
            (false, 0) => 0,
            (false, period) => place.index % period,
        };
        at * self.len..(at + 1) * self.len
    }

    /// The values for a row.
    #[inline(always)]
    fn at(&self, place: Place) -> &'a [V] {
        &self.values[self.range(place)]
    }

    /// Prefetches what a row of data has of its own.
    #[inline(always)]
    fn prefetch(&self, row: usize) {
        if self.by_row {
            let from = self.values.as_ptr().wrapping_add(row.wrapping_mul(self.len));
            prefetch(from.cast(), self.len.saturating_mul(size_of::<V>()));
        }
    }
}

/// The row that a call is about.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its position along the axis.
    row: usize,
    /// The position of its index among those of the result.
    index: usize,
}

mod sealed {
    pub trait Sealed {}
    pub trait Params {}
}

/// The type of a parameter of a row function. Sealed: values that are `Copy + Send + Sync + 'static`,
/// [`rows::Slice`](crate::rows::Slice), [`rows::AnySlice`](crate::rows::AnySlice) and
/// [`rows::OptionalSlice`](crate::rows::OptionalSlice).
pub trait RowParam: sealed::Sealed + 'static {
    /// What a call gives: a [`RowValue`] or a [`RowSlice`].
    type Given<'a>: Copy;
    /// What the function is given: a value or a slice.
    #[doc(hidden)]
    type Arg<'a>;
    #[doc(hidden)]
    type Value: Copy + Send + Sync + 'static;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn lookup<'a>(given: &'a Self::Given<'_>, shapes: &RowShapes<'_>) -> Result<Lookup<'a, Self::Value>, WrongLength>;

    #[doc(hidden)]
    fn arg<'a>(lookup: &Lookup<'a, Self::Value>, place: Place) -> Self::Arg<'a>;
}

impl<V: Copy + Send + Sync + 'static> sealed::Sealed for V {}

impl<V: Copy + Send + Sync + 'static> RowParam for V {
    type Given<'a> = RowValue<'a, V>;
    type Arg<'a> = V;
    type Value = V;

    #[allow(private_interfaces)]
    fn lookup<'a>(given: &'a RowValue<'_, V>, shapes: &RowShapes<'_>) -> Result<Lookup<'a, V>, WrongLength> {
        match given {
            RowValue::Value(value) => Lookup::call(core::slice::from_ref(value), None),
            RowValue::PerIndex(values) => Lookup::indices(values, Some(1), shapes),
            RowValue::PerRow(values) => Lookup::rows(values, Some(1), shapes),
        }
    }

    #[inline(always)]
    fn arg<'a>(lookup: &Lookup<'a, V>, place: Place) -> V {
        lookup.values[lookup.range(place).start]
    }
}

/// A kind of slice, and the length that it must have.
macro_rules! slices {
    ($($name:ident, $optional:literal: $len:expr;)*) => {$(
        impl<V> sealed::Sealed for $name<V> {}

        impl<V: Copy + Send + Sync + 'static> RowParam for $name<V> {
            type Given<'a> = RowSlice<'a, V>;
            type Arg<'a> = &'a [V];
            type Value = V;

            #[allow(private_interfaces)]
            fn lookup<'a>(given: &'a RowSlice<'_, V>, shapes: &RowShapes<'_>) -> Result<Lookup<'a, V>, WrongLength> {
                let len: fn(&RowShapes<'_>) -> Option<usize> = $len;
                match given {
                    RowSlice::Slice([]) if $optional => Lookup::call(&[], None),
                    RowSlice::Slice(values) => Lookup::call(values, len(shapes)),
                    RowSlice::PerIndex(values) => Lookup::indices(values, len(shapes), shapes),
                    RowSlice::PerRow(values) => Lookup::rows(values, len(shapes), shapes),
                }
            }

            #[inline(always)]
            fn arg<'a>(lookup: &Lookup<'a, V>, place: Place) -> &'a [V] {
                lookup.at(place)
            }
        }
    )*};
}
slices! {
    Slice, false: |shapes| Some(shapes.row);
    AnySlice, false: |_| None;
    OptionalSlice, true: |shapes| Some(shapes.row);
}

/// The types of a row function's parameters: a tuple of up to four [`RowParam`]s. Sealed.
pub trait RowParams: sealed::Params + 'static {
    /// What a call gives: one [`RowValue`] or [`RowSlice`] for each, in a tuple.
    type Given<'a>: Copy;
    /// What the function is given.
    #[doc(hidden)]
    type Args<'a>;
    #[doc(hidden)]
    type Lookups<'a>: Sync;
    #[doc(hidden)]
    const COUNT: usize;

    /// Compares what is given with the shapes; an error has the number of the parameter.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn lookups<'a>(
        given: &'a Self::Given<'_>,
        shapes: &RowShapes<'_>,
    ) -> Result<Self::Lookups<'a>, (usize, WrongLength)>;

    /// Whether indices have values of their own.
    #[doc(hidden)]
    fn by_index(lookups: &Self::Lookups<'_>) -> bool;

    #[doc(hidden)]
    fn args<'a>(lookups: &Self::Lookups<'a>, place: Place) -> Self::Args<'a>;

    #[doc(hidden)]
    fn prefetch(lookups: &Self::Lookups<'_>, row: usize);
}

macro_rules! params {
    ($($ty:ident $field:tt),*) => {
        impl<$($ty: RowParam),*> sealed::Params for ($($ty,)*) {}

        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($ty: RowParam),*> RowParams for ($($ty,)*) {
            type Given<'a> = ($($ty::Given<'a>,)*);
            type Args<'a> = ($($ty::Arg<'a>,)*);
            type Lookups<'a> = ($(Lookup<'a, $ty::Value>,)*);
            const COUNT: usize = {
                let fields: &[usize] = &[$($field),*];
                fields.len()
            };

            #[allow(private_interfaces)]
            fn lookups<'a>(
                given: &'a Self::Given<'_>,
                shapes: &RowShapes<'_>,
            ) -> Result<Self::Lookups<'a>, (usize, WrongLength)> {
                Ok(($($ty::lookup(&given.$field, shapes).map_err(|wrong| ($field, wrong))?,)*))
            }

            fn by_index(lookups: &Self::Lookups<'_>) -> bool {
                false $(|| lookups.$field.period > 0)*
            }

            #[inline(always)]
            fn args<'a>(lookups: &Self::Lookups<'a>, place: Place) -> Self::Args<'a> {
                ($($ty::arg(&lookups.$field, place),)*)
            }

            #[inline(always)]
            fn prefetch(lookups: &Self::Lookups<'_>, row: usize) {
                $(lookups.$field.prefetch(row);)*
            }
        }
    };
}
params!();
params!(A 0);
params!(A 0, B 1);
params!(A 0, B 1, C 2);
params!(A 0, B 1, C 2, D 3);
const _: () = assert!(MAX_PARAMS == 4, "there are tuples of other lengths");

/// What a kernel of a row function is given for its parameters.
pub(crate) struct GivenRows<'a, P: RowParams> {
    pub(crate) lookups: P::Lookups<'a>,
    /// The address of the first row of the output, and bytes from one to the next. Read where indices have values of
    /// their own.
    pub(crate) out: usize,
    pub(crate) out_step: isize,
    pub(crate) by_index: bool,
}

/// The rows of a job at a level.
macro_rules! levels {
    ($($(#[$level:meta])* $rows:ident, $vector:literal;)*) => {$(
        /// # Safety
        /// As for [`MoveFn`], for the types of the row function. K7: the machine has the level.
        $(#[$level])*
        unsafe fn $rows<R: Rowwise>(args: &IndexArgs<'_>, job: &MoveJob) {
            // SAFETY: the caller's promise.
            unsafe { run::<R, $vector>(args, job) }
        }
    )*};
}
levels! {
    rows_scalar, 16;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,fma,f16c")]
    rows_avx2, 32;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    rows_avx512, 64;
}

/// Runs a row function on the rows of a job.
///
/// # Safety
/// As for [`MoveFn`], for the types of the row function. K7: the machine has vectors of `VECTOR` bytes.
#[inline(always)]
unsafe fn run<R: Rowwise, const VECTOR: usize>(args: &IndexArgs<'_>, job: &MoveJob) {
    #[cfg(target_arch = "x86_64")]
    if !R::ONE && args.spec.method == Method::Streamed {
        let mut pending = Pending::<VECTOR>::new(job.out);
        for i in 0..job.n {
            // SAFETY: the caller's promise; K9: a row fits in the room, which is aligned as its place in the output is,
            // and nothing else uses the room.
            unsafe { one::<R>(args, job, i, pending.next()) };
            // SAFETY: K1 and K4: the next bytes of the output, all of which have just been written to the room.
            unsafe { pending.take(job.row) };
        }
        return;
    }
    for i in 0..job.n {
        // SAFETY: the caller's promise.
        unsafe { one::<R>(args, job, i, job.target(i)) };
    }
}

/// Runs a row function on row `i`, into the memory at `to`.
///
/// # Safety
/// As for [`run`]; `i < n`. `to` may be written for a row of the output, is aligned for it, and nothing else uses it.
#[inline(always)]
unsafe fn one<R: Rowwise>(args: &IndexArgs<'_>, job: &MoveJob, i: usize, to: *mut u8) {
    // SAFETY: K8: what is given for this row function's parameters.
    let given = unsafe { &*args.params.cast::<GivenRows<'_, R::Params>>() };
    let row = conversion(args);
    // SAFETY: `positions` has `n` entries.
    let position = |i: usize| job.first_position + unsafe { job.positions.wrapping_add(i).read() } as usize;
    // SAFETY: `i < n`.
    let from: *const R::In = unsafe { job.source(i) }.cast();
    let later = i + job.prefetch_distance;
    if later > i && later < job.n {
        // SAFETY: below `n`.
        prefetch(unsafe { job.source(later) }, row.bytes_in());
        R::Params::prefetch(&given.lookups, position(later));
    }
    let mut index = 0;
    if given.by_index {
        index = (job.target(i).addr().wrapping_sub(given.out) as isize / given.out_step) as usize;
    }
    let params = R::Params::args(&given.lookups, Place { row: position(i), index });
    let from: &[R::In] = if row.elements == 0 {
        &[]
    } else {
        debug_assert!(from.is_aligned(), "K8: alignment");
        // SAFETY: K2 and K8: the values of a row of data, which are contiguous and aligned; nothing writes them (K4).
        unsafe { core::slice::from_raw_parts(from, row.elements) }
    };
    let (to, elements) = (to.cast::<R::Out>(), if R::ONE { 1 } else { job.row / size_of::<R::Out>() });
    debug_assert!(to.is_aligned() && elements * size_of::<R::Out>() == job.row, "K8: a row of the output");
    for at in 0..elements {
        // SAFETY: the caller's promise: an element of the row.
        unsafe { to.wrapping_add(at).write(R::Out::ZERO) };
    }
    // SAFETY: the caller's promise; all elements have just been initialised.
    let out = unsafe { core::slice::from_raw_parts_mut(to, elements) };
    R::write(from, out, params);
}

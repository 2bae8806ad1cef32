//! Maps: conversions applied while gathering ([`Map`]), and how an element finds its params.

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::convert::decode::{Decode, DecodeFns, ErasedParams, PrefetchGiven, range_of};
use crate::kernels::convert::given::Given;
use crate::kernels::convert::prefetch_given;
#[cfg(target_arch = "x86_64")]
use crate::kernels::convert::vectors;
use crate::kernels::level_fn::Token;
pub(crate) use crate::kernels::nest::args::Place;
use crate::types::element::{BY_VALUE, Element};

/// A conversion of `T` into `U` that [`View::map`](crate::View::map) applies to each element that a gather or a bag
/// reads. `P` is a tuple of its parameter types, such as `(f32, u8)` for a scale and a zero point.
///
/// Values and parameters pass through the stack: a map whose `T`, `U` or `P` has more than 16 KiB does not compile.
///
/// Made by [`map_kernels!`](crate::map_kernels!); ready-made maps are in [`maps`](crate::maps).
pub struct Map<T, U, P = ()> {
    erased: &'static ErasedMap,
    types: PhantomData<fn(T, P) -> U>,
}

#[derive(Clone, Copy)]
pub(crate) struct ErasedMap {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [&'static str],
    pub(crate) decode_fns: DecodeFns,
}

impl<T, U, P> Map<T, U, P> {
    /// A map from the type that the macro emits.
    #[doc(hidden)]
    #[must_use]
    pub const fn new<C: Convert<In = T, Out = U, Params = P>>() -> Self
    where
        P: Params,
    {
        // Errors find the name of a parameter by its number.
        assert!(C::PARAMS.len() == P::COUNT, "a name for each parameter");
        let values = [size_of::<C::In>(), size_of::<C::Out>(), size_of::<P>()];
        assert!(
            values[0] <= BY_VALUE && values[1] <= BY_VALUE && values[2] <= BY_VALUE,
            "a map takes and gives values of at most 16 KiB, which pass over the stack"
        );
        let erased =
            const { &ErasedMap { name: C::NAME, params: C::PARAMS, decode_fns: DecodeFns::of::<EachElement<C>>() } };
        Map { erased, types: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn erased(&self) -> &'static ErasedMap {
        self.erased
    }
}

impl<T, U, P> Clone for Map<T, U, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, U, P> Copy for Map<T, U, P> {}

/// Implements accessors of a function's name and parameter names.
macro_rules! named {
    ($Function:ident) => {
        impl<T, U, P> $Function<T, U, P> {
            /// The name of the constant or static, or of the function of [`maps`](crate::maps) or
            /// [`rows`](mod@crate::rows) that made it.
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

        impl<T, U, P> core::fmt::Debug for $Function<T, U, P> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let name = stringify!($Function);
                f.debug_struct(name).field("name", &self.name()).field("params", &self.params()).finish()
            }
        }
    };
}
pub(super) use named;
named!(Map);

/// The number of values given for a parameter without one value for all.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Count {
    Rows(usize),
    Elements(usize),
    /// Values per index, which no map takes.
    Indices,
}

/// The value of a parameter: `all`, or `values[row * row_step + element * element_step]`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a, V> {
    all: Option<V>,
    values: &'a [V],
    row_step: usize,
    element_step: usize,
}

impl<'a, V: Copy> Lookup<'a, V> {
    #[inline(always)]
    fn new(given: Given<'a, V>) -> Self {
        let of = |all, values, row_step, element_step| Lookup { all, values, row_step, element_step };
        match given {
            Given::All(value) => of(Some(value), &[], 0, 0),
            Given::PerRow(values) => of(None, values, 1, 0),
            Given::PerElement(values) => of(None, values, 0, 1),
            // No map takes these: `count` is `Count::Indices`, which is an error.
            Given::PerIndex(_) | Given::PerIndexOf { .. } => of(None, &[], 0, 0),
        }
    }

    /// The number of values; `None` for one value for all.
    fn count(&self) -> Option<Count> {
        let n = self.values.len();
        match (&self.all, self.row_step, self.element_step) {
            (Some(_), ..) => None,
            (None, 1, _) => Some(Count::Rows(n)),
            (None, _, 1) => Some(Count::Elements(n)),
            _ => Some(Count::Indices),
        }
    }

    /// Prefetches the value of a row, or the first values of `elements` elements, unless one value is for all.
    #[inline(always)]
    fn prefetch(&self, row: usize, element: usize, elements: usize) {
        if self.row_step + self.element_step > 0 {
            let at = row.wrapping_mul(self.row_step).wrapping_add(element.wrapping_mul(self.element_step));
            prefetch_given(self.values, at, if self.element_step > 0 { elements } else { 1 });
        }
    }

    /// The values of a row, or of `elements` elements from `element` on, if they have their own.
    fn ranges(&self, (row, element, elements): (usize, usize, usize), each: &mut dyn FnMut(usize, usize)) {
        if self.row_step + self.element_step > 0 {
            let at = row * self.row_step + element * self.element_step;
            range_of(self.values, at, if self.element_step > 0 { elements } else { 1 }, each);
        }
    }

    /// The value for an element of a row.
    ///
    /// # Safety
    /// K8: there is a value for the row, or for the element.
    #[inline(always)]
    unsafe fn at(&self, Place { row, element }: Place) -> V {
        let at = row * self.row_step + element * self.element_step;
        let values = self.all.as_ref().map_or(self.values, core::slice::from_ref);
        debug_assert!(at < values.len(), "K8: no value for row {row}, element {element}");
        // SAFETY: by the caller's contract, `at < values.len()`. For a value for all, both steps are 0, and so is `at`.
        unsafe { *values.get_unchecked(at) }
    }
}

/// The params of a map as its kernel takes them.
#[derive(Clone, Copy)]
pub(crate) struct BoundParams<'a, P: Params> {
    pub(crate) lookups: P::Lookups<'a>,
    /// The address of the first element of data.
    data: usize,
    /// Whether elements of a row have their own values.
    by_element: bool,
}

impl<'a, P: Params> BoundParams<'a, P> {
    #[inline(always)]
    pub(crate) fn new(given: P::Given<'a>, data: usize) -> Self {
        let lookups = P::lookups(given);
        BoundParams { by_element: P::by_element(&lookups), lookups, data }
    }

    /// The values for an element.
    ///
    /// # Safety
    /// K8: every parameter has a value for `place`.
    #[inline(always)]
    pub(super) unsafe fn at(&self, place: Place) -> P {
        // SAFETY: by the caller's contract, which `P::at` shares.
        unsafe { P::at(&self.lookups, place) }
    }

    pub(crate) fn erased(&self) -> ErasedParams<'_> {
        let BoundParams { data, by_element, .. } = *self;
        let given = (&raw const *self).cast();
        ErasedParams { given, data, by_element, locates: false, ahead: if P::COUNT == 0 { None } else { Some(self) } }
    }
}

impl<P: Params> PrefetchGiven for BoundParams<'_, P> {
    fn prefetch(&self, row: usize, element: usize, elements: usize) {
        P::prefetch(&self.lookups, row, element, elements);
    }

    fn ranges(&self, row: usize, element: usize, elements: usize, each: &mut dyn FnMut(usize, usize)) {
        P::ranges(&self.lookups, (row, element, elements), each);
    }
}

pub(crate) const MAX_PARAMS: usize = gather_macros::limit!(max_params);

mod sealed {
    pub trait Sealed {}
}

/// The types of a map's parameters: a tuple of up to four `Copy + Send + Sync + 'static` types. Sealed.
pub trait Params: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The argument of a call: one [`Given`](crate::Given) for each parameter, in a tuple.
    type Given<'a>: Copy;

    #[doc(hidden)]
    const COUNT: usize;

    #[doc(hidden)]
    type Lookups<'a>: Copy + Sync;

    #[doc(hidden)]
    fn lookups(given: Self::Given<'_>) -> Self::Lookups<'_>;

    /// Whether each parameter has one value for all.
    #[doc(hidden)]
    fn are_for_all(lookups: &Self::Lookups<'_>) -> bool;

    /// The first parameter whose number of values does not fit, among parameters without one value for all.
    #[doc(hidden)]
    fn misfit(lookups: &Self::Lookups<'_>, fits: &dyn Fn(Count) -> bool) -> Option<(usize, Count)>;

    /// The values for an element.
    ///
    /// # Safety
    /// K8: every parameter has a value for `place`.
    #[doc(hidden)]
    unsafe fn at(lookups: &Self::Lookups<'_>, place: Place) -> Self;

    /// Whether elements have their own values.
    #[doc(hidden)]
    fn by_element(lookups: &Self::Lookups<'_>) -> bool;

    #[doc(hidden)]
    fn prefetch(lookups: &Self::Lookups<'_>, row: usize, element: usize, elements: usize);

    #[doc(hidden)]
    fn ranges(lookups: &Self::Lookups<'_>, of: (usize, usize, usize), each: &mut dyn FnMut(usize, usize));
}

macro_rules! params {
    ($($ty:ident $field:tt),*) => {
        impl<$($ty: Copy + Send + Sync + 'static),*> sealed::Sealed for ($($ty,)*) {}

        #[allow(unused_variables, unused_mut, clippy::unused_unit)]
        impl<$($ty: Copy + Send + Sync + 'static),*> Params for ($($ty,)*) {
            const COUNT: usize = {
                let fields: &[usize] = &[$($field),*];
                fields.len()
            };

            type Given<'a> = ($(Given<'a, $ty>,)*);
            type Lookups<'a> = ($(Lookup<'a, $ty>,)*);

            #[inline(always)]
            fn lookups(given: Self::Given<'_>) -> Self::Lookups<'_> {
                ($(Lookup::new(given.$field),)*)
            }

            #[inline(always)]
            fn are_for_all(lookups: &Self::Lookups<'_>) -> bool {
                true $(&& lookups.$field.all.is_some())*
            }

            fn misfit(lookups: &Self::Lookups<'_>, fits: &dyn Fn(Count) -> bool) -> Option<(usize, Count)> {
                $(if let Some(count) = lookups.$field.count().filter(|&count| !fits(count)) {
                    return Some(($field, count));
                })*
                None
            }

            #[inline(always)]
            fn by_element(lookups: &Self::Lookups<'_>) -> bool {
                false $(|| lookups.$field.element_step > 0)*
            }

            #[inline(always)]
            fn prefetch(lookups: &Self::Lookups<'_>, row: usize, element: usize, elements: usize) {
                $(lookups.$field.prefetch(row, element, elements);)*
            }

            fn ranges(lookups: &Self::Lookups<'_>, of: (usize, usize, usize), each: &mut dyn FnMut(usize, usize)) {
                $(lookups.$field.ranges(of, each);)*
            }

            #[inline(always)]
            unsafe fn at(lookups: &Self::Lookups<'_>, place: Place) -> Self {
                // SAFETY: by the caller's contract, each lookup has a value for `place`.
                ($(unsafe { lookups.$field.at(place) },)*)
            }

        }
    };
}

/// Calls a macro for each number of parameters, with their types and tuple fields.
macro_rules! for_tuples {
    ($params:ident) => {
        $params!();
        $params!(A 0);
        $params!(A 0, B 1);
        $params!(A 0, B 1, C 2);
        $params!(A 0, B 1, C 2, D 3);
        const _: () = assert!(MAX_PARAMS == 4, "there are tuples of other lengths");
    };
}
pub(super) use for_tuples;
for_tuples!(params);

/// A map, as [`map_kernels!`](crate::map_kernels!) emits it for a closure.
#[doc(hidden)]
pub trait Convert: 'static {
    type In: Element;
    type Out: Element;
    type Params: Params;
    const NAME: &'static str;
    const PARAMS: &'static [&'static str];
    /// Whether the function is [`maps::convert`](crate::maps::convert), whose results vectors compute exactly.
    const CONVERTS: bool = false;

    fn convert(value: Self::In, params: Self::Params) -> Self::Out;
}

/// The map `C`, applied element by element.
struct EachElement<C>(PhantomData<C>);

impl<C: Convert> Decode for EachElement<C> {
    type In = C::In;
    type Out = C::Out;
    type Given<'a> = BoundParams<'a, C::Params>;

    #[inline(always)]
    unsafe fn decode(
        level: impl Token,
        from: &[C::In],
        to: &mut [MaybeUninit<C::Out>],
        given: &BoundParams<'_, C::Params>,
        place: Place,
    ) {
        debug_assert_eq!(from.len(), to.len());
        if const { C::Params::COUNT > 0 } && given.by_element {
            for (i, (to, &value)) in to.iter_mut().zip(from).enumerate() {
                // SAFETY: by the caller's contract, there are values for element `place.element + i`: `i < from.len()`.
                let params = unsafe { given.at(Place { element: place.element + i, ..place }) };
                convert_one(to, || C::convert(value, params));
            }
        } else {
            // SAFETY: by the caller's contract, the row has values. No parameter has values per element.
            let params = unsafe { given.at(Place { element: 0, ..place }) };
            #[cfg(target_arch = "x86_64")]
            let (from, to) = match level.avx2() {
                Some(level) if C::CONVERTS => vectors::conversion(level, from, to),
                _ => (from, to),
            };
            #[cfg(not(target_arch = "x86_64"))]
            let _ = level;
            convert_each(from, to, |value| C::convert(value, params));
        }
    }

    #[inline(always)]
    fn held<'g, 'a: 'g>(given: &'g BoundParams<'a, C::Params>) -> impl Borrow<BoundParams<'a, C::Params>> + 'g {
        *given
    }

    #[inline(always)]
    fn erased<'g>(given: &'g BoundParams<'_, C::Params>) -> ErasedParams<'g> {
        given.erased()
    }
}

/// Elements converted at a time, in registers.
const CHUNK: usize = 16;
/// Elements converted at a time if elements and results have at most two bytes.
const LONG_CHUNK: usize = 64;
/// Elements converted at a time in rows shorter than a [`CHUNK`].
const SHORT_CHUNK: usize = 4;

#[inline(always)]
fn convert_each<T: Copy, U: Copy>(from: &[T], to: &mut [MaybeUninit<U>], convert: impl Fn(T) -> U) {
    let is_wide = const { size_of::<T>() > WIDE_ELEMENT || size_of::<U>() > WIDE_ELEMENT };
    let is_narrow = const { size_of::<T>() <= 2 && size_of::<U>() <= 2 };
    match from.len() {
        LONG_CHUNK.. if is_narrow => convert_chunks::<LONG_CHUNK, T, U>(from, to, convert),
        CHUNK.. if !is_wide => convert_chunks::<CHUNK, T, U>(from, to, convert),
        SHORT_CHUNK.. if !is_wide => convert_chunks::<SHORT_CHUNK, T, U>(from, to, convert),
        _ => to.iter_mut().zip(from).for_each(|(to, &value)| convert_one(to, || convert(value))),
    }
}

/// Converts `N` or more elements, `N` at a time; the last `N` may overlap the previous chunk. Each chunk is made in an
/// array and stored when complete: the compiler does not know that two slices do not overlap.
#[inline(always)]
fn convert_chunks<const N: usize, T: Copy, U: Copy>(from: &[T], to: &mut [MaybeUninit<U>], convert: impl Fn(T) -> U) {
    let (mut at, last) = (0, from.len() - N);
    while let (Some(chunk), Some(to)) = (from[at..].first_chunk::<N>(), to[at..].first_chunk_mut::<N>()) {
        let mut made = [const { MaybeUninit::uninit() }; N];
        for (made, &value) in made.iter_mut().zip(chunk) {
            made.write(convert(value));
        }
        *to = made;
        if at == last {
            break;
        }
        at = (at + N).min(last);
    }
}

#[inline(always)]
fn convert_one<U>(to: &mut MaybeUninit<U>, convert: impl FnOnce() -> U) {
    if size_of::<U>() > WIDE_ELEMENT {
        // Makes the compiler vectorise inside an element. Otherwise it unrolls the element, and combines equal parts of
        // several elements byte by byte (bench `tables`).
        core::hint::black_box(());
    }
    to.write(convert());
}

/// Bytes above which an element, or a result, fills vectors by itself.
const WIDE_ELEMENT: usize = 32;

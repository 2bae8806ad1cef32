//! The params of row functions, and how a row finds its values.

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::Range;

use crate::kernels::convert::given::Given;
use crate::kernels::convert::map::{MAX_PARAMS, for_tuples};
use crate::kernels::convert::row::MOST_AHEAD;
use crate::kernels::prefetch::prefetch;
use crate::types::policy::Per;

/// The type of a parameter that is a slice as long as the row: `query: &[f32]`.
pub struct Slice<V>(PhantomData<V>);

/// The type of a parameter that is a slice of any length: `#[any_len] weights: &[f32]`. Values of [`Given::PerRow`] are
/// shared evenly among rows. So are values of [`Given::PerIndex`], if the result has at most one dimension before a
/// row. With more dimensions the length is ambiguous, and [`Given::PerIndexOf`] states it.
pub struct AnySlice<V>(PhantomData<V>);

/// The type of a parameter that is a slice as long as the row, or an empty slice for the whole call:
/// `#[optional] bias: &[f32]`.
pub struct OptionalSlice<V>(PhantomData<V>);

/// The shapes that given values are compared with.
pub struct RowShapes<'s> {
    pub(crate) row: usize,
    /// Rows along the axis.
    pub(crate) dim: usize,
    /// The dimensions of the result before a row.
    pub(crate) lead: &'s [usize],
}

/// Why the values given for a parameter do not fit.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Misfit {
    /// A length other than the expected one.
    Length { per: Per, len: usize, expected: usize },
    /// Values per index that fit several slice lengths, without a stated length.
    Unstated { len: usize },
    /// No row function takes values per unit `per`.
    Unavailable { per: Per },
}

/// The values of a parameter, and which of them a row takes.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Lookup<'a, V> {
    values: &'a [V],
    len: usize,
    /// Whether rows of data have their own values.
    by_row: bool,
    /// The number of indices after which values repeat; 0 if values do not depend on the index.
    period: usize,
}

impl<'a, V> Lookup<'a, V> {
    /// The lookup of a parameter that takes `len` values, or any number. `call` makes the lookup of [`Given::All`].
    fn of<A>(
        given: &'a Given<'_, A, V>,
        len: Option<usize>,
        shapes: &RowShapes<'_>,
        call: impl FnOnce(&'a A) -> Result<Self, Misfit>,
    ) -> Result<Self, Misfit> {
        match given {
            Given::All(all) => call(all),
            Given::PerRow(values) => Lookup::rows(values, len, shapes),
            Given::PerIndex(values) => Lookup::indices(values, len, shapes),
            Given::PerIndexOf { len: stated, values } => Lookup::stated((values, *stated), len, shapes),
            Given::PerElement(_) => Err(Misfit::Unavailable { per: Per::Element }),
        }
    }

    /// The same values for every row.
    fn call(values: &'a [V], len: Option<usize>) -> Result<Self, Misfit> {
        match len {
            Some(expected) if expected != values.len() => {
                Err(Misfit::Length { per: Per::Call, len: values.len(), expected })
            }
            _ => Ok(Lookup { values, len: values.len(), by_row: false, period: 0 }),
        }
    }

    /// `len` values, or any number, for each row of data.
    fn rows(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, Misfit> {
        let given = values.len();
        let len = len.unwrap_or_else(|| share(given, shapes.dim));
        let expected = len.saturating_mul(shapes.dim);
        if given != expected {
            return Err(Misfit::Length { per: Per::Row, len: given, expected });
        }
        Ok(Lookup { values, len, by_row: true, period: 0 })
    }

    /// `len` values for each index; or any number, with at most one dimension before a row.
    fn indices(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, Misfit> {
        let (given, all) = (values.len(), shapes.lead.iter().fold(1, |all: usize, &dim| all.saturating_mul(dim)));
        let len = match len {
            Some(len) => len,
            None if shapes.lead.len() <= 1 => share(given, all),
            None => return Err(Misfit::Unstated { len: given }),
        };
        // The values are for all indices, or for the last dimensions: a period is the product of the last ones.
        let mut period = 1usize;
        let mut periods = shapes.lead.iter().rev().map(|&dim| {
            period = period.saturating_mul(dim);
            period
        });
        match core::iter::once(all).chain(periods.by_ref()).find(|&period| period.saturating_mul(len) == given) {
            Some(period) => Ok(Lookup { values, len, by_row: false, period: period.max(1) }),
            None => Err(Misfit::Length { per: Per::Index, len: given, expected: all.saturating_mul(len) }),
        }
    }

    /// `stated` values for each index; the parameter takes `len`, or any number.
    fn stated((values, stated): (&'a [V], usize), len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, Misfit> {
        match len {
            Some(len) if len != stated => Err(Misfit::Length { per: Per::Slice, len: stated, expected: len }),
            _ => Self::indices(values, Some(stated), shapes),
        }
    }

    fn range(&self, place: Place) -> Range<usize> {
        let at = match (self.by_row, self.period) {
            (true, _) => place.row,
            (false, 0) => 0,
            // No division if all indices have their own values.
            (false, period) if place.index < period => place.index,
            (false, period) => place.index % period,
        };
        at * self.len..(at + 1) * self.len
    }

    /// The same lookup with a constant `by_row` and `period`; `None` if rows or indices have their own values.
    #[inline(always)]
    fn for_all(&self) -> Option<Self> {
        let Lookup { values, len, by_row, period } = *self;
        (!by_row && period == 0).then_some(Lookup { values, len, by_row: false, period: 0 })
    }

    #[inline(always)]
    fn at(&self, place: Place) -> &'a [V] {
        &self.values[self.range(place)]
    }

    /// Prefetches the values of a row of data, if rows have their own.
    #[inline(always)]
    fn prefetch(&self, row: usize) {
        if self.by_row {
            let from = self.values.as_ptr().wrapping_add(row.wrapping_mul(self.len));
            prefetch(from.cast(), self.len.saturating_mul(size_of::<V>()).min(MOST_AHEAD));
        }
    }
}

/// The number of values for each of `count`: `given / count`, at least 1 if any are given.
fn share(given: usize, count: usize) -> usize {
    given.checked_div(count).unwrap_or(0).max(usize::from(given > 0))
}

/// A row, by its position and its index.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The position along the axis.
    pub(super) row: usize,
    /// The number of the row's index among the indices of the result.
    pub(super) index: usize,
}

mod sealed {
    pub trait Sealed {}
    pub trait Params {}
}

/// The type of a parameter of a row function. Sealed: values that are `Copy + Send + Sync + 'static`,
/// [`rows::Slice`](crate::rows::Slice), [`rows::AnySlice`](crate::rows::AnySlice) and
/// [`rows::OptionalSlice`](crate::rows::OptionalSlice).
pub trait RowParam: sealed::Sealed + 'static {
    /// The argument of a call: a [`Given`](crate::Given).
    type Given<'a>: Copy;
    /// The argument of the function: a value or a slice.
    #[doc(hidden)]
    type Arg<'a>: Copy;
    #[doc(hidden)]
    type Value: Copy + Send + Sync + 'static;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn lookup<'a>(given: &'a Self::Given<'_>, shapes: &RowShapes<'_>) -> Result<Lookup<'a, Self::Value>, Misfit>;

    #[doc(hidden)]
    fn arg<'a>(lookup: &Lookup<'a, Self::Value>, place: Place) -> Self::Arg<'a>;

    /// The lookup for rows of `len` elements.
    #[doc(hidden)]
    #[inline(always)]
    #[allow(private_interfaces)]
    fn of_len<'a>(lookup: &Lookup<'a, Self::Value>, _len: usize) -> Lookup<'a, Self::Value> {
        *lookup
    }
}

impl<V: Copy + Send + Sync + 'static> sealed::Sealed for V {}

impl<V: Copy + Send + Sync + 'static> RowParam for V {
    type Given<'a> = Given<'a, V>;
    type Arg<'a> = V;
    type Value = V;

    #[allow(private_interfaces)]
    fn lookup<'a>(given: &'a Given<'_, V>, shapes: &RowShapes<'_>) -> Result<Lookup<'a, V>, Misfit> {
        Lookup::of(given, Some(1), shapes, |value| Lookup::call(core::slice::from_ref(value), None))
    }

    #[inline(always)]
    fn arg<'a>(lookup: &Lookup<'a, V>, place: Place) -> V {
        lookup.values[lookup.range(place).start]
    }
}

/// The kinds of slices: whether a slice may be empty, whether it is always as long as the row, and its required length.
macro_rules! slices {
    ($($name:ident, $optional:literal, $as_row:literal: $len:expr;)*) => {$(
        impl<V> sealed::Sealed for $name<V> {}

        impl<V: Copy + Send + Sync + 'static> RowParam for $name<V> {
            type Given<'a> = Given<'a, &'a [V], V>;
            type Arg<'a> = &'a [V];
            type Value = V;

            #[allow(private_interfaces)]
            fn lookup<'a>(
                given: &'a Given<'_, &[V], V>,
                shapes: &RowShapes<'_>,
            ) -> Result<Lookup<'a, V>, Misfit> {
                let len: fn(&RowShapes<'_>) -> Option<usize> = $len;
                let len = len(shapes);
                Lookup::of(given, len, shapes, |all| {
                    Lookup::call(all, len.filter(|_| !($optional && all.is_empty())))
                })
            }

            #[inline(always)]
            fn arg<'a>(lookup: &Lookup<'a, V>, place: Place) -> &'a [V] {
                lookup.at(place)
            }

            /// A slice as long as the row gets the length `len`, a constant to the compiler.
            #[inline(always)]
            #[allow(private_interfaces)]
            fn of_len<'a>(lookup: &Lookup<'a, V>, len: usize) -> Lookup<'a, V> {
                match $as_row {
                    true if lookup.for_all().is_some() => Lookup { values: &lookup.values[..len], len, ..*lookup },
                    true => Lookup { len, ..*lookup },
                    false => *lookup,
                }
            }
        }
    )*};
}
slices! {
    Slice, false, true: |shapes| Some(shapes.row);
    AnySlice, false, false: |_| None;
    OptionalSlice, true, false: |shapes| Some(shapes.row);
}

/// The types of a row function's parameters: a tuple of up to four [`RowParam`]s. Sealed.
///
/// A call gives a tuple with a [`Given`](crate::Given) for each: for `(Slice<f32>, f32)`, a
/// `(Given<'_, &[f32], f32>, Given<'_, f32>)` such as `(Given::All(&query[..]), Given::PerRow(&lengths))`.
pub trait RowParams: sealed::Params + 'static {
    /// The argument of a call: one [`Given`](crate::Given) for each parameter, in a tuple.
    type Given<'a>: Copy;
    /// The arguments of the function.
    #[doc(hidden)]
    type Args<'a>: Copy;
    #[doc(hidden)]
    type Lookups<'a>: Copy + Sync;
    #[doc(hidden)]
    const COUNT: usize;

    /// Compares given values with the shapes; an error has the number of the parameter.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn lookups<'a>(given: &'a Self::Given<'_>, shapes: &RowShapes<'_>) -> Result<Self::Lookups<'a>, (usize, Misfit)>;

    /// Whether indices have their own values.
    #[doc(hidden)]
    fn by_index(lookups: &Self::Lookups<'_>) -> bool;

    /// Lookups that give all rows the same values; `None` if rows have their own.
    #[doc(hidden)]
    fn for_all<'a>(lookups: &Self::Lookups<'a>) -> Option<Self::Lookups<'a>>;

    /// The lookups for rows of `len` elements.
    #[doc(hidden)]
    fn of_len<'a>(lookups: &Self::Lookups<'a>, len: usize) -> Self::Lookups<'a>;

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
            ) -> Result<Self::Lookups<'a>, (usize, Misfit)> {
                Ok(($($ty::lookup(&given.$field, shapes).map_err(|wrong| ($field, wrong))?,)*))
            }

            fn by_index(lookups: &Self::Lookups<'_>) -> bool {
                false $(|| lookups.$field.period > 0)*
            }

            #[inline(always)]
            fn for_all<'a>(lookups: &Self::Lookups<'a>) -> Option<Self::Lookups<'a>> {
                Some(($(lookups.$field.for_all()?,)*))
            }

            #[inline(always)]
            fn of_len<'a>(lookups: &Self::Lookups<'a>, len: usize) -> Self::Lookups<'a> {
                ($($ty::of_len(&lookups.$field, len),)*)
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
for_tuples!(params);

/// The params of a row function, as its kernel takes them.
pub(crate) struct BoundRowParams<'a, P: RowParams> {
    pub(crate) lookups: P::Lookups<'a>,
    pub(crate) placed: Placed,
    /// Elements of a row that the function reads: of data, or decoded.
    pub(crate) elements: usize,
}

/// The layout of the rows of the output, which gives the index of a row.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    /// The address of the first row of the output. Read if `by_index`.
    pub(crate) out: usize,
    /// Bytes from a row of the output to the next. Read if `by_index`.
    pub(crate) out_step: isize,
    pub(crate) by_index: bool,
}

impl<P: RowParams> Clone for BoundRowParams<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: RowParams> Copy for BoundRowParams<'_, P> {}

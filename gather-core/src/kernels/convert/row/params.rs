//! The parameters of row functions: what a call gives for them, and how a row finds its own.

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::Range;

use crate::kernels::convert::map::{MAX_PARAMS, for_tuples};
use crate::kernels::convert::row::MOST_AHEAD;
use crate::kernels::moves::prefetch::prefetch;
use crate::types::policy::Per;

/// The argument for a parameter of a [`RowFunction`](crate::RowFunction) that is a value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RowValue<'a, V> {
    /// One value for every row.
    Value(V),
    /// One value for each row of the result, in row-major order, which is one for each index where no dimension of data
    /// stands before the axis; or one for each coordinate of the last dimensions before a row, which the others repeat.
    PerIndex(&'a [V]),
    /// One value for each row of data, by its position along the axis.
    PerRow(&'a [V]),
}

/// The argument for a parameter of a [`RowFunction`](crate::RowFunction) that is a slice.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RowSlice<'a, V> {
    /// One slice for every row.
    Slice(&'a [V]),
    /// A slice for each row of the result, in row-major order; or for each coordinate of the last dimensions before a
    /// row, which the others repeat: embeddings of 512 positions serve any number of sequences of 512 tokens. For a
    /// parameter of any length only where the result has at most one dimension before a row.
    PerIndex(&'a [V]),
    /// As [`RowSlice::PerIndex`], in slices of a stated length. How many slices there are says whether they are for all
    /// indices or for those of the last dimensions. A parameter that is as long as the row takes the length of a row.
    PerIndexOf {
        /// The length of a slice.
        len: usize,
        /// The slices, one after the other.
        values: &'a [V],
    },
    /// A slice for each row of data, by its position along the axis.
    PerRow(&'a [V]),
}

/// The type of a parameter that is a slice as long as the row: `query: &[f32]`.
pub struct Slice<V>(PhantomData<V>);

/// The type of a parameter that is a slice of any length: `#[any_len] weights: &[f32]`. What is given per row of data is
/// shared evenly among all rows. What is given per index states the length of a slice, by [`RowSlice::PerIndexOf`]:
/// the same values could be shorter slices for all indices, or longer ones for those of the last dimensions. Where the
/// result has at most one dimension before a row, [`RowSlice::PerIndex`] is shared evenly too.
pub struct AnySlice<V>(PhantomData<V>);

/// The type of a parameter that is a slice as long as the row, or an empty slice for the whole call:
/// `#[optional] bias: &[f32]`.
pub struct OptionalSlice<V>(PhantomData<V>);

/// The shapes that what is given is compared with.
pub struct RowShapes<'s> {
    /// Elements of a row of data.
    pub(crate) row: usize,
    /// Rows along the axis.
    pub(crate) dim: usize,
    /// The dimensions of the result, without that of a row.
    pub(crate) lead: &'s [usize],
}

/// A length that was given, and the one that would have fitted: `None` where several could, and none was stated.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct WrongLength {
    pub(crate) per: Per,
    pub(crate) len: usize,
    pub(crate) expected: Option<usize>,
}

/// How the values of a parameter are found.
#[doc(hidden)]
#[derive(Clone, Copy)]
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
                Err(WrongLength { per: Per::Call, len: values.len(), expected: Some(expected) })
            }
            _ => Ok(Lookup { values, len: values.len(), by_row: false, period: 0 }),
        }
    }

    /// `len` values for each row of data, or any number.
    fn rows(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, WrongLength> {
        let given = values.len();
        let len = len.unwrap_or_else(|| share(given, shapes.dim));
        let expected = len.saturating_mul(shapes.dim);
        if given != expected {
            return Err(WrongLength { per: Per::Row, len: given, expected: Some(expected) });
        }
        Ok(Lookup { values, len, by_row: true, period: 0 })
    }

    /// `len` values for each index, or any number where nothing but all indices can be meant.
    fn indices(values: &'a [V], len: Option<usize>, shapes: &RowShapes<'_>) -> Result<Self, WrongLength> {
        let (given, all) = (values.len(), shapes.lead.iter().fold(1, |all: usize, &dim| all.saturating_mul(dim)));
        let len = match len {
            Some(len) => len,
            None if shapes.lead.len() <= 1 => share(given, all),
            None => return Err(WrongLength { per: Per::Index, len: given, expected: None }),
        };
        // The values of all indices, or of those of the last dimensions.
        let mut period = 1usize;
        let mut periods = shapes.lead.iter().rev().map(|&dim| {
            period = period.saturating_mul(dim);
            period
        });
        match core::iter::once(all).chain(periods.by_ref()).find(|&period| period.saturating_mul(len) == given) {
            Some(period) => Ok(Lookup { values, len, by_row: false, period: period.max(1) }),
            None => Err(WrongLength { per: Per::Index, len: given, expected: Some(all.saturating_mul(len)) }),
        }
    }

    /// `stated` values for each index, of which a parameter takes `len`, or any number.
    fn stated(
        (values, stated): (&'a [V], usize),
        len: Option<usize>,
        shapes: &RowShapes<'_>,
    ) -> Result<Self, WrongLength> {
        match len {
            Some(len) if len != stated => Err(WrongLength { per: Per::Slice, len: stated, expected: Some(len) }),
            _ => Self::indices(values, Some(stated), shapes),
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
            prefetch(from.cast(), self.len.saturating_mul(size_of::<V>()).min(MOST_AHEAD));
        }
    }
}

/// How many of the values that are given each of `count` has: one or more, where any are given.
fn share(given: usize, count: usize) -> usize {
    given.checked_div(count).unwrap_or(0).max(usize::from(given > 0))
}

/// The row that a call is about.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its position along the axis.
    pub(super) row: usize,
    /// The position of its index among those of the result.
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
    /// The argument of a call: a [`RowValue`] or a [`RowSlice`].
    type Given<'a>: Copy;
    /// The argument of the function: a value or a slice.
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
                    RowSlice::PerIndexOf { len: stated, values } => Lookup::stated((values, *stated), len(shapes), shapes),
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
    /// The argument of a call: one [`RowValue`] or [`RowSlice`] for each parameter, in a tuple.
    type Given<'a>: Copy;
    /// The arguments of the function.
    #[doc(hidden)]
    type Args<'a>;
    #[doc(hidden)]
    type Lookups<'a>: Copy + Sync;
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
for_tuples!(params);

/// The parameters of a row function, as its kernel takes them.
pub(crate) struct GivenRows<'a, P: RowParams> {
    pub(crate) lookups: P::Lookups<'a>,
    pub(crate) placed: Placed,
}

/// Where the rows of the output are, by which a row finds the values of its index.
#[derive(Clone, Copy)]
pub struct Placed {
    /// The address of the first row of the output, and bytes from one to the next. Read where indices have values of
    /// their own.
    pub(crate) out: usize,
    pub(crate) out_step: isize,
    pub(crate) by_index: bool,
}

impl<P: RowParams> Clone for GivenRows<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: RowParams> Copy for GivenRows<'_, P> {}

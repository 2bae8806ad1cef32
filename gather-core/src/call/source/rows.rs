//! Sources with a row function, which makes a value or another row of each row.

#![forbid(unsafe_code)]

use crate::call::source::Sealed;
use crate::call::source::blocks::{BlocksSpec, BlocksView};
use crate::call::source::fused::FusedView;
use crate::call::source::map::{MappedSpec, MappedView};
use crate::call::source::spec::Spec;
use crate::kernels::convert::map::Params;
use crate::kernels::convert::row::{BoundRowParams, Misfit, Placed, RowFunction, RowParams, RowShapes};
use crate::tensor::view::View;
use crate::types::codes::Float;
use crate::types::element::Element;
use crate::types::error::Error;

/// A function of the place of the output's rows, which returns the address of the row function's arguments (K8).
pub(in crate::call) type PlaceRows<'a> = dyn FnMut(Placed) -> *const () + 'a;

/// The arguments of a row function's parameters in a call, without their types.
pub(in crate::call) trait RowArgs {
    /// Compares argument lengths with shapes. Calls `run(by_index, place)`: `by_index` if a parameter is per index.
    ///
    /// # Errors
    /// The number of the first parameter whose argument does not fit. The inner result has the errors of `run`.
    fn with(
        &self,
        shapes: &RowShapes<'_>,
        run: &mut dyn FnMut(bool, &mut PlaceRows<'_>) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, (usize, Misfit)>;
}

/// A tuple with a [`Given`](crate::Given) for each parameter.
#[derive(Clone, Copy)]
pub(in crate::call) struct RowsParams<'p, P: RowParams>(pub(in crate::call) P::Given<'p>);

impl<P: RowParams> RowArgs for RowsParams<'_, P> {
    fn with(
        &self,
        shapes: &RowShapes<'_>,
        run: &mut dyn FnMut(bool, &mut PlaceRows<'_>) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, (usize, Misfit)> {
        let lookups = P::lookups(&self.0, shapes)?;
        let by_index = P::by_index(&lookups);
        let placed = Placed { out: 0, out_step: 1, by_index };
        let mut rows = BoundRowParams::<P> { lookups, placed, elements: shapes.row };
        Ok(run(by_index, &mut |placed| {
            rows.placed = placed;
            (&raw const rows).cast()
        }))
    }
}

/// A [`RowFunction`] of rows of `T`: the result of [`row_kernels!`](crate::row_kernels!), or of a function of
/// [`rows`](mod@crate::rows). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no row function of rows of `{T}`",
    label = "not a `RowFunction`",
    note = "of a closure `row_kernels!` makes a row function, compiled for every level: `row_kernels! {{ static SUM = |row: \
            &[{T}]| -> f32 {{ .. }}; }}`, given as `&SUM`",
    note = "a `Map` converts elements, by `map`; a row function computes whole rows, by `rows`"
)]
pub trait RowFunctionOf<T>: Sealed {
    /// The elements that the function makes.
    type Out: Element;

    /// The types of its parameters.
    type Params: RowParams;

    #[doc(hidden)]
    fn function(&self) -> RowFunction<T, Self::Out, Self::Params>;
}

impl<T, U, P> Sealed for RowFunction<T, U, P> {}

impl<T, U: Element, P: RowParams> RowFunctionOf<T> for RowFunction<T, U, P> {
    type Out = U;
    type Params = P;

    #[inline(always)]
    fn function(&self) -> Self {
        *self
    }
}

/// A source `S` with a [`RowFunction`] of numbers `T`, which makes a value or another row of each row: the result of
/// [`View::rows`], [`MappedView::rows`], [`FusedView::rows`] and [`BlocksView::rows`].
pub struct RowsView<'p, S, T, U, P: RowParams> {
    pub(super) data: S,
    pub(super) function: RowFunction<T, U, P>,
    pub(super) params: RowsParams<'p, P>,
}

/// A [`Spec`] `D` with a [`RowFunction`] of numbers `T`: the result of [`Spec::rows`], [`MappedSpec::rows`] and
/// [`BlocksSpec::rows`].
pub struct RowsSpec<D, T, U, P> {
    pub(super) data: D,
    pub(super) function: RowFunction<T, U, P>,
}

impl<'p, S, T: Element, U, P: RowParams> RowsView<'p, S, T, U, P> {
    pub(super) fn new<F>(data: S, function: &F, params: P::Given<'p>) -> Self
    where
        F: RowFunctionOf<T, Out = U, Params = P>,
    {
        RowsView { data, function: function.function(), params: RowsParams(params) }
    }
}

impl<T: Element> View<'_, T> {
    /// Computes a [`RowFunction`] of each row that [`Gather`](crate::Gather) names: each index yields one value, or
    /// one row of another length. Rows are read in place, and no gathered rows are written.
    ///
    /// A row is all dimensions of data after the axis, and its elements are contiguous. The shape of the result is
    /// `data.shape[..axis] + indices.shape[batch_dims..]`. If the function makes rows, their length follows as the
    /// last dimension: the length that [`RowFunction::with_len`] declares, else the length of a row of data.
    ///
    /// `params` is a tuple with a [`Given`](crate::Given) for each parameter of the function. Negative indices and
    /// indices out of range are as without the function; [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes zeros,
    /// or the value of [`RowFunction::with_fill`]. A row of results holds zeros when the function is called. The
    /// function may be called for rows whose results are not kept.
    ///
    /// Cost: one pass over the indices, one over the rows that they name. Rows of data beyond the caches are
    /// prefetched, if a loop has more than a few rows. The function is compiled for the level. A plan runs any
    /// function of these types and lengths; for another fill than the planned function's, a run copies the plan first.
    ///
    /// # Errors
    /// The errors of the call, with [`Error::MethodUnavailable`] for any method but [`Direct`](crate::Method::Direct),
    /// [`Blocks`](crate::Method::Blocks) and, for rows of results from a cache line to 4 KiB,
    /// [`Streamed`](crate::Method::Streamed). After errors of shapes, methods and outputs,
    /// [`Error::RowsNotContiguous`], [`Error::RowParameterLengthMismatch`], [`Error::RowParameterLengthUnstated`] and
    /// [`Error::ParameterUnavailable`].
    ///
    /// # Panics
    /// If the function panics in a call. Rows of a view then hold results, zeros or old contents; a tensor is empty, or
    /// as before under [`Append`](crate::Append).
    ///
    /// # Examples
    /// The scores of two rows of a table for a query:
    /// ```
    /// use gather_core::{Gather, Given, View, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = View::new(&[1.0f32, 0.0, 0.5, 0.5, 0.0, 2.0], &[3, 2])?;
    ///     let scores = table.rows(&rows::dot(), (Given::All(&[3.0, 4.0]),));
    ///     let scores = Gather::new(0).run(&scores, &[2u32, 0])?;
    ///     assert_eq!((scores.shape(), scores.as_slice()), (&[2][..], &[8.0, 3.0][..]));
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn rows<'a, 'p, F: RowFunctionOf<T>>(
        &'a self,
        function: &F,
        params: <F::Params as RowParams>::Given<'p>,
    ) -> RowsView<'p, &'a Self, T, F::Out, F::Params> {
        RowsView::new(self, function, params)
    }
}

/// Implements `rows` for a decoded source and its spec.
macro_rules! chains {
    ($(
        [$($generics:tt)*] $Source:ty, $Number:ty, ($([$($of_spec:tt)*] $Spec:ty as $name:literal)?)
        $(#[$doc:meta])*
    )*) => {$(
        impl<$($generics)*> $Source {
            $(#[$doc])*
            #[must_use]
            pub fn rows<'r, F: RowFunctionOf<$Number>>(
                self,
                function: &F,
                params: <F::Params as RowParams>::Given<'r>,
            ) -> RowsView<'r, Self, $Number, F::Out, F::Params> {
                RowsView::new(self, function, params)
            }
        }

        $(impl<$($of_spec)*> $Spec {
            #[doc = concat!("As [`", $name, "::rows`], without parameters: to plan ahead.")]
            #[must_use]
            pub fn rows<F: RowFunctionOf<$Number>>(self, function: &F) -> RowsSpec<Self, $Number, F::Out, F::Params> {
                RowsSpec { data: self, function: function.function() }
            }
        })?
    )*};
}
chains! {
    [T: Element, U: Element, P: Params] MappedView<'_, '_, T, U, P>, U::Number,
    ([T: Element, U: Element, P: Params] MappedSpec<T, U, P> as "MappedView")
        /// Computes a [`RowFunction`] of each row of converted elements, as [`View::rows`] does of plain rows. Results
        /// equal the function on rows that a gather has converted, to the bit; no such rows are written.
        ///
        /// The function reads numbers. If the map makes arrays or blocks, the function reads the numbers of a row in
        /// order. Of a table of [`maps::Q4_K`](crate::maps::Q4_K), whose map makes `[f32; 256]`, it reads `f32`, and
        /// the length of a row is 256 times the number of blocks. A row out of range is not converted.
        ///
        /// Cost: as [`View::rows`], plus converting each row into a buffer in the first-level cache. A call allocates a
        /// buffer per thread: at most 4 KiB, or one row if that is longer.
        ///
        /// # Errors
        /// The errors of [`View::rows`], with errors of the map's parameters before errors of the function's. A plan
        /// first gives [`Error::PlanParametersMismatch`] for a map with other parameters than the planned map. Last,
        /// [`Error::AllocationFailed`] for the buffers.
        ///
        /// # Panics
        /// As for [`View::rows`], and if the map panics.
        ///
        /// # Examples
        /// Normed embeddings of a table in 8-bit blocks, plus a row for each position, in one call:
        /// ```
        /// use gather_core::maps::{self, Block, Q8_0};
        /// use gather_core::{Gather, Given, View, rows};
        ///
        /// fn main() -> Result<(), gather_core::Error> {
        ///     // Two rows of one block: a scale of 0.5 or 2, and 32 numbers.
        ///     let mut bytes = vec![3u8; 2 * size_of::<Q8_0>()];
        ///     bytes[..2].copy_from_slice(&0x3800u16.to_le_bytes());
        ///     bytes[34..36].copy_from_slice(&0x4000u16.to_le_bytes());
        ///     let table = View::new(Q8_0::from_bytes(&bytes).0, &[2, 1])?;
        ///
        ///     let (positions, gains) = ([[2.0f32; 32], [0.5; 32]], [1.0; 32]);
        ///     let params = (Given::PerIndex(positions.as_flattened()), Given::All(&gains[..]), Given::All(0.0));
        ///     let numbers = table.map(&maps::convert::<_, f32>(), ());
        ///     let normed = Gather::new(0).run(&numbers.rows(&rows::rms_norm(), params), &[1u32, 0])?;
        ///     assert_eq!((normed.shape(), normed.as_slice()), (&[2, 32][..], &[1.0; 64][..]));
        ///     Ok(())
        /// }
        /// ```
    [U: Float] FusedView<'_, U>, U, ()
        /// Computes a [`RowFunction`] of each row of decoded numbers, as [`View::rows`] does of plain rows. Results
        /// equal the function on rows that a gather has decoded, to the bit; no such rows are written. A row out of
        /// range is not decoded.
        ///
        /// Cost: as [`View::rows`], plus decoding each row into a buffer in the first-level cache. A call allocates a
        /// buffer per thread: at most 4 KiB, or one row if that is longer.
        ///
        /// # Errors
        /// The errors of [`View::rows`], with [`Error::QuantizedAxis`] for axis 1 before them. A plan runs on tables
        /// of its format and columns, as for [`FusedRows::to`](crate::FusedRows::to). After the errors of parameters,
        /// [`Error::AllocationFailed`] for the buffers.
        ///
        /// # Panics
        /// As for [`View::rows`].
        ///
        /// # Examples
        /// ```
        /// use gather_core::{FusedFormat, FusedRows, Gather, Given, View, rows};
        ///
        /// fn main() -> Result<(), gather_core::Error> {
        ///     // Scale 0.5 and bias -1 as `f16`, then codes 0, 15 and 2.
        ///     let bytes = [0x00, 0x38, 0x00, 0xbc, 0xf0, 0x02];
        ///     let table = FusedRows::new(View::new(&bytes, &[1, 6])?, FusedFormat::Fbgemm4, 3)?;
        ///     let scores = table.to::<f32>().rows(&rows::dot(), (Given::All(&[1.0, 2.0, 3.0]),));
        ///     assert_eq!(Gather::new(0).run(&scores, &[0u8, 0])?.as_slice(), [12.0, 12.0]);
        ///     Ok(())
        /// }
        /// ```
    [U: Float] BlocksView<'_, U>, U, ([U: Float] BlocksSpec<U> as "BlocksView")
        /// Computes a [`RowFunction`] of each row of decoded numbers, as [`View::rows`] does of plain rows. Results
        /// equal the function on rows that a gather has decoded, to the bit; no such rows are written. A row out of
        /// range is not decoded.
        ///
        /// Cost: as [`View::rows`], plus decoding each row into a buffer in the first-level cache. A call allocates a
        /// buffer per thread: at most 4 KiB, or one row if that is longer.
        ///
        /// # Errors
        /// The errors of [`View::rows`] and of [`View::blocks`]: block sizes before errors of attributes and shapes;
        /// after these, data, scales and zero points before the function's parameters. Last,
        /// [`Error::AllocationFailed`] for the buffers.
        ///
        /// # Panics
        /// As for [`View::rows`].
        ///
        /// # Examples
        /// The scores of two rows of 16 values, two per byte, with a scale for each row:
        /// ```
        /// use gather_core::{Codes, Gather, Given, View, rows};
        ///
        /// fn main() -> Result<(), gather_core::Error> {
        ///     let codes = [[0x98u8; 8], [0x1f; 8]];
        ///     let codes = View::new(codes.as_flattened(), &[2, 8])?;
        ///     let scales = View::new(&[0.5f32, 2.0], &[2, 1])?;
        ///     let numbers = codes.blocks(Codes::Bits4, 16, &scales);
        ///     let scores = Gather::new(0).run(&numbers.rows(&rows::dot(), (Given::All(&[1.0; 16]),)), &[1, 0])?;
        ///     assert_eq!(scores.as_slice(), [0.0, 4.0]);
        ///     Ok(())
        /// }
        /// ```
}

impl<T: Element> Spec<T> {
    /// As [`View::rows`], without parameters, to plan ahead.
    #[must_use]
    pub fn rows<F: RowFunctionOf<T>>(self, function: &F) -> RowsSpec<Self, T, F::Out, F::Params> {
        RowsSpec { data: self, function: function.function() }
    }
}

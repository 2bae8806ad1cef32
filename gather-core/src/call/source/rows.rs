//! Views of whose rows a row function makes values, or other rows, on their way.

#![forbid(unsafe_code)]

use crate::call::source::kind::{ByRow, Kind};
use crate::call::source::spec::Spec;
use crate::call::source::{Describe, Sealed};
use crate::kernels::convert::row::{GivenRows, Misfit, Placed, RowFunction, RowParams, RowShapes};
use crate::tensor::layout::Layout;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

mod sealed {
    /// Implemented for [`RowFunction`](super::RowFunction) alone.
    pub trait Sealed {}
}

/// The parameters of a row function, as a call gives them, without their types.
pub trait GivenToRows {
    /// Compares the lengths of what is given with shapes, and calls `run` with what a call looks values up in.
    ///
    /// # Errors
    /// The number of the first parameter that does not fit; inside, those of `run`.
    fn with(
        &self,
        shapes: &RowShapes<'_>,
        run: &mut dyn FnMut(&mut dyn RowLookups) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, (usize, Misfit)>;
}

/// The values of a row function's parameters, as a call looks them up, without their types.
pub trait RowLookups {
    /// Whether indices have values of their own.
    fn by_index(&self) -> bool;

    /// Says where the rows of the output are. Returns the address of what the function reads (K8).
    fn place(&mut self, placed: Placed) -> *const ();
}

impl<P: RowParams> RowLookups for GivenRows<'_, P> {
    fn by_index(&self) -> bool {
        self.placed.by_index
    }

    fn place(&mut self, placed: Placed) -> *const () {
        self.placed = placed;
        (&raw const *self).cast()
    }
}

/// A tuple with a [`Given`](crate::Given) for each parameter.
#[derive(Clone, Copy)]
pub(in crate::call) struct RowsParams<'p, P: RowParams>(pub(in crate::call) P::Given<'p>);

impl<P: RowParams> GivenToRows for RowsParams<'_, P> {
    fn with(
        &self,
        shapes: &RowShapes<'_>,
        run: &mut dyn FnMut(&mut dyn RowLookups) -> Result<(), Error>,
    ) -> Result<Result<(), Error>, (usize, Misfit)> {
        let lookups = P::lookups(&self.0, shapes)?;
        let placed = Placed { out: 0, out_step: 1, by_index: P::by_index(&lookups) };
        Ok(run(&mut GivenRows::<P> { lookups, placed }))
    }
}

/// A [`RowFunction`] of rows of `T`. Sealed: row functions are what [`row_kernels!`](crate::row_kernels!) makes, and
/// what the functions of [`rows`](mod@crate::rows) return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no row function of rows of `{T}`",
    label = "not a `RowFunction`",
    note = "of a closure `row_kernels!` makes a row function, compiled for every level: `row_kernels! {{ static SUM = |row: \
            &[{T}]| -> f32 {{ .. }}; }}`, given as `&SUM`",
    note = "a `Map` converts elements, by `map`; a row function computes whole rows, by `rows`"
)]
pub trait RowFunctionOf<T>: sealed::Sealed {
    /// The elements that the function makes.
    type Out: Element;

    /// The types of its parameters.
    type Params: RowParams;

    #[doc(hidden)]
    fn function(&self) -> RowFunction<T, Self::Out, Self::Params>;
}

impl<T, U, P> sealed::Sealed for RowFunction<T, U, P> {}

impl<T, U: Element, P: RowParams> RowFunctionOf<T> for RowFunction<T, U, P> {
    type Out = U;
    type Params = P;

    #[inline(always)]
    fn function(&self) -> Self {
        *self
    }
}

/// A view of whose rows a [`RowFunction`] makes values, or other rows, on their way: what [`View::rows`] returns.
pub struct RowsView<'a, 'p, T, U, P: RowParams> {
    pub(super) data: &'a View<'a, T>,
    pub(super) function: RowFunction<T, U, P>,
    pub(super) params: RowsParams<'p, P>,
}

/// A [`Spec`] with a [`RowFunction`]: what [`Spec::rows`] returns.
pub struct RowsSpec<T, U, P> {
    data: Spec<T>,
    function: RowFunction<T, U, P>,
}

impl<T: Element> View<'_, T> {
    /// The results of a [`RowFunction`] on each row that an operator gathers: one value, or one row of another length,
    /// for each index. Rows are read where they lie, and no gathered rows are written. [`Gather`](crate::Gather) names
    /// rows.
    ///
    /// A row is all dimensions of data behind the axis, and its elements are contiguous. The shape of the result is
    /// `data.shape[..axis] + indices.shape[batch_dims..]`. Where the function makes rows, their length follows as the
    /// last dimension: what [`RowFunction::with_len`] declares, or else the length of a row of data.
    ///
    /// `params` is a tuple with a [`Given`](crate::Given) for each parameter of the function. Negative indices and
    /// indices out of range are as without the function. [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes zeros,
    /// or what [`RowFunction::with_fill`] says. A row of results holds zeros when the function is called. The function
    /// may be called for rows whose results are not kept.
    ///
    /// Cost: one pass over the indices and one over the rows that they name. Rows of data beyond the caches are
    /// prefetched, where a loop has more than a few. The function is compiled for the level. A plan runs the function
    /// that it was made with as fast as a call does; by another function of these types and lengths a run copies the
    /// plan first.
    ///
    /// # Errors
    /// Those of the call, with [`Error::MethodUnavailable`] for any method but [`Direct`](crate::Method::Direct),
    /// [`Blocks`](crate::Method::Blocks) and, for results of a line to 4 KiB a row,
    /// [`Streamed`](crate::Method::Streamed). After errors of shapes, methods and outputs,
    /// [`Error::RowsNotContiguous`], [`Error::RowParameterLengthMismatch`], [`Error::RowParameterLengthUnstated`] and
    /// [`Error::ParameterUnavailable`].
    ///
    /// # Panics
    /// A call panics when the function does. A view then holds a mix of results and what it held before, and a tensor
    /// no elements.
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
    ) -> RowsView<'a, 'p, T, F::Out, F::Params> {
        RowsView { data: self, function: function.function(), params: RowsParams(params) }
    }
}

impl<T: Element> Spec<T> {
    /// As [`View::rows`], without parameters: to plan ahead.
    #[must_use]
    pub fn rows<F: RowFunctionOf<T>>(self, function: &F) -> RowsSpec<T, F::Out, F::Params> {
        RowsSpec { data: self, function: function.function() }
    }
}

impl<T, U, P> Sealed for RowsSpec<T, U, P> {}

impl<T: Element, U: Element, P: RowParams> Describe for RowsSpec<T, U, P> {
    type Kind = ByRow<T, U>;

    type Held<'s>
        = &'s Layout
    where
        Self: 's;

    fn held(&self) -> &Layout {
        &self.data.layout
    }

    fn dtype(&self) -> DType {
        U::DTYPE
    }

    fn facts(&self) -> <ByRow<T, U> as Kind>::Facts<'_> {
        self.function.erased()
    }
}

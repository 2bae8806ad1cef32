//! Views whose elements a map converts.

#![forbid(unsafe_code)]

use crate::call::source::Sealed;
use crate::call::source::reader::Format;
use crate::call::source::spec::Spec;
use crate::kernels::convert::ErasedParams;
use crate::kernels::convert::map::{BoundParams, Count, Map, Params};
use crate::tensor::view::View;
use crate::types::element::{Element, IsElement};

/// The arguments of a map's parameters in a call, without their types.
pub(in crate::call) trait MapArgs: Sync {
    /// The first parameter whose values do not fit. Parameters with one value for all are skipped.
    fn misfit(&self, fits: &dyn Fn(Count) -> bool) -> Option<(usize, Count)>;

    /// The parameters as the map's functions read them (K8), and whether each has one value for all (no prefetch).
    fn erased(&self) -> (ErasedParams<'_>, bool);
}

impl<P: Params> MapArgs for BoundParams<'_, P> {
    fn misfit(&self, fits: &dyn Fn(Count) -> bool) -> Option<(usize, Count)> {
        P::misfit(&self.lookups, fits)
    }

    fn erased(&self) -> (ErasedParams<'_>, bool) {
        let (params, are_for_all) = (BoundParams::erased(self), P::are_for_all(&self.lookups));
        (ErasedParams { ahead: params.ahead.filter(|_| !are_for_all), ..params }, are_for_all)
    }
}

/// A [`Map`] of elements `T`: the result of [`map_kernels!`](crate::map_kernels!), or of a function of
/// [`maps`](crate::maps). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no map of `{T}`",
    label = "not a `Map`",
    note = "of a closure `map_kernels!` makes a map, compiled for every level: `map_kernels! {{ static MAP = |value: {T}| -> \
            f32 {{ .. }}; }}`, given as `&MAP`",
    note = "it captures nothing: what changes from call to call is a parameter of the map, given as `(Given::All(2.0),)`"
)]
pub trait MapOf<T>: Sealed {
    /// The elements that the map makes.
    type Out: Element;

    /// The types of its parameters.
    type Params: Params;

    #[doc(hidden)]
    fn map(&self) -> Map<T, Self::Out, Self::Params>;
}

impl<T, U, P> Sealed for Map<T, U, P> {}

impl<T, U: Element, P: Params> MapOf<T> for Map<T, U, P> {
    type Out = U;
    type Params = P;

    #[inline(always)]
    fn map(&self) -> Self {
        *self
    }
}

/// A view whose elements a [`Map`] converts: the result of [`View::map`].
pub struct MappedView<'a, 'p, T, U, P: Params> {
    pub(super) data: &'a View<'a, T>,
    pub(super) map: Map<T, U, P>,
    pub(super) params: BoundParams<'p, P>,
}

impl<T, U, P: Params> Clone for MappedView<'_, '_, T, U, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, U, P: Params> Copy for MappedView<'_, '_, T, U, P> {}

/// A [`Spec`] with a [`Map`]: the result of [`Spec::map`].
pub struct MappedSpec<T, U, P> {
    pub(super) data: Spec<T>,
    pub(super) map: Map<T, U, P>,
}

impl<T: Element> View<'_, T> {
    /// Converts each element by a [`Map`] when it is read. The result has the map's output type, and equals converting
    /// the elements after the call, to the bit, in one pass over the bytes.
    ///
    /// `params` is a tuple with a [`Given`](crate::Given) for each parameter of the map: one value for the call, one
    /// for each position along the axis, or one for each element of data. Shapes, negative indices and indices out of
    /// range are as without the map; [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes the zero of the output
    /// type, unconverted. The map may be called for elements whose results are not kept.
    /// [`Given::PerRow`](crate::Given::PerRow) needs index tuples of length 1.
    ///
    /// Bags reduce converted rows: the result of an [`EmbeddingBag`](crate::EmbeddingBag) equals its result on a
    /// converted table, to the bit, and no such table is made. The map makes [`Reducible`](crate::Reducible) elements,
    /// and weights have their number type: `f32` if a map makes blocks `[f32; 32]`, whose numbers are reduced one by
    /// one. The row that [`default_index`](crate::BagOperator::default_index) names is converted too. Zeros in place of
    /// rows or bags are not converted.
    ///
    /// Cost: the cost of a call on the view. Elements that are contiguous in data and in the result are converted by
    /// one loop, compiled for the level. A plan runs with any map of these types.
    ///
    /// # Errors
    /// The errors of the call, with [`MethodUnavailable`](crate::Error::MethodUnavailable) for any method but
    /// [`Direct`](crate::Method::Direct), [`Blocks`](crate::Method::Blocks) and [`Streamed`](crate::Method::Streamed).
    /// After errors of shapes, methods and outputs,
    /// [`MapParameterLengthMismatch`](crate::Error::MapParameterLengthMismatch) and
    /// [`MapParameterPerElement`](crate::Error::MapParameterPerElement). A plan first gives
    /// [`PlanParametersMismatch`](crate::Error::PlanParametersMismatch) for a map with other parameters than the
    /// planned map.
    ///
    /// # Panics
    /// If the map panics in a call. A view then holds a mix of results and previous contents, and a tensor is empty, or
    /// as before under [`Append`](crate::Append).
    ///
    /// # Examples
    /// Two rows of a table of bytes, with a scale for each row and one zero point:
    /// ```
    /// use gather_core::{Gather, Given, View, maps};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = View::new(&[128u8, 130, 126, 255, 0, 128], &[3, 2])?;
    ///     let scales = [0.5f32, 0.25, 2.0];
    ///     let numbers = table.map(&maps::dequantize(), (Given::PerRow(&scales), Given::All(128)));
    ///     let rows = Gather::new(0).run(&numbers, &[2i64, 0])?;
    ///     assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
    ///     Ok(())
    /// }
    /// ```
    /// Sums of converted rows, by a plan that also runs with other parameters:
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Given, Reduction, View, maps};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = View::new(&[129u8, 130, 118, 138], &[2, 2])?;
    ///     let numbers = table.map(&maps::dequantize(), (Given::All(1.0), Given::All(128)));
    ///     let bags = Bags::new(&[0u32, 1, 1, 1], &[0u32, 2]);
    ///     let plan = EmbeddingBag::new(Reduction::Add).plan(&numbers, &bags)?;
    ///     assert_eq!(plan.run(&numbers, &bags)?.as_slice(), [-9.0, 12.0, -20.0, 20.0]);
    ///
    ///     let numbers = table.map(&maps::dequantize(), (Given::PerRow(&[0.5, 2.0]), Given::All(128)));
    ///     let sums = plan.run(&numbers, &Bags::planned(&[1, 1, 0, 0]))?;
    ///     assert_eq!(sums.as_slice(), [-40.0, 40.0, 1.0, 2.0]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn map<'a, 'p, M: MapOf<T>>(
        &'a self,
        map: &M,
        params: <M::Params as Params>::Given<'p>,
    ) -> MappedView<'a, 'p, T, M::Out, M::Params> {
        MappedView { data: self, map: map.map(), params: BoundParams::new(params, self.origin().addr()) }
    }
}

impl<T: Element> Spec<T> {
    /// As [`View::map`], without parameters, to plan ahead.
    #[must_use]
    pub fn map<M: MapOf<T>>(self, map: &M) -> MappedSpec<T, M::Out, M::Params> {
        MappedSpec { data: self, map: map.map() }
    }
}

/// The format of elements that a map converts, with its arguments in a call.
#[inline(always)]
pub(super) fn format<'s, T: Element, U: Element, P: Params>(
    map: Map<T, U, P>,
    args: Option<&'s BoundParams<'_, P>>,
) -> Format<'s> {
    const { IsElement::<T>::CHECK };
    const { IsElement::<U>::CHECK };
    Format::Mapped(map.erased(), args.map(|args| args as &dyn MapArgs))
}

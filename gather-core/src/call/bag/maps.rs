//! Bags of rows that a map converts, and their plans.

use core::marker::PhantomData;

use crate::call::bag::erased::{self, Made, Request, Tensors};
use crate::call::bag::planned::Planned;
use crate::call::bag::{Bags, EmbeddingBag};
use crate::call::gather::maps::check_params;
use crate::call::plan_type::plan_type;
use crate::kernels::convert::map::{GivenParams, Map, Params};
use crate::plan::BagPlan;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::reduction::Reducible;

impl EmbeddingBag {
    /// Runs the operator on rows that a [`Map`] converts first: the sums, means or extremes are those of converted
    /// rows, to the bit, and no converted table is made.
    ///
    /// The result has the map's output type, and weights are its numbers: `f32` where a map makes blocks `[f32; 32]`,
    /// whose numbers are reduced one by one. `params` is a tuple with a [`Given`](crate::Given) for each parameter of
    /// the map, as for [`Gather::run_map`](crate::IndexOperator::run_map): one value for the call, one for each row of
    /// data, or one for each element. The row that [`default_index`](Self::default_index) names is converted too.
    /// Zeros that stand for rows or for bags are those of the output type, unconverted.
    ///
    /// The map may be called for elements whose results are not kept: an index out of range is found while bags are
    /// reduced, and stands for row 0 until then.
    ///
    /// Cost: as for [`Self::run`], except for memory. Rows are converted a few at a time into a scratch of 16 KiB for
    /// each thread, or of one element where that is longer. Where a bag has more rows than are converted at a time,
    /// there is room for a row of sums as well.
    ///
    /// # Errors
    /// As for [`Self::run`], with [`Error::MapParameterLengthMismatch`] and [`Error::MapParameterPerElement`] after
    /// [`Error::TooManyBytes`].
    ///
    /// # Panics
    /// When the map does.
    ///
    /// # Examples
    /// Sums of a table that is stored in bytes, with a scale for each row and one zero point:
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Given, Reduction, View, maps};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids) = ([128u8, 130, 126, 255, 0, 128], [2i64, 0, 1, 1]);
    ///     let sums = EmbeddingBag::new(Reduction::Add).run_map(
    ///         &maps::DEQUANTIZE_U8,
    ///         &View::new(&table, &[3, 2])?,
    ///         &Bags::packed(&View::new(&ids, &[2, 2])?),
    ///         (Given::PerRow(&[0.5, 0.25, 2.0]), Given::All(128)),
    ///     )?;
    ///     assert_eq!(sums.as_slice(), [-256.0, 1.0, -1.0, 63.5]);
    ///     Ok(())
    /// }
    /// ```
    pub fn run_map<T: Element, U: Reducible, P: Params, I: Index, O: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        bags: &Bags<'_, U::Number, I, O>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_map_into(map, data, bags, params, out))
    }

    /// As [`Self::run_map`], into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again.
    ///
    /// # Errors
    /// As for [`Self::run_map`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is
    /// untouched except for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what it held before.
    ///
    /// # Panics
    /// When the map does; a view then holds a mix of results and what it held before, and a tensor no elements.
    pub fn run_map_into<T: Element, U: Reducible, P: Params, I: Index, O: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        bags: &Bags<'_, U::Number, I, O>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (request, out) = (Request::mapped::<T, U, I>(self, map.erased().convert_fns)?, out.target());
        let tensors = Tensors::of(data, bags);
        let Made { plan, bounds, out: layout } = request.plan(&tensors, out.layout())?;
        check::<P>(&plan, names(map), data.layout(), &params)?;
        let given = GivenParams::<P>::new(&params, data.origin().addr());
        let tensors = Tensors { params: given.erased(), ..tensors };
        // SAFETY: X1: the plan was made for these layouts and types; weights and parameters have been checked; O1 for
        // `U`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { erased::run(&plan.call(&bounds), &layout, &tensors, out) }
    }

    /// As [`Self::plan`], for rows that a map converts first.
    ///
    /// # Errors
    /// As for [`Self::plan`].
    pub fn plan_map<T: Element, U: Reducible, P: Params, I: Index, O: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &Layout,
        bags: &Bags<'_, U::Number, I, O>,
    ) -> Result<BagMapPlan<T, U, P, I>, Error> {
        let request = Request::mapped::<T, U, I>(self, map.erased().convert_fns)?;
        let planned = Planned::new(&request, &Tensors::of(data, bags))?;
        Ok(BagMapPlan { planned, map: names(map), types: PhantomData })
    }
}

/// The names of a map and of its parameters.
type Names = (&'static str, &'static [&'static str]);

fn names<T, U, P>(map: &Map<T, U, P>) -> Names {
    (map.erased().name, map.erased().params)
}

/// Checks that parameters have a value for every row, or for every element.
fn check<P: Params>(plan: &BagPlan, map: Names, data: &Layout, params: &P::Given<'_>) -> Result<(), Error> {
    check_params(plan.op(), map, &[plan.axis()], data, P::counts(params))
}

/// Everything about an [`EmbeddingBag`] with a [`Map`] that depends on shapes, types and the bounds of its bags: made
/// once by [`plan_map`](EmbeddingBag::plan_map), run many times, from any thread.
///
/// ```
/// use gather_core::{Bags, EmbeddingBag, Given, Reduction, View, ViewMut, maps};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (codes, ids) = ([129u8, 130, 118, 138], [0u32, 1, 1, 1]);
///     let (table, ids) = (View::new(&codes, &[2, 2])?, View::new(&ids, &[2, 2])?);
///     let sum = EmbeddingBag::new(Reduction::Add);
///     let plan = sum.plan_map(&maps::DEQUANTIZE_U8, table.layout(), &Bags::packed(&ids))?;
///
///     let sums = plan.run(&table, &ids, None, (Given::All(1.0), Given::All(128)))?;
///     assert_eq!(sums.as_slice(), [-9.0, 12.0, -20.0, 20.0]);
///
///     // The same bags, with other indices and parameters, into memory that is there.
///     let (ids, scales, mut out) = ([1u32, 1, 0, 0], [0.5, 2.0], [0.0; 4]);
///     let (ids, params) = (View::new(&ids, &[2, 2])?, (Given::PerRow(&scales[..]), Given::All(128)));
///     plan.run_into(&table, &ids, None, params, &mut ViewMut::new(&mut out, &[2, 2])?)?;
///     assert_eq!(out, [-40.0, 40.0, 1.0, 2.0]);
///     Ok(())
/// }
/// ```
pub struct BagMapPlan<T, U, P, I> {
    planned: Planned,
    map: Names,
    types: PhantomData<fn(T, P, I) -> U>,
}

plan_type!(BagMapPlan<T, U, P, I>: planned);

impl<T: Element, U: Reducible, P: Params, I: Index> BagMapPlan<T, U, P, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`],
    /// [`Error::MapParameterLengthMismatch`] and [`Error::MapParameterPerElement`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// When the map does.
    pub fn run(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, U::Number>>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, weights, params, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    ///
    /// Cost: as for [`EmbeddingBag::run_map`]. Every call allocates its scratch, at once and for each thread that may
    /// take part: up to 16 KiB, or one element of the output where that is longer, and a row of sums where a bag has
    /// more rows than are converted at a time. Rows of more than six loops take counters as well. Nothing is allocated
    /// where the output has no elements.
    ///
    /// # Errors
    /// As for [`BagMapPlan::run`], with [`Error::PlanMismatch`] for the output after those of parameters; the output is
    /// then as after [`EmbeddingBag::run_map_into`].
    ///
    /// # Panics
    /// When the map does.
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, U::Number>>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let tensors = self.planned.check(data.into(), indices.into(), weights.map(Into::into))?;
        check::<P>(&self.planned.plan, self.map, data.layout(), &params)?;
        let given = GivenParams::<P>::new(&params, data.origin().addr());
        let tensors = Tensors { params: given.erased(), ..tensors };
        // SAFETY: the layouts of the inputs are those of the plan, as just checked, and the types and parameters too;
        // O1 for `U`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run(&tensors, out.target()) }
    }

    /// Runs the plan with any bags, into a fresh tensor.
    ///
    /// # Errors
    /// As for [`BagPlan::run_bags`](crate::BagPlan::run_bags), with [`Error::MapParameterLengthMismatch`] and
    /// [`Error::MapParameterPerElement`] before [`Error::TooManyElements`].
    ///
    /// # Panics
    /// When the map does.
    pub fn run_bags<O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, U::Number, I, O>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_bags_into(data, bags, params, out))
    }

    /// As [`BagMapPlan::run_bags`], into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is
    /// used again. Allocates as [`BagMapPlan::run_into`] does, and for the bounds of bags of several lengths.
    ///
    /// # Errors
    /// As for [`BagMapPlan::run_bags`], with [`Error::PlanMismatch`] for the output after errors of inputs.
    ///
    /// # Panics
    /// When the map does.
    pub fn run_bags_into<O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, U::Number, I, O>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let tensors = Tensors::of(data, bags);
        let bounds = self.planned.check_bags(&tensors)?;
        check::<P>(&self.planned.plan, self.map, data.layout(), &params)?;
        let given = GivenParams::<P>::new(&params, data.origin().addr());
        let tensors = Tensors { params: given.erased(), ..tensors };
        // SAFETY: the layout of data is that of the plan, and bounds are those of the indices, as just checked, and the
        // types and parameters too; O1 for `U`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run_bags(&bounds, &tensors, out.target()) }
    }
}

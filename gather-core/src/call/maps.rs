//! Calls with a map, which converts each element on its way, and their plans.

use core::marker::PhantomData;

use crate::call::erased::Request;
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::plan_type::plan_type;
use crate::call::planned::{Inputs, Planned};
use crate::call::will_need::will_need;
use crate::exec::{self};
use crate::kernels::convert;
use crate::kernels::convert::map::{Count, GivenParams, MAX_PARAMS, Map, Params};
use crate::kernels::select::Kernels;
use crate::plan::{Axis, Converting};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::{Element, IsElement};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::Op;

impl<A: IndexAttributes> IndexOperator<A> {
    /// Runs the operator, and converts each element on its way by a [`Map`]: the result has the map's output type,
    /// and is what converting the result of [`Self::run`] would give, to the bit, in one pass over the bytes.
    ///
    /// `params` is a tuple with a [`Param`](crate::Param) for each parameter of the map: one value for the call, one
    /// for each position along the axis, or one for each element of data. Shapes, negative indices and indices out of
    /// range are as for [`Self::run`]; [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes the zero of the output
    /// type, unconverted. The map may be called for elements whose results are not kept.
    /// [`Param::PerRow`](crate::Param::PerRow) needs index tuples of length 1; others give
    /// [`Error::MapParameterLengthMismatch`].
    ///
    /// Cost: one pass over the indices and one over the bytes of the result, one allocation. A run of elements that
    /// is contiguous in data and in the result is converted by one loop, compiled for the level.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`] for any method but [`Direct`](crate::Method::Direct),
    /// [`Blocks`](crate::Method::Blocks) and [`Streamed`](crate::Method::Streamed),
    /// [`Error::MapParameterLengthMismatch`] and [`Error::MapParameterPerElement`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`] for the first such index in row-major order.
    ///
    /// # Panics
    /// When the map does.
    ///
    /// # Examples
    /// Two rows of a table that is stored in bytes, with a scale for each row and one zero point:
    /// ```
    /// use gather_core::{Gather, Param, View, maps};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [128u8, 130, 126, 255, 0, 128];
    ///     let scales = [0.5f32, 0.25, 2.0];
    ///     let rows = Gather::new(0).run_map(
    ///         &maps::DEQUANTIZE_U8,
    ///         &View::new(&table, &[3, 2])?,
    ///         &View::new(&[2i64, 0], &[2])?,
    ///         (Param::PerRow(&scales), Param::Value(128)),
    ///     )?;
    ///     assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
    ///     Ok(())
    /// }
    /// ```
    pub fn run_map<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_map_into(map, data, indices, params, out))
    }

    /// As [`Self::run_map`], into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again. Allocates what [`Self::run_map`] does, except for the result.
    ///
    /// # Errors
    /// As for [`Self::run_map`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is
    /// untouched except for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what it held before.
    ///
    /// # Panics
    /// When the map does; a view then holds a mix of results and what it held before, and a tensor no elements.
    pub fn run_map_into<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (request, target) = (self.map_request::<T, U, P, I>(map, data.layout(), indices.layout()), out.target());
        let (plan, fresh) = request.plan_for(&target)?;
        let names = (map.erased().name, map.erased().params);
        check_params(plan.op(), names, plan.axes(), data.layout(), P::counts(&params))?;
        let given = GivenParams::<P>::new(&params, data.origin().addr());
        let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
        // SAFETY: X1: the plan was made for these layouts and types; O1 for `U`, and the output is borrowed mutably, so
        // that it overlaps no input. Pointers to `T` and `U` are aligned for them; the parameters are `Sync`, and reach
        // a value for every position along the axis, or for every element of row-major data, as just checked (K8).
        let run = |out| unsafe { exec::run_index(&plan, inputs.operands(out)) };
        // SAFETY: a run that succeeds has initialised every element of the result (X3).
        unsafe { target.write(|| Ok((plan.output(), fresh)), run) }
    }

    /// Makes a plan: it does the work that depends on shapes and types once, and converts by the map on any tensors of
    /// these layouts.
    ///
    /// # Errors
    /// As for [`Self::run_map`], without those of parameters, memory and index values.
    pub fn plan_map<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &Layout,
        indices: &Layout,
    ) -> Result<MapPlan<T, U, P, I>, Error> {
        Ok(MapPlan::new(Planned::new(&self.map_request::<T, U, P, I>(map, data, indices))?, map))
    }

    /// As [`Self::plan_map`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_map`], and [`Error::FixedCount`] as for [`Self::plan_any_count`].
    pub fn plan_map_any_count<T: Element, U: Element, P: Params, I: Index>(
        &self,
        map: &Map<T, U, P>,
        data: &Layout,
        indices: &Layout,
    ) -> Result<MapPlan<T, U, P, I>, Error> {
        Ok(MapPlan::new(Planned::new_any_count(&self.map_request::<T, U, P, I>(map, data, indices))?, map))
    }

    fn map_request<'a, T: Element, U: Element, P: Params, I: Index>(
        &'a self,
        map: &Map<T, U, P>,
        data: &'a Layout,
        indices: &'a Layout,
    ) -> Request<'a> {
        const { IsElement::<T>::CHECK };
        const { IsElement::<U>::CHECK };
        let rows = map.erased().convert_fns.map(|fns| fns.rows);
        let converting = Converting { rows, size_in: size_of::<T>(), kernel: convert::kernel::<I>, whole: None };
        let planned = self.index_request((Kernels::of::<I>(), I::TYPE), U::DTYPE, Some(converting));
        Request { attributes: self.attributes(), planned, data, indices }
    }
}

/// Checks that parameters which are given per row have a value for every position along the axis, and those which are
/// given per element for every element of row-major data.
pub(super) fn check_params(
    op: Op,
    (map, names): (&'static str, &'static [&'static str]),
    axes: &[Axis],
    data: &Layout,
    counts: [Count; MAX_PARAMS],
) -> Result<(), Error> {
    for (&parameter, count) in names.iter().zip(counts) {
        // Tuples of several components stand for no one row of the table.
        let (axis, dim) = match axes {
            [axis] => (axis.axis, axis.dim),
            _ => (0, 0),
        };
        match count {
            Count::Rows(len) if axes.len() != 1 || len != dim => {
                return Err(Error::MapParameterLengthMismatch { op, map, parameter, len, axis, dim });
            }
            Count::Elements(len) if len != data.len() || !data.is_contiguous() => {
                let (elements, row_major) = (data.len(), data.is_contiguous());
                return Err(Error::MapParameterPerElement { op, map, parameter, len, elements, row_major });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Everything about a call with a [`Map`] that depends on shapes and types: made once by
/// [`plan_map`](IndexOperator::plan_map) or [`plan_map_any_count`](IndexOperator::plan_map_any_count), run many times,
/// from any thread.
pub struct MapPlan<T, U, P, I> {
    planned: Planned,
    name: &'static str,
    params: &'static [&'static str],
    types: PhantomData<fn(T, P, I) -> U>,
}

plan_type!(MapPlan<T, U, P, I>: planned);
will_need!(MapPlan<T, U, P, I>: planned, T, I);

impl<T: Element, U: Element, P: Params, I: Index> MapPlan<T, U, P, I> {
    /// A plan for a map of these types.
    fn new(planned: Planned, map: &Map<T, U, P>) -> Self {
        MapPlan { planned, name: map.erased().name, params: map.erased().params, types: PhantomData }
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::MapParameterLengthMismatch`] and [`Error::MapParameterPerElement`],
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// When the map does.
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>, params: P::Given<'_>) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, params, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::MapParameterLengthMismatch`] and [`Error::MapParameterPerElement`],
    /// [`Error::AllocationFailed`] for a tensor, then [`Error::IndexOutOfRange`]; the output is then as after
    /// [`IndexOperator::run_map_into`].
    ///
    /// # Panics
    /// When the map does.
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let Planned { plan, data: layout, .. } = &self.planned;
        let count = self.planned.check_inputs(data.layout(), indices.layout())?;
        check_params(plan.op(), (self.name, self.params), plan.axes(), layout, P::counts(&params))?;
        let given = GivenParams::<P>::new(&params, data.origin().addr());
        let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
        // SAFETY: the layouts of the inputs and the parameters have just been checked; the rest as in
        // `IndexOperator::run_map_into`.
        unsafe { self.planned.run_on_inputs(inputs, count, out.target()) }
    }
}

//! Plans of calls some of whose indices or data are null.

use core::marker::PhantomData;

use crate::call::gather::erased::Request;
use crate::call::gather::planned::{Inputs, Planned};
use crate::call::gather::valid::sizes::{ByPosition, Sizes, is_wide, request_by};
use crate::call::gather::valid::{Runs, ValidCall, ValidRequest};
use crate::call::plan_type::plan_type;
use crate::kernels::Resolvers;
use crate::plan::{Explain, IndexLowered, IndexRequest};
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Sealed as _};
use crate::tensor::typing::{Input, Typing};
use crate::types::error::Error;

/// Everything about a call with nulls that depends on shapes and types: made once by
/// [`plan_valid`](crate::Gather::plan_valid) or [`plan_valid_any_count`](crate::Gather::plan_valid_any_count), run many
/// times with any bitmaps, from any thread. It describes a call in which nothing is null.
///
/// ```
/// use gather_core::{Bitmap, Gather, Layout, Nulls, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (prices, expected) = (View::new(&[1.5f32, 0.0, 2.5, 4.0], &[4])?, Layout::contiguous(&[100])?);
///     let plan = Gather::new(0).plan_valid_any_count::<f32, u32>(prices.layout(), &expected)?;
///
///     // A null, and the last price.
///     let nulls = Nulls { indices: Some(Bitmap::new(&[0b10], 0, 2)?), ..Nulls::default() };
///     let (paid, validity) = plan.run(&prices, &View::new(&[9, 3], &[2])?, nulls)?;
///     assert_eq!((paid.as_slice(), validity.expect("a null").as_bytes()), (&[0.0, 4.0][..], &[0b10][..]));
///     Ok(())
/// }
/// ```
pub struct ValidPlan<T, I> {
    planned: ValidPlanned,
    types: PhantomData<fn(T, I)>,
}

plan_type!(ValidPlan<T, I>: planned);

/// A plan without its types.
#[derive(Clone)]
pub(super) struct ValidPlanned {
    request: IndexRequest,
    resolvers: Resolvers,
    /// The call without nulls.
    pub(super) planned: Planned,
    /// The call by positions, of which any may be missing.
    pub(super) by_position: Planned,
    pub(super) sizes: Sizes,
    /// The operator, its loops stepping through the numbers of indices and through elements of data, or rows.
    lowered: [IndexLowered; 2],
}

impl ValidPlanned {
    fn new(
        ValidRequest { request, kernels, resolvers }: &ValidRequest<'_>,
        make: impl Fn(&Request<'_>) -> Result<Planned, Error>,
    ) -> Result<Self, Error> {
        let Request { attributes, planned, data, .. } = *request;
        let mut lowered = IndexLowered::new(planned.op);
        let sizes = Sizes::new(request, &mut lowered)?;
        let mut by_rows = lowered.clone();
        sizes.step_by_rows(data, &mut by_rows);
        let (by_position, layout) = ByPosition::new(attributes, &sizes)?;
        let by = if is_wide(&lowered) { request_by::<i64> } else { request_by::<i32> };
        let by = by(planned, *kernels, true);
        let of_call = make(request)?;
        // The planes of components are as far apart as there are tuples.
        if of_call.is_counted() && !layout.is_row_major() {
            return Err(Error::FixedCount { op: planned.op });
        }
        let by_position = make(&Request { attributes: &by_position, planned: by, data, indices: &layout })?;
        Ok(ValidPlanned {
            request: planned,
            resolvers: *resolvers,
            planned: of_call,
            by_position,
            sizes,
            lowered: [lowered, by_rows],
        })
    }

    fn output_shape(&self) -> &[usize] {
        self.planned.output_shape()
    }

    fn explain(&self) -> Explain<'_> {
        self.planned.explain()
    }

    /// The layout of positions.
    pub(super) fn positions(&self) -> &Layout {
        &self.by_position.indices
    }

    /// Checks the layouts of a call; returns the size of the first dimension of indices, where that is free.
    pub(super) fn check(&self, data: &Layout, indices: &Layout, out: Option<&Layout>) -> Result<Option<usize>, Error> {
        let count = self.planned.check_inputs(data, indices)?;
        out.map_or(Ok(()), |out| self.planned.check_output(out, count))?;
        Ok(Some(count).filter(|_| self.planned.is_counted()))
    }

    /// The operator, its loops stepping through elements of data, or rows.
    pub(super) fn lowered(&self, by_rows: bool) -> &IndexLowered {
        &self.lowered[usize::from(by_rows)]
    }
}

impl<T: Typing, I: Typing> ValidPlan<T, I> {
    pub(super) fn new(
        request: &ValidRequest<'_>,
        make: impl Fn(&Request<'_>) -> Result<Planned, Error>,
    ) -> Result<Self, Error> {
        Ok(ValidPlan { planned: ValidPlanned::new(request, make)?, types: PhantomData })
    }

    /// Runs the plan into a fresh tensor, and a fresh bitmap as [`run_valid`](crate::Gather::run_valid) does.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`],
    /// [`Error::BitmapLengthMismatch`] for indices, then for data, [`Error::TooManyElements`] of a plan for any count,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`] for a valid index.
    pub fn run(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        nulls: Nulls<'_>,
    ) -> Result<(T::Tensor, Option<Validity>), Error> {
        let mut out = T::empty(self.planned.request.dtype);
        let call = self.call(data, indices, nulls)?;
        // SAFETY: the inputs are of the plan's types; O1; the output is fresh.
        let validity = unsafe { call.run_fresh(out.target_of(self.planned.request.dtype)?) }?;
        Ok((out, validity))
    }

    /// Runs the plan into an [`Output`], and into the bytes of a bitmap as
    /// [`run_valid_into`](crate::Gather::run_valid_into) does; returns the number of nulls. Allocates the positions of
    /// more than 512 indices, and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`ValidPlan::run`], with [`Error::BitmapTooShort`] for the bytes after
    /// [`Error::BitmapLengthMismatch`]. The bytes are untouched then, and the output is as after
    /// [`run_into`](crate::Gather::run_into).
    pub fn run_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        nulls: Nulls<'_>,
        out: &mut impl Output<T>,
        validity: &mut [u8],
    ) -> Result<usize, Error> {
        let call = self.call(data, indices, nulls)?;
        // SAFETY: the inputs are of the plan's types; O1; the output is borrowed mutably, so that it overlaps no input.
        unsafe { call.run_into(out.target_of(self.planned.request.dtype)?, validity) }
    }

    /// A call on tensors whose types have been compared with the plan's.
    fn call<'a>(
        &'a self,
        data: &'a impl Input<T>,
        indices: &'a impl Input<I>,
        nulls: Nulls<'a>,
    ) -> Result<ValidCall<'a>, Error> {
        let ValidPlanned { request, resolvers, .. } = self.planned;
        data.check(request.dtype)?;
        indices.check(request.index.dtype())?;
        let runs = Runs::Planned(&self.planned);
        Ok(ValidCall { request, inputs: Inputs::of(data, indices), resolvers, nulls, runs })
    }
}

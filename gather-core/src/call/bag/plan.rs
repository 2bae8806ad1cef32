//! Plans of an EmbeddingBag with their types: what a caller holds.

use core::marker::PhantomData;

use crate::call::bag::BagsOf;
use crate::call::bag::erased::{Request, Tensors};
use crate::call::bag::planned::Planned;
use crate::call::plan_type::plan_type;
use crate::tensor::output::{Output, written};
use crate::tensor::typing::{Input, Typing};
use crate::types::error::Error;

/// Everything about an [`EmbeddingBag`](crate::EmbeddingBag) that depends on shapes, types and the bounds of its bags:
/// made once, run many times, from any thread. Its [`run`](Self::run) takes other indices and weights in the planned
/// bags, its [`run_bags`](Self::run_bags) any bags.
///
/// ```
/// use gather_core::{Bags, EmbeddingBag, Layout, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (ids, offsets, table) = ([0u32, 2, 1], [0u32, 2], [1.0f32, 2.0, 4.0]);
///     let (ids, offsets) = (View::new(&ids, &[3])?, View::new(&offsets, &[2])?);
///     let plan = EmbeddingBag::new(Reduction::Add).plan(&Layout::contiguous(&[3])?, &Bags::new(&ids, &offsets))?;
///
///     let sums = plan.run(&View::new(&table, &[3])?, &ids, None)?;
///     assert_eq!(sums.as_slice(), [5.0, 2.0]);
///     Ok(())
/// }
/// ```
pub struct BagPlan<T, I> {
    planned: Planned,
    types: PhantomData<fn(T, I)>,
}

plan_type!(BagPlan<T, I>: planned);

impl<T: Typing, I: Typing> BagPlan<T, I> {
    /// A plan for a request of these types: `T` and `I` are those of its data and indices, or [`Any`], as what runs the
    /// plan trusts.
    pub(super) fn new(request: &Request<'_>, tensors: &Tensors<'_>) -> Result<Self, Error> {
        Ok(BagPlan { planned: Planned::new(request, tensors)?, types: PhantomData })
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`],
    /// [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`].
    pub fn run(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        weights: Option<&T::Weights<'_>>,
    ) -> Result<T::Tensor, Error> {
        written(T::empty(self.planned.dtypes().0), |out| self.run_into(data, indices, weights, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but sums of bags of more than 512 rows, counters for rows of more than six loops, and the
    /// memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`BagPlan::run`], with [`Error::DTypeMismatch`] and [`Error::PlanMismatch`] for the output after errors of
    /// inputs; the output is then as after [`EmbeddingBag::run_into`](crate::EmbeddingBag::run_into).
    pub fn run_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        weights: Option<&T::Weights<'_>>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (dtype, index) = self.planned.dtypes();
        let (data, indices) = (data.read(dtype)?, indices.read(index)?);
        let weights = weights.map(|weights| T::weights(weights, dtype)).transpose()?;
        let tensors = self.planned.check(data.into(), indices.into(), weights.map(Into::into))?;
        let out = out.target_of(dtype)?;
        // SAFETY: the layouts of the inputs are those of the plan, as just checked, and the types too (`Input`,
        // `Typing`); O1; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run(&tensors, out) }
    }

    /// Runs the plan with any bags, into a fresh tensor.
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, expected) = ([1.0f32, 2.0, 4.0], [0u32; 8]);
    ///     let (table, expected) = (View::new(&table, &[3])?, View::new(&expected, &[1, 8])?);
    ///     let plan = EmbeddingBag::new(Reduction::Add).plan(table.layout(), &Bags::packed(&expected))?;
    ///
    ///     // Two requests of a server.
    ///     let (ids, offsets) = (View::new(&[0u32, 2, 1], &[3])?, View::new(&[0u32, 2], &[2])?);
    ///     assert_eq!(plan.run_bags(&table, &Bags::new(&ids, &offsets))?.as_slice(), [5.0, 2.0]);
    ///     let ids = View::new(&[2u32, 2], &[1, 2])?;
    ///     assert_eq!(plan.run_bags(&table, &Bags::packed(&ids))?.as_slice(), [8.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// For types that are known at run time, [`Error::DTypeMismatch`] for data, indices and weights and
    /// [`Error::NotAnIndexType`] for offsets; [`Error::PlanMismatch`] for data, [`Error::RankOutOfRange`],
    /// [`Error::NoOffsets`], [`Error::AllocationFailed`], [`Error::BagOffsetOutOfRange`], [`Error::WeightsUnavailable`],
    /// [`Error::ShapeMismatch`], [`Error::TooManyElements`], then as for [`BagPlan::run`].
    pub fn run_bags(&self, data: &impl Input<T>, bags: &impl BagsOf<T, I>) -> Result<T::Tensor, Error> {
        written(T::empty(self.planned.dtypes().0), |out| self.run_bags_into(data, bags, out))
    }

    /// As [`BagPlan::run_bags`], into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used
    /// again. Allocates as [`BagPlan::run_into`] does, and for the bounds of bags of several lengths.
    ///
    /// # Errors
    /// As for [`BagPlan::run_bags`], with [`Error::DTypeMismatch`] and [`Error::PlanMismatch`] for the output after
    /// errors of inputs.
    pub fn run_bags_into(
        &self,
        data: &impl Input<T>,
        bags: &impl BagsOf<T, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (dtype, index) = self.planned.dtypes();
        let tensors = bags.on(data.read(dtype)?.into(), (dtype, index))?;
        let bounds = self.planned.check_bags(&tensors)?;
        let out = out.target_of(dtype)?;
        // SAFETY: the layout of data is that of the plan, and bounds are those of the indices, as just checked, and the
        // types too (`Input`, `BagsOf`); O1; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run_bags(&bounds, &tensors, out) }
    }
}

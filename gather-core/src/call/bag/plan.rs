//! Plans of an EmbeddingBag with their types: what a caller holds.

use core::marker::PhantomData;

use crate::call::bag::Bags;
use crate::call::bag::erased::{Request, Tensors};
use crate::call::bag::planned::Planned;
use crate::call::plan_type::plan_type;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;

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

impl<T: Element, I: Index> BagPlan<T, I> {
    /// A plan for a request of these types.
    pub(super) fn new<W, O: Index>(
        request: &Request<'_>,
        data: &Layout,
        bags: &Bags<'_, W, I, O>,
    ) -> Result<Self, Error> {
        let planned = Planned::new(request, &Tensors::of(data, bags))?;
        Ok(BagPlan { planned, types: PhantomData })
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`],
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, T::Number>>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, weights, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but sums of bags of more than 512 rows, counters for rows of more than six loops, and the
    /// memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`BagPlan::run`]; the output is then as after [`EmbeddingBag::run_into`](crate::EmbeddingBag::run_into).
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, T::Number>>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let tensors = self.planned.check(data.into(), indices.into(), weights.map(Into::into))?;
        // SAFETY: the layouts of the inputs are those of the plan, as just checked, and the types too; O1 for `T`; the
        // output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run(&tensors, out.target()) }
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
    /// [`Error::PlanMismatch`] for data, [`Error::RankOutOfRange`], [`Error::NoOffsets`], [`Error::AllocationFailed`],
    /// [`Error::BagOffsetOutOfRange`], [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`],
    /// [`Error::TooManyElements`], then as for [`BagPlan::run`].
    pub fn run_bags<O: Index>(&self, data: &View<'_, T>, bags: &Bags<'_, T::Number, I, O>) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_bags_into(data, bags, out))
    }

    /// As [`BagPlan::run_bags`], into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used
    /// again. Allocates as [`BagPlan::run_into`] does, and for the bounds of bags of several lengths.
    ///
    /// # Errors
    /// As for [`BagPlan::run_bags`], with [`Error::PlanMismatch`] for the output after errors of inputs.
    pub fn run_bags_into<O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, T::Number, I, O>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let tensors = Tensors::of(data, bags);
        let bounds = self.planned.check_bags(&tensors)?;
        // SAFETY: the layout of data is that of the plan, and bounds are those of the indices, as just checked, and the
        // types too; O1 for `T`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run_bags(&bounds, &tensors, out.target()) }
    }
}

//! The settings of scatters, and their calls on tensors whose types are known.

#![forbid(unsafe_code)]

use crate::call::cloned;
use crate::call::scatter::erased::{Attributes, Settings, Types};
use crate::call::scatter::{ScatterAttributes, ScatterOperator, ScatterPlan, Scattering};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::policy::{IndexPolicy, NegativeIndex, ScatterOutOfBounds};
use crate::types::reduction::Reduction;

impl<A> ScatterOperator<A> {
    /// An operator with its attributes: no reduction, negative indices count from the end, out-of-range ones are
    /// errors.
    pub(crate) fn from_attributes(attributes: A) -> Self {
        Self::of(Scattering {
            attributes,
            reduction: Reduction::None,
            include_self: true,
            negative: NegativeIndex::FromEnd,
            out_of_bounds: ScatterOutOfBounds::Error,
        })
    }

    /// Sets whether the old value of an element takes part in the reduction: PyTorch's `include_self`, OpenVINO's
    /// `use_init_val`. Default: true. If false, sums, differences and means begin at 0, others with the first update.
    #[doc(alias("use_init_val"))]
    #[must_use]
    pub fn include_self(mut self, include_self: bool) -> Self {
        self.kind.include_self = include_self;
        self
    }

    /// Whether the old value of an element takes part in the reduction.
    #[must_use]
    pub fn get_include_self(&self) -> bool {
        self.kind.include_self
    }

    pub(super) fn policy(&self) -> IndexPolicy {
        IndexPolicy { negative: self.kind.negative, out_of_bounds: self.kind.out_of_bounds.of_indices() }
    }
}

impl<A: ScatterAttributes> ScatterOperator<A> {
    /// The settings that hold for all calls of the operator.
    pub(super) fn settings(&self) -> Settings<'_> {
        Settings {
            attributes: Attributes::Scatter(self.attributes()),
            reduction: self.kind.reduction,
            include_self: self.kind.include_self,
            policy: self.policy(),
            options: self.options,
        }
    }

    /// The shape of the result, which is that of data, without touching data.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] for data, indices or updates; errors of attributes and shapes.
    pub fn output_shape(&self, data: &[usize], indices: &[usize], updates: &[usize]) -> Result<Shape, Error> {
        let (data, indices) = (Layout::contiguous(data)?, Layout::contiguous(indices)?);
        Attributes::Scatter(self.attributes()).lower(&data, &indices, &Layout::contiguous(updates)?)?;
        Ok(data.shape().into())
    }

    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: a copy of data, then one pass over indices and updates; one allocation, and a scratch for
    /// [`Method::Accumulated`](crate::Method::Accumulated), [`Method::Grouped`](crate::Method::Grouped) and
    /// [`Method::Panels`](crate::Method::Panels).
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`], errors of attributes and shapes, [`Error::LevelUnavailable`],
    /// [`Error::TooManyBytes`], [`Error::MethodUnavailable`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`] for the first such index in row-major order. Under [`ScatterOutOfBounds::Error`]
    /// indices are checked even when updates have no elements.
    pub fn run<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, updates, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of [`Method::Accumulated`](crate::Method::Accumulated),
    /// [`Method::Grouped`](crate::Method::Grouped) and [`Method::Panels`](crate::Method::Panels) (up to six dimensions,
    /// and index tuples of up to three), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`], and [`Error::ShapeMismatch`] for a view after errors of shapes. On an error a view is
    /// untouched.
    pub fn run_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        self.settings().run_into(Types::<T, I>::known(), data, indices, updates, out)
    }

    /// Runs the operator in place, on a tensor of any strides. Allocates as [`Self::run_into`] does.
    ///
    /// ```
    /// use gather_core::{Reduction, ScatterElements, View, ViewMut};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mut counts = [0u32; 3];
    ///     let count = ScatterElements::new(0).reduction(Reduction::Add);
    ///     let (chosen, ones) = ([2u8, 0, 2], [1; 3]);
    ///     count.run_on(&mut ViewMut::new(&mut counts, &[3])?, &View::new(&chosen, &[3])?, &View::new(&ones, &[3])?)?;
    ///     assert_eq!(counts, [1, 0, 2]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::run`]. All indices are checked before anything is written: on an error the tensor is untouched.
    pub fn run_on<T: Element, I: Index>(
        &self,
        destination: &mut ViewMut<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
    ) -> Result<(), Error> {
        self.settings().run_on(Types::<T, I>::known(), destination, indices, updates)
    }

    /// Makes a plan: it does the shape-dependent work once, and runs on any tensors of these shapes, whose indices and
    /// updates have these layouts, into row-major outputs.
    ///
    /// Cost: depends on ranks, not on sizes.
    ///
    /// # Errors
    /// As for [`Self::run`], without those of memory and index values.
    pub fn plan<T: Element, I: Index>(
        &self,
        data: &[usize],
        indices: &Layout,
        updates: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        self.plan_on(&Layout::contiguous(data)?, indices, updates)
    }

    /// As [`Self::plan`], for outputs of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`].
    pub fn plan_on<T: Element, I: Index>(
        &self,
        destination: &Layout,
        indices: &Layout,
        updates: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        ScatterPlan::new(&self.settings().request(Types::<T, I>::known(), indices, updates)?, destination)
    }

    /// As [`Self::plan`], for any size of the first dimension of indices and of updates, which are equal. The size that
    /// the layouts have is what calls are expected to have.
    ///
    /// ```
    /// use gather_core::{Layout, Reduction, ScatterNd, View, ViewMut};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (ids, rows) = (Layout::contiguous(&[100, 1])?, Layout::contiguous(&[100, 2])?);
    ///     let add = ScatterNd::new().reduction(Reduction::Add).plan_any_count::<f32, u32>(&[3, 2], &ids, &rows)?;
    ///     let mut sums = [0.0; 6];
    ///     for (ids, rows) in [(&[2u32, 0][..], &[1.0f32, 2.0, 3.0, 4.0][..]), (&[2], &[5.0, 6.0])] {
    ///         let (ids, rows) = (View::new(ids, &[ids.len(), 1])?, View::new(rows, &[ids.len(), 2])?);
    ///         add.run_on(&mut ViewMut::new(&mut sums, &[3, 2])?, &ids, &rows)?;
    ///     }
    ///     assert_eq!(sums, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::FixedCount`] where indices do not go along the first axis of data, so that
    /// their first dimension is one of data's; where tuples have no components; and where indices overlap in memory so
    /// that their first dimension cannot be told from another. What has no elements is planned like anything else: a
    /// call then checks indices as [`Self::run`] does.
    pub fn plan_any_count<T: Element, I: Index>(
        &self,
        data: &[usize],
        indices: &Layout,
        updates: &Layout,
    ) -> Result<ScatterPlan<T, I>, Error> {
        let request = self.settings().request(Types::<T, I>::known(), indices, updates)?;
        ScatterPlan::new_any_count(&request, &Layout::contiguous(data)?)
    }

    /// Runs the operator without a reduction on any `Clone` type (`String`, `Arc<str>`, `&str`, ..).
    ///
    /// Cost: one clone an element of data and one an update, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`]; any reduction but [`Reduction::None`] is an [`Error::ReductionUnavailable`].
    ///
    /// # Panics
    /// When a clone does.
    pub fn run_cloned<T: Clone, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
    ) -> Result<Tensor<T>, Error> {
        let (op, reduction) = (self.attributes().op(), self.get_reduction());
        if reduction != Reduction::None {
            return Err(Error::ReductionUnavailable { op, reduction, dtype: None });
        }
        let out = Layout::contiguous(data.shape())?;
        let lowered = Attributes::Scatter(self.attributes()).lower(&out, indices.layout(), updates.layout())?;
        cloned::scatter(&lowered, self.policy(), self.options, data, indices, updates)
    }
}

//! The settings of EmbeddingBag, and its calls on tensors whose types are known.

use crate::call::bag::erased::{self, Request, Tensors};
use crate::call::bag::{BagPlan, Bagging, Bags, EmbeddingBag};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::policy::IndexPolicy;
use crate::types::reduction::Reduction;

impl EmbeddingBag {
    /// An EmbeddingBag. Negative indices count from the end, and out-of-range ones are errors. No row is padding, bags
    /// without rows yield zeros, and the last bag ends with the indices.
    #[must_use]
    pub fn new(reduction: Reduction) -> Self {
        Self::of(Bagging {
            reduction,
            policy: IndexPolicy::default(),
            padding_index: None,
            default_index: None,
            skip_negative: false,
            include_last_offset: false,
        })
    }

    /// Names the row of padding: an index that names it is left out, and does not count. A negative number counts from
    /// the end.
    #[doc(alias("padding_idx"))]
    #[must_use]
    pub fn padding_index(mut self, padding_index: impl Into<Option<i64>>) -> Self {
        self.kind.padding_index = padding_index.into();
        self
    }

    /// Sets whether negative indices name no row: each is left out, and does not count. So -1 can stand for a row that
    /// was pruned from the table. [`negative_index`](Self::negative_index) has no effect then.
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids) = ([1.0f32, 2.0, 4.0], [0i32, -1, 2, -1, -1, -1]);
    ///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2, 3])?);
    ///     let mean = EmbeddingBag::new(Reduction::Mean).skip_negative(true);
    ///     assert_eq!(mean.run(&table, &Bags::packed(&ids))?.as_slice(), [2.5, 0.0]);
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("pruned"))]
    #[must_use]
    pub fn skip_negative(mut self, skip_negative: bool) -> Self {
        self.kind.skip_negative = skip_negative;
        self
    }

    /// Names the row that is the result of a bag in which no row counts. It has no weight, and the index is not
    /// negative.
    #[must_use]
    pub fn default_index(mut self, default_index: impl Into<Option<i64>>) -> Self {
        self.kind.default_index = default_index.into();
        self
    }

    /// Sets whether the last offset is the end of the last bag, and not the start of one more. Indices after it belong
    /// to no bag, and are not looked at.
    #[must_use]
    pub fn include_last_offset(mut self, include_last_offset: bool) -> Self {
        self.kind.include_last_offset = include_last_offset;
        self
    }

    /// The row that is left out, as it was given.
    #[must_use]
    pub fn get_padding_index(&self) -> Option<i64> {
        self.kind.padding_index
    }

    /// The row that stands for a bag in which no row counts.
    #[must_use]
    pub fn get_default_index(&self) -> Option<i64> {
        self.kind.default_index
    }

    /// Whether negative indices are left out.
    #[must_use]
    pub fn get_skip_negative(&self) -> bool {
        self.kind.skip_negative
    }

    /// Whether the last offset is the end of the last bag.
    #[must_use]
    pub fn get_include_last_offset(&self) -> bool {
        self.kind.include_last_offset
    }
}

impl EmbeddingBag {
    /// The shape of the result for data and indices of these shapes and a number of offsets; `None` for packed bags.
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], [`Error::NoOffsets`], then [`Error::TooManyElements`] for data, indices or the
    /// result.
    pub fn output_shape(&self, data: &[usize], indices: &[usize], offsets: Option<usize>) -> Result<Shape, Error> {
        erased::check_ranks(data.len(), indices.len(), offsets.map(|_| 1))?;
        let (data, indices) = (Layout::contiguous(data)?, Layout::contiguous(indices)?);
        let bags = match offsets {
            None => indices.shape()[0],
            Some(offsets) => erased::bags(offsets, self.kind.include_last_offset)?,
        };
        Ok(erased::output(&data, bags)?.shape().into())
    }

    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: one pass over the rows in bags, and one over the indices; where one bag has more than a thread's share of
    /// the indices, every thread makes such a pass. One allocation for the result, one for the bounds of bags with
    /// offsets, one for sums of bags of more than 512 rows, and one for a row of zeros under
    /// [`OutOfBounds::Zero`](crate::OutOfBounds::Zero).
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`], errors of attributes and shapes, [`Error::TooManyElements`],
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`], [`Error::AllocationFailed`],
    /// then [`Error::IndexOutOfRange`] for the first such index of a bag in row-major order. Under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) indices are checked even when the result has no elements.
    pub fn run<T: Element, I: Index, O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, T::Number, I, O>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_into(data, bags, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again. Allocates what [`Self::run`] does, except for the result.
    ///
    /// # Errors
    /// As for [`Self::run`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is untouched
    /// except for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what it held before.
    pub fn run_into<T: Element, I: Index, O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, T::Number, I, O>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let request = Request::typed::<T, I>(self, None)?;
        // SAFETY: the request and the tensors are of these types; O1 for `T`; the output is borrowed mutably, so that
        // it overlaps no input.
        unsafe { request.run(&Tensors::of(data, bags), out.target()) }
    }

    /// Makes a plan: it does the work that depends on shapes and on the bounds of bags once. It runs on any data of
    /// this layout, with any indices and weights in the same bags, into row-major outputs. Of the bags it reads the
    /// offsets, and the layouts of indices and weights.
    ///
    /// # Errors
    /// As for [`Self::run`], without those of fresh memory and index values.
    pub fn plan<T: Element, I: Index, O: Index>(
        &self,
        data: &Layout,
        bags: &Bags<'_, T::Number, I, O>,
    ) -> Result<BagPlan<T, I>, Error> {
        BagPlan::new(&Request::typed::<T, I>(self, None)?, &Tensors::of(data, bags))
    }
}

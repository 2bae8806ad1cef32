//! EmbeddingBag: its doors.

mod dynamic;
mod erased;
mod fused;
mod maps;
mod plan;
mod planned;
mod reduce;
mod tables;

pub use dynamic::{DynBagPlan, DynBags};
pub use fused::FusedBagPlan;
pub use maps::BagMapPlan;
pub use plan::BagPlan;
pub use tables::{DynTableBags, TableBags, TablesPlan};

use crate::call::Sealed;
use crate::call::bag::erased::{Request, Tensors};
use crate::call::operator::{Operator, Reduces, TakesIndices};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Output;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};
use crate::types::reduction::Reduction;

/// Reduces bags of rows: `out[b] =` the sum, mean, greatest or least of `weights[i] * data[indices[i]]` over all `i` of
/// bag `b`, element by element, without storing the gathered rows.
///
/// Data has rank 1 or more, and its rows are what lies behind its first dimension. [`Bags`] say which indices belong to
/// which bag, and hold the weights. The result has the shape `[bags] + data.shape[1..]`.
///
/// Rows of a bag are taken in their order, and nothing else is added: the result is that of the plain loop, to the bit,
/// for any number of threads and at every level. Sums begin with 0, and a product with a weight is rounded before it is
/// added. For the arithmetic of each type, see [`Reduction`]: [`Add`](Reduction::Add), [`Mean`](Reduction::Mean),
/// [`Max`](Reduction::Max) and [`Min`](Reduction::Min). A bag in which no row counts yields zeros, or the row that
/// [`default_index`](Self::default_index) names.
///
/// The presets set what negative and out-of-range indices do. Under [`OutOfBounds::Zero`], an index out of range stands
/// for a row of zeros, which counts.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`] for data, indices and offsets,
/// [`Error::NoOffsets`], [`Error::AllocationFailed`] for a copy of the offsets, [`Error::BagOffsetOutOfRange`],
/// [`Error::RowOutOfRange`] for `padding_index` and `default_index`, [`Error::WeightsUnavailable`] and
/// [`Error::ShapeMismatch`].
///
/// # Examples
/// Two bags, of rows 0, 2 and of row 2, added with weights:
/// ```
/// use gather_core::{Bags, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
///     let (ids, offsets, weights) = ([0u32, 2, 2], [0i64, 2], [1.0, 0.5, -1.0]);
///     let (ids, offsets) = (View::new(&ids, &[3])?, View::new(&offsets, &[2])?);
///     let (table, weights) = (View::new(&table, &[3, 2])?, View::new(&weights, &[3])?);
///
///     let bags = Bags::new(&ids, &offsets).weights(&weights);
///     let sums = EmbeddingBag::new(Reduction::Add).run(&table, &bags)?;
///     assert_eq!((sums.shape(), sums.as_slice()), (&[2, 2][..], &[3.5, 5.0, -5.0, -6.0][..]));
///     Ok(())
/// }
/// ```
/// Bags of one length, with row 0 as padding:
/// ```
/// use gather_core::{Bags, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = ([9.0f32, 1.0, 2.0, 4.0], [1u8, 2, 0, 3, 0, 0]);
///     let (table, ids) = (View::new(&table, &[4, 1])?, View::new(&ids, &[2, 3])?);
///     let means = EmbeddingBag::torch(Reduction::Mean).padding_index(0).run(&table, &Bags::packed(&ids))?;
///     assert_eq!(means.as_slice(), [1.5, 4.0]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// OpenVINO
/// [EmbeddingBagOffsets-15](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-offsets-15.html)
/// and
/// [EmbeddingBagPacked-15](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/sparse/embedding-bag-packed-15.html),
/// and [`torch.nn.EmbeddingBag`](https://docs.pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html).
#[doc(alias("embedding_bag", "EmbeddingBagOffsets", "EmbeddingBagPacked", "embedding_lookup_sparse", "segment_sum"))]
pub type EmbeddingBag = Operator<Bagging>;

/// The kind of an [`EmbeddingBag`]: its reduction, its index policies, and the rows that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bagging {
    reduction: Reduction,
    policy: IndexPolicy,
    padding_index: Option<i64>,
    default_index: Option<i64>,
    skip_negative: bool,
    include_last_offset: bool,
}

impl Sealed for Bagging {}

impl TakesIndices for Bagging {
    type OutOfBounds = OutOfBounds;

    fn policy(&self) -> (NegativeIndex, OutOfBounds) {
        (self.policy.negative, self.policy.out_of_bounds)
    }

    fn policy_mut(&mut self) -> (&mut NegativeIndex, &mut OutOfBounds) {
        (&mut self.policy.negative, &mut self.policy.out_of_bounds)
    }
}

impl Reduces for Bagging {
    fn reduction(&self) -> Reduction {
        self.reduction
    }

    fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }
}

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

    /// Names a row that is left out wherever an index names it, and does not count. A negative number counts from the
    /// end.
    #[doc(alias("padding_idx"))]
    #[must_use]
    pub fn padding_index(mut self, padding_index: impl Into<Option<i64>>) -> Self {
        self.kind.padding_index = padding_index.into();
        self
    }

    /// Sets whether negative indices name no row: each is left out, and does not count. So rows that were pruned from a
    /// table keep their indices as -1. What [`negative_index`](Self::negative_index) says of them has no effect then.
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

    /// Names the row that stands for a bag in which no row counts, as it is, without a weight. It is not negative.
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

/// Indices of rows, and which of them belong to which bag; with weights, or without.
///
/// `T` is the type of the weights, which is that of the table's numbers ([`Element::Number`]), `I` that of the indices,
/// and `O` that of the offsets.
#[derive(Clone, Copy, Debug)]
pub struct Bags<'a, T, I, O = I> {
    indices: &'a View<'a, I>,
    offsets: Option<&'a View<'a, O>>,
    weights: Option<&'a View<'a, T>>,
}

impl<'a, T, I, O> Bags<'a, T, I, O> {
    /// Bags of any lengths. Indices and offsets are lists. Bag `b` begins with index `offsets[b]` and ends where the
    /// next one begins, and the last bag with the indices. The first offset is 0, and offsets ascend; where two are
    /// equal, the first of the two bags is empty. With [`EmbeddingBag::include_last_offset`], the last offset is the
    /// end of the last bag.
    #[must_use]
    pub fn new(indices: &'a View<'a, I>, offsets: &'a View<'a, O>) -> Self {
        Bags { indices, offsets: Some(offsets), weights: None }
    }

    /// The same bags, with a weight for each index.
    #[must_use]
    pub fn weights(self, weights: &'a View<'a, T>) -> Self {
        Bags { weights: Some(weights), ..self }
    }
}

impl<'a, T, I> Bags<'a, T, I> {
    /// Bags of one length: each row of indices of rank 2 is a bag.
    #[must_use]
    pub fn packed(indices: &'a View<'a, I>) -> Self {
        Bags { indices, offsets: None, weights: None }
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
    /// Cost: one pass over the rows in bags, and one over the indices, or one for each thread where one bag has more
    /// than a thread's share of them; one allocation, one for the bounds of bags with offsets, one for sums of bags of
    /// more than 512 rows, and one for a row of zeros under [`OutOfBounds::Zero`].
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`], errors of attributes and shapes, [`Error::TooManyElements`],
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`], [`Error::AllocationFailed`],
    /// then [`Error::IndexOutOfRange`] for the first such index of a bag in row-major order. Under [`OutOfBounds::Error`]
    /// indices are checked even when the result has no elements.
    pub fn run<T: Element, I: Index, O: Index>(
        &self,
        data: &View<'_, T>,
        bags: &Bags<'_, T::Number, I, O>,
    ) -> Result<Tensor<T>, Error> {
        let mut out = Tensor::default();
        self.run_into(data, bags, &mut out)?;
        Ok(out)
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
    /// this layout, with any indices and weights in the same bags, into row-major outputs. Of the bags, the offsets are
    /// read, and of indices and weights their layouts.
    ///
    /// # Errors
    /// As for [`Self::run`], without those of fresh memory and index values.
    pub fn plan<T: Element, I: Index, O: Index>(
        &self,
        data: &Layout,
        bags: &Bags<'_, T::Number, I, O>,
    ) -> Result<BagPlan<T, I>, Error> {
        BagPlan::new(&Request::typed::<T, I>(self, None)?, data, bags)
    }
}

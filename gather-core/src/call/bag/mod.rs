//! EmbeddingBag: its doors.

// The page of the operator lists methods in this order: `run` first, and the forms for types known at run time later.
mod typed;

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
use crate::call::bag::erased::{Erased, Tensors};
use crate::call::operator::{HasReduction, Operator, TakesIndices, takes_indices};
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
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
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`](crate::Error::RankOutOfRange) for data, indices
/// and offsets, [`Error::NoOffsets`](crate::Error::NoOffsets),
/// [`Error::AllocationFailed`](crate::Error::AllocationFailed) for a copy of the offsets,
/// [`Error::BagOffsetOutOfRange`](crate::Error::BagOffsetOutOfRange),
/// [`Error::RowOutOfRange`](crate::Error::RowOutOfRange) for `padding_index` and `default_index`,
/// [`Error::WeightsUnavailable`](crate::Error::WeightsUnavailable) and
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch).
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

takes_indices!(Bagging: policy.negative, policy.out_of_bounds: OutOfBounds);

impl HasReduction for Bagging {
    fn reduction(&self) -> Reduction {
        self.reduction
    }

    fn reduction_mut(&mut self) -> &mut Reduction {
        &mut self.reduction
    }
}

/// Indices of rows, the bag that each belongs to, and weights if there are any.
///
/// `T` is the type of the weights, which is that of the table's numbers ([`Element::Number`](crate::Element::Number)),
/// `I` that of the indices, and `O` that of the offsets.
#[derive(Clone, Copy, Debug)]
pub struct Bags<'a, T, I, O = I> {
    indices: &'a View<'a, I>,
    offsets: Option<&'a View<'a, O>>,
    weights: Option<&'a View<'a, T>>,
}

impl<'a, T, I, O> Bags<'a, T, I, O> {
    /// Bags of any lengths. Indices and offsets are lists. Bag `b` begins with index `offsets[b]` and ends where the
    /// next one begins; the last bag ends with the indices. The first offset is 0, and offsets ascend; where two are
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

/// The bags that a plan for rows of `T` and indices `I` runs: [`Bags`], or [`DynBags`] where types are known at run
/// time. Sealed.
///
/// # Safety
/// Indices and weights that [`BagsOf::on`] returns may be read along their layouts as values of the plan's types. Data
/// is returned as it is given, and there are no parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no bags for rows of `{T}` and indices `{I}`",
    note = "plans run `Bags` with indices of their type and weights of the rows' numbers, and `DynBags` where types are \
            known at run time"
)]
pub unsafe trait BagsOf<T, I>: Sealed {
    /// The tensors of a call on data, for a plan of these types of rows and indices.
    ///
    /// # Errors
    /// For types that are known at run time, [`Error::DTypeMismatch`](crate::Error::DTypeMismatch) and
    /// [`Error::NotAnIndexType`](crate::Error::NotAnIndexType).
    #[doc(hidden)]
    fn on<'a>(&'a self, data: Erased<'a>, types: (DType, DType)) -> Result<Tensors<'a>, Error>;
}

impl<T, I, O> Sealed for Bags<'_, T, I, O> {}

// SAFETY: they are views of these types (V1).
unsafe impl<T: Element, I: Index, O: Index> BagsOf<T, I> for Bags<'_, T::Number, I, O> {
    #[inline(always)]
    fn on<'a>(&'a self, data: Erased<'a>, _: (DType, DType)) -> Result<Tensors<'a>, Error> {
        Ok(Tensors::of(data, self))
    }
}

impl<'a, T, I> Bags<'a, T, I> {
    /// Bags of one length: each row of indices of rank 2 is a bag.
    #[must_use]
    pub fn packed(indices: &'a View<'a, I>) -> Self {
        Bags { indices, offsets: None, weights: None }
    }
}

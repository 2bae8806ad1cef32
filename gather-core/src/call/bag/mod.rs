//! The public methods of EmbeddingBag.
//!
//! ```text
//! a method (typed, inlined)           a `Reader` of data, the bags, the target of the output
//!     -> `BaggedBy` of the kind           `kinds.rs`, `maps.rs`, `fused.rs`: the request for a reduction
//!     -> a call or a plan without types   `erased.rs`, `planned.rs`
//! ```

pub(crate) mod bags;
mod erased;
mod fused;
pub(crate) mod kinds;
mod maps;
mod plan;
mod planned;
mod settings;
mod tables;
mod will_need;

pub use plan::BagPlan;

use crate::call::bag::bags::BagsOf;
use crate::call::bag::kinds::{BagKind, BaggedBy, with_tensors};
use crate::call::operator::{settings, takes_indices};
use crate::call::source::kind::Kind;
use crate::call::source::{Source, TensorOf};
use crate::kernels::reduce::reducer::Reducer;
use crate::plan::BagSettings;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::typing::Typing;
use crate::types::declare::accessors;
use crate::types::error::Error;
use crate::types::policy::{Options, OutOfBounds};
use crate::types::reduction::Reduction;

/// Reduces bags of rows: `out[b]` is the sum, mean, maximum or minimum of `weights[i] * data[indices[i]]` over all `i`
/// in bag `b`, elementwise, without storing the gathered rows.
///
/// Data has rank 1 or more; its rows are `data[r]`, of shape `data.shape[1..]`. [`Bags`](crate::Bags) hold the indices
/// of each bag, and the weights. The result has the shape `[bags] + data.shape[1..]`.
///
/// Data is a [`Source`]: a tensor, or a tensor adapted by [`View::map`](crate::View::map),
/// [`FusedRows::to`](crate::FusedRows::to) or [`tables`](crate::tables()). [`run`](BagOperator::run),
/// [`run_into`](BagOperator::run_into) and [`plan`](BagOperator::plan) take every source.
/// [`reduce_by`](BagOperator::reduce_by) replaces the [`Reduction`] by a reduction of your own.
///
/// Rows of a bag are reduced in the order of its indices. The result equals the plain loop to the bit, for any number
/// of threads and at every level. Sums begin with 0, and a product with a weight is rounded before it is added. For
/// the arithmetic of each type, see [`Reduction`]: [`Add`](Reduction::Add), [`Mean`](Reduction::Mean),
/// [`Max`](Reduction::Max) and [`Min`](Reduction::Min). A bag in which no row counts yields zeros, or the row that
/// [`default_index`](BagOperator::default_index) names.
///
/// The presets set the policies for negative and out-of-range indices. Under [`OutOfBounds::Zero`], an index out of
/// range selects a row of zeros, which counts.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`] for data, indices and offsets,
/// [`Error::NoOffsets`], [`Error::AllocationFailed`] for a copy of the offsets, [`Error::BagOffsetOutOfRange`],
/// [`Error::RowOutOfRange`] for `padding_index` and `default_index`, [`Error::CheckedAxisMismatch`] for
/// [`Checked`](crate::Checked) indices of another axis, [`Error::WeightsUnavailable`] and [`Error::ShapeMismatch`].
///
/// # Examples
/// Bag 0 has rows 0 and 2, bag 1 has row 2; both are weighted sums:
/// ```
/// use gather_core::{Bags, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
///     let (ids, offsets, weights) = ([0u32, 2, 2], [0i64, 2], [1.0, 0.5, -1.0]);
///
///     let bags = Bags::new(&ids, &offsets).weights(&weights);
///     let sums = EmbeddingBag::new(Reduction::Add).run(&View::new(&table, &[3, 2])?, &bags)?;
///     assert_eq!((sums.shape(), sums.as_slice()), (&[2, 2][..], &[3.5, 5.0, -5.0, -6.0][..]));
///     Ok(())
/// }
/// ```
/// Bags of equal length, with row 0 as padding:
/// ```
/// use gather_core::{Bags, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = ([9.0f32, 1.0, 2.0, 4.0], [1u8, 2, 0, 3, 0, 0]);
///     let (table, ids) = (View::new(&table, &[4, 1])?, View::new(&ids, &[2, 3])?);
///     let bag = EmbeddingBag::torch(Reduction::Mean).padding_index(0);
///     let means = bag.run(&table, &Bags::packed(&ids))?;
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
#[doc(alias("message passing", "message_passing", "csr", "spmm"))]
pub type EmbeddingBag = BagOperator<Reduction>;

/// An [`EmbeddingBag`] by a reduction `R`: a [`Reduction`], or a `&Reducer` of your own.
///
/// A small `Copy` value: the reduction, policies and options. Nothing is checked before the operator is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BagOperator<R> {
    reduction: R,
    settings: BagSettings,
    options: Options,
}

impl EmbeddingBag {
    /// Replaces the [`Reduction`] by a [`Reducer`] of your own, for elements `T`.
    ///
    /// A bag begins with its first row that counts, and takes the others in their order. Bags with weights give
    /// [`Error::WeightsUnavailable`]. A call panics if the reduction panics; a view then holds a mix of old and new
    /// elements, and a tensor is empty, or as before under [`Append`](crate::Append).
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
    ///
    /// gather_core::reduce_kernels! {
    ///     /// The bits of both.
    ///     pub static UNION = |kept: u8, new: u8| -> u8 { kept | new };
    /// }
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (sets, ids) = ([0b0001u8, 0b0110, 0b1000], View::new(&[0u32, 2, 1, 1], &[2, 2])?);
    ///     let bag = EmbeddingBag::new(Reduction::Add).reduce_by(&UNION);
    ///     let unions = bag.run(&sets, &Bags::packed(&ids))?;
    ///     assert_eq!(unions.as_slice(), [0b1001, 0b0110]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn reduce_by<T>(self, reducer: &Reducer<T>) -> BagOperator<&Reducer<T>> {
        BagOperator { reduction: reducer, settings: self.settings, options: self.options }
    }
}

impl<R> BagOperator<R> {
    /// Runs the operator into a fresh tensor. [`Source`] lists the kinds of data and of results.
    ///
    /// Cost: one pass over the rows in bags, and one over the indices. If one bag has more than a thread's share of the
    /// indices, every thread passes over all indices. One allocation for the result, one for the bounds of bags with
    /// offsets, one for sums of bags of more than 512 rows, and one for a row of zeros under [`OutOfBounds::Zero`].
    /// With a map, rows are converted in batches: each thread has a scratch of `max(16 KiB, one element)`, plus a row
    /// of sums if a bag has more rows than a batch.
    ///
    /// # Errors
    /// For types that are known at run time, [`Error::NotAnIndexType`] for indices and for offsets, then
    /// [`Error::DTypeMismatch`] for weights; without the feature `registry`, [`Error::KernelsNotCompiled`]. Then
    /// [`Error::ReductionUnavailable`], errors of attributes and shapes, [`Error::TooManyElements`],
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`], errors of the parameters of
    /// the source's adaptor, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`] for the first index of a bag
    /// out of range, in row-major order. Under [`OutOfBounds::Error`] indices are checked even if the result is empty.
    /// For several tables see [`tables`](crate::tables()).
    ///
    /// # Panics
    /// If a map or a reduction panics.
    pub fn run<S, B>(&self, data: &S, bags: &B) -> Result<TensorOf<S>, Error>
    where
        S: Source<Kind: BaggedBy<R>> + ?Sized,
        B: BagsOf<<S::Kind as BagKind>::Weight> + ?Sized,
    {
        written(<S::Kind as Kind>::Out::empty(data.dtype()), |out| self.run_into(data, bags, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a reused tensor. For
    /// fused rows, the rows of a view must be contiguous. Allocates as [`Self::run`] does, except for the result.
    ///
    /// # Errors
    /// As for [`Self::run`]. For a view also [`Error::DTypeMismatch`] and, for fused rows,
    /// [`Error::RowsNotContiguous`], both after [`Error::ReductionUnavailable`], and [`Error::ShapeMismatch`] after
    /// errors of shapes. Errors leave a view untouched, except [`Error::IndexOutOfRange`]: the view then holds a mix of
    /// results and its previous contents.
    ///
    /// # Panics
    /// If a map or a reduction panics; a view then holds a mix of old and new elements, and a tensor is empty, or as
    /// before under [`Append`](crate::Append).
    pub fn run_into<S, B, O>(&self, data: &S, bags: &B, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind: BaggedBy<R>> + ?Sized,
        B: BagsOf<<S::Kind as BagKind>::Weight> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        with_tensors(
            (data, bags, out),
            |_| None,
            |data, bags| S::Kind::request::<B::Index>(self, data, bags),
            kinds::run::<S::Kind>,
        )
    }

    /// The shape of the result, for shapes of data and indices and the number of offsets (`None` for packed bags).
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], [`Error::NoOffsets`], then [`Error::TooManyElements`] for data, indices or result.
    pub fn output_shape(&self, data: &[usize], indices: &[usize], offsets: Option<usize>) -> Result<Shape, Error> {
        erased::check_ranks(data.len(), indices.len(), offsets.map(|_| 1))?;
        let (data, indices) = (Layout::contiguous(data)?, Layout::contiguous(indices)?);
        let bags = match offsets {
            None => indices.shape()[0],
            Some(0) if self.settings.include_last_offset => return Err(Error::NoOffsets),
            Some(offsets) => offsets - usize::from(self.settings.include_last_offset),
        };
        Ok(erased::output(&data, bags)?.shape().into())
    }
}

settings! {
    BagOperator<R>,
    /// Bags take [`Method::Accumulated`](crate::Method::Accumulated).
}
takes_indices! {
    BagOperator<R>: settings.policy.negative,
    /// Sets the policy for indices out of range.
    settings.policy.out_of_bounds: OutOfBounds
}
impl EmbeddingBag {
    accessors! { self:
        /// Sets the reduction: how the rows of a bag become one row.
        pub fn reduction(reduction: Reduction) => self.reduction = reduction;
        /// The reduction.
        pub fn get_reduction() -> Reduction => self.reduction;
    }
}

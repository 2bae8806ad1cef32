//! Fused rows, read as floats of a type.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::tensor::fused::FusedRows;
use crate::types::codes::Float;
use crate::types::element::DType;

/// Fused rows read as floats `U`: the result of [`FusedRows::to`].
#[derive(Clone, Copy, Debug)]
pub struct FusedView<'a, U> {
    pub(super) table: &'a FusedRows<'a>,
    to: PhantomData<fn() -> U>,
}

/// Fused rows read as floats of a type known at run time: the result of [`FusedRows::to_dyn`].
#[derive(Clone, Copy, Debug)]
pub struct DynFusedView<'a> {
    pub(super) table: &'a FusedRows<'a>,
    pub(super) dtype: DType,
}

impl FusedRows<'_> {
    /// Reads rows as floats: each value is `code * scale + bias`, computed in `f32`, with the product rounded before
    /// the bias is added. The result is `f32`; with the feature `half` it may be `f16` or `bf16`, rounded once more.
    ///
    /// A gather along axis 0 has a result of shape `indices.shape + [columns]`. Negative indices and indices out of
    /// range are as for views, with rows of zeros under [`OutOfBounds::Zero`](crate::OutOfBounds::Zero).
    ///
    /// An [`EmbeddingBag`](crate::EmbeddingBag) has a result of shape `[bags, columns]`: the sums, means or extremes
    /// of the rows as `f32`, as if the table had been decoded first. No decoded table is made, and rows are read once.
    /// Sums are made in `f32`, and rounded once. Weights are `f32` for every result type; the product of a value and
    /// its weight is rounded before it is added. Bits are the same at every level and for any number of threads.
    ///
    /// Cost: one pass over the indices, one over the rows that they name.
    ///
    /// # Errors
    /// The errors of the call, with [`Error::QuantizedAxis`](crate::Error::QuantizedAxis) for axis 1, and the errors of
    /// [`View::rows`](crate::View::rows). A plan runs on tables of its format and columns. Other tables give
    /// [`Error::FusedFormatMismatch`](crate::Error::FusedFormatMismatch), then
    /// [`Error::PlanMismatch`](crate::Error::PlanMismatch). Bags have reductions [`Add`](crate::Reduction::Add),
    /// [`Mean`](crate::Reduction::Mean), [`Max`](crate::Reduction::Max) and [`Min`](crate::Reduction::Min), and a view
    /// that they write to has contiguous rows.
    ///
    /// # Examples
    /// ```
    /// use gather_core::{FusedFormat, FusedRows, Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // Scale 0.5 and bias -1 as `f16`, then codes 0, 15 and 2.
    ///     let bytes = [0x00, 0x38, 0x00, 0xbc, 0xf0, 0x02];
    ///     let table = FusedRows::new(View::new(&bytes, &[1, 6])?, FusedFormat::Fbgemm4, 3)?;
    ///     let rows = Gather::new(0).run(&table.to::<f32>(), &[0u8, 0])?;
    ///     assert_eq!((rows.shape(), &rows.as_slice()[..3]), (&[2, 3][..], &[-1.0, 6.5, 0.0][..]));
    ///     Ok(())
    /// }
    /// ```
    /// Sums over a table in the byte format of PyTorch, of two rows of three columns:
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mut bytes = vec![0u8, 1, 255];
    ///     bytes.extend(0.5f32.to_le_bytes().into_iter().chain((-1.0f32).to_le_bytes()));
    ///     bytes.extend([3u8, 2, 1]);
    ///     bytes.extend(2.0f32.to_le_bytes().into_iter().chain(0.0f32.to_le_bytes()));
    ///     let table = FusedRows::new(View::new(&bytes, &[2, 11])?, FusedFormat::Torch8, 3)?;
    ///
    ///     let (sum, bags) = (EmbeddingBag::new(Reduction::Add), Bags::new(&[0i64, 1, 1], &[0i64, 2]));
    ///     let sums = sum.run(&table.to::<f32>(), &bags)?;
    ///     assert_eq!((sums.shape(), sums.as_slice()), (&[2, 3][..], &[5.0, 3.5, 128.5, 6.0, 4.0, 2.0][..]));
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn to<U: Float>(&self) -> FusedView<'_, U> {
        FusedView { table: self, to: PhantomData }
    }

    /// As [`FusedRows::to`], for floats of a type known at run time.
    ///
    /// # Errors
    /// The errors of the call. For a type that is not a [`Float`], a gather gives
    /// [`Error::DTypeMismatch`](crate::Error::DTypeMismatch), and bags give
    /// [`Error::ReductionUnavailable`](crate::Error::ReductionUnavailable).
    #[must_use]
    pub fn to_dyn(&self, dtype: DType) -> DynFusedView<'_> {
        DynFusedView { table: self, dtype }
    }
}

//! Fused rows: the bytes of a table with their format, checked once.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::codes::Float;
use crate::types::declare::accessors;
use crate::types::error::Error;
use crate::types::fused::{FusedFormat, FusedRow};
use crate::types::op::{Argument, Op};

/// A table whose rows are codes of 8, 4 or 2 bits, with each row's scale and bias in the same bytes. These are the
/// quantised embedding tables of PyTorch and FBGEMM, in place.
///
/// [`FusedRows::to`] reads its rows as numbers, for gathers and for an [`EmbeddingBag`](crate::EmbeddingBag).
/// [`tables`](crate::tables()) reads several tables in one call.
///
/// ```
/// use gather_core::{FusedFormat, FusedRows, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let values = [0.0f32, 0.5, 1.0, -3.0, -3.0, 252.0];
///     let bytes = FusedRows::quantize(FusedFormat::Torch8, &View::new(&values, &[2, 3])?)?;
///     assert_eq!(bytes.shape(), [2, 3 + 8]);
///     let table = FusedRows::new(bytes.view(), FusedFormat::Torch8, 3)?;
///     assert_eq!((table.rows(), table.columns()), (2, 3));
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct FusedRows<'a> {
    data: View<'a, u8>,
    row: FusedRow,
    /// One byte per column, with the row stride of the data.
    layout: Layout,
}

impl<'a> FusedRows<'a> {
    /// The rows of `data`, of shape `[rows, bytes of a row]`. Rows are contiguous, at any alignment and row stride.
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], [`Error::FusedRowMismatch`] if `columns` columns take another number of bytes, then
    /// [`Error::RowsNotContiguous`].
    pub fn new(data: View<'a, u8>, format: FusedFormat, columns: usize) -> Result<Self, Error> {
        let (op, argument) = (Op::EmbeddingBag, Argument::Data);
        let &[rows, bytes] = data.shape() else {
            return Err(Error::RankOutOfRange { op, argument, rank: data.rank(), min: 2, max: 2 });
        };
        let expected = format.row_bytes(columns);
        let row = FusedRow::new(format, columns).filter(|row| row.bytes() == bytes);
        let row = row.ok_or(Error::FusedRowMismatch { format, columns, expected, got: bytes })?;
        if data.strides()[1] != 1 {
            return Err(Error::RowsNotContiguous { op, argument });
        }
        let layout = Layout::strided(&[rows, columns], &[data.strides()[0], 1])?;
        Ok(FusedRows { data, row, layout })
    }

    /// The rows of a plain table of numbers, of shape `[rows, columns]`. Use it for a plain table among quantised
    /// tables, or for sums and weights of a type other than the table's. Rows are contiguous, at any row stride.
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], then [`Error::RowsNotContiguous`].
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [1.5f32, 0.25, 3.0, 4.0];
    ///     let table = FusedRows::plain(View::new(&table, &[2, 2])?)?;
    ///     let ids = View::new(&[1u8, 0], &[1, 2])?;
    ///     let sums = EmbeddingBag::new(Reduction::Add).run(&table.to::<f32>(), &Bags::packed(&ids))?;
    ///     assert_eq!(sums.as_slice(), [4.5, 4.25]);
    ///     Ok(())
    /// }
    /// ```
    pub fn plain<T: Float>(data: View<'a, T>) -> Result<Self, Error> {
        let (op, argument) = (Op::EmbeddingBag, Argument::Data);
        let &[_, columns] = data.shape() else {
            return Err(Error::RankOutOfRange { op, argument, rank: data.rank(), min: 2, max: 2 });
        };
        let bytes = data.bytes_of_rows().ok_or(Error::RowsNotContiguous { op, argument })?;
        FusedRows::new(bytes, T::FORMAT, columns)
    }

    /// Quantises rows of shape `[rows, columns]`, of any strides, to bytes of shape `[rows, bytes of a row]`.
    ///
    /// For finite values the bytes equal PyTorch's. For `Fbgemm` formats codes, scale and bias equal the output of
    /// `FloatToFusedNBitRowwiseQuantizedSBHalf`; scale and bias come before the codes. The codes of a row span its
    /// minimum to its maximum. If a row is not finite, its codes are the result of the same arithmetic.
    ///
    /// Cost: an allocation for the result, and one for a row of values; two passes over the values.
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], [`Error::TooManyElements`], then [`Error::AllocationFailed`].
    pub fn quantize(format: FusedFormat, rows: &View<'_, f32>) -> Result<Tensor<u8>, Error> {
        let (op, argument) = (Op::EmbeddingBag, Argument::Data);
        let &[count, columns] = rows.shape() else {
            return Err(Error::RankOutOfRange { op, argument, rank: rows.rank(), min: 2, max: 2 });
        };
        let too_many = || Error::TooManyElements { shape: [count, columns].into() };
        let row = FusedRow::new(format, columns).ok_or_else(too_many)?;
        let shape = Shape::from([count, row.bytes()]);
        let len = Shape::checked_len(&shape)?;
        let mut bytes: Vec<u8> = memory::reserve(len)?;
        bytes.resize(len, 0);
        let mut values: Vec<f32> = memory::reserve(columns)?;
        for (number, to) in bytes.chunks_exact_mut(row.bytes().max(1)).enumerate() {
            values.clear();
            values.extend((0..columns).filter_map(|column| rows.get(&[number, column]).copied()));
            row.encode(&values, to);
        }
        Ok(Tensor::from_parts(bytes, shape))
    }

    accessors! { self:
        /// The bytes.
        pub fn data() -> &View<'a, u8> => &self.data;
        /// The format of the rows.
        pub fn format() -> FusedFormat => self.row.format();
        /// The number of columns.
        pub fn columns() -> usize => self.row.columns();
        /// The number of rows.
        pub fn rows() -> usize => self.data.shape()[0];
    }

    pub(crate) fn row(&self) -> &FusedRow {
        &self.row
    }

    /// The shape `[rows, columns]`, with the row stride in bytes.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }
}

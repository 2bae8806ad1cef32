//! Several tables of fused rows, for one call.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Dyn;
use crate::types::codes::Float;
use crate::types::element::DType;
use crate::types::error::Error;

/// Tables of [`FusedRows`] that bags reduce to floats `U`: the result of [`tables`], or of [`tables_dyn`] for [`Dyn`].
#[derive(Clone, Debug)]
pub struct TablesView<'a, U> {
    pub(super) tables: Vec<&'a FusedRows<'a>>,
    /// An empty layout: each table has its own.
    pub(super) empty: Layout,
    pub(super) dtype: DType,
    to: PhantomData<fn() -> U>,
}

impl<'a, U> TablesView<'a, U> {
    fn new(dtype: DType, tables: Vec<&'a FusedRows<'a>>) -> Result<Self, Error> {
        if tables.is_empty() {
            return Err(Error::NoTables);
        }
        let columns = tables.iter().try_fold(0, |columns: usize, table| columns.checked_add(table.columns()));
        columns.ok_or_else(|| Error::TooManyElements { shape: [usize::MAX].into() })?;
        Ok(TablesView { tables, empty: Layout::contiguous(&[0])?, dtype, to: PhantomData })
    }

    /// The address of no elements: dangling.
    pub(super) fn start(&self) -> *const u8 {
        core::ptr::dangling()
    }
}

/// Several tables for one call of [`EmbeddingBag`](crate::EmbeddingBag), each with its own bags. Each table becomes a
/// range of columns of the result, in the order of the tables, decoded as by [`FusedRows::to`]. Tables hold rows of any
/// [`FusedFormat`](crate::FusedFormat), also plain rows, and of any number of columns. `[&users, &items]` is a list of
/// tables, and so is `&tables` of a vector.
///
/// The bags are a list with [`Bags`](crate::Bags) for each table, all of one type. Bags have `f32` weights or no
/// weights, and all tables have the same number of bags. The result has the shape `[bags, columns of all tables]`. Its
/// type is `f32`, or with the feature `half` also `f16` or `bf16`, for any formats. The settings of the operator hold
/// for all tables. Threads share the bags of all tables. The result equals one call per table, to the bit.
///
/// Cost: one allocation for the list of tables. A call costs as much as one call per table, with one allocation for
/// the result, and lists of one entry per table.
///
/// # Errors
/// [`Error::NoTables`], then [`Error::TooManyElements`] for the columns.
///
/// A call returns [`Error::InTable`], with the number of a table, for errors of types known at run time, then
/// [`Error::DTypeMismatch`] of a view, [`Error::TablesMismatch`] without one `Bags` per table, and
/// [`Error::RowsNotContiguous`] of a view. Then [`Error::InTable`] for errors of settings and formats of any table,
/// then for errors of ranks, offsets and weights, and for [`Error::BagsMismatch`]. Then [`Error::TooManyElements`],
/// [`Error::ShapeMismatch`] of a view, [`Error::AllocationFailed`] for the result, and last [`Error::InTable`] with
/// [`Error::AllocationFailed`] or [`Error::IndexOutOfRange`].
///
/// A plan runs on tables of its formats, shapes and row strides, into row-major outputs. Other tables and outputs give
/// [`Error::TablesMismatch`], [`Error::InTable`] with [`Error::FusedFormatMismatch`] or [`Error::PlanMismatch`], and
/// [`Error::NotRowMajor`] of a view.
///
/// # Examples
/// A plain table of two columns, and a quantised table of three:
/// ```
/// use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Reduction, View, tables};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let users = [1.0f32, 2.0, 3.0, 4.0];
///     let users = FusedRows::plain(View::new(&users, &[2, 2])?)?;
///     let items = [0.0f32, 14.0, 30.0, 1.0, 1.0, 16.0];
///     let items = FusedRows::quantize(FusedFormat::Torch4, &View::new(&items, &[2, 3])?)?;
///     let items = FusedRows::new(items.view(), FusedFormat::Torch4, 3)?;
///     let both = tables::<f32>([&users, &items])?;
///
///     // Two requests, each with one user and a list of items; item -1 was pruned.
///     let sum = EmbeddingBag::new(Reduction::Add).skip_negative(true);
///     let bags = [Bags::new(&[1i64, 0][..], &[0i64, 1][..]), Bags::new(&[0, 1, -1], &[0, 2])];
///     let rows = sum.run(&both, &bags)?;
///     assert_eq!(rows.shape(), [2, 5]);
///     assert_eq!(rows.as_slice(), [3.0, 4.0, 1.0, 15.0, 46.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
///
///     let plan = sum.plan(&both, &bags)?;
///     assert_eq!(plan.run(&both, &bags)?, rows);
///     Ok(())
/// }
/// ```
#[doc(alias("table_batched_embedding", "SplitTableBatchedEmbeddingBags", "embedding_bag_collection"))]
pub fn tables<'a, U: Float>(tables: impl IntoIterator<Item = &'a FusedRows<'a>>) -> Result<TablesView<'a, U>, Error> {
    TablesView::new(U::DTYPE, tables.into_iter().collect())
}

/// As [`tables`], for floats of a type known at run time. Each table may have bags of its own types, as
/// [`DynView`](crate::DynView)s.
///
/// ```
/// use gather_core::{Bags, DynView, Element, EmbeddingBag, FusedRows, Reduction, View, tables_dyn};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (a, b) = ([1.0f32, 2.0], [10.0f32, 20.0, 30.0, 40.0]);
///     let (a, b) = (FusedRows::plain(View::new(&a, &[2, 1])?)?, FusedRows::plain(View::new(&b, &[2, 2])?)?);
///     let (ids, pairs) = (View::new(&[1u8], &[1, 1])?, View::new(&[0i64, 1], &[1, 2])?);
///     let (ids, pairs) = (DynView::from(&ids), DynView::from(&pairs));
///     let both = tables_dyn(f32::DTYPE, [&a, &b])?;
///     let rows = EmbeddingBag::new(Reduction::Add).run(&both, &[Bags::packed(&ids), Bags::packed(&pairs)])?;
///     assert_eq!(rows.downcast::<f32>()?.as_slice(), [2.0, 40.0, 60.0]);
///     Ok(())
/// }
/// ```
///
/// # Errors
/// As for [`tables`]; a call also has [`Error::ReductionUnavailable`] for a type that is not a [`Float`].
pub fn tables_dyn<'a>(
    dtype: DType,
    tables: impl IntoIterator<Item = &'a FusedRows<'a>>,
) -> Result<TablesView<'a, Dyn>, Error> {
    TablesView::new(dtype, tables.into_iter().collect())
}

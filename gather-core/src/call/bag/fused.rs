//! Bags of fused rows.

#![forbid(unsafe_code)]

use crate::call::bag::BagOperator;
use crate::call::bag::bags::PerTable;
use crate::call::bag::erased::{ErasedBags, ErasedTensor, one};
use crate::call::bag::kinds::{BagKind, BaggedBy, Request, positions};
use crate::call::bag::tables::TablesRequest;
use crate::call::source::kind::{Fused, IndexKind, Tables};
use crate::call::source::reader::{Format, Reader};
use crate::kernels::reduce::bag::FusedOutput;
use crate::plan::BagRequest;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Dyn;
use crate::types::codes::Float;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::{Argument, Op};
use crate::types::reduction::Reduction;

/// Implements [`BagKind`] and [`BaggedBy`]. `$output` rounds the sums; it is `None` if the type is not a [`Float`].
macro_rules! fused {
    ($([$($generics:tt)*] $U:ty: |$dtype:ident| $output:expr;)*) => {$(
        impl<$($generics)*> BagKind for Fused<$U> {
            type Weight = f32;

            const WEIGHT: Option<DType> = Some(f32::DTYPE);
        }

        impl<$($generics)*> BaggedBy<Reduction> for Fused<$U> {
            #[inline(always)]
            fn request<'a, I: IndexKind>(
                op: &'a BagOperator<Reduction>,
                data: &Reader<'_>,
                bags: &[ErasedBags<'_>],
            ) -> Result<Request<'a>, Error> {
                let Format::Fused(table) = data.format else { unreachable!("a source of fused rows") };
                let ($dtype, positions) = (data.dtype, positions::<I>(data.dtype, one(bags).index)?);
                Ok(Request::Rows(BagRequest::fused(op, *table.row(), ($dtype, $output), positions)?))
            }
        }

        impl<$($generics)*> BagKind for Tables<$U> {
            type Weight = PerTable<f32>;

            const WEIGHT: Option<DType> = Some(f32::DTYPE);
        }

        impl<$($generics)*> BaggedBy<Reduction> for Tables<$U> {
            #[inline(always)]
            fn request<'a, I: IndexKind>(
                op: &'a BagOperator<Reduction>,
                data: &Reader<'_>,
                _: &[ErasedBags<'_>],
            ) -> Result<Request<'a>, Error> {
                let ($dtype, of_table) = (data.dtype, BagRequest::fused);
                let output = $output;
                Ok(Request::Tables(TablesRequest { op, dtype: $dtype, output, positions: I::positions, of_table }))
            }
        }
    )*};
}
fused! {
    [U: Float] U: |dtype| Some(const { FusedOutput::of::<U>() });
    [] Dyn: |dtype| FusedOutput::of_dtype(dtype);
}

/// A table whose layout counts each column as one byte.
impl<'a> From<&'a FusedRows<'_>> for ErasedTensor<'a> {
    fn from(table: &'a FusedRows<'_>) -> Self {
        ErasedTensor { origin: table.data().origin(), layout: table.layout() }
    }
}

/// Checks that the rows of an output are contiguous.
pub(super) fn check_rows(out: &Layout) -> Result<(), Error> {
    match (out.shape(), out.strides()) {
        (&[.., columns], &[.., stride]) if columns > 1 && stride != 1 => {
            Err(Error::RowsNotContiguous { op: Op::EmbeddingBag, argument: Argument::Output })
        }
        _ => Ok(()),
    }
}

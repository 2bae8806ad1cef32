//! Bags of fused rows.

#![forbid(unsafe_code)]

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{BagCallRequest, BagTensors, Erased, ErasedBags, one};
use crate::call::bag::kinds::{Bagged, BaggedBy, positions};
use crate::call::bag::plan::{PlannedBags, Reads};
use crate::call::bag::planned::PlannedBag;
use crate::call::gather::fused::check_format;
use crate::call::source::kind::{Fused, IndexKind};
use crate::call::source::{Described, Reading};
use crate::kernels::reduce::bag::FusedOutput;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Any;
use crate::types::codes::Float;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::{Argument, Op};
use crate::types::reduction::Reduction;

/// The floats that fused rows are reduced to: of a type that the compiler knows, or of one known at run time.
pub(super) trait Reduced {
    /// The output that rounds sums to a data type; `None` where it is no [`Float`].
    fn output(dtype: DType) -> Option<FusedOutput>;
}

impl<U: Float> Reduced for U {
    #[inline(always)]
    fn output(_: DType) -> Option<FusedOutput> {
        Some(const { FusedOutput::of::<U>() })
    }
}

impl Reduced for Any {
    fn output(dtype: DType) -> Option<FusedOutput> {
        FusedOutput::of_dtype(dtype)
    }
}

/// Implements both traits for fused rows.
macro_rules! fused {
    ($([$($generics:tt)*] $U:ty;)*) => {$(
        impl<$($generics)*> Bagged for Fused<$U> {
            type Weight = f32;

            type BagCallRequest<'a> = BagCallRequest<'a>;

            #[inline(always)]
            fn weight(_: DType) -> DType {
                f32::DTYPE
            }

            #[inline]
            fn run(
                request: BagCallRequest<'_>,
                data: &Reading<'_, Self>,
                tensors: BagTensors<'_, '_>,
            ) -> Result<(), Error> {
                tensors.out().layout().map_or(Ok(()), check_rows)?;
                // B7: the request is for these rows.
                request.run(tensors.of_table(data.described.facts))
            }

            #[inline]
            fn plan(
                request: BagCallRequest<'_>,
                data: Described<'_, Self>,
                bags: &[ErasedBags<'_>],
            ) -> Result<PlannedBags, Error> {
                let planned = PlannedBag::new(&request, data.facts.layout(), one(bags))?;
                Ok(PlannedBags::Rows(planned, Reads::Fused(data.facts.format())))
            }

            #[inline]
            fn run_plan(
                plan: &PlannedBags,
                data: &Reading<'_, Self>,
                tensors: BagTensors<'_, '_>,
            ) -> Result<(), Error> {
                let PlannedBags::Rows(planned, Reads::Fused(format)) = plan else { unreachable!("fused rows") };
                check_format(*format, data.described.facts)?;
                // B7: the format has just been checked, and the columns are those of the layout, which the plan
                // compares.
                planned.run(tensors.of_table(data.described.facts))
            }
        }

        impl<$($generics)*> BaggedBy<Reduction> for Fused<$U> {
            #[inline]
            fn request<'a, I: IndexKind>(
                op: &'a BagOperator<Reduction>,
                data: &Described<'_, Self>,
                bags: &[ErasedBags<'_>],
            ) -> Result<BagCallRequest<'a>, Error> {
                let (dtype, index) = (data.dtype, one(bags).index);
                let output = (dtype, <$U as Reduced>::output(dtype));
                BagCallRequest::fused(op, data.facts.row(), output, positions::<I>(dtype, index)?)
            }
        }
    )*};
}
fused! {
    [U: Float] U;
    [] Any;
}

/// The rows with their columns, each of which counts as a byte.
impl<'a> From<&'a FusedRows<'_>> for Erased<'a> {
    fn from(table: &'a FusedRows<'_>) -> Self {
        Erased { origin: table.data().origin(), layout: table.layout() }
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

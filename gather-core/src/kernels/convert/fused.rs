//! Fused rows: codes with their own scale and bias, decoded whole.

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::kernels::columns_avx2::Eight as Columns;
use crate::kernels::convert::decode::{Decode, DecodeFns, ErasedParams};
#[cfg(target_arch = "x86_64")]
use crate::kernels::convert::vectors;
use crate::kernels::level_fn::Token;
use crate::kernels::nest::args::Place;
use crate::types::codes::Float;
#[cfg(not(target_arch = "x86_64"))]
use crate::types::fused::Coding as Columns;
use crate::types::fused::{FusedFormat, FusedRow, by_coding};

/// The functions that decode rows of a format, by level.
pub(crate) fn decode_fns<U: Float>(format: FusedFormat) -> &'static DecodeFns {
    by_coding!(format, C => const { &DecodeFns::of::<InFusedRows<U, C>>() })
}

/// Decodes fused rows of the coding `C` to numbers `U`.
pub(crate) struct InFusedRows<U, C>(PhantomData<(U, C)>);

impl<U: Float, C: Columns> Decode for InFusedRows<U, C> {
    type In = u8;
    type Out = U;
    type Given<'a> = FusedRow;

    const WHOLE: bool = true;

    #[inline(always)]
    unsafe fn decode(level: impl Token, from: &[u8], to: &mut [MaybeUninit<U>], row: &FusedRow, _: Place) {
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = level.avx2()
            && vectors::fused::<C, U>(level, from, row, to)
        {
            return;
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = level;
        row.decode::<C, U, _>(from, 0, to);
    }

    #[inline(always)]
    fn results(row: &FusedRow, _: usize) -> usize {
        row.columns()
    }

    #[inline(always)]
    fn held<'g, 'a: 'g>(row: &'g FusedRow) -> impl Borrow<FusedRow> + 'g {
        *row
    }

    #[inline(always)]
    fn erased(row: &FusedRow) -> ErasedParams<'_> {
        erased(row)
    }
}

/// The format of a row as the params of its decoder.
#[inline(always)]
pub(crate) fn erased(row: &FusedRow) -> ErasedParams<'_> {
    ErasedParams { given: (&raw const *row).cast(), ..ErasedParams::NONE }
}

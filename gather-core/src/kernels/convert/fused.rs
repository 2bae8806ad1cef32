//! Fused rows: codes with a scale and a bias of their own, decoded whole.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::convert::decode::{Decode, DecodeFns, ErasedParams};
use crate::kernels::nest::args::Place;
use crate::types::codes::Float;
use crate::types::fused::{Coding, FusedFormat, FusedRow, by_coding};

/// The functions that decode rows of a format, by level.
pub(crate) fn decode_fns<U: Float>(format: FusedFormat) -> &'static DecodeFns {
    by_coding!(format, C => const { &DecodeFns::of::<InFusedRows<U, C>>() })
}

/// Codes of a coding in fused rows, which become numbers `U`.
pub(crate) struct InFusedRows<U, C>(PhantomData<(U, C)>);

impl<U: Float, C: Coding> Decode for InFusedRows<U, C> {
    type In = u8;
    type Out = U;
    type Given<'a> = FusedRow;

    const WHOLE: bool = true;

    #[inline(always)]
    unsafe fn decode(from: &[u8], to: &mut [MaybeUninit<U>], row: &FusedRow, _: Place) {
        row.decode::<C, U, _>(from, 0, to);
    }

    #[inline(always)]
    fn results(row: &FusedRow, _: usize) -> usize {
        row.columns()
    }

    #[inline(always)]
    fn erased(row: &FusedRow) -> ErasedParams<'_> {
        erased(row)
    }
}

/// A row's format, as what decodes it reads it.
#[inline(always)]
pub(crate) fn erased(row: &FusedRow) -> ErasedParams<'_> {
    ErasedParams { given: (&raw const *row).cast(), ..ErasedParams::NONE }
}

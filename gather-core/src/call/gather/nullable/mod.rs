//! Gathers of data and indices with nulls: bitmaps of Apache Arrow go in, and one comes out.
//!
//! The pipeline of all gathers runs them, on positions in place of indices: see `exec::nulls`.

mod call;
mod plan;
mod sizes;

use core::borrow::Borrow;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::call::gather::kinds::{self, GatheredBy, Outputs, with_operands};
use crate::call::gather::nullable::call::{Call, Facts, OnceFns, Runs};
pub use crate::call::gather::nullable::plan::NullablePlan;
pub(super) use crate::call::gather::nullable::sizes::ByPosition;
use crate::call::source::kind::{IndexKind, Kind};
use crate::call::source::{Describe, Source, TensorOf};
use crate::exec::Operands;
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::output::{Output, Target};
use crate::tensor::typing::Typing;
#[cfg(doc)]
use crate::types::element::Element;
use crate::types::error::Error;
#[cfg(doc)]
use crate::types::policy::OutOfBounds;

/// A gather of data and indices with nulls, as bitmaps of Apache Arrow mark them: the `take` of Arrow, along any axis
/// and for tuples too. Made by [`Gather::nullable`](GatherOperator::nullable).
///
/// - A null index yields null, whatever its value. The values are zeros ([`Element::ZERO`]); under a row function, the
///   value of [`with_fill`](crate::RowFunction::with_fill).
/// - A valid index that names a null yields null, and the values of data unchanged.
/// - A valid index out of range follows [`OutOfBounds`]. Zeros are then valid values.
///
/// [`Nulls`] has two optional bitmaps:
/// - `indices` has a bit for each index in row-major order; in GatherNd for each tuple.
/// - `data` has a bit for each row that an index can name, in row-major order of the dimensions before the row (Arrow's
///   fixed-size lists), or for each element of data (masked arrays). Rows have one element in GatherElements, and in
///   Gather along the last axis, so in all arrays of one dimension. Row functions, fused rows and blocks take only bits
///   of rows.
///
/// The returned bitmap has a bit for each row of the result, or for each element if the bitmap of data has a bit per
/// element. If no value is null, `None` is returned.
///
/// ```
/// use gather_core::{Bitmap, Gather, Nulls};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // 10, null, 30, 40 and 3, null, 1, 0.
///     let (data, indices) = ([10, 0, 30, 40], [3u32, 99, 1, 0]);
///     let (valid_data, valid_indices) = ([0b1101], [0b1101]);
///     let nulls = Nulls {
///         indices: Some(Bitmap::new(&valid_indices, 0, 4)?),
///         data: Some(Bitmap::new(&valid_data, 0, 4)?),
///     };
///     // 40, null, null, 10.
///     let (taken, validity) = Gather::new(0).nullable().run(&data, &indices, nulls)?;
///     assert_eq!(taken.as_slice(), [40, 0, 0, 10]);
///     let validity = validity.expect("nulls");
///     assert_eq!((validity.as_bytes(), validity.null_count()), (&[0b1001][..], 2));
///     Ok(())
/// }
/// ```
///
/// # Definition
/// [Validity bitmaps](https://arrow.apache.org/docs/format/Columnar.html#validity-bitmaps) of Arrow's columnar format,
/// and `take` of its libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nullable<A> {
    gather: GatherOperator<A>,
}

impl<A> GatherOperator<A> {
    /// The operator on data and indices with nulls, with the same attributes, policies and settings.
    ///
    /// ```
    /// use gather_core::{Bitmap, Gather, Nulls};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let nulls = Nulls { indices: Some(Bitmap::new(&[0b10], 0, 2)?), ..Nulls::default() };
    ///     let (taken, validity) = Gather::new(0).nullable().run(&[1.5f32, 2.5], &[9u32, 1], nulls)?;
    ///     assert_eq!((taken.as_slice(), validity.expect("a null").as_bytes()), (&[0.0, 2.5][..], &[0b10][..]));
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("take", "null", "nulls", "validity", "masked"))]
    #[must_use]
    pub fn nullable(self) -> Nullable<A> {
        Nullable { gather: self }
    }
}

impl<A: IndexAttributes> Nullable<A> {
    /// Runs the operator into a fresh tensor, and into a fresh bitmap if a value is null.
    ///
    /// Cost: as [`GatherOperator::run`], plus two passes on the calling thread. One writes a position of 4 bytes per
    /// index (8 bytes for an axis longer than `i32::MAX`), one visits the bits of the result. `Checked<i32>` indices
    /// are positions, which are copied if an index is null, else read in place. Without nulls, the cost is
    /// [`GatherOperator::run`] plus a search of the bitmaps. A bitmap of data with more bits than indices is not
    /// searched, and costs both passes. Allocates the bitmap, and the positions of more than 512 indices.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] and [`Error::UnknownDType`] for types known at run time; without the feature
    /// `registry`, [`Error::KernelsNotCompiled`]. Errors of [checked indices](crate::Checked#errors), attributes and
    /// shapes, [`Error::TooManyElements`], [`Error::BitmapLengthMismatch`] for indices, [`Error::BitmapPerElement`] and
    /// [`Error::BitmapLengthMismatch`] for data, [`Error::LevelUnavailable`], [`Error::AllocationFailed`],
    /// [`Error::IndexOutOfRange`] for the first valid index out of range in row-major order, then errors of
    /// [`GatherOperator::run`] under [`OutOfBounds::Zero`].
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S, X>(&self, data: &S, indices: &X, nulls: Nulls<'_>) -> Result<(TensorOf<S>, Option<Validity>), Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        let mut out = <S::Kind as Kind>::Out::empty(data.dtype());
        let validity = self.with(data, indices, nulls, &mut out, |call, operands| call.run_fresh(operands))?;
        Ok((out, validity))
    }

    /// Runs the operator into an [`Output`], and into the bytes of a bitmap from bit 0: one bit per row of the result,
    /// or per element. The last byte's remaining bits become 0; bytes after it are unchanged. Returns the number of
    /// nulls; if it is 0, all bits are 1. Allocates the positions of more than 512 indices, and the memory of a tensor
    /// that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`]; for types known at run time, [`Error::DTypeMismatch`] of a view comes first.
    /// [`Error::ShapeMismatch`] of a view comes before [`Error::BitmapLengthMismatch`], and [`Error::BitmapTooShort`]
    /// for the bytes before [`Error::LevelUnavailable`]. On an error the bytes are untouched, and the output is as
    /// after [`GatherOperator::run_into`].
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run_into<S, X, O>(
        &self,
        data: &S,
        indices: &X,
        nulls: Nulls<'_>,
        out: &mut O,
        validity: &mut [u8],
    ) -> Result<usize, Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        // Check the type of the output first.
        out.target_of(data.dtype())?;
        self.with(data, indices, nulls, out, |call, operands| call.run_into(operands, validity))
    }

    /// Calls `run` with a call without types.
    #[inline(always)]
    fn with<S, X, O, R>(
        &self,
        data: &S,
        indices: &X,
        nulls: Nulls<'_>,
        out: &mut O,
        run: impl FnOnce(&Call<'_>, Operands<'_, Target<'_>>) -> Result<R, Error>,
    ) -> Result<R, Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        let mut checked = None;
        let op = self.gather.erased_for(indices, false, &mut checked);
        with_operands(data, indices, out, |reader, operands| {
            kinds::check_data::<S::Kind>(&op, reader)?;
            let facts = Facts::of::<X::Kind>(&op, reader.dtype, operands.indices().1)?;
            let runs = Runs::Once(op, OnceFns::new::<S::Kind, X::Kind>());
            run(&Call { facts, nulls, reader, runs }, operands)
        })
    }

    /// Makes a plan, which does once the work that depends on shapes and types. The plan runs on any tensors of these
    /// layouts with any bitmaps, into row-major outputs. Data and indices are sources, or [specs](crate::Spec) ahead of
    /// the first call.
    ///
    /// # Errors
    /// As for [`GatherOperator::plan`].
    pub fn plan<S, X>(&self, data: &S, indices: &X) -> Result<NullablePlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::RowMajor)
    }

    /// As [`Self::plan`], for any size of the first dimension of indices. `indices` has the expected size.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::AnyCountUnavailable`] as for [`GatherOperator::plan_any_count`] and for
    /// tuples of several components.
    pub fn plan_any_count<S, X>(&self, data: &S, indices: &X) -> Result<NullablePlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::AnyCount)
    }

    fn plan_for<S, X>(
        &self,
        data: &S,
        indices: &X,
        outputs: Outputs<'_>,
    ) -> Result<NullablePlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        let (index, mut checked) = (X::Kind::index(indices.dtype())?, None);
        let op = self.gather.erased_for(indices, true, &mut checked);
        let (held, ids) = (data.held(), indices.held());
        NullablePlan::new(op, &data.reader(held.borrow()), (ids.borrow(), index), outputs)
    }
}

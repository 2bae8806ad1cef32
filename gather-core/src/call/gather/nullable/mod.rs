//! Gathers of data and indices some of which are null: the bitmaps of Apache Arrow go in, and one comes out.
//!
//! Behind the doors stands the pipeline of all gathers. It is given positions in place of indices: see `exec::nulls`.

mod call;
mod plan;
mod sizes;

use core::borrow::Borrow;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::IndexOperator;
use crate::call::gather::kinds::{self, GatheredBy, Outputs, with_operands};
use crate::call::gather::nullable::call::{Call, Facts, OnceFns, Runs};
pub use crate::call::gather::nullable::plan::NullablePlan;
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

/// A gather of data and indices some of which are null, as bitmaps of Apache Arrow say: the `take` of Arrow, along any
/// axis and for tuples too. [`Gather::nullable`](IndexOperator::nullable) makes one.
///
/// - An index that is null is not looked at, whatever its value. It yields null, and zeros ([`Element::ZERO`]) as
///   values; under a row function what [`with_fill`](crate::RowFunction::with_fill) says.
/// - A valid index that names a null yields null, and the values of data as they are.
/// - A valid index out of range does what [`OutOfBounds`] says. Zeros are valid values then.
///
/// [`Nulls`] are two bitmaps, each of which may be left out:
/// - that of indices has a bit for each index in row-major order; in GatherNd for each tuple.
/// - that of data has a bit for each row that an index can name, in row-major order of the dimensions before the row:
///   Arrow's lists of a fixed size. Or it has a bit for each element of data: masked arrays. GatherElements has rows of
///   one element, and so has Gather along the last axis, which is all that arrays of one dimension have. Row functions,
///   fused rows and blocks take rows alone.
///
/// The bitmap that is returned has a bit for each row of the result, or for each element if that of data has. It is
/// `None` where no value is null.
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
    gather: IndexOperator<A>,
}

impl<A> IndexOperator<A> {
    /// The operator on data and indices some of which are null, with the same attributes, policies and settings.
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
    /// Runs the operator into a fresh tensor, and into a fresh bitmap where a value is null.
    ///
    /// Cost: that of [`IndexOperator::run`], and two more passes on the calling thread. One writes a position of 4
    /// bytes for every index (8 bytes for axes beyond 32 bits), one goes over the bits of the result. Without nulls the
    /// cost is that of [`IndexOperator::run`] and of reading the bitmaps, except for a bitmap of data that has more
    /// bits than there are indices: it is not searched for nulls. Allocates the bitmap, and the positions where there
    /// are more than 512 indices.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] and [`Error::UnknownDType`] for types that are known at run time; without the feature
    /// `registry`, [`Error::KernelsNotCompiled`]. Errors of attributes and shapes, [`Error::TooManyElements`],
    /// [`Error::BitmapLengthMismatch`] for indices, [`Error::BitmapPerElement`] and
    /// [`Error::BitmapLengthMismatch`] for data, [`Error::LevelUnavailable`], [`Error::AllocationFailed`],
    /// [`Error::IndexOutOfRange`] for the first valid index out of range in row-major order, then those of
    /// [`IndexOperator::run`] under [`OutOfBounds::Zero`].
    ///
    /// # Panics
    /// When a map or a row function does.
    pub fn run<S, X>(&self, data: &S, indices: &X, nulls: Nulls<'_>) -> Result<(TensorOf<S>, Option<Validity>), Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        let mut out = <S::Kind as Kind>::Out::empty(data.dtype());
        let validity = self.with(data, indices, nulls, &mut out, |call, operands| call.run_fresh(operands))?;
        Ok((out, validity))
    }

    /// Runs the operator into an [`Output`], and into the bytes of a bitmap: from bit 0 on, as many bits as the result
    /// has rows, or elements. Bits behind them in the last byte become 0, and bytes behind that one stay as they are.
    /// Returns the number of nulls; where it is 0, all bits are 1. Allocates the positions of more than 512 indices,
    /// and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`], for types that are known at run time with [`Error::DTypeMismatch`] of a view
    /// before these, [`Error::ShapeMismatch`] of a view before [`Error::BitmapLengthMismatch`], and
    /// [`Error::BitmapTooShort`] for the bytes before [`Error::LevelUnavailable`]. The bytes are untouched then, and
    /// the output is as after [`IndexOperator::run_into`].
    ///
    /// # Panics
    /// When a map or a row function does.
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
        // The type of the output is compared first.
        out.target_of(data.dtype())?;
        self.with(data, indices, nulls, out, |call, operands| call.run_into(operands, validity))
    }

    /// Hands a call without its types to what runs it.
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
        let op = self.gather.erased();
        with_operands(data, indices, out, |reader, operands| {
            kinds::check_data::<S::Kind>(&op, reader)?;
            let facts = Facts::of::<X::Kind>(&op, reader.dtype, operands.indices().1)?;
            let runs = Runs::Once(op, OnceFns::new::<S::Kind, X::Kind>());
            run(&Call { facts, nulls, reader, runs }, operands)
        })
    }

    /// Makes a plan: it does the work that depends on shapes and types once, and runs on any tensors of these layouts
    /// with any bitmaps, into row-major outputs. Data and indices are sources, or [specs](crate::Spec) ahead of the
    /// first call.
    ///
    /// # Errors
    /// As for [`IndexOperator::plan`].
    pub fn plan<S, X>(&self, data: &S, indices: &X) -> Result<NullablePlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::RowMajor)
    }

    /// As [`Self::plan`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::FixedCount`] as for [`IndexOperator::plan_any_count`] and for tuples of
    /// several components.
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
        let index = X::Kind::index(indices.dtype())?;
        let (held, ids) = (data.held(), indices.held());
        NullablePlan::new(self.gather.erased(), &data.reader(held.borrow()), (ids.borrow(), index), outputs)
    }
}

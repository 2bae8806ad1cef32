//! Plans of calls with nulls in indices or data.

#![forbid(unsafe_code)]

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::gather::ErasedGather;
use crate::call::gather::kinds::{self, GatherKind, Outputs, with_operands};
use crate::call::gather::nullable::call::{Call, Facts, Runs};
use crate::call::gather::nullable::sizes::{ByPosition, NullableSizes, is_wide};
use crate::call::gather::plan::GatherPlan;
use crate::call::plan_type::plan_type;
use crate::call::source::Source;
use crate::call::source::checked::check_planned;
use crate::call::source::kind::IndexKind;
use crate::call::source::reader::Reader;
use crate::exec::Operands;
use crate::plan::{Explain, IndexLowered};
use crate::tensor::bitmap::{Nulls, Validity};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Target};
use crate::tensor::typing::Typing;
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};

/// A plan of a call with nulls: all work that depends on shapes and types. Made once by
/// [`Nullable::plan`](crate::Nullable::plan) or [`Nullable::plan_any_count`](crate::Nullable::plan_any_count), it runs
/// many times, with any bitmaps, from any thread. `explain` describes a call without nulls.
///
/// ```
/// use gather_core::{Bitmap, Gather, Nulls, Spec};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let prices = [1.5f32, 0.0, 2.5, 4.0];
///     let plan = Gather::new(0).nullable().plan_any_count(&prices, &Spec::<u32>::new(&[100])?)?;
///
///     // A null, and the last price.
///     let nulls = Nulls { indices: Some(Bitmap::new(&[0b10], 0, 2)?), ..Nulls::default() };
///     let (paid, validity) = plan.run(&prices, &[9, 3], nulls)?;
///     assert_eq!((paid.as_slice(), validity.expect("a null").as_bytes()), (&[0.0, 4.0][..], &[0b10][..]));
///     Ok(())
/// }
/// ```
pub struct NullablePlan<K, I> {
    planned: NullablePlanned,
    kinds: PhantomData<fn(K, I)>,
}

plan_type!(NullablePlan<K, I>: planned);

#[derive(Clone)]
pub(super) struct NullablePlanned {
    facts: Facts,
    /// The call without nulls.
    pub(super) plan: GatherPlan,
    /// The call by positions. Any position may be missing.
    pub(super) by_position: GatherPlan,
    pub(super) sizes: NullableSizes,
    /// The lowered operator: loops step through numbers of indices, and elements (`[0]`) or rows (`[1]`) of data.
    lowered: [IndexLowered; 2],
}

impl NullablePlanned {
    fn new<K: GatherKind, I: IndexKind>(
        op: ErasedGather<'_>,
        reader: &Reader<'_>,
        (indices, index): (&Layout, IndexType),
        outputs: Outputs<'_>,
    ) -> Result<Self, Error> {
        kinds::check_data::<K>(&op, reader)?;
        let mut lowered = IndexLowered::new(op.op());
        let sizes = NullableSizes::new(op.attributes, reader.layout, indices, &mut lowered)?;
        let mut by_rows = lowered.clone();
        sizes.step_by_rows(reader.layout, &mut by_rows);
        let facts = Facts::of::<I>(&op, reader.dtype, index)?;
        let plan = kinds::plan::<K, I>(&op, reader, (indices, index), outputs)?;
        let (by_position, layout) = ByPosition::new(op.attributes, &sizes)?;
        // The distance between the components of a tuple is the number of tuples, so that number is fixed.
        if plan.planned.is_dynamic() && !layout.is_row_major() {
            return Err(Error::AnyCountUnavailable { op: op.op() });
        }
        let by = by_position.call(op, true);
        let by_position = if is_wide(&lowered) {
            kinds::plan::<K, i64>(&by, reader, (&layout, i64::TYPE), outputs)
        } else {
            kinds::plan::<K, i32>(&by, reader, (&layout, i32::TYPE), outputs)
        }?;
        Ok(NullablePlanned { facts, plan, by_position, sizes, lowered: [lowered, by_rows] })
    }

    fn output_shape(&self) -> &[usize] {
        self.plan.output_shape()
    }

    fn explain(&self) -> Explain<'_> {
        self.plan.explain()
    }

    pub(super) fn positions(&self) -> &Layout {
        &self.by_position.planned.indices
    }

    pub(super) fn is_dynamic(&self) -> bool {
        self.plan.planned.is_dynamic()
    }

    /// Checks the layouts of a call; returns the size of the first dimension of indices if it is dynamic.
    pub(super) fn check(&self, data: &Layout, indices: &Layout, out: Option<&Layout>) -> Result<Option<usize>, Error> {
        let count = self.plan.planned.check_inputs(data, indices)?;
        out.map_or(Ok(()), |out| self.plan.check_output(out, count))?;
        Ok(Some(count).filter(|_| self.is_dynamic()))
    }

    pub(super) fn lowered(&self, by_rows: bool) -> &IndexLowered {
        &self.lowered[usize::from(by_rows)]
    }
}

impl<K: GatherKind, I: IndexKind> NullablePlan<K, I> {
    pub(super) fn new(
        op: ErasedGather<'_>,
        reader: &Reader<'_>,
        indices: (&Layout, IndexType),
        outputs: Outputs<'_>,
    ) -> Result<Self, Error> {
        Ok(NullablePlan { planned: NullablePlanned::new::<K, I>(op, reader, indices, outputs)?, kinds: PhantomData })
    }

    /// Runs the plan into a fresh tensor, and a fresh bitmap as [`Nullable::run`](crate::Nullable::run) does.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types known at run time, [`Error::PlanMismatch`], [`Error::CheckedAxisMismatch`],
    /// [`Error::BitmapLengthMismatch`] for indices, [`Error::BitmapPerElement`] and [`Error::BitmapLengthMismatch`] for
    /// data, [`Error::TooManyElements`] of a plan for any count, [`Error::AllocationFailed`],
    /// [`Error::IndexOutOfRange`] for a valid index, then errors of the source adaptor's arguments, and
    /// [`Error::PlanMismatch`] for a row function of another length.
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S, X>(
        &self,
        data: &S,
        indices: &X,
        nulls: Nulls<'_>,
    ) -> Result<(<K::Out as Typing>::Tensor, Option<Validity>), Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
    {
        let dtype = self.planned.plan.dtype;
        let mut out = K::Out::empty(dtype);
        let validity = self.with(data, indices, nulls, &mut out, |call, operands| call.run_fresh(operands))?;
        Ok((out, validity))
    }

    /// Runs the plan into an [`Output`] and the bytes of a bitmap, as
    /// [`Nullable::run_into`](crate::Nullable::run_into) does; returns the number of nulls. Allocates the positions of
    /// more than 512 indices, and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`NullablePlan::run`], with [`Error::BitmapTooShort`] for the bytes after errors of bitmaps. On an error
    /// the bytes are untouched, and the output is as after [`Gather::run_into`](crate::GatherOperator::run_into).
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
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        O: Output<K::Out>,
    {
        // Check the type of the output first.
        out.target_of(self.planned.plan.dtype)?;
        self.with(data, indices, nulls, out, |call, operands| call.run_into(operands, validity))
    }

    /// Calls `run` with a call whose types match the plan's.
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
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        O: Output<K::Out>,
    {
        let NullablePlanned { facts, ref plan, .. } = self.planned;
        K::Out::check(plan.dtype, data.dtype())?;
        I::Out::check(plan.index.dtype(), indices.dtype())?;
        let layouts = || plan.planned.check_inputs(data.held().borrow(), indices.held().borrow());
        check_planned(indices, plan.planned.plan(), layouts)?;
        with_operands(data, indices, out, |reader, operands| {
            let runs = Runs::Planned(&self.planned, kinds::run_plan::<K>);
            run(&Call { facts, nulls, reader, runs }, operands)
        })
    }
}

//! Plans of gathers, by the kinds of their operands.

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::blocks;
use crate::call::gather::converted::Reads;
use crate::call::gather::kinds::{GatherKind, GatheredBy, Outputs};
use crate::call::gather::planned::PlanInner;
use crate::call::gather::{GatherOperator, kinds};
use crate::call::plan_type::plan_type;
use crate::call::source::checked::check_planned;
use crate::call::source::kind::IndexKind;
use crate::call::source::{Describe, Source};
use crate::exec::{self, Operands, Written};
use crate::plan::Explain;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::{Dyn, Typing};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};

/// A plan of a call of [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd): all work that depends on shapes and types. It is made once and runs many times, from
/// any thread. The [guide](crate::guide::plans) has a chapter on plans.
///
/// `K` is the [`Kind`](crate::Kind) of data, `I` the kind of indices. A plan runs on any [`Source`] of these kinds and
/// of the planned layouts: `Plan<f32, u32>` on views and slices, `Plan<Mapped<u8, f32>, u32>` on the result of
/// [`View::map`](crate::View::map), `Plan<Dyn, Dyn>` on tensors whose types are known at run time. A tensor has the
/// planned layout if it has the planned shape, and the planned stride along each dimension of size 2 or more.
///
/// ```
/// use gather_core::{Gather, Plan, Spec, View};
///
/// /// Gathers three rows of a table.
/// struct Rows {
///     plan: Plan<f32, u32>,
/// }
///
/// fn main() -> Result<(), gather_core::Error> {
///     let rows = Rows { plan: Gather::new(0).plan(&Spec::new(&[4, 2])?, &Spec::new(&[3])?)? };
///
///     let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
///     let taken = rows.plan.run(&View::new(&values, &[4, 2])?, &[3, 0, 1])?;
///     assert_eq!(taken.as_slice(), [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
///     let mut out = [0.0; 6];
///     rows.plan.run_slices(&values, &[3, 0, 1], &mut out)?;
///     assert_eq!(out, [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
///     Ok(())
/// }
/// ```
pub struct Plan<K, I> {
    pub(super) plan: GatherPlan,
    kinds: PhantomData<fn(K, I)>,
}

/// A [`Plan`] for types known at run time.
///
/// ```
/// use gather_core::{DynView, Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0]);
///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2])?);
///     let (table, ids) = (DynView::from(&table), DynView::from(&ids));
///     let plan = Gather::new(0).plan(&table, &ids)?;
///     assert_eq!(plan.run(&table, &ids)?.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
///     Ok(())
/// }
/// ```
pub type DynPlan = Plan<Dyn, Dyn>;

plan_type!(Plan<K, I>: plan);

/// A plan without its kinds.
#[derive(Clone)]
pub(in crate::call) struct GatherPlan {
    pub(super) planned: PlanInner,
    /// The data type of results.
    pub(super) dtype: DType,
    pub(super) index: IndexType,
    pub(super) reads: Reads,
}

impl GatherPlan {
    /// Checks the layout of an output for `count` indices, the result of [`PlanInner::check_inputs`].
    pub(super) fn check_output(&self, out: &Layout, count: usize) -> Result<(), Error> {
        match self.reads.blocks() {
            Some(blocks) => blocks::check_planned(blocks, &self.planned, out, count),
            None => self.planned.check_output(out, count),
        }
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        self.reads.blocks().map_or(self.planned.output_shape(), |blocks| &blocks.output)
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        self.planned.explain()
    }
}

impl<A: IndexAttributes> GatherOperator<A> {
    /// Makes a plan, which does the shape-dependent work once. The plan runs on any tensors of these layouts, into
    /// row-major outputs. Data and indices are sources, or [specs](crate::Spec) ahead of the first call.
    ///
    /// Cost: depends on ranks, not on sizes.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] and [`Error::UnknownDType`] for types known at run time; without the feature
    /// `registry`, [`Error::KernelsNotCompiled`]. Then as for [`Self::run`], without errors of memory, adaptor
    /// arguments and index values.
    pub fn plan<S, X>(&self, data: &S, indices: &X) -> Result<Plan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::RowMajor)
    }

    /// As [`Self::plan`], for outputs of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::ShapeMismatch`] after errors of shapes.
    pub fn plan_into<S, X>(&self, data: &S, indices: &X, out: &Layout) -> Result<Plan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::Of(out))
    }

    /// As [`Self::plan`], for any size of the first dimension of indices: for ids whose number differs from call to
    /// call. `indices` has the expected size.
    ///
    /// ```
    /// use gather_core::{Gather, Spec};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
    ///     let plan = Gather::new(0).plan_any_count(&Spec::<f32>::new(&[3, 2])?, &Spec::<u32>::new(&[100])?)?;
    ///
    ///     let mut out = [0.0; 8];
    ///     plan.run_slices(&table, &[2, 0], &mut out[..4])?;
    ///     assert_eq!(out[..4], [2.0, 2.5, 0.0, 0.5]);
    ///     plan.run_slices(&table, &[1, 1, 0, 2], &mut out)?;
    ///     assert_eq!(out, [1.0, 1.5, 1.0, 1.5, 0.0, 0.5, 2.0, 2.5]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::AnyCountUnavailable`] if the first dimension of indices is also a dimension
    /// of data, is not the first of the result, has stride 0, or counts tuples without components. Empty tensors can be
    /// planned: their calls check indices as [`Self::run`] does.
    pub fn plan_any_count<S, X>(&self, data: &S, indices: &X) -> Result<Plan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        self.plan_for(data, indices, Outputs::AnyCount)
    }

    fn plan_for<S, X>(&self, data: &S, indices: &X, outputs: Outputs<'_>) -> Result<Plan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: GatheredBy<A>> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        let (index, mut checked) = (X::Kind::index(indices.dtype())?, None);
        let op = self.erased_for(indices, true, &mut checked);
        let (held, ids) = (data.held(), indices.held());
        let (reader, indices) = (data.reader(held.borrow()), (ids.borrow(), index));
        let plan = kinds::plan::<S::Kind, X::Kind>(&op, &reader, indices, outputs)?;
        Ok(Plan { plan, kinds: PhantomData })
    }
}

impl<K: GatherKind, I: IndexKind> Plan<K, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types known at run time, [`Error::PlanMismatch`], also if the planned output is
    /// not row-major, [`Error::CheckedAxisMismatch`], errors of the source adaptor's arguments,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S, X>(&self, data: &S, indices: &X) -> Result<<K::Out as Typing>::Tensor, Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
    {
        written(K::Out::empty(self.plan.dtype), |out| self.run_into(data, indices, out))
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a reused tensor. On one
    /// thread, for up to six loops, it allocates only the scratch of [`Method::Panels`](crate::Method::Panels) and the
    /// memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Plan::run`]; [`Error::PlanMismatch`] also for a tensor if the planned output is not row-major. On an
    /// error the output is as after [`Gather::run_into`](crate::GatherOperator::run_into).
    ///
    /// # Panics
    /// If a map or a row function panics.
    #[inline]
    pub fn run_into<S, X, O>(&self, data: &S, indices: &X, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        O: Output<K::Out>,
    {
        let GatherPlan { planned, dtype, index, .. } = &self.plan;
        K::Out::check(*dtype, data.dtype())?;
        I::Out::check(index.dtype(), indices.dtype())?;
        let layouts = || planned.check_inputs(data.held().borrow(), indices.held().borrow());
        check_planned(indices, planned.plan(), layouts)?;
        if K::IS_PLAIN
            && let Target::Fixed(out, layout) = out.target_of(*dtype)?
            && planned.is_one_call(data.held().borrow(), indices.held().borrow(), layout)
        {
            let (data, indices) = ((data.start(), &planned.data), (indices.start(), &planned.indices, *index));
            // SAFETY: V1, V3: the inputs are sources; `check` compared their types, and `is_one_call` all layouts. O1:
            // the output is borrowed mutably, so it overlaps no input.
            let operands = unsafe { Operands::new(data, indices, out, *dtype) };
            // SAFETY: X1: layouts and types are the plan's, whose call is one kernel call. A plain kind has no map.
            return unsafe { exec::call_index(planned.plan(), operands) }.map(Written::all);
        }
        // SAFETY: the two calls of `check` compared the inputs' types with the plan's.
        unsafe { self.run_any_into(data, indices, out) }
    }

    /// As [`Plan::run_into`], for every plan and any layouts.
    ///
    /// # Safety
    /// The inputs are of the plan's types.
    #[inline(never)]
    unsafe fn run_any_into<S, X, O>(&self, data: &S, indices: &X, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        O: Output<K::Out>,
    {
        let GatherPlan { dtype, index, .. } = self.plan;
        let (held, ids, out) = (data.held(), indices.held(), out.target_of(dtype)?);
        let (data, indices) = (data.reader(held.borrow()), (indices.start(), ids.borrow(), index));
        // SAFETY: V1, V3: the inputs are sources of these layouts, and of the plan's types by the caller's contract.
        // O1: the output is of the plan's type, and borrowed mutably, so it overlaps no input.
        let operands = unsafe { Operands::new(data.parts(), indices, out, dtype) };
        kinds::run_plan::<K>(&self.plan, &data, operands)
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// Runs the plan on slices, and compares only their lengths: the shortest way to a kernel, for row-major layouts.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] if a slice has another length, or the plan was made for other strides; then as for
    /// [`Plan::run_into`].
    #[inline]
    pub fn run_slices(&self, data: &[T], indices: &[I], out: &mut [T]) -> Result<(), Error> {
        let planned = &self.plan.planned;
        let count = planned.check_lens(data.len(), indices.len(), out.len())?;
        let data = (data.as_ptr().cast(), &planned.data);
        let indices = (indices.as_ptr().cast(), &planned.indices, I::TYPE);
        // SAFETY: V1, V3, O1: `check_lens` checked that the planned layouts are row-major and have the lengths of the
        // slices, with `count` in place of a dynamic size. A mutable slice overlaps no other.
        let operands = unsafe { Operands::new(data, indices, out.as_mut_ptr().cast(), T::DTYPE) };
        // SAFETY: X1: `T` and `I` are the plan's types, `check_lens` returned `count`, and elements `T` have no map.
        unsafe { planned.execute(operands, count) }.map(Written::all)
    }
}

//! Plans of scatters.

use alloc::boxed::Box;
use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::checks::{check_dynamic, check_layout, check_target, mismatch};
use crate::call::plan_type::plan_type;
use crate::call::scatter::erased::ScatterCallRequest;
use crate::call::scatter::reduces::Reduces;
use crate::call::scatter::{ScatterAttributes, ScatterOperator, in_place, with_copy};
use crate::call::source::checked::check_planned;
use crate::call::source::destination::Destination;
use crate::call::source::kind::{IndexKind, Kind, PlainKind};
use crate::call::source::{Describe, Source};
use crate::exec::{self, ScatterOperands, pool_threads};
use crate::plan::{DynamicReducePlan, Explain, ReducePlan, ReduceRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::typing::Typing;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::op::Argument;

/// A plan without its types, and the planned layouts.
#[derive(Clone)]
struct PlannedScatter {
    plan: ReducePlan,
    request: ReduceRequest,
    destination: Layout,
    indices: Layout,
    updates: Layout,
    /// The dynamic plan, for calls with another size of the first dimension of indices and updates.
    dynamic: Option<Box<DynamicReducePlan>>,
}

impl PlannedScatter {
    /// The shape of the result; for a plan for any count, at the expected count.
    fn output_shape(&self) -> &[usize] {
        self.destination.shape()
    }

    fn new(request: &ScatterCallRequest<'_>, destination: &Layout) -> Result<Self, Error> {
        let (plan, destination, indices) = (request.plan(destination)?, destination.clone(), request.indices.clone());
        let (request, updates) = (request.planned, request.updates.clone());
        Ok(PlannedScatter { plan, request, destination, indices, updates, dynamic: None })
    }

    /// A dynamic plan: calls choose the size of the first dimension of indices and updates.
    fn new_any_count(request: &ScatterCallRequest<'_>, destination: &Layout) -> Result<Self, Error> {
        let planned = Self::new(request, destination)?;
        let dynamic = Some(Box::new(request.dynamic(&planned.plan, destination)?));
        Ok(PlannedScatter { dynamic, ..planned })
    }

    fn explain(&self) -> Explain<'_> {
        Explain::reduce(&self.plan, &self.destination, pool_threads)
    }

    #[inline]
    fn dtypes(&self) -> (DType, DType) {
        (self.request.dtype, self.request.index.dtype())
    }

    /// Checks the layouts of tensors of the planned types, and runs the plan if `checked`, the result of
    /// [`check_planned`], is no error.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], the error of `checked`, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    fn run(&self, operands: &mut ScatterOperands<'_>, checked: Result<(), Error>) -> Result<(), Error> {
        let [indices, updates] = operands.inputs();
        if let Some(data) = operands.original()
            && self.destination.shape() != data.shape()
        {
            return Err(mismatch(Argument::Data, self.destination.shape(), data.shape()));
        }
        let resized;
        let plan = if let Some(dynamic) = &self.dynamic {
            let count = self.check_dynamic(indices, updates)?;
            if let Some(few) = dynamic.few_at(count) {
                check_target(&self.destination, operands.out())?;
                checked?;
                // SAFETY: X1 as below: the updates are made for the count of both inputs.
                return unsafe { exec::run_few_updates(&few, operands) };
            }
            resized = dynamic.at(count, updates)?;
            &resized
        } else {
            check_layout(Argument::Indices, &self.indices, indices)?;
            check_layout(Argument::Updates, &self.updates, updates)?;
            &self.plan
        };
        check_target(&self.destination, operands.out())?;
        checked?;
        // SAFETY: X1: the checks above compared the layouts of inputs and output, and the shape of data. `at` made its
        // plan for the count of both inputs.
        unsafe { exec::run_scatter(plan, operands) }
    }

    /// Checks inputs whose first dimensions have any one size, and returns this size.
    #[inline(never)]
    fn check_dynamic(&self, indices: &Layout, updates: &Layout) -> Result<usize, Error> {
        let count = check_dynamic(Argument::Indices, &self.indices, indices)?;
        if check_dynamic(Argument::Updates, &self.updates, updates)? != count {
            let expected = core::iter::once(&count).chain(&self.updates.shape()[1..]).copied().collect::<Shape>();
            return Err(mismatch(Argument::Updates, &expected, updates.shape()));
        }
        Ok(count)
    }
}

/// The part of a scatter, or of the adjoint of a gather, that depends on shapes and types: made once, run many times,
/// from any thread. `K` is the [kind](Kind) of data and updates, `I` the kind of indices.
///
/// ```
/// use gather_core::{Reduction, ScatterNd, Spec, View, ViewMut};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids, rows) = (Spec::new(&[4, 2])?, Spec::<u32>::new(&[3, 1])?, Spec::<f32>::new(&[3, 2])?);
///     let plan = ScatterNd::onnx18(Reduction::Add).plan(&table, &ids, &rows)?;
///
///     let mut sums = [0.0; 8];
///     let (ids, rows) = ([3, 0, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
///     let (ids, rows) = (View::new(&ids, &[3, 1])?, View::new(&rows, &[3, 2])?);
///     plan.run_on(&mut ViewMut::new(&mut sums, &[4, 2])?, &ids, &rows)?;
///     assert_eq!(sums, [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 6.0, 8.0]);
///     Ok(())
/// }
/// ```
pub struct ScatterPlan<K, I> {
    planned: PlannedScatter,
    kinds: PhantomData<fn() -> (K, I)>,
}

plan_type!(ScatterPlan<K, I>: planned);

impl<A: ScatterAttributes, R: Copy> ScatterOperator<A, R> {
    /// Makes a plan, which does the shape-dependent work once. The plan runs on data of this shape and on indices and
    /// updates of these layouts, into row-major outputs and in place on row-major tensors. All three operands are
    /// sources, or [specs](crate::Spec) ahead of the first call.
    ///
    /// Cost: depends on ranks, not on sizes.
    ///
    /// # Errors
    /// As for [`Self::run`], without errors of memory and index values.
    pub fn plan<S, X, U>(&self, data: &S, indices: &X, updates: &U) -> Result<ScatterPlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
        U: Describe<Kind = S::Kind> + ?Sized,
        R: Reduces<S::Kind>,
    {
        self.plan_by(data, indices, updates, |request, data| {
            PlannedScatter::new(request, &Layout::contiguous(data.shape())?)
        })
    }

    /// As [`Self::plan`], for outputs and in-place tensors of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::ShapeMismatch`] after errors of shapes.
    pub fn plan_into<S, X, U>(
        &self,
        data: &S,
        indices: &X,
        updates: &U,
        out: &Layout,
    ) -> Result<ScatterPlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
        U: Describe<Kind = S::Kind> + ?Sized,
        R: Reduces<S::Kind>,
    {
        self.plan_by(data, indices, updates, |request, data| {
            request.check_output(data, out)?;
            PlannedScatter::new(request, out)
        })
    }

    /// As [`Self::plan`], for any size `n` of the first dimension of indices and of updates; both have the same `n`.
    /// The size of the given operands is the expected one.
    ///
    /// ```
    /// use gather_core::{Reduction, ScatterNd, Spec, View, ViewMut};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids, rows) = (Spec::new(&[3, 2])?, Spec::<u32>::new(&[100, 1])?, Spec::<f32>::new(&[100, 2])?);
    ///     let add = ScatterNd::new().reduction(Reduction::Add).plan_any_count(&table, &ids, &rows)?;
    ///     let mut sums = [0.0; 6];
    ///     for (ids, rows) in [(&[2, 0][..], &[1.0, 2.0, 3.0, 4.0][..]), (&[2], &[5.0, 6.0])] {
    ///         let (ids, rows) = (View::new(ids, &[ids.len(), 1])?, View::new(rows, &[ids.len(), 2])?);
    ///         add.run_on(&mut ViewMut::new(&mut sums, &[3, 2])?, &ids, &rows)?;
    ///     }
    ///     assert_eq!(sums, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::AnyCountUnavailable`] in three cases: the first dimension of indices is also
    /// a dimension of data; tuples have no components; or indices overlap in memory, so that no loop covers their first
    /// dimension alone. Empty operands can be planned: their calls check indices as [`Self::run`] does.
    pub fn plan_any_count<S, X, U>(
        &self,
        data: &S,
        indices: &X,
        updates: &U,
    ) -> Result<ScatterPlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
        U: Describe<Kind = S::Kind> + ?Sized,
        R: Reduces<S::Kind>,
    {
        self.plan_by(data, indices, updates, |request, data| {
            PlannedScatter::new_any_count(request, &Layout::contiguous(data.shape())?)
        })
    }

    fn plan_by<S, X, U>(
        &self,
        data: &S,
        indices: &X,
        updates: &U,
        make: impl FnOnce(&ScatterCallRequest<'_>, &Layout) -> Result<PlannedScatter, Error>,
    ) -> Result<ScatterPlan<S::Kind, X::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
        X: Describe<Kind: IndexKind> + ?Sized,
        U: Describe<Kind = S::Kind> + ?Sized,
        R: Reduces<S::Kind>,
    {
        let (index, dtype) = (X::Kind::index(indices.dtype())?, data.dtype());
        <S::Kind as Kind>::Out::check(dtype, updates.dtype())?;
        let (held, ids, changes) = (data.held(), indices.held(), updates.held());
        let policy = self.policy(|| data.held(), indices);
        let request = self.request::<S::Kind, X::Kind>((dtype, index), policy, ids.borrow(), changes.borrow())?;
        Ok(ScatterPlan { planned: make(&request, held.borrow())?, kinds: PhantomData })
    }
}

impl<K: PlainKind, I: IndexKind> ScatterPlan<K, I> {
    /// Runs the plan on a copy of data, into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`], also if the plan was
    /// made for an output that is not row-major, [`Error::CheckedAxisMismatch`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`]. After errors of inputs, plans for any count give [`Error::TooManyBytes`] for
    /// updates, and [`Error::MethodUnavailable`] if a forced method cannot count the updates.
    ///
    /// # Panics
    /// If a reduction of your own panics.
    pub fn run<S, X, U>(&self, data: &S, indices: &X, updates: &U) -> Result<<K::Out as Typing>::Tensor, Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        U: Source<Kind = K> + ?Sized,
    {
        written(K::Out::empty(self.planned.request.dtype), |out| self.run_into(data, indices, updates, out))
    }

    /// Runs the plan on a copy of data, into an [`Output`]: a view of the planned layout, uninitialised memory, or a
    /// reused tensor. On one thread, for up to six loops, it allocates only the scratch of [`ScatterOperator::run`],
    /// and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`ScatterPlan::run`], with [`Error::PlanMismatch`] also for a tensor if the plan was made for an output
    /// that is not row-major. On an error a view is untouched.
    ///
    /// # Panics
    /// If a reduction of your own panics.
    pub fn run_into<S, X, U, O>(&self, data: &S, indices: &X, updates: &U, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        U: Source<Kind = K> + ?Sized,
        O: Output<K::Out>,
    {
        let (dtype, index) = self.planned.dtypes();
        K::Out::check(dtype, data.dtype())?;
        I::Out::check(index, indices.dtype())?;
        let (planned, checked) = (&self.planned, check_planned(indices, &self.planned.plan, || Ok(())));
        with_copy(data, indices, updates, (out, planned.request.options), |operands| planned.run(operands, checked))
    }

    /// Runs the plan in place, on a [`Destination`] of the planned layout. Allocates as [`Self::run_into`].
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`],
    /// [`Error::CheckedAxisMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`].
    /// Plans for any count also give the errors that [`ScatterPlan::run`] names for them. On an error the tensor is
    /// untouched.
    ///
    /// # Panics
    /// If a reduction of your own panics; a part of the updates may then have been applied to the tensor.
    pub fn run_on<D, X, U>(&self, destination: &mut D, indices: &X, updates: &U) -> Result<(), Error>
    where
        D: Destination<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
        U: Source<Kind = K> + ?Sized,
    {
        let (dtype, index) = self.planned.dtypes();
        I::Out::check(index, indices.dtype())?;
        K::Out::check(dtype, updates.dtype())?;
        K::Out::check(dtype, destination.dtype())?;
        let checked = check_planned(indices, &self.planned.plan, || Ok(()));
        in_place(destination, indices, updates, |operands| self.planned.run(operands, checked))
    }
}

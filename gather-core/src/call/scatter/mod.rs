//! The public methods of scatters.
//!
//! ```text
//! a method (typed, inlined)              pointers, layouts, the target of the output
//!     -> a call or a plan without types  `erased.rs`, `plan.rs`
//! ```

pub(crate) mod adjoint;
pub(crate) mod erased;
pub(crate) mod plan;
pub(crate) mod reduces;

use core::borrow::Borrow;

use crate::call::Sealed;
use crate::call::cloned;
use crate::call::operator::{RegistryChoice, attributes, settings, takes_indices};
use crate::call::scatter::erased::{ScatterCallRequest, lower};
use crate::call::scatter::reduces::Reduces;
use crate::call::source::checked::checked_axis;
use crate::call::source::clones::CloneSource;
use crate::call::source::destination::Destination;
use crate::call::source::kind::{IndexKind, Kind, PlainKind};
use crate::call::source::{Describe, Source, TensorOf};
use crate::exec::{Original, ScatterOperands};
use crate::kernels::registry::Registry;
use crate::plan::{IndexLowered, ReduceRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target, written};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Typing;
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, NegativeIndex, Options, ScatterOutOfBounds};
use crate::types::reduction::Reduction;

/// The attributes of a scatter: [`ScatterElements`](crate::ScatterElements), [`ScatterNd`](crate::ScatterNd), or the
/// [adjoint](crate::GatherOperator::adjoint) of a gather. Sealed.
pub trait ScatterAttributes: Sealed {
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shapes. Adds to `lowered`, which is empty, the loops and axes of the reverse
    /// gather: the gather that would read the elements which this scatter writes.
    #[doc(hidden)]
    fn lower(&self, data: &Layout, indices: &Layout, updates: &Layout, lowered: &mut IndexLowered)
    -> Result<(), Error>;

    /// The number of leading dimensions of indices that updates share (all but the last dimension of tuples), if each
    /// index names a row along the first axis of data; otherwise `None`.
    #[doc(hidden)]
    fn rows_by(&self, _data: &Layout, _indices: &Layout) -> Option<usize> {
        None
    }

    /// As [`IndexAttributes::axis_size`](crate::IndexAttributes).
    #[doc(hidden)]
    fn axis_size(&self, _data: &Layout) -> Result<usize, Error> {
        Err(Error::CheckedTuples { op: self.op() })
    }
}

/// An operator that updates elements of data. The attributes `A` determine the operator:
/// [`ScatterElements`](crate::ScatterElements), [`ScatterNd`](crate::ScatterNd), or the
/// [adjoint](crate::GatherOperator::adjoint) of a gather.
///
/// Updates are applied in row-major order of the indices. The result equals the plain loop to the bit, for any number
/// of threads, at every level and by every method. `R` is a [`Reduction`], or a `&Reducer` of your own.
///
/// A small value: attributes, policies and options. Nothing is checked before the operator is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScatterOperator<A, R = Reduction> {
    attributes: A,
    reduction: R,
    include_self: bool,
    skip_negative: bool,
    negative: NegativeIndex,
    out_of_bounds: ScatterOutOfBounds,
    options: Options,
    registry: RegistryChoice,
}

impl<A> ScatterOperator<A> {
    /// The operator without a reduction. Negative indices count from the end, and out-of-range indices are errors.
    pub(crate) fn from_attributes(attributes: A) -> Self {
        ScatterOperator {
            attributes,
            reduction: Reduction::None,
            include_self: true,
            skip_negative: false,
            negative: NegativeIndex::FromEnd,
            out_of_bounds: ScatterOutOfBounds::Error,
            options: Options::default(),
            registry: RegistryChoice::default(),
        }
    }
}

impl<A, R> ScatterOperator<A, R> {
    accessors! { self:
        /// Sets whether the old value of an element takes part in the reduction (PyTorch's `include_self`, OpenVINO's
        /// `use_init_val`). Default: true. If false, sums, differences and means begin at 0, other reductions at the
        /// first update.
        #[doc(alias("use_init_val"))]
        pub fn include_self(include_self: bool) => self.include_self = include_self;
        /// Whether the old value of an element takes part in the reduction.
        pub fn get_include_self() -> bool => self.include_self;
        /// Sets whether updates with a negative index are skipped, for lists of slots that mark a row to discard
        /// with -1. An index at or above the size of its axis stays an error, unless it is
        /// [dropped](ScatterOutOfBounds::Drop). If set, [`negative_index`](Self::negative_index),
        /// [`ScatterOutOfBounds::Clamp`] and [`ScatterOutOfBounds::Wrap`] have no effect. A tuple with a negative index
        /// is skipped; its other indices are checked.
        ///
        /// Cost: one more pass over signed indices; a slow pass if any index is below `-size` of its axis.
        ///
        /// ```
        /// use gather_core::{Error, Gather, Reduction};
        ///
        /// fn main() -> Result<(), Error> {
        ///     let mut slots = [0.0; 4];
        ///     let store = Gather::new(0).adjoint().reduction(Reduction::None).skip_negative(true);
        ///     store.run_on(&mut slots, &[3i64, -1, 0], &[1.0, 2.0, 3.0])?;
        ///     assert_eq!(slots, [3.0, 0.0, 0.0, 1.0]);
        ///     let refused = store.run_on(&mut slots, &[1i64, -1, 99], &[4.0, 5.0, 6.0]);
        ///     assert!(matches!(refused, Err(Error::IndexOutOfRange { index: 99, .. })));
        ///     assert_eq!(slots, [3.0, 0.0, 0.0, 1.0]);
        ///     Ok(())
        /// }
        /// ```
        #[doc(alias("pruned"))]
        pub fn skip_negative(skip_negative: bool) => self.skip_negative = skip_negative;
        /// Whether updates with a negative index are skipped.
        pub fn get_skip_negative() -> bool => self.skip_negative;
    }
}

impl<A, R> ScatterOperator<A, R> {
    /// The policy of a call by these indices, their own if they are checked, and whether it skips negative indices.
    /// `data` is the layout of data.
    ///
    /// # Errors
    /// For checked indices [`Error::CheckedTuples`], [`Error::AxisOutOfRange`], then [`Error::CheckedAxisMismatch`].
    #[inline(always)]
    fn policy<X, L: Borrow<Layout>>(&self, data: impl FnOnce() -> L, indices: &X) -> Result<(KernelPolicy, bool), Error>
    where
        A: ScatterAttributes,
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        let skips_negative = self.skip_negative;
        let Some(axis) = checked_axis(indices) else {
            return Ok((self.out_of_bounds.lower(self.negative, skips_negative), skips_negative));
        };
        axis.check(self.attributes.op(), self.attributes.axis_size(data().borrow())?)?;
        Ok((ScatterOutOfBounds::Drop.lower(NegativeIndex::Reject, false), false))
    }
}

impl<A: ScatterAttributes, R: Copy> ScatterOperator<A, R> {
    /// # Errors
    /// [`Error::UnknownDType`], [`Error::KernelsNotCompiled`], [`Error::ReductionUnavailable`], then the error of
    /// `policy`, the result of [`Self::policy`].
    #[inline(always)]
    fn request<'a, K: PlainKind, I: IndexKind>(
        &'a self,
        (dtype, index): (DType, IndexType),
        policy: Result<(KernelPolicy, bool), Error>,
        indices: &'a Layout,
        updates: &'a Layout,
    ) -> Result<ScatterCallRequest<'a>, Error>
    where
        R: Reduces<K>,
    {
        let (op, reduction, options) = (self.attributes().op(), self.reduction, self.options);
        let found = |registry: &'static Registry, op, dtype| registry.scatter_kernels(op, dtype, index);
        let kernels = K::kernels(self.registry.0, (op, dtype, Some(index)), || I::scatters(index), found)?;
        let (reducer, values) = reduction.fns(op, dtype)?;
        let (policy, skips_negative) = policy?;
        // A reduction that replaces ignores the old value in any case; `true` avoids counts and identities.
        let include_self = self.include_self || reducer.replaces;
        let planned =
            ReduceRequest { op, dtype, index, kernels, reducer, values, include_self, policy, skips_negative, options };
        Ok(ScatterCallRequest { attributes: self.attributes(), planned, indices, updates })
    }

    /// Runs the operator on a copy of data, into a fresh tensor. [`Source`] lists the kinds of data, indices and
    /// updates; [`zeros`](crate::zeros) are data too. Data and updates have one type.
    ///
    /// Cost: a copy of data, then one pass over indices and updates; one allocation, and a scratch for
    /// [`Method::Accumulated`](crate::Method::Accumulated), [`Method::Grouped`](crate::Method::Grouped) and
    /// [`Method::Panels`](crate::Method::Panels).
    ///
    /// # Errors
    /// For types that are known at run time [`Error::NotAnIndexType`], [`Error::DTypeMismatch`] for updates,
    /// [`Error::UnknownDType`] and, without the feature `registry`, [`Error::KernelsNotCompiled`]. Then
    /// [`Error::ReductionUnavailable`], errors of [checked indices](crate::Checked#errors), attributes and shapes,
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`], [`Error::AllocationFailed`],
    /// then [`Error::IndexOutOfRange`] for the first index out of range in row-major order. Under
    /// [`ScatterOutOfBounds::Error`] indices are checked even if updates have no elements.
    ///
    /// # Panics
    /// If a reduction of your own panics.
    pub fn run<S, X, U>(&self, data: &S, indices: &X, updates: &U) -> Result<TensorOf<S>, Error>
    where
        S: Source<Kind: PlainKind> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        U: Source<Kind = S::Kind> + ?Sized,
        R: Reduces<S::Kind>,
    {
        written(<S::Kind as Kind>::Out::empty(data.dtype()), |out| self.run_into(data, indices, updates, out))
    }

    /// Runs the operator on a copy of data, into an [`Output`]: a view of any strides, uninitialised memory, or a
    /// reused tensor. On one thread, for up to six dimensions and index tuples of up to three components, it allocates
    /// only the scratch of [`Self::run`], and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`]. For a view also [`Error::DTypeMismatch`] after the same error for updates, if types are
    /// known at run time, and [`Error::ShapeMismatch`] after errors of shapes. On an error a view is untouched.
    ///
    /// # Panics
    /// If a reduction of your own panics; a view then holds a mix of old and new elements, and a tensor is empty, or as
    /// before under [`Append`](crate::Append).
    pub fn run_into<S, X, U, O>(&self, data: &S, indices: &X, updates: &U, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind: PlainKind> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        U: Source<Kind = S::Kind> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
        R: Reduces<S::Kind>,
    {
        let (index, dtype) = (X::Kind::index(indices.dtype())?, data.dtype());
        let policy = self.policy(|| data.held(), indices);
        with_copy(data, indices, updates, (out, self.options), |operands| {
            let [ids, changes] = operands.inputs();
            self.request::<S::Kind, X::Kind>((dtype, index), policy, ids, changes)?.run(operands)
        })
    }

    /// Runs the operator in place, on a [`Destination`]: a view of any strides, a tensor, or a slice. Allocates as
    /// [`Self::run_into`].
    ///
    /// ```
    /// use gather_core::{Reduction, ScatterElements};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mut counts = [0u32; 3];
    ///     let count = ScatterElements::new(0).reduction(Reduction::Add);
    ///     count.run_on(&mut counts, &[2u8, 0, 2], &[1; 3])?;
    ///     assert_eq!(counts, [1, 0, 2]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`Self::run`]. All indices are checked before anything is written: on an error the tensor is untouched.
    ///
    /// # Panics
    /// If a reduction of your own panics; a part of the updates may then have been applied to the tensor.
    pub fn run_on<D, X, U>(&self, destination: &mut D, indices: &X, updates: &U) -> Result<(), Error>
    where
        D: Destination + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        U: Source<Kind = D::Kind> + ?Sized,
        R: Reduces<D::Kind>,
    {
        let (index, dtype) = (X::Kind::index(indices.dtype())?, destination.dtype());
        let policy = self.policy(|| destination.parts().1, indices);
        in_place(destination, indices, updates, |operands| {
            let [ids, changes] = operands.inputs();
            self.request::<D::Kind, X::Kind>((dtype, index), policy, ids, changes)?.run(operands)
        })
    }

    /// The shape of the result, which equals the shape of data; data itself is not needed.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] for data, indices or updates; errors of attributes and shapes.
    pub fn output_shape(&self, data: &[usize], indices: &[usize], updates: &[usize]) -> Result<Shape, Error> {
        let (data, indices) = (Layout::contiguous(data)?, Layout::contiguous(indices)?);
        lower(self.attributes(), &data, &indices, &Layout::contiguous(updates)?)?;
        Ok(data.shape().into())
    }
}

/// Calls `run` with the tensors of a call that copies data into an output.
///
/// # Errors
/// [`Error::DTypeMismatch`] for updates, then for the output, if types are known at run time; then errors of `run`.
#[inline(always)]
fn with_copy<S: Source + ?Sized>(
    data: &S,
    indices: &(impl Source<Kind: IndexKind> + ?Sized),
    updates: &(impl Source<Kind = S::Kind> + ?Sized),
    (out, options): (&mut impl Output<<S::Kind as Kind>::Out>, Options),
    run: impl FnOnce(&mut ScatterOperands<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (held, ids, changes, dtype) = (data.held(), indices.held(), updates.held(), data.dtype());
    <S::Kind as Kind>::Out::check(dtype, updates.dtype())?;
    let original = Original::new(dtype, options, (data.start(), held.borrow()));
    let (indices, updates) = ((indices.start(), ids.borrow()), (updates.start(), changes.borrow()));
    // SAFETY: V1, V3: all three are sources, each with its own layout; updates have data's kind, and `check` compared
    // their data type with data's. O1: the output takes elements of data's type, and is borrowed mutably, so that it
    // overlaps no input.
    run(&mut unsafe { ScatterOperands::new(indices, updates, Some(original), out.target_of(dtype)?) })
}

/// Calls `run` with the tensors of a call in place.
///
/// # Errors
/// [`Error::DTypeMismatch`] for updates, if types are known at run time; then errors of `run`.
#[inline(always)]
fn in_place<D: Destination + ?Sized>(
    destination: &mut D,
    indices: &(impl Source<Kind: IndexKind> + ?Sized),
    updates: &(impl Source<Kind = D::Kind> + ?Sized),
    run: impl FnOnce(&mut ScatterOperands<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    <D::Kind as Kind>::Out::check(destination.dtype(), updates.dtype())?;
    let (ids, changes) = (indices.held(), updates.held());
    let (indices, updates) = ((indices.start(), ids.borrow()), (updates.start(), changes.borrow()));
    let (start, held) = destination.parts();
    // SAFETY: V1, V3: indices and updates are sources with these layouts; `check` compared the updates' type with the
    // destination's. O1: a destination may be read and written along its own layout, and is borrowed mutably, so that
    // it overlaps no input. The output is fixed, and holds values. For `Dyn` it holds bytes: reductions of `Dyn` are
    // built in, and take any bytes (Y1).
    run(&mut unsafe { ScatterOperands::new(indices, updates, None, Target::Fixed(start, held.borrow())) })
}

impl<A: ScatterAttributes> ScatterOperator<A> {
    /// Runs the operator without a reduction on any `Clone` type (`String`, `Arc<str>`, `&str`, ..). Data and updates
    /// are any [`CloneSource`]: views, tensors or lists.
    ///
    /// Cost: one clone for each element of data and for each update, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`]; any reduction but [`Reduction::None`] is an [`Error::ReductionUnavailable`].
    ///
    /// # Panics
    /// If a clone panics.
    pub fn run_cloned<S, X, U>(&self, data: &S, indices: &X, updates: &U) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        U: CloneSource<Item = S::Item> + ?Sized,
    {
        cloned::with_ids(indices, |ids| {
            let (data, updates) = (data.lend()?, updates.lend()?);
            let (op, reduction) = (self.attributes().op(), self.get_reduction());
            if reduction != Reduction::None {
                return Err(Error::ReductionUnavailable { op, reduction, dtype: None });
            }
            let (policies, out) = (self.policy(|| data.layout(), indices)?, Layout::contiguous(data.shape())?);
            let lowered = lower(self.attributes(), &out, ids.layout(), updates.layout())?;
            // SAFETY: P1: `lower` was just given the shape of data and the layouts of indices and updates.
            unsafe { cloned::scatter(&lowered, policies, self.options, &data, ids, &updates) }
        })
    }
}

settings! {
    ScatterOperator<A, R>,
    /// Scatters take [`Method::Direct`](crate::Method::Direct), [`Method::Blocks`](crate::Method::Blocks),
    /// [`Method::Chunks`](crate::Method::Chunks), [`Method::Prefetched`](crate::Method::Prefetched),
    /// [`Method::Panels`](crate::Method::Panels), [`Method::Accumulated`](crate::Method::Accumulated) and
    /// [`Method::Grouped`](crate::Method::Grouped).
}
takes_indices! {
    ScatterOperator<A, R>: negative,
    /// Sets the policy for updates whose indices are out of range.
    out_of_bounds: ScatterOutOfBounds
}
impl<A> ScatterOperator<A> {
    accessors! { self:
        /// Sets the reduction: how updates change an element.
        pub fn reduction(reduction: Reduction) => self.reduction = reduction;
        /// The reduction.
        pub fn get_reduction() -> Reduction => self.reduction;
    }
}
attributes!(ScatterOperator<A, R>);

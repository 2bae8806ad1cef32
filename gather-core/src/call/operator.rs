//! The operators on data and indices: their doors.

use crate::call::Sealed;
use crate::call::cloned;
use crate::call::erased::{Call, Request};
use crate::call::plan::Plan;
use crate::call::planned::Planned;
use crate::plan::IndexLowered;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Output;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, NegativeIndex, Options, OutOfBounds, Par};

/// The attributes of an operator on data and indices. Sealed: those of [`Gather`](crate::Gather),
/// [`GatherElements`](crate::GatherElements) and [`GatherNd`](crate::GatherNd).
pub trait IndexAttributes: Sealed {
    /// The operator.
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shapes, and adds loops and axes to what is empty.
    #[doc(hidden)]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error>;

    /// Whether the result is rows of data along its first axis, in the order of indices.
    #[doc(hidden)]
    fn takes_rows(&self, _data: &Layout) -> bool {
        false
    }
}

/// An operator that takes data and indices: [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd), which differ in their attributes.
///
/// A small value: attributes, what an index may be, and how a call runs. Nothing is checked before it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexOperator<A> {
    attributes: A,
    policy: IndexPolicy,
    options: Options,
}

impl<A> IndexOperator<A> {
    /// An operator with its attributes: negative indices count from the end, out-of-range ones are errors.
    pub(crate) fn from_attributes(attributes: A) -> Self {
        IndexOperator { attributes, policy: IndexPolicy::default(), options: Options::default() }
    }

    /// The operator with other attributes.
    pub(crate) fn with_attributes(mut self, change: impl FnOnce(&mut A)) -> Self {
        change(&mut self.attributes);
        self
    }

    pub(crate) fn attributes(&self) -> &A {
        &self.attributes
    }

    pub(crate) fn policy(&self) -> IndexPolicy {
        self.policy
    }

    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// Sets what negative indices mean.
    #[must_use]
    pub fn negative_index(mut self, negative: NegativeIndex) -> Self {
        self.policy.negative = negative;
        self
    }

    /// Sets what out-of-range indices do.
    #[must_use]
    pub fn out_of_bounds(mut self, out_of_bounds: OutOfBounds) -> Self {
        self.policy.out_of_bounds = out_of_bounds;
        self
    }

    /// Sets how many threads a call may use.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.options.par = par;
        self
    }

    /// Forces a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.options.level = Some(level);
        self
    }

    /// Forces a method; calls that it does not take fail with [`Error::MethodUnavailable`].
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = Some(method);
        self
    }

    /// What negative indices mean.
    #[must_use]
    pub fn get_negative_index(&self) -> NegativeIndex {
        self.policy.negative
    }

    /// What out-of-range indices do.
    #[must_use]
    pub fn get_out_of_bounds(&self) -> OutOfBounds {
        self.policy.out_of_bounds
    }

    /// How many threads a call may use.
    #[must_use]
    pub fn get_par(&self) -> Par {
        self.options.par
    }

    /// The level that is forced on calls.
    #[must_use]
    pub fn get_level(&self) -> Option<Level> {
        self.options.level
    }

    /// The method that is forced on calls.
    #[must_use]
    pub fn get_method(&self) -> Option<Method> {
        self.options.method
    }
}

impl<A: IndexAttributes> IndexOperator<A> {
    /// The shape of the result, without touching data.
    ///
    /// # Errors
    /// Errors of attributes and shapes; [`Error::TooManyElements`] for data, indices or the result.
    pub fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<Shape, Error> {
        let mut lowered = IndexLowered::new(self.attributes.op());
        self.attributes.lower(&Layout::contiguous(data)?, &Layout::contiguous(indices)?, &mut lowered)?;
        Shape::checked_len(&lowered.output)?;
        Ok(lowered.output)
    }

    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: one pass over the indices and one over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`] for the first such
    /// index in row-major order. Under [`OutOfBounds::Error`] indices are checked even when the result has no
    /// elements.
    pub fn run<T: Element, I: Index>(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        let mut out = Tensor::default();
        self.run_into(data, indices, &mut out)?;
        Ok(out)
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of [`Method::Panels`] (up to six dimensions, and index
    /// tuples of up to three), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is untouched
    /// but for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what it held before.
    pub fn run_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let call = Call::typed(self, data, indices);
        // SAFETY: O1 for `T`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { call.run(out.target()) }
    }

    /// Makes a plan: it does the shape-dependent work once, and runs on any tensors of these layouts, into row-major
    /// outputs.
    ///
    /// Cost: depends on ranks, not on sizes.
    ///
    /// # Errors
    /// As for [`Self::run`], without those of memory and index values.
    pub fn plan<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<Plan<T, I>, Error> {
        Ok(Plan::new(Planned::new(&Request::typed::<T, I, A>(self, data, indices))?))
    }

    /// As [`Self::plan`], for outputs of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::ShapeMismatch`] after errors of shapes.
    pub fn plan_into<T: Element, I: Index>(
        &self,
        data: &Layout,
        indices: &Layout,
        out: &Layout,
    ) -> Result<Plan<T, I>, Error> {
        Ok(Plan::new(Planned::new_into(&Request::typed::<T, I, A>(self, data, indices), out)?))
    }

    /// As [`Self::plan`], for any size of the first dimension of indices: the ids of a model, whose number differs from
    /// call to call. The size in `indices` is what calls are expected to have.
    ///
    /// ```
    /// use gather_core::{Gather, Layout};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
    ///     let (rows, ids) = (Layout::contiguous(&[3, 2])?, Layout::contiguous(&[100])?);
    ///     let plan = Gather::new(0).plan_any_count::<f32, u32>(&rows, &ids)?;
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
    /// As for [`Self::plan`], and [`Error::FixedCount`] where the first dimension of indices is tied to data, or is
    /// not the first of the result.
    pub fn plan_any_count<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<Plan<T, I>, Error> {
        Ok(Plan::new(Planned::new_any_count(&Request::typed::<T, I, A>(self, data, indices))?))
    }

    /// Runs the operator on any `Clone` type (`String`, `Arc<str>`, `&str`, ..). Under [`OutOfBounds::Zero`] an index
    /// out of range yields the type's default.
    ///
    /// Cost: one clone an element of the result, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// When a clone does.
    pub fn run_cloned<T: Clone + Default, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
    ) -> Result<Tensor<T>, Error> {
        cloned::index(&self.attributes, self.policy, self.options, data, indices, cloned::default::<T>)
    }

    /// As [`Self::run_cloned`] for types without a default: an index out of range yields a clone of `fill` under
    /// [`OutOfBounds::Zero`].
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// When a clone does.
    pub fn run_cloned_or<T: Clone, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        fill: &T,
    ) -> Result<Tensor<T>, Error> {
        cloned::index(&self.attributes, self.policy, self.options, data, indices, || fill)
    }
}

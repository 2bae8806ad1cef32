//! The gathers, operators on data and indices: their doors.

use crate::call::Sealed;
use crate::call::cloned;
use crate::call::erased::{Call, Request};
use crate::call::operator::{HasAttributes, Operator, TakesIndices, has_attributes, takes_indices};
use crate::call::plan::Plan;
use crate::call::planned::Planned;
use crate::kernels::select::Kernels;
use crate::plan::{Converting, IndexLowered, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

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

/// The kind of an operator that takes data and indices: its attributes and its index policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gathering<A> {
    pub(crate) attributes: A,
    pub(crate) policy: IndexPolicy,
}

/// An operator that takes data and indices: [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd), which differ in their attributes.
pub type IndexOperator<A> = Operator<Gathering<A>>;

impl<A> IndexOperator<A> {
    /// An operator with its attributes: negative indices count from the end, out-of-range ones are errors.
    pub(crate) fn from_attributes(attributes: A) -> Self {
        Self::of(Gathering { attributes, policy: IndexPolicy::default() })
    }

    pub(crate) fn policy(&self) -> IndexPolicy {
        self.kind.policy
    }
}

has_attributes!(Gathering);
takes_indices!(Gathering<A>: policy.negative, policy.out_of_bounds: OutOfBounds);

impl<A: IndexAttributes> IndexOperator<A> {
    /// The request for an output of a data type, by indices of a type and the kernels for them.
    #[inline(always)]
    pub(super) fn index_request(
        &self,
        (kernels, index): (Kernels, IndexType),
        dtype: DType,
        converting: Option<Converting>,
    ) -> IndexRequest {
        let (op, policy, options) = (self.attributes().op(), self.policy(), self.options());
        IndexRequest { op, kernels, dtype, index, policy, options, converting }
    }

    /// The shape of the result, without touching data.
    ///
    /// # Errors
    /// Errors of attributes and shapes; [`Error::TooManyElements`] for data, indices or the result.
    pub fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<Shape, Error> {
        let mut lowered = IndexLowered::new(self.attributes().op());
        self.attributes().lower(&Layout::contiguous(data)?, &Layout::contiguous(indices)?, &mut lowered)?;
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
        written(Tensor::default(), |out| self.run_into(data, indices, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of [`Method::Panels`](crate::Method::Panels) (up to
    /// six dimensions, and index tuples of up to three), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is untouched
    /// except for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what it held before.
    pub fn run_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let call = Call::new(Request::typed::<T, I, A>(self, data.layout(), indices.layout()), data, indices);
        // SAFETY: O1 for `T`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { call.run(out.target()) }
    }

    /// As [`Self::run_into`], by the kernels for rows of any length, which are few: for long rows.
    pub(crate) fn run_long_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let request = Request::typed_by::<T, I, A>(self, Kernels::of_rows::<I>(), data.layout(), indices.layout());
        let call = Call::new(request, data, indices);
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
        Plan::new(&Request::typed::<T, I, A>(self, data, indices), Planned::new)
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
        let request = Request::typed::<T, I, A>(self, data, indices);
        Plan::new(&request, |request| Planned::new_into(request, out))
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
    /// As for [`Self::plan`], and [`Error::FixedCount`] where the first dimension of indices is tied to data, is not the
    /// first of the result, is repeated, or is that of tuples without components. What has no elements is planned like
    /// anything else: a call then checks indices as [`Self::run`] does.
    pub fn plan_any_count<T: Element, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<Plan<T, I>, Error> {
        Plan::new(&Request::typed::<T, I, A>(self, data, indices), Planned::new_any_count)
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
        cloned::index(self.attributes(), self.policy(), self.options, data, indices, cloned::default::<T>)
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
        cloned::index(self.attributes(), self.policy(), self.options, data, indices, || fill)
    }
}

//! Public methods of gathers, operators on data and indices.
//!
//! ```text
//! a method (typed, inlined)           a `Reader` of data, the operands, the target of the output
//!     -> `kinds.rs`                   the kernels of the kind of data, or its decoder
//!     -> a call or a plan without types   `erased.rs`, `planned.rs`; `converted.rs` for maps, formats, row functions
//! ```

pub(crate) mod blocks;
pub(crate) mod chunks;
pub(crate) mod converted;
pub(crate) mod erased;
pub(crate) mod fused;
pub(crate) mod kinds;
pub(crate) mod maps;
pub(crate) mod masked;
pub(crate) mod nullable;
pub(crate) mod plan;
pub(crate) mod planned;
pub(crate) mod rows;
pub(crate) mod will_need;

use core::borrow::Borrow;

use crate::call::attributes::IndexAttributes;
use crate::call::cloned;
use crate::call::gather::kinds::{GatheredBy, with_operands};
use crate::call::gather::nullable::ByPosition;
use crate::call::operator::{RegistryChoice, attributes, settings, takes_indices};
use crate::call::source::checked::checked_axis;
use crate::call::source::clones::CloneSource;
use crate::call::source::kind::{IndexKind, Kind};
use crate::call::source::{Describe, Source, TensorOf};
use crate::exec::Ids;
use crate::kernels::select::Kernels;
use crate::plan::{Converting, IndexLowered, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Typing;
use crate::tensor::view::View;
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, Options, OutOfBounds};

/// An operator on data and indices: [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd), which differ in their attributes.
///
/// A small value: attributes, policies and options. Nothing is checked before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherOperator<A> {
    pub(crate) attributes: A,
    pub(crate) policy: IndexPolicy,
    pub(crate) options: Options,
    pub(crate) registry: RegistryChoice,
}

impl<A> GatherOperator<A> {
    /// An operator with the given attributes. Negative indices count from the end; indices out of range are errors.
    pub(crate) fn from_attributes(attributes: A) -> Self {
        let (policy, options, registry) = (IndexPolicy::default(), Options::default(), RegistryChoice::default());
        GatherOperator { attributes, policy, options, registry }
    }
}

/// A gather without the type of its attributes.
pub(crate) type ErasedGather<'a> = GatherOperator<&'a dyn IndexAttributes>;

impl ErasedGather<'_> {
    #[inline(always)]
    fn op(&self) -> Op {
        self.attributes.op()
    }

    /// The request for an output of a data type, with kernels for indices of a type.
    #[inline(always)]
    fn request(
        &self,
        (kernels, index): (Kernels, IndexType),
        dtype: DType,
        converting: Option<Converting>,
    ) -> IndexRequest {
        let ErasedGather { policy, options, .. } = *self;
        IndexRequest { op: self.op(), kernels, dtype, index, policy: policy.lower(), options, converting }
    }
}

impl<A: IndexAttributes> GatherOperator<A> {
    #[inline(always)]
    fn erased(&self) -> ErasedGather<'_> {
        let GatherOperator { ref attributes, policy, options, registry } = *self;
        ErasedGather { attributes, policy, options, registry }
    }

    /// The operator for a call by these indices, or for a plan, which runs by any positions. If indices are checked, it
    /// has their policy and, in `checked`, attributes that compare their axis.
    #[inline(always)]
    fn erased_for<'a, X>(
        &'a self,
        indices: &X,
        planned: bool,
        checked: &'a mut Option<ByPosition<'a>>,
    ) -> ErasedGather<'a>
    where
        X: Describe<Kind: IndexKind> + ?Sized,
    {
        let op = self.erased();
        let Some(axis) = checked_axis(indices) else { return op };
        let policy = if planned { axis.planned() } else { axis }.policy();
        ErasedGather { attributes: checked.insert(ByPosition::checked(op.attributes, axis)), policy, ..op }
    }

    /// Runs the operator into a fresh tensor. The table of [`Source`] lists the types of data and their results.
    ///
    /// Cost: one pass over the indices, one over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] and [`Error::UnknownDType`] for types known at run time; without the feature
    /// `registry`, [`Error::KernelsNotCompiled`]. Then errors of [checked indices](crate::Checked#errors), attributes
    /// and shapes, [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`], errors of the
    /// source adaptor's arguments, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`] for the first index out
    /// of range in row-major order. Under [`OutOfBounds::Error`] indices are checked even if the result is empty.
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run<S, X>(&self, data: &S, indices: &X) -> Result<TensorOf<S>, Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        written(<S::Kind as Kind>::Out::empty(data.dtype()), |out| self.run_into(data, indices, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a reused tensor. On one
    /// thread, for up to six dimensions and index tuples of up to three components, it allocates only the scratch of
    /// [`Method::Panels`](crate::Method::Panels) and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`]. For types known at run time, also [`Error::DTypeMismatch`] of a view after
    /// [`Error::NotAnIndexType`]; and [`Error::ShapeMismatch`] of a view after errors of shapes. Errors leave a view
    /// untouched, except [`Error::IndexOutOfRange`]: the view then holds a mix of results and its previous contents.
    ///
    /// # Panics
    /// If a map or a row function panics.
    pub fn run_into<S, X, O>(&self, data: &S, indices: &X, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        let mut checked = None;
        let op = self.erased_for(indices, false, &mut checked);
        with_operands(data, indices, out, |reader, operands| kinds::run::<S::Kind, X::Kind>(&op, reader, operands))
    }

    /// As [`Self::run_into`], for long rows: uses only the kernels for rows of any length.
    pub(crate) fn run_long_into<T: Element, I: Index>(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        const { IsElement::<T>::CHECK };
        let planned = self.erased().request((Kernels::of_rows::<I>(), I::TYPE), T::DTYPE, None);
        with_operands(data, indices, out, |_, operands| erased::run(self.attributes(), &planned, operands))
    }

    /// The shape of the result, computed from shapes alone.
    ///
    /// # Errors
    /// Errors of attributes and shapes; [`Error::TooManyElements`] for data, indices or the result.
    pub fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<Shape, Error> {
        let mut lowered = IndexLowered::new(self.attributes().op());
        self.attributes().lower(&Layout::contiguous(data)?, &Layout::contiguous(indices)?, &mut lowered)?;
        Shape::checked_len(&lowered.output)?;
        Ok(lowered.output)
    }

    /// Runs the operator on any `Clone` type (`String`, `Arc<str>`, `&str`, ..). Under [`OutOfBounds::Zero`] an index
    /// out of range yields the type's default. Data is any [`CloneSource`]: a view, a tensor or a list.
    ///
    /// Cost: one clone per element of the result, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// If a clone panics.
    ///
    /// # Examples
    /// ```
    /// use gather_core::Gather;
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let rows = vec![vec![1.5], vec![], vec![2.0, 3.0]];
    ///     let picked = Gather::new(0).run_cloned(&rows, &[2u8, 0])?;
    ///     assert_eq!(picked.as_slice(), [vec![2.0, 3.0], vec![1.5]]);
    ///     Ok(())
    /// }
    /// ```
    pub fn run_cloned<S, X>(&self, data: &S, indices: &X) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone + Default> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        cloned::with_ids(indices, |ids| self.clone_by(&data.lend()?, indices, ids, cloned::default::<S::Item>))
    }

    /// As [`Self::run_cloned`] for types without a default: an index out of range yields a clone of `fill` under
    /// [`OutOfBounds::Zero`].
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// If a clone panics.
    pub fn run_cloned_or<S, X>(&self, data: &S, indices: &X, fill: &S::Item) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        cloned::with_ids(indices, |ids| self.clone_by(&data.lend()?, indices, ids, || fill))
    }

    /// Runs [`cloned::index`] by the indices `ids` of a source.
    fn clone_by<T: Clone, X, F: Borrow<T>>(
        &self,
        data: &View<'_, T>,
        indices: &X,
        ids: Ids<'_>,
        fill: impl FnOnce() -> F,
    ) -> Result<Tensor<T>, Error>
    where
        X: Source<Kind: IndexKind> + ?Sized,
    {
        let mut checked = None;
        let op = self.erased_for(indices, false, &mut checked);
        cloned::index(op.attributes, op.policy.lower(), op.options, data, ids, fill)
    }
}

settings!(GatherOperator<A>);
takes_indices! {
    GatherOperator<A>: policy.negative,
    /// Sets the policy for indices out of range.
    policy.out_of_bounds: OutOfBounds
}
attributes! {
    GatherOperator<A>,
    ///
    /// ```
    /// use gather_core::{DynView, Element, Gather, Registry, View};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Element)]
    /// #[repr(C)]
    /// struct Pixel([u8; 3]);
    ///
    /// gather_core::kernels! {
    ///     /// Pixels by 32-bit ids.
    ///     static PIXELS;
    ///     elements: [Pixel];
    ///     indices: [u32];
    ///     ranks: 1;
    ///     ops: [gather];
    /// }
    ///
    /// static REGISTRY: Registry = Registry::builtin().with(&PIXELS);
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let image = View::new(&[Pixel([1, 2, 3]), Pixel([4, 5, 6])], &[2])?;
    ///     let pixels = Gather::new(0).registry(&REGISTRY).run(&DynView::from(&image), &[1u32])?;
    ///     assert_eq!(pixels.downcast::<Pixel>()?.as_slice(), [Pixel([4, 5, 6])]);
    ///     Ok(())
    /// }
    /// ```
}
